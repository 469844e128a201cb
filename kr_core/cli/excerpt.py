"""The lines of a passage that people are shown: where it belongs, and what matches the question best."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from kr_core.text import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["excerpt"]

_LINES, _ROWS = 6, 4
"""Shown together; fewer rows of a table, since what heads it is shown, too."""
_WIDTH = 200
_RULE = re.compile(r"\s*+[|+](?=[:|+ ]*+[-=])[-=:|+ ]*+$")


def excerpt(text: str, weights: Mapping[str, float]) -> list[str]:
    """The lines of a passage that are printed.

    Its first one, and those together that hold what weighs most of the words asked for. Rows of a table stand below the
    row that heads it. What is left out is `...`.

    Args:
        text: the passage.
        weights: what each word asked for weighs, by its stem.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) <= _LINES:
        return [_cut(line, weights) for line in lines]
    held = [_held(line, weights) for line in lines]
    heads = _heads(lines)

    def told(start: int) -> frozenset[str]:
        """What is held by all that is shown, but for the rows from a line on."""
        head = heads[start]
        return held[0] if head is None else held[0] | held[head]

    def weight(start: int) -> float:
        shown = told(start).union(*held[start : start + _count(heads[start])])
        return sum(weights[root] for root in shown)

    start = max(
        (at for at in range(len(lines)) if at + _count(heads[at]) <= len(lines)),
        key=lambda at: (weight(at), -at),
    )
    head = heads[start]
    while (
        head is not None
        and start + _ROWS < len(lines)
        and heads[start + 1] == head
        and held[start] <= told(start)
    ):
        start += 1  # a row that says nothing of what was asked takes the place of one that may
    end = start + _count(head)
    shown = [*([0] if start else []), *([head] if head else []), *range(start, end)]
    return _joined(lines, shown, weights)


def _count(head: int | None) -> int:
    return _LINES if head is None else _ROWS


def _joined(lines: Sequence[str], shown: Iterable[int], weights: Mapping[str, float]) -> list[str]:
    """Some of the lines, by their places, with a mark wherever others stand between them or behind them."""
    joined: list[str] = []
    last = -1
    for at in shown:
        if any(not _RULE.match(line) for line in lines[last + 1 : at]):
            joined.append("...")
        joined.append(_cut(lines[at], weights))
        last = at
    return joined if last + 1 == len(lines) else [*joined, "..."]


def _heads(lines: Sequence[str]) -> list[int | None]:
    """For each line the place of the row that heads its table; None outside of tables, and down to the rule below that row."""
    heads: list[int | None] = []
    first = head = None
    for at, line in enumerate(lines):
        heads.append(head)
        if not line.lstrip().startswith(("|", "+")):
            first = head = heads[at] = None
        elif not _RULE.match(line):
            first = at if first is None else first
        elif line.lstrip().startswith("|"):  # Markdown's; two tables may stand one below the other
            head = at - 1 if first is not None and any(map(str.isalnum, lines[at - 1])) else None
        elif "=" in line:
            head = first
    return heads


def _held(text: str, weights: Mapping[str, float]) -> frozenset[str]:
    return frozenset(root for word in words(text) if (root := stem(word)) in weights)


def _cut(line: str, weights: Mapping[str, float]) -> str:
    """A line as far as it is printed: from shortly before the words that weigh most together, where they stand far behind."""
    if len(line) <= _WIDTH:
        return line
    places = [(at.start(), held) for at in re.finditer(r"\w+", line) if (held := _held(at[0], weights))]
    length = _WIDTH - 6
    starts = [max(0, place - _WIDTH // 4) if place > _WIDTH // 2 else 0 for place, _held in places]
    inside: Counter[str] = Counter()
    first = last = start = 0
    best = -1.0
    for at in starts:  # each begins no further ahead than the next one
        while last < len(places) and places[last][0] < at + length:
            inside.update(places[last][1])
            last += 1
        while places[first][0] < at:
            inside.subtract(places[first][1])
            first += 1
        weight = sum(weights[root] for root, count in inside.items() if count)
        if weight > best:
            start, best = at, weight
    end = start + length
    return f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}"
