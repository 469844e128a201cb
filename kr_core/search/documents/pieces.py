"""Passages of a document: what stands below a heading, small enough to be cited, code and tables whole."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.evidence.rest_tables import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["LARGE_TABLE", "Block", "Piece", "divided", "table_parts"]

LONGEST = 1600
"""Characters; a longer section is divided between paragraphs. About what an embedder reads of a text."""
_WHOLE = 12_000
"""Characters; code that is longer is divided between lines all the same."""
LARGE_TABLE = 3200
"""Characters; a table that is longer is divided between rows, so that one of its rows is found."""
_RULE = re.compile(r"[ |+]*+(?::?[-=]++:?[ |+]*+)++$")
_GAP = 9
"""Line breaks between two blocks at most."""
_TRAIL = 200
"""Characters of the headings that lead to a passage; the innermost are kept."""


class Block(NamedTuple):
    """A paragraph, a heading, a block of code or a table."""

    kind: Literal["heading", "prose", "code", "table"]
    text: str
    """As it is shown; a heading with its marks, code with its fences."""
    place: str
    """Where it begins: `:12` for a line, `#anchor` for a page's."""
    level: int = 0
    """Of a heading, from 1 for the outermost."""
    heading: str = ""
    """A heading's words."""
    head: str = ""
    """The heading rows of the table that the rows were taken from."""


class Piece(NamedTuple):
    """A passage as it is indexed."""

    outer: str
    """The headings that lead to it and do not stand in it, outermost first."""
    name: str
    """The heading that it begins with; empty where it begins with none."""
    text: str
    place: str
    kind: Literal["document", "code"] = "document"
    head: str = ""
    """The heading rows of the table whose rows it begins with; they stand further up in the file."""


def divided(blocks: Iterable[Block]) -> Iterator[Piece]:
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


def _closed(trail: list[tuple[int, str]], piece: list[Block]) -> Iterator[Piece]:
    if not any(block.kind != "heading" for block in piece):
        return
    first = piece[0]
    outer = [heading for _level, heading in (trail[:-1] if first.level else trail) if heading]
    yield Piece(_shortened(outer), first.heading, _joined(piece), first.place, head=first.head)


def _joined(piece: list[Block]) -> str:
    """The blocks with as many lines between them as there are in the file: then a line of it is found by counting."""
    shown = [block for block in piece if block.text]
    text = shown[0].text
    for before, block in pairwise(shown):
        gap = 2
        if before.place[:1] == block.place[:1] == ":":
            gap = int(block.place[1:]) - int(before.place[1:]) - before.text.count("\n")
        text += "\n" * min(max(gap, 1), _GAP) + block.text
    return text


def _shortened(outer: list[str]) -> str:
    taken: list[str] = []
    for heading in reversed(outer):
        if taken and sum(map(len, taken)) + len(heading) > _TRAIL:
            break
        taken.insert(0, heading[:_TRAIL])
    return " / ".join(taken)


def table_parts(rows: Sequence[str], places: Sequence[str]) -> Iterator[Block]:
    """A table as blocks of rows; all but the first are given its heading rows to be shown with.

    Args:
        rows: its lines, rules included.
        places: where each stands.
    """
    lists = listed(rows)
    count = _heading_rows(rows) if lists is None else [*lists.rows, 0][min(lists.heading, len(lists.rows))]
    begins = None if lists is None else frozenset(lists.rows)
    head = "\n".join(rows[:count])
    start, size = 0, 0
    for number, row in enumerate(rows):
        if (
            start < number > count
            and size + len(row) > LONGEST
            and (_begins_row(rows, number) if begins is None else number in begins)
        ):
            yield Block("table", "\n".join(rows[start:number]), places[start], head=head if start else "")
            start, size = number, len(head)
        size += len(row)
    yield Block("table", "\n".join(rows[start:]), places[start], head=head if start else "")


def _heading_rows(rows: Sequence[str]) -> int:
    """How many lines lead a table: up to the rule below its headings, whichever of the usual forms it has."""
    if not _RULE.match(rows[0]):
        return 2 if len(rows) > 1 and _RULE.match(rows[1]) else 0
    wanted = "=" if rows[0].startswith(("+", "=")) else "-"
    return next(
        (n + 1 for n in range(2, min(len(rows), 12)) if _RULE.match(rows[n]) and wanted in rows[n]), 0
    )


def _begins_row(rows: Sequence[str], number: int) -> bool:
    """Whether a table may be divided before a line: rows with a frame only after a rule, others not within a row."""
    if rows[0].startswith("+"):
        return rows[number - 1].startswith("+")
    return not rows[number][:1].isspace()


def _parts(block: Block) -> Iterator[Block]:
    """A block in parts that are not too long: prose between sentences or words, tables between rows, code between lines."""
    line = int(block.place[1:]) if block.place.startswith(":") and block.place[1:].isdigit() else None
    if block.kind == "table" and len(block.text) > LARGE_TABLE and not block.head and line is not None:
        rows = block.text.split("\n")
        yield from table_parts(
            rows, [block.place if line is None else f":{line + number}" for number in range(len(rows))]
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
        place = block.place if line is None else f":{line}"
        yield block._replace(text=text[start:stop].strip("\n"), place=place)
        if line is not None:  # counted from part to part: a log is one paragraph of a million lines
            line += text.count("\n", start, stop)
        start = stop
