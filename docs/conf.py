# ruff: noqa: INP001  read by Sphinx, not imported
"""How Sphinx builds these pages: `make docs`, into build/docs.

The pages are plain Markdown that also reads well on a forge. So nothing in them is written for Sphinx alone: the
navigation is made from the sections and links of the index.
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

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w/-]+)\.md\)")


def _navigate_as_the_index(_app: Sphinx, page: str, source: list[str]) -> None:
    """Append to the index a hidden table of contents for each of its sections."""
    if page != "index":
        return
    parts = _SECTION.split(source[0])
    for caption, links in [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
        said = [f":caption: {caption}"] if caption else []
        if pages := _LINK.findall(links):
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", *said, "", *pages, "```\n"])


def setup(app: Sphinx) -> None:
    """Make the navigation when the index is read."""
    app.connect("source-read", _navigate_as_the_index)
