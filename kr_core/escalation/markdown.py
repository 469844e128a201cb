"""Which lines of a Markdown text are a person's own words: not quoted, not code, not in an HTML comment.

CommonMark's rules, taken strictly: where it is doubtful, a line counts as hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["outside"]

Place = Literal["own", "quoted", "hidden"]

_QUOTE = re.compile(r" {0,3}>")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
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
        opens = _FENCE.match(line)
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
