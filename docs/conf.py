# ruff: noqa: INP001  read by Sphinx, not imported
"""How Sphinx builds these pages: `make docs`, into build/docs.

The pages are plain Markdown that also reads well on a forge. So nothing in them is written for Sphinx alone: two
things that it needs are made here from what stands there for every reader.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "KR"
author = "the KR authors"
language = "en"
extensions = ["myst_parser"]
exclude_patterns: list[str] = []
myst_heading_anchors = 4  # `plugins.md#settings-and-setup` leads to the heading, as on a forge

html_theme = "furo"
html_title = "KR"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False

_TITLED = re.compile(r'^(`{3,})(\w+) title="([^"]+)"$', re.MULTILINE)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w/-]+)\.md\)")


def _say_the_file(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Show the file that a block is written to above the block."""
    source[0] = _TITLED.sub(r"\1{code-block} \2\n:caption: \3\n", source[0])


def _navigate_as_the_index(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation from the index's own sections and links."""
    if page != "index":
        return
    parts = _SECTION.split(source[0])
    for caption, links in [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
        said = [f":caption: {caption}"] if caption else []
        if pages := _LINK.findall(links):
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", *said, "", *pages, "```\n"])


def setup(app: Sphinx) -> None:
    """Connect the two."""
    app.connect("source-read", _say_the_file)
    app.connect("source-read", _navigate_as_the_index)
