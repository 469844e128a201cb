"""Markdown and plain text as blocks, verbatim, each with its line.

Which lines of a Markdown text are a person's own words: not quoted, not code, not in an HTML comment.

CommonMark's rules, taken strictly: where it is doubtful, a line counts as hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from kr_core.markup.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["blocks", "outside", "paragraphs", "plain_blocks"]


_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NEVER_HEADING = re.compile(r"[ \t]*(?:[-*+>|<]|\d+[.)][ \t])|[ \t]*$")
_FENCE = re.compile(r" {0,9}(`{3,}+|~{3,}+)([^`]*+)$")
_FRONT = re.compile(r"\A---[ \t]*\n(?:.*\n){0,200}?(?:---|\.\.\.)[ \t]*\n")
_LIKE_MARKDOWN = re.compile(r"\A\s*#{1,6} \S")
_UNDERLINED = re.compile(r"(?=[^\S\n]*+\S)[^\n]*+\n([=\-~^*#+])\1{2,}+[ \t]*+\Z")
_HEADING_LENGTH = 400
"""Characters; what is longer is no heading with its underline."""
_INDENT = ("    ", "\t")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in Markdown; front matter is left out."""
    front = _FRONT.match(text)
    scanner = _LineScanner()
    for paragraph, line in paragraphs(text, front.end() if front else 0):
        if scanner.in_fence or "```" in paragraph or "~~~" in paragraph or _has_heading(paragraph):
            yield from scanner.take(paragraph, line)
        else:
            yield Block(_kind(paragraph), paragraph, f":{line}")
    yield from scanner.end()


class _LineScanner:
    """Reads paragraphs that hold fences or headings line by line; a fence goes on over blank lines."""

    def __init__(self) -> None:
        self._found: list[Block] = []
        self._fence: list[str] = []
        self._mark = ""
        self._fence_line = 0
        self._prose: list[str] = []
        self._prose_line = 0

    @property
    def in_fence(self) -> bool:
        return bool(self._mark)

    def take(self, paragraph: str, line: int) -> list[Block]:
        """The blocks that end in a paragraph."""
        self._found = []
        if self._mark:
            self._fence.extend([""] * (line - self._fence_line - len(self._fence)))
        for number, row in enumerate(paragraph.split("\n"), start=line):
            if self._mark:
                self._take_code(row)
            else:
                self._take_row(row, number)
        self._end_prose()
        return self._found

    def end(self) -> list[Block]:
        """The code of a fence that is never closed."""
        return [Block("code", "\n".join(self._fence), f":{self._fence_line}")] if self._fence else []

    def _take_code(self, row: str) -> None:
        self._fence.append(row)
        edge = _FENCE.match(row)
        if edge and edge[1].startswith(self._mark) and not edge[2].strip():
            self._found += self.end()
            self._fence, self._mark = [], ""

    def _take_row(self, row: str, number: int) -> None:
        held = self._prose
        under = _UNDERLINE.match(row) if len(held) == 1 and not _NEVER_HEADING.match(held[0]) else None
        if under:
            title = held.pop()
            level = 1 if under[1][0] == "=" else 2
            self._found.append(
                Block("heading", f"{title}\n{row}", f":{self._prose_line}", level, title.strip())
            )
        elif heading := _HEADING.match(row):
            self._end_prose()
            words = _words(heading[2])
            self._found.append(Block("heading", row.strip(), f":{number}", len(heading[1]), words))
        elif edge := _FENCE.match(row):
            self._end_prose()
            self._fence, self._mark, self._fence_line = [row], edge[1], number
        else:
            self._prose_line = self._prose_line if held else number
            held.append(row)

    def _end_prose(self) -> None:
        if self._prose:
            text = "\n".join(self._prose)
            self._found.append(Block(_kind(text), text, f":{self._prose_line}"))
            self._prose = []


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain text; one that begins with a heading of Markdown is read as Markdown."""
    if _LIKE_MARKDOWN.match(text):
        yield from blocks(text)
        return
    for paragraph, line in paragraphs(text):
        if len(paragraph) < _HEADING_LENGTH and paragraph.count("\n") == 1 and _UNDERLINED.match(paragraph):
            title, under = paragraph.split("\n")
            yield Block("heading", paragraph, f":{line}", 1 if under[0] in "=#*" else 2, title.strip())
        else:
            yield Block(_kind(paragraph), paragraph, f":{line}")


def _words(heading: str) -> str:
    """A heading's words without the marks that may close it; a pattern for both takes long where blanks are many."""
    heading = heading.rstrip()
    bare = heading.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else heading


def _has_heading(paragraph: str) -> bool:
    return (
        "#" in paragraph
        or "\n==" in paragraph
        or "\n--" in paragraph
        or "\n=" in paragraph
        or "\n-" in paragraph
    )


def _kind(paragraph: str) -> Literal["code", "table", "prose"]:
    if paragraph.startswith(_INDENT) and all(
        row.startswith(_INDENT) or not row for row in paragraph.split("\n")
    ):
        return "code"
    return "table" if paragraph.lstrip().startswith("|") else "prose"


def paragraphs(text: str, start: int = 0) -> Iterator[tuple[str, int]]:
    """What stands between blank lines, with the line on which it begins; indented ones that follow each other are one."""
    line = 1 + text.count("\n", 0, start)
    held: list[str] = []
    held_line = held_end = 0
    position = start
    for gap in _GAP.finditer(text, start):
        paragraph = text[position : gap.start()]
        if position == start:
            lead = len(paragraph) - len(paragraph.lstrip("\n"))
            line += lead
            paragraph = paragraph[lead:]
        after = line + paragraph.count("\n") + gap[0].count("\n")
        if paragraph.startswith(_INDENT):
            if held:
                held.append("\n" * (line - held_end))
            else:
                held_line = line
            held.append(paragraph)
            held_end = line + paragraph.count("\n")
        else:
            if held:
                yield "".join(held), held_line
                held = []
            if paragraph.strip():
                yield paragraph, line
        position, line = gap.end(), after
    rest = text[position:]
    lead = len(rest) - len(rest.lstrip("\n"))
    rest, line = rest[lead:].rstrip(), line + lead
    if held and rest.startswith(_INDENT):
        rest, line, held = "".join([*held, "\n" * (line - held_end), rest]), held_line, []
    if held:
        yield "".join(held), held_line
    if rest.strip():
        yield rest, line


Place = Literal["own", "quoted", "hidden"]

_QUOTE = re.compile(r" {0,3}>")
_OWN_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")
_ELEMENT = re.compile(r" {0,3}<(?:/?[a-z][a-z0-9-]*(?=[\s/>]|$)|[!?])", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(pre|script|style|textarea|code|blockquote)\b", re.IGNORECASE)
_BREAK = re.compile(
    r"\s*(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|[0-9]{1,9}[.)](?:\s|$)|=+\s*$|([-*_])(?:\s*\1)+\s*$)"
)
"""What may end a paragraph, or not, as the lines around it have it: a heading, a rule, an item of a list."""
_MARK = re.compile(r"\\.|`+|<!--", re.DOTALL)
_TICKS = re.compile(r"`+")


def outside(lines: Sequence[str]) -> list[Place]:
    """For each line where its beginning stands.

    Returns:
        `own` for the writer's own words; `quoted` for a line that goes on with the quote above it although it does not
        begin with `>`; `hidden` for quotes, code and comments.
    """
    places: list[Place] = ["own"] * len(lines)
    fence = ""
    comment = element = below_quote = False
    tags: dict[str, int] = {}
    paragraph: list[int] = []
    for number, line in enumerate(lines):
        if fence:
            places[number] = "hidden"
            closes = line.strip(" \t")
            if (
                closes.startswith(fence)
                and not closes.strip(fence[0])
                and not line.startswith(("    ", "\t"))
            ):
                fence = ""
            continue
        if comment:
            places[number] = "hidden"
            comment = "-->" not in line
            continue
        opens = _OWN_FENCE.match(line)
        begins = "" if tags else _beginning(line, bool(opens))
        if begins:
            _hide_spans(lines, paragraph, places)
            paragraph = []
        if begins == "fence" and opens:
            places[number], fence, below_quote = "hidden", opens[1], False
        elif begins == "comment":
            places[number], below_quote = "hidden", False
            comment = "-->" not in line[line.index("<!--") + 4 :]
        elif begins == "quote":
            places[number], below_quote = "hidden", True
        elif begins == "blank":
            element = below_quote = False
        else:
            element = element or bool(_ELEMENT.match(line))
            places[number] = "hidden" if tags or element else "quoted" if below_quote else "own"
            _follow(line, tags)
            paragraph.append(number)
    _hide_spans(lines, paragraph, places)
    return places


def _beginning(line: str, fence: bool) -> str:
    """What a line begins, if it is more than a part of a paragraph."""
    if fence:
        return "fence"
    if not line.strip():
        return "blank"
    if _QUOTE.match(line):
        return "quote"
    return "comment" if _COMMENT.match(line) else ""


def _follow(line: str, tags: dict[str, int]) -> None:
    """Count which elements are open that hold code or quotes."""
    for found in _TAG.finditer(re.sub(r"(?<!`)(`+)(?!`)[^`]+\1(?!`)", "", line)):
        name = found[2].lower()
        left = tags.get(name, 0) + (-1 if found[1] else 1)
        if left > 0:
            tags[name] = left
        else:
            tags.pop(name, None)


def _hide_spans(lines: Sequence[str], paragraph: Sequence[int], places: list[Place]) -> None:
    """Hide the lines of a paragraph that begin within a code span or a comment, also if it is several paragraphs."""
    if len(paragraph) < 2:
        return
    _hide_spans_of(lines, paragraph, places)
    part: list[int] = []
    for number in paragraph:
        if _BREAK.match(lines[number]):
            _hide_spans_of(lines, part, places)
            part = []
        part.append(number)
    if len(part) < len(paragraph):
        _hide_spans_of(lines, part, places)


def _hide_spans_of(lines: Sequence[str], paragraph: Sequence[int], places: list[Place]) -> None:
    text = "\n".join(lines[number] for number in paragraph)
    offsets = [0]
    for number in paragraph[:-1]:
        offsets.append(offsets[-1] + len(lines[number]) + 1)
    for begin, end in _spans(text):
        for place in range(bisect_left(offsets, begin + 1), bisect_left(offsets, end)):
            places[paragraph[place]] = "hidden"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where code spans and comments begin and end; time grows with the text alone, whatever stands in it."""
    runs: dict[int, list[int]] = {}
    for found in _TICKS.finditer(text):
        runs.setdefault(len(found[0]), []).append(found.start())
    last_end = text.rfind("-->")
    position = 0
    while found_mark := _MARK.search(text, position):
        begin, position = found_mark.span()
        if found_mark[0] == "<!--":
            if position <= last_end:
                position = text.index("-->", position) + 3
                yield begin, position
        elif found_mark[0].startswith("`"):
            same = runs.get(position - begin, [])  # an escaped tick leaves a shorter run than there stands
            after = bisect_left(same, position)
            if after < len(same):
                position = same[after] + position - begin
                yield begin, position
