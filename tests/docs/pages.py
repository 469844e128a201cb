"""The pages of the documentation and their fenced blocks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>[\w+-]*)(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block; `title` is the file that the page tells its reader to write it to."""

    language: str
    title: str | None
    text: str
    line: int

    @property
    def commands(self) -> str:
        """The block as a script: of a `console` block the lines after the prompt."""
        if self.language != "console":
            return self.text
        return "".join(f"{line[2:]}\n" for line in self.text.splitlines() if line.startswith("$ "))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            language=found["language"],
            title=title[1] if (title := _TITLE.search(found["info"])) else None,
            text=found["text"],
            line=text.count("\n", 0, found.start()) + 1,
        )
        for found in _BLOCK.finditer(text)
    ]
