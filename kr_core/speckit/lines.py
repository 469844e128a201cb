"""A Markdown file line by line: which lines are text, and under which headings they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["FileLine", "closed_end", "headings", "key", "lines_of", "plain", "section"]

_TOLD = 900
"""Characters of a question that tell it from others; what is written of a longer one is cut off."""
_LONGEST_TITLE = 500
"""Characters of a heading that each question under it quotes."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(
    r" {0,3}(#{1,6})[ \t]++((?:[^ \t\n]++|[ \t]++(?!#*+[ \t]*+$))*+)(?:[ \t]++#++)?+[ \t]*+$"
)
_REMARK = re.compile(r"(?:(?<!\s)\s++)?\*?\((?:mandatory|optional|required)[^)]{0,200}\)\*?", re.IGNORECASE)


class FileLine(NamedTuple):
    """A line of a file."""

    number: int
    """From 1."""
    raw: str
    """As it stands in the file, with its end."""
    text: str
    """Without its end; what stands in a fence or a comment is blank."""
    path: tuple[str, ...]
    """The headings that it stands under, from the second level on; a heading stands under itself."""
    level: int
    """Of a heading, else 0."""


def lines_of(text: str) -> list[FileLine]:
    """The lines of a file, without those that are quoted in fences, indented as code or hidden in comments."""
    return _read(text)[0]


def closed_end(text: str) -> int:
    """The index of the line in which a fence or comment begins that nothing closes; the number of lines where none does."""
    return _read(text)[1]


def _read(text: str) -> tuple[list[FileLine], int]:
    found: list[FileLine] = []
    path: dict[int, str] = {}
    above: tuple[str, ...] = ()
    visible = _Visible()
    for number, raw in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), 1):
        shown = visible.part_of(raw.rstrip("\r\n").removeprefix("\ufeff" if number == 1 else ""), number - 1)
        heading = _HEADING.match(shown) if "#" in shown else None
        level = len(heading[1]) if heading else 0
        if heading:
            path = {one: title for one, title in path.items() if one < level}
            path[level] = _REMARK.sub("", plain(heading[2]))[:_LONGEST_TITLE]
            above = tuple(path[one] for one in sorted(path) if one > 1)
        found.append(FileLine(number, raw, shown, above, level))
    return found, len(found) if visible.open_since is None else visible.open_since


class _Visible:
    """What of each line is neither in a fence, nor indented as code, nor in a comment."""

    def __init__(self) -> None:
        self._fence = ""
        self._hidden = False
        self._begun = 0
        self._indented = _Indented()

    @property
    def open_since(self) -> int | None:
        """The index of the line in which the fence or comment began that is open; None where there is none."""
        return self._begun if self._fence or self._hidden else None

    def part_of(self, line: str, index: int) -> str:
        """The visible part of the next line."""
        opening = _FENCE.match(line)
        if self._fence:
            if opening and opening[1].startswith(self._fence) and not line[opening.end() :].strip():
                self._fence = ""
            return ""
        if opening and not self._hidden:
            self._fence, self._begun = opening[1], index
            return ""
        if not self._hidden and self._indented.is_code(line):
            return ""
        before = self._hidden
        shown, self._hidden = _without_comments(line, hidden=before)
        if not before or "-->" in line:
            self._begun = index
        return shown


class _Indented:
    """Which lines are code since they are indented: behind an empty line, and outside lists, whose items are indented too."""

    def __init__(self) -> None:
        self._empty = True
        self._code = self._list = False

    def is_code(self, line: str) -> bool:
        """Whether the next line is."""
        if not line.strip():
            self._empty = True
            return False
        wide = line.expandtabs(4)
        self._code = wide.startswith("    ") and not self._list and (self._empty or self._code)
        if not self._code:
            begins = not wide.startswith(" ") and (self._empty or wide.startswith("#"))
            self._list = bool(_ITEM.match(wide)) or (self._list and not begins)
        self._empty = False
        return self._code


def _without_comments(text: str, *, hidden: bool) -> tuple[str, bool]:
    """A line with comments blank, and whether one is open at its end."""
    if not hidden and "<!--" not in text:
        return text, False
    shown = []
    place = 0
    while place < len(text):
        mark = "-->" if hidden else "<!--"
        found = text.find(mark, place)
        end = len(text) if found < 0 else found + len(mark)
        seen = "" if hidden else text[place:end] if found < 0 else text[place:found]
        shown.append(seen.ljust(end - place))
        hidden = hidden is not (found >= 0)
        place = end
    return "".join(shown), hidden


def headings(lines: Sequence[FileLine], level: int) -> Iterator[FileLine]:
    """The headings of a level, in order."""
    return (line for line in lines if line.level == level)


def section(
    lines: Sequence[FileLine], title: str, start: int = 0, end: int | None = None
) -> tuple[int, int] | None:
    """Where a section stands: the indices of its heading and of the line after its last; None if there is none.

    Args:
        lines: of the file.
        title: of its heading, of the second level or deeper; in any case of letters.
        start: the first line to look at.
        end: the line to stop at.
    """
    stop = len(lines) if end is None else end
    for number in range(start, stop):
        line = lines[number]
        if line.level > 1 and line.path and line.path[-1].casefold() == title.casefold():
            after = (other for other in range(number + 1, stop) if 0 < lines[other].level <= line.level)
            return number, next(after, stop)
    return None


def plain(text: str) -> str:
    """A text without emphasis and superfluous blanks."""
    return " ".join(re.sub(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|`", "", text).split())


def key(question: str) -> str:
    """What tells a question from others, however it is wrapped, marked up and punctuated."""
    return plain(printable(question).replace("→", "->"))[:_TOLD].casefold().strip(" .?!:")
