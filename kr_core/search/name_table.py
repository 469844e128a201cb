"""The names under which an index's passages are known, whole: no word of theirs is split, stemmed or left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.search.passage_index import IndexedPassage

_INNER = re.compile(r"(?:^|\.)(?:_[^.]*|core|internals?|impl|compat|legacy|v1|deprecated)(?=\.)")
"""Modules whose names stand for a low-level duplicate of what users call."""
_KINDS = {"class": 0.5, "function": 0.4, "property": 0.3}
_MOST_OTHERS = 200


class NameEntry(NamedTuple):
    """A name and the passage that it leads to."""

    name: str
    """The dotted name of the symbol."""
    parameter: str
    """The parameter of it that is meant; empty for the symbol itself."""
    own: bool
    """Whether the passage goes by this name; false for a re-export or a copy."""
    standing: float
    """How likely users mean this one by its last part alone."""
    passage: int


class NameTable:
    """Collects the names while an index is built."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[bool, float, int]] = {}

    def add(self, number: int, passage: IndexedPassage) -> None:
        """Note the names of a passage; the first passage that has a name as its own keeps it."""
        if passage.symbol is None:
            return
        parameter = passage.parameter or ""
        others = [*passage.data.get("also", ()), *passage.data.get("aliases", ())]
        names = {passage.symbol: True}
        for other in others[:_MOST_OTHERS]:
            names.setdefault(str(other).partition("(")[0], False)
        for name, own in names.items():
            place = (own, _standing(name, passage, len(others)), number)
            known = self._known.get((name, parameter))
            if known is None or place[:2] > known[:2]:
                self._known[name, parameter] = place

    def rows(self) -> Iterator[tuple[str, str, str, bool, float, int]]:
        """The rows of the table."""
        for (name, parameter), (own, standing, number) in self._known.items():
            word = parameter or name.rpartition(".")[2]
            yield word.lower(), name, parameter, own, standing, number


def _standing(name: str, passage: IndexedPassage, others: int) -> float:
    """Public, documented, class, plain function, often re-exported, near the top; in this order."""
    data = passage.data
    standing = passage.prior
    standing += 4.0 if data.get("public", True) and not _INNER.search(name) else 0.0
    standing += 1.0 if passage.lead and passage.kind != "section" else 0.0
    standing += _KINDS.get(str(data.get("what")), 0.0) * (0.4 if passage.parameter else 1.0)
    standing += 0.05 * min(others, 6) - 0.15 * name.count(".")
    return round(standing, 4)
