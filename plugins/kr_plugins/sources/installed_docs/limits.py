"""Limits on what KR reads of one package and makes of it: a hostile package may be endless."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.toolkit import IndexedPassage

__all__ = ["MOST_BYTES", "bounded"]

MOST_BYTES = 100_000_000
"""Bytes of the sources of one package; the largest known packages have some 50 million."""
_MOST_TEXT = 300_000_000
"""Characters of all passages of one package."""
_PER_PASSAGE = 500


def bounded(passages: Iterable[IndexedPassage], notes: list[str]) -> Iterator[IndexedPassage]:
    """Yield passages up to the limit, with a note if there are more."""
    left = _MOST_TEXT
    for passage in passages:
        texts = (passage.text, passage.prose or "", passage.lead, passage.words, passage.title, passage.name)
        left -= sum(map(len, texts)) + _PER_PASSAGE
        if left < 0:
            notes.append(f"more than {_MOST_TEXT // 1_000_000} MB of passages, the rest left out")
            return
        yield passage
