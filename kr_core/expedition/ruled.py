"""Rows of the simple tables of reStructuredText, whose columns are ruled by runs of equals signs.

https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#simple-tables
"""

from __future__ import annotations

import re

from kr_core.evidence.tables import Row

__all__ = ["ruled_rows"]

_RULE = re.compile(r"[ \t]*=+(?: +=+)+[ \t]*")


def ruled_rows(text: str) -> list[Row]:
    """The rows of all simple tables that have a heading row of one line, in order; a row goes on where its first cell is empty."""
    found: list[Row] = []
    lines = text.split("\n")
    at = 0
    while at + 2 < len(lines):
        rule = lines[at]
        if not (_RULE.fullmatch(rule) and lines[at + 2] == rule):
            at += 1
            continue
        spans = _spans(rule)
        heads = _cells(lines[at + 1], spans)
        at += 3
        while at < len(lines) and lines[at].strip() and not _RULE.fullmatch(lines[at]):
            line, cells = lines[at], _cells(lines[at], spans)
            last = found[-1] if found else None
            if cells[0]:
                found.append(Row(line.strip(), heads, cells))
            elif last is not None and last.heads == heads:
                told = tuple(f"{one} {more}".strip() for one, more in zip(last.cells, cells, strict=True))
                found[-1] = Row(f"{last.line}\n{line.rstrip()}", heads, told)
            at += 1
    return found


def _spans(rule: str) -> list[slice]:
    """Where each column lies; the last one has no end."""
    starts = [found.start() for found in re.finditer(r"=+", rule)]
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _cells(line: str, spans: list[slice]) -> tuple[str, ...]:
    return tuple(line[span].strip() for span in spans)
