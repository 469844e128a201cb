"""Passages of a document: what stands below a heading, small enough to be cited, code and tables whole."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.markup.blocks import LARGE_TABLE, LONGEST, table_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.markup.blocks import Block

__all__ = ["LONGEST_NAME", "Chunk", "divided"]

_WHOLE = 12_000
"""Characters; code that is longer is divided between lines all the same."""
_GAP = 9
"""Line breaks between two blocks at most."""
LONGEST_NAME = 200
"""Characters of a passage's name, and of the headings that lead to it; KR keeps the innermost."""


class Chunk(NamedTuple):
    """A passage as it is indexed."""

    outer: str
    """The headings that lead to it and do not stand in it, outermost first."""
    name: str
    """The heading that it begins with; empty where it begins with none."""
    text: str
    location: str
    kind: Literal["document", "code"] = "document"
    head: str = ""
    """The heading rows of the table whose rows it begins with; they stand further up in the file."""


def divided(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """The passages of a document, in order; headings with nothing below them are left out."""
    trail: list[tuple[int, str]] = []
    piece: list[Block] = []
    size = 0
    for block in blocks:
        if block.kind == "heading":
            yield from _closed(trail, piece)
            trail = [outer for outer in trail if outer[0] < block.level]
            trail.append((block.level, block.heading))
            piece, size = [block], 0
            continue
        for part in _parts(block):
            if size and (part.head or size + len(part.text) > LONGEST):
                yield from _closed(trail, piece)
                piece, size = [], 0
            piece.append(part)
            size += len(part.text)
    yield from _closed(trail, piece)


def _closed(trail: list[tuple[int, str]], piece: list[Block]) -> Iterator[Chunk]:
    if not any(block.kind != "heading" for block in piece):
        return
    first = piece[0]
    outer = [heading for _level, heading in (trail[:-1] if first.level else trail) if heading]
    yield Chunk(
        _shortened(outer), first.heading[:LONGEST_NAME], _joined(piece), first.location, head=first.head
    )


def _joined(piece: list[Block]) -> str:
    """The blocks with as many lines between them as there are in the file: then a line of it is found by counting."""
    shown = [block for block in piece if block.text]
    text = shown[0].text
    for before, block in pairwise(shown):
        gap = 2
        if before.location[:1] == block.location[:1] == ":":
            gap = int(block.location[1:]) - int(before.location[1:]) - before.text.count("\n")
        text += "\n" * min(max(gap, 1), _GAP) + block.text
    return text


def _shortened(outer: list[str]) -> str:
    taken: list[str] = []
    for heading in reversed(outer):
        if taken and sum(map(len, taken)) + len(heading) > LONGEST_NAME:
            break
        taken.insert(0, heading[:LONGEST_NAME])
    return " / ".join(taken)


def _parts(block: Block) -> Iterator[Block]:
    """A block in parts that are not too long: prose between sentences or words, tables between rows, code between lines."""
    line = (
        int(block.location[1:]) if block.location.startswith(":") and block.location[1:].isdigit() else None
    )
    if block.kind == "table" and len(block.text) > LARGE_TABLE and not block.head and line is not None:
        rows = block.text.split("\n")
        yield from table_parts(
            rows, [block.location if line is None else f":{line + number}" for number in range(len(rows))]
        )
        return
    limit = LONGEST if block.kind == "prose" else _WHOLE
    text = block.text
    if len(text) <= 2 * limit:
        yield block
        return
    marks = ("\n", ". ", " ") if block.kind == "prose" else ("\n",)
    start = 0
    while start < len(text):
        stop = min(len(text), start + limit)
        if stop < len(text):
            stop = next(
                (
                    found + len(mark)
                    for mark in marks
                    if (found := text.rfind(mark, start + limit // 2, stop)) > 0
                ),
                stop,
            )
        place = block.location if line is None else f":{line}"
        yield block._replace(text=text[start:stop].strip("\n"), location=place)
        if line is not None:  # counted from part to part: a log is one paragraph of a million lines
            line += text.count("\n", start, stop)
        start = stop
