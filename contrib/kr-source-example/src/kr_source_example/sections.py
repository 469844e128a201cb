"""A Markdown note as sections: its headings, what stands below each, and its code blocks, all verbatim."""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 3000
"""Characters; a longer section is divided at blank lines, since a passage should be small enough to be cited."""
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NEVER_HEADING = re.compile(r"\s*$|\s*[-*+>|<]|\s*\d+[.)]\s")
"""A line that an underline does not turn into a heading: blank, a list, a quote, a table, HTML."""
_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)$")


class Section(NamedTuple):
    """What stands below one heading, up to the next heading of any level."""

    title: str
    """The headings that lead to it, outermost first: `Order service / Deploy`."""
    text: str
    """Verbatim, the heading included; lines end in a line feed."""
    line: int
    """The line of the note on which the text begins, from 1."""
    lead: str
    """The first paragraph or list, folded into one line; empty where there is only code."""
    code: tuple[str, ...]
    """What stands between fences, dedented."""


class _Line(NamedTuple):
    number: int
    text: str
    kind: Literal["prose", "code", "fence", "heading"]
    level: int = 0
    """1-6 where a heading begins."""
    heading: str = ""


def sections(note: str, name: str) -> list[Section]:
    """The sections of a note, in order; front matter and headings with nothing below them are left out.

    Args:
        note: the note's text.
        name: what a section is called that no heading stands above.
    """
    found: list[Section] = []
    trail: list[_Line] = []
    for lines in _parts(list(_lines(note))):
        if lines[0].level:
            trail = [*(outer for outer in trail if outer.level < lines[0].level), lines[0]]
        title = " / ".join(outer.heading for outer in trail if outer.heading) or name
        if any(line.kind != "heading" and line.text.strip() for line in lines):
            found += [_section(title, piece) for piece in _pieces(lines)]
    return found


def _lines(note: str) -> Iterator[_Line]:
    """The lines of a note below its front matter, each with what it is."""
    texts = note.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = _end_of_front_matter(texts)
    fence, underline = "", 0
    for number, (text, below) in enumerate(pairwise([*texts[start:], ""]), start=start + 1):
        mark, marked, underlined = _FENCE.match(text), _HEADING.match(text), _UNDERLINE.match(below)
        if fence:
            closing = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closing else fence
            yield _Line(number, text, "fence" if closing else "code")
        elif mark:
            fence = mark[1]
            yield _Line(number, text, "fence")
        elif number == underline:
            yield _Line(number, text, "heading")
        elif marked:
            yield _Line(number, text, "heading", len(marked[1]), (marked[2] or "").strip())
        elif underlined and not _NEVER_HEADING.match(text):
            underline = number + 1
            yield _Line(number, text, "heading", 1 if "=" in below else 2, text.strip())
        else:
            yield _Line(number, text, "prose")


def _end_of_front_matter(texts: list[str]) -> int:
    """How many lines the front matter takes: YAML between `---`, TOML between `+++`."""
    opening = texts[0].rstrip()
    if opening not in {"---", "+++"}:
        return 0
    closing = {opening, "..."} if opening == "---" else {opening}
    return next((number for number, text in enumerate(texts[1:], start=2) if text.rstrip() in closing), 0)


def _parts(lines: list[_Line]) -> Iterator[list[_Line]]:
    """The lines above the first heading, and those of each heading."""
    starts = [position for position, line in enumerate(lines) if line.level]
    for start, end in pairwise(sorted({0, *starts, len(lines)})):
        yield lines[start:end]


def _pieces(lines: list[_Line]) -> Iterator[list[_Line]]:
    """The lines of a section, divided at blank lines where there are too many characters."""
    piece: list[_Line] = []
    size = 0
    for line in lines:
        blank = line.kind == "prose" and not line.text.strip()
        if blank and size > _LONGEST:
            yield piece
            piece, size = [], 0
        elif piece or not blank:
            piece.append(line)
            size += len(line.text) + 1
    if any(line.text.strip() for line in piece):
        yield piece


def _section(title: str, lines: list[_Line]) -> Section:
    text = "\n".join(line.text for line in lines).rstrip()
    return Section(title, text, lines[0].number, _lead(lines), tuple(_code(lines)))


def _lead(lines: list[_Line]) -> str:
    for prose, block in groupby(lines, lambda line: line.kind == "prose" and bool(line.text.strip())):
        folded = " ".join(" ".join(line.text for line in block).split())
        if prose and not folded.startswith(("<", "|", "![")):  # HTML, a table, a picture
            return folded
    return ""


def _code(lines: list[_Line]) -> Iterator[str]:
    for kind, block in groupby(lines, lambda line: line.kind):
        texts = [line.text for line in block]
        if kind == "code" and any(text.strip() for text in texts):
            indent = min(len(text) - len(text.lstrip()) for text in texts if text.strip())
            yield "\n".join(text[indent:].rstrip() for text in texts).strip("\n")
