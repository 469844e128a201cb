"""How near in meaning what passages say first is to a question, by the table of word vectors."""

from __future__ import annotations

import re
from operator import mul
from typing import TYPE_CHECKING

from kr_core.search.word_vectors import readable_table, row_of, tokens

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

__all__ = ["first_sentence", "nearness"]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_LONGEST = 600
"""Characters of a passage in which its first sentence is looked for."""
_MOST_WORDS = 60


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    return _SENTENCE_END.split(text[:_LONGEST].strip(), maxsplit=1)[0]


def nearness(asked: Iterable[str], texts: Sequence[str], *, whole: bool = False) -> list[float]:
    """The cosines of some words and the first sentences of texts; zeros where the table cannot be read.

    Args:
        asked: the telling words of the question.
        texts: what passages say first.
        whole: whether all of each text counts, not its first sentence alone.
    """
    table = readable_table()
    if table is None:
        return [0.0] * len(texts)
    question = row_of(table.total(tokens(" ".join(asked))[:_MOST_WORDS]))
    said = texts if whole else map(first_sentence, texts)
    rows = (row_of(table.total(tokens(text)[:_MOST_WORDS])) for text in said)
    return [_cosine(question, row) for row in rows]


def _cosine(one: array[int], other: array[int]) -> float:
    lengths = sum(map(mul, one, one)) * sum(map(mul, other, other))
    return sum(map(mul, one, other)) / lengths**0.5 if lengths else 0.0
