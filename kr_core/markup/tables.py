"""The rows of a passage's tables, which say in cells what others say in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*:?-+:?\s*")
MAX_CELLS = 12
"""A wider row is data, and nothing that a person reads as a statement."""


class TableRow(NamedTuple):
    """A row of a table, below the heading of its columns."""

    line: str
    heads: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def message(self) -> str:
        """The row as a statement: `` Setting: `RETRIES`; Default: 3; Meaning: how often a call is tried``."""
        told = zip(self.heads, self.cells, strict=True)
        return "; ".join(f"{head}: {cell}" if head else cell for head, cell in told if cell)

    @property
    def slots(self) -> list[str]:
        """What of the statement stands in the passage."""
        return [part for part in (*self.heads, *self.cells) if part]


def rows(text: str) -> list[TableRow]:
    """The rows of all Markdown tables (https://github.github.com/gfm/#tables-extension-) in a text, in order; those that have not the cells of their heading are left out."""
    found: list[TableRow] = []
    for table in _tables(text):
        heads = _cells(table[0])
        if 1 < len(heads) <= MAX_CELLS:
            found += [
                TableRow(line.strip(), heads, cells)
                for line in table[2:]
                if len(cells := _cells(line)) == len(heads) and any(cells)
            ]
    return found


def _tables(text: str) -> Iterator[list[str]]:
    """Runs of lines with bars, the second of which is a rule; code blocks left out."""
    run: list[str] = []
    fenced = False
    for line in [*text.split("\n"), ""]:
        if line.strip().startswith(("```", "~~~")):
            fenced = not fenced
        if "|" in line and not fenced:
            run.append(line)
            continue
        if len(run) > 2 and all(_RULE.fullmatch(cell) for cell in _cells(run[1])):
            yield run
        run = []


def _cells(line: str) -> tuple[str, ...]:
    cells = [cell.strip() for cell in _CELL.split(line.strip())]
    outer = slice(1 if line.strip().startswith("|") else 0, -1 if line.strip().endswith("|") else None)
    return tuple(cells[outer])
