"""Search by the vectors in the index: with numpy among all passages, else among those that words have found."""

from __future__ import annotations

import re
from array import array
from operator import mul
from typing import TYPE_CHECKING, Any

from kr_core.search.documents.encoding import NUMBERED, block_of
from kr_core.search.word_vectors import DIMENSIONS, row_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_core.search.documents.hits import Found
    from kr_core.search.documents.sqlite_index import DocumentStore
    from kr_core.search.word_vectors import WordTable

__all__ = ["StaticVectors"]

_CANDIDATES = 200
"""Passages that vectors find."""
_NEAR = 0.75
"""Of the highest cosine: what a passage without a word of the question needs at least."""
_QUESTION = 400
"""Words of a question that count."""
_LOOKED_AT = 20
"""Passages by which it is told whether they are of documentation of code."""
_NAME = re.compile(r"\w\(|\w_\w|[a-z][A-Z]|::|>>>|\w\.[a-z]\w*\.\w")
_AT_ONCE = 16_384
_PROSE_WEIGH, _CODE_WEIGH = 0.3, 0.9
"""What likeness by vectors counts against likeness by words (`docs/quality.md`)."""


class StaticVectors:
    """The vectors in an index; for one thread at a time.

    Args:
        table: of which they were made.
    """

    def __init__(self, table: WordTable) -> None:
        self._table = table
        self._all: _All | None = None

    def fused(self, store: DocumentStore, question: str, by_words: Found) -> Found:
        """What words and vectors find, best first, each score as a share of the best, weighted and added up.

        Where words find nothing, nothing is found: the nearest of all passages may be far.

        Raises:
            sqlite3.Error: the index cannot be read.
        """
        row = row_of(self._table.total(tokens(question)[:_QUESTION]))
        if not by_words or not any(row):
            return by_words
        likeness = self._near(store, row, [number for number, _file, _score in by_words])
        highest = max(likeness.values(), default=0.0)
        if highest <= 0:
            return by_words
        weight = _weight(store, by_words)
        best = max(score for *_rest, score in by_words)
        words = {number: score / best for number, _file, score in by_words}
        files = {number: file for number, file, _score in by_words}
        files |= store.files_by_passage([number for number in likeness if number not in files])
        scores = {
            number: (1 - weight) * words.get(number, 0.0) + weight * likeness.get(number, 0.0) / highest
            for number in files
        }
        return [
            (number, files[number], scores[number])
            for number in sorted(scores, key=lambda n: (-scores[n], n))
        ]

    def _near(self, store: DocumentStore, row: array[int], numbers: list[int]) -> dict[int, float]:
        """The cosine of passages and a question; no less than 0."""
        try:
            if self._all is None or self._all.state != store.state:
                self._all = _All(store)
        except ImportError:
            return _cosines(row, store, numbers)
        return self._all.near(row, numbers)


def _cosines(row: array[int], store: DocumentStore, numbers: list[int]) -> dict[int, float]:
    """The same of these passages alone, in plain Python."""
    there = dict(store.vectors({block_of(number) for number in numbers}))
    length = sum(map(mul, row, row)) ** 0.5
    found = {}
    for number in numbers:
        start = number % NUMBERED * DIMENSIONS
        other = array("b", there.get(block_of(number), b"")[start : start + DIMENSIONS])
        if any(other):
            found[number] = max(
                0.0, sum(map(mul, row, other)) / (length * sum(map(mul, other, other)) ** 0.5)
            )
    return found


class _All:
    """The vectors of all passages, in memory.

    Raises:
        ImportError: numpy is not installed.
    """

    def __init__(self, store: DocumentStore) -> None:
        import numpy as np

        self._np = np
        self.state = store.state
        numbers, parts = [], []
        for block, rows in store.vectors():
            numbers.append(np.arange(len(rows) // DIMENSIONS, dtype=np.int64) + block * NUMBERED)
            parts.append(rows)
        self._numbers = np.concatenate([np.zeros(0, np.int64), *numbers])
        self._rows = np.frombuffer(b"".join(parts), np.int8).reshape(-1, DIMENSIONS)
        self._lengths = np.concatenate(
            [np.ones(0, np.float32), *(np.linalg.norm(some, axis=1) for some in self._floats())]
        )

    def _floats(self) -> Iterable[Any]:
        """The rows as numbers to reckon with, some thousand at a time: all at once would take four times the memory."""
        for start in range(0, len(self._rows), _AT_ONCE):
            yield self._rows[start : start + _AT_ONCE].astype(self._np.float32)

    def near(self, row: array[int], numbers: list[int]) -> dict[int, float]:
        """The cosine of the nearest passages and of these; no less than 0."""
        np = self._np
        asked = np.array(row, dtype=np.float32)
        asked /= np.linalg.norm(asked)
        parts = [some @ asked for some in self._floats()]
        cosines = np.concatenate([np.zeros(0, np.float32), *parts]) / np.maximum(self._lengths, 1e-9)
        count = min(_CANDIDATES, len(cosines))
        nearest = np.argpartition(-cosines, count - 1)[:count] if count else np.zeros(0, np.int64)
        there = np.flatnonzero(np.isin(self._numbers, numbers))
        near = nearest[cosines[nearest] >= _NEAR * cosines.max(initial=0.0)]
        return {
            int(self._numbers[place]): max(0.0, float(cosines[place]))
            for place in {*there.tolist(), *near.tolist()}
        }


def _weight(store: DocumentStore, by_words: Found) -> float:
    """What vectors count: more the more of the first passages name code, since headings there are names of functions.

    Of the best twenty passages for a question, 95 % do so in documentation of libraries, 3 % in abstracts of papers.
    """
    first = store.get([number for number, _file, _score in by_words[:_LOOKED_AT]]).values()
    share = sum(one.code or _NAME.search(one.body) is not None for one in first) / max(1, len(first))
    return _PROSE_WEIGH + (_CODE_WEIGH - _PROSE_WEIGH) * share
