"""The blocks of a document: headings, paragraphs, code and tables, as every reader of markup returns them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.markup.rst_tables import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["LARGE_TABLE", "Block", "table_parts"]


LONGEST = 1600
"""Characters; a longer section is divided between paragraphs. About what an embedder reads of a text."""
LARGE_TABLE = 3200
"""Characters; a table that is longer is divided between rows, so that one of its rows is found."""
_RULE = re.compile(r"[ |+]*+(?::?[-=]++:?[ |+]*+)++$")


class Block(NamedTuple):
    """A paragraph, a heading, a block of code or a table."""

    kind: Literal["heading", "prose", "code", "table"]
    text: str
    """As it is shown; a heading with its marks, code with its fences."""
    location: str
    """Where it begins: `:12` for a line, `#anchor` for a page's."""
    level: int = 0
    """Of a heading, from 1 for the outermost."""
    heading: str = ""
    """A heading's words."""
    head: str = ""
    """The heading rows of the table that the rows were taken from."""


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
    if len(head) > LONGEST // 2:  # each block would be little else
        head = ""
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
