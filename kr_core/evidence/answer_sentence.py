"""A sentence that answers, made by rule, with what it quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded, plain
from kr_core.evidence.window import leaned_on

if TYPE_CHECKING:
    from kr_core.model import Passage

LONG_VALUE = 80
"""Characters of a value that a sentence has room for."""


class Quote(NamedTuple):
    """A verbatim part of a passage."""

    passage: Passage
    text: str


class DirectAnswer(NamedTuple):
    """A sentence, what it quotes, and its parts that are verbatim there."""

    text: str
    quotes: tuple[Quote, ...]
    slots: tuple[str, ...]
    said: tuple[str, ...] = ()
    """Sentences that need not be shown again."""


def quoted(passage: Passage, sentence: str) -> DirectAnswer:
    """A sentence of a passage under the passage's name."""
    names = tuple(name for name in (passage.parameter, passage.symbol) if name)
    label = " in ".join(f"`{name}`" for name in names) or folded(passage.title)
    told = [*leaned_on(passage, sentence), sentence]
    text = " ".join([f"{label}:" if label else "", *map(plain, told)]).strip()
    return DirectAnswer(text, tuple(Quote(passage, one) for one in told), (*names, *told), tuple(told))
