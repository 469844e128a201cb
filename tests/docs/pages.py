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
    """A fenced block; `title` is the file that the page tells its reader to write it to.

    `is_output` says that the page shows what the commands above it print.
    """

    language: str
    title: str | None
    text: str
    line: int
    is_output: bool = False

    @property
    def shown_output(self) -> list[str]:
        """The lines that the page says are printed: of a `console` block those without a prompt."""
        if self.is_output:
            return self.text.splitlines()
        lines = self.text.splitlines() if self.language == "console" else []
        return [line for line in lines if not line.startswith("$ ")]

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
            is_output="output" in found["info"].split(),
        )
        for found in _BLOCK.finditer(text)
    ]


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def not_printed(shown: list[str], *streams: str) -> list[str]:
    """The lines that a page shows and nothing printed, in the order of either stream.

    `...` stands for any text, on a line of its own for any lines; a date is like any other.
    """
    printed = [_DATE.sub("DATE", stream).splitlines() for stream in streams]
    places = [0] * len(printed)
    missing = []
    for line in shown:
        pattern = ".*".join(map(re.escape, _DATE.sub("DATE", line.rstrip()).split("...")))
        for number, lines in enumerate(printed):
            found = next(
                (at for at in range(places[number], len(lines)) if re.fullmatch(pattern, lines[at].rstrip())),
                None,
            )
            if found is not None:
                places[number] = found + 1
                break
        else:
            missing.append(line)
    return [line for line in missing if line.strip()]
