"""The rows of reStructuredText's tables: simple ones, those with a frame, and lists that are shown as tables.

https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#tables
https://docutils.sourceforge.io/docs/ref/rst/directives.html#list-table
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kr_core.markup.tables import MAX_CELLS, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ListTable", "listed", "rest_rows", "without_lists"]

_RULE = re.compile(r"[ \t]*=+(?: +=+)+[ \t]*")
_FRAME = re.compile(r"[ \t]*\+(?:(?:-+\+)+|(?:=+\+)+)[ \t]*")
_MAX_HEADING = 4
"""Lines of a heading row."""
_LIST = re.compile(r"([ \t]*)\.\. list-table::")
_HEADING_ROWS = re.compile(r"[ \t]+:header-rows:[ \t]*(\d{1,2})[ \t]*")
_ITEM = re.compile(r"([ \t]*)[-*+][ \t]+(?=[-*+](?:[ \t]|$))")
_CELL = re.compile(r"([ \t]*)[-*+](?:[ \t]+|$)")


class ListTable(NamedTuple):
    """A list that is shown as a table."""

    rows: list[int]
    """The line with which each row begins, of the table's lines."""
    heading: int
    """How many of them are headings."""


def rest_rows(text: str) -> list[TableRow]:
    """The rows of all tables that have headings, those of each form in order; cells over several columns or rows are left out."""
    lines = text.split("\n")
    found = [*_ruled(lines), *_framed(lines), *_listed_rows(lines)]
    return [row for row in found if 1 < len(row.cells) <= MAX_CELLS]


def listed(lines: Sequence[str]) -> ListTable | None:
    """The rows of a list that is shown as a table, given its lines from the directive on; None for anything else."""
    if not lines or not _LIST.match(lines[0]):
        return None
    starts: list[int] = []
    heading, margin = 0, ""
    for number, line in enumerate(lines):
        found = _ITEM.match(line)
        if found and (not starts or found[1] == margin):
            margin = found[1]
            starts.append(number)
        elif not starts and (told := _HEADING_ROWS.fullmatch(line)):
            heading = int(told[1])
    return ListTable(starts, heading)


def without_lists(text: str) -> str:
    """A text without the lists that are shown as tables: their cells are no sentences."""
    lines = text.split("\n")
    for start, end in _lists(lines):
        lines[start:end] = [""] * (end - start)
    return "\n".join(lines)


def _ruled(lines: Sequence[str]) -> list[TableRow]:
    """The rows of simple tables, whose columns are ruled by runs of equals signs; a row goes on where its first cell is empty."""
    found: list[TableRow] = []
    at = 0
    while at < len(lines):
        rule = lines[at].rstrip()
        is_narrow = rule.count("= ") < MAX_CELLS
        body = _below_heading(lines, at) if is_narrow and _RULE.fullmatch(rule) else 0
        if not body:
            at += 1
            continue
        spans = _spans(rule)
        heads = _joined([_cells(line, spans) for line in lines[at + 1 : body - 1]])
        at, row = body, list[_Line]()
        while at < len(lines) and lines[at].strip() and not _RULE.fullmatch(lines[at]):
            line, cells = lines[at], _cells(lines[at], spans)
            if cells[0]:
                found += _row(row, heads)
                row = []
            if cells[0] or row:
                row.append((line, cells))
            at += 1
        found += _row(row, heads)
    return found


_Line = tuple[str, tuple[str, ...]]
"""A line of a row, and what of each cell it has."""


def _row(lines: Sequence[_Line], heads: tuple[str, ...]) -> list[TableRow]:
    """The row that some lines make; none without lines."""
    if not lines:
        return []
    text = "\n".join([lines[0][0].strip(), *(line.rstrip() for line, _cells in lines[1:])])
    return [TableRow(text, heads, _joined([cells for _line, cells in lines]))]


def _below_heading(lines: Sequence[str], at: int) -> int:
    """Where the rows of a simple table begin, behind the second of its rules; 0 where there is none."""
    for number in range(at + 1, min(len(lines), at + 2 + _MAX_HEADING)):
        if not lines[number].strip():
            return 0
        if lines[number].rstrip() == lines[at].rstrip():
            return number + 1 if number > at + 1 else 0
    return 0


def _spans(rule: str) -> list[slice]:
    """Where each column lies; the last one has no end."""
    starts = [found.start() for found in re.finditer(r"=+", rule)]
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _cells(line: str, spans: list[slice]) -> tuple[str, ...]:
    return tuple(line[span].strip() for span in spans)


def _joined(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Cells of several lines as one row."""
    return tuple(" ".join(filter(None, told)) for told in zip(*parts, strict=True))


def _framed(lines: Sequence[str]) -> list[TableRow]:
    """The rows of tables with a frame."""
    found: list[TableRow] = []
    frame: _Frame | None = None
    for number, line in enumerate(lines):
        bare = line.rstrip()
        if frame is None or not bare.lstrip().startswith(("+", "|")):
            is_frame = bare.count("+") <= MAX_CELLS + 1 and _FRAME.fullmatch(bare)
            frame = _Frame(bare) if is_frame else None
        elif _FRAME.fullmatch(bare) and len(bare) == len(frame.edge):
            first = frame.first
            if cells := frame.end_row(bare):
                text = "\n".join(one.strip() for one in lines[first:number])
                found.append(TableRow(text, frame.heads, cells))
        else:
            frame.add_line(bare, number)
    return found


class _Frame:
    """A table with a frame while its lines are read; a line whose bars stand elsewhere has a cell over several columns or rows."""

    def __init__(self, edge: str) -> None:
        self.edge = edge
        self.heads: tuple[str, ...] = ()
        self.first = 0
        """The first line of the row."""
        self._bars = _bars(edge)
        self._held: list[tuple[str, ...]] = []
        self._is_plain = True

    def add_line(self, line: str, number: int) -> None:
        """Add a line to the row."""
        if not self._held:
            self.first = number
        fits = len(line) == len(self.edge) and all(line[place] == "|" for place in self._bars)
        self._is_plain = self._is_plain and fits
        bars = pairwise(self._bars) if self._is_plain else ()
        cells = [line[one + 1 : other].strip() for one, other in bars]
        self._held.append(tuple(cells))

    def end_row(self, rule: str) -> tuple[str, ...]:
        """The cells of the row that a rule ends; none for the heading and for what cannot be read."""
        is_plain = self._is_plain and _bars(rule) == self._bars
        cells = _joined(self._held) if is_plain and self._held else ()
        self._held, self._is_plain = [], True
        if "=" in rule:
            self.heads = cells
            return ()
        return cells if self.heads else ()


def _bars(rule: str) -> list[int]:
    return [place for place, mark in enumerate(rule) if mark == "+"]


def _lists(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where lists that are shown as tables begin and end."""
    number = 0
    while number < len(lines):
        found = _LIST.match(lines[number])
        start = number
        number += 1
        if found is None:
            continue
        while number < len(lines) and (not lines[number].strip() or _indented(lines[number]) > len(found[1])):
            number += 1
        yield start, number


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def _listed_rows(lines: Sequence[str]) -> list[TableRow]:
    found: list[TableRow] = []
    for start, end in _lists(lines):
        table = lines[start:end]
        told = listed(table)
        if told is None or not 0 < told.heading < len(told.rows):
            continue
        bounds = zip(told.rows, [*told.rows[1:], len(table)], strict=True)
        rows = [(table[one:other], _listed_cells(table[one:other])) for one, other in bounds]
        width = len(rows[0][1])
        if any(len(cells) != width for _row, cells in rows[: told.heading]):
            continue
        heads = _joined([cells for _row, cells in rows[: told.heading]])
        for row, cells in rows[told.heading :]:
            if len(cells) == width:
                found.append(TableRow("\n".join(row).strip(), heads, cells))
    return found


def _listed_cells(row: Sequence[str]) -> tuple[str, ...]:
    """The cells of a row; what is indented deeper than their marks belongs to the cell above it."""
    lead = _ITEM.match(row[0])
    mark = len(lead[0]) if lead else 0
    cells: list[list[str]] = []
    for number, line in enumerate(row):
        shown = line if number else " " * mark + line[mark:]
        found = _CELL.match(shown)
        if found and len(found[1]) == mark:
            cells.append([shown[found.end() :].strip()])
        elif cells and line.strip():
            cells[-1].append(line.strip())
    return tuple(" ".join(filter(None, cell)) for cell in cells)
