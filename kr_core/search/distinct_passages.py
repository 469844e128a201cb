"""Ranked passages in the order in which they are shown: near copies folded, one symbol not too often, each part of the question near the top."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kr_core.text import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.search.passage_index import IndexedPassage
    from kr_core.search.passage_score import RankedPassage

_SAME_SYMBOL = 2
"""At most so many passages about one symbol among the first."""
_SORTED_OUT = 20
"""So many places are sorted out; nobody is shown more."""
_TWIN = 0.75
"""Two texts that share this part of their telling words are near copies."""


def diverse(ranked: list[RankedPassage], named: Sequence[RankedPassage]) -> list[RankedPassage]:
    """The same order, behind what is named, with near copies folded into the first of them, and third passages about one symbol last.

    `numpy.choose(choices)` and `numpy.ma.choose(choices)` say the same: one place, and the other is named beside it.
    """
    first = list(named)
    later: list[RankedPassage] = []
    seen: Counter[str] = Counter(found.passage.symbol or found.passage.title for found in named)
    for found in ranked:
        passage = found.passage
        symbol = passage.symbol or passage.title
        place = next(
            (number for number, other in enumerate(first) if _are_twins(other.passage, passage)), None
        )
        if place is not None:
            first[place] = first[place]._replace(also=(*first[place].also, symbol))
            continue
        seen[symbol] += 1
        (first if seen[symbol] <= _SAME_SYMBOL else later).append(found)
        if len(first) >= _SORTED_OUT:
            break
    return first + later


def _are_twins(one: IndexedPassage, other: IndexedPassage) -> bool:
    """Whether two passages say the same of things with the same last name."""
    if (
        one.symbol is None
        or other.symbol is None
        or one.symbol == other.symbol
        or one.parameter != other.parameter
    ):
        return False
    if one.symbol.rpartition(".")[2] != other.symbol.rpartition(".")[2]:
        return False
    ours, theirs = (set(words(each.lead)) - STOP_WORDS for each in (one, other))
    larger = max(len(ours), len(theirs))
    return larger == 0 or len(ours & theirs) >= _TWIN * larger


def with_parts(
    ranked: list[RankedPassage], parts: Sequence[RankedPassage], named: int
) -> list[RankedPassage]:
    """The passages with the best of each part of the question right behind the first."""
    kept = ranked[: max(named, 1)]
    shown = {id(found.passage) for found in kept}
    beside = [found for found in parts if id(found.passage) not in shown]
    shown |= {id(found.passage) for found in beside}
    return [*kept, *beside, *(found for found in ranked[len(kept) :] if id(found.passage) not in shown)]
