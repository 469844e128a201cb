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
"""Bytes of all passages of one package, about."""
_LONGEST = 100_000
"""Characters of a passage; KR reads each passage that it composes an answer from many times."""
_PER_PASSAGE = 2_000
"""About what else a passage takes in memory: its names, its places, its metadata."""


def bounded(passages: Iterable[IndexedPassage], notes: list[str]) -> Iterator[IndexedPassage]:
    """Yield passages up to the limits, with notes if there are more, or longer ones."""
    left = _MOST_TEXT
    cut = 0
    for one in passages:
        is_long = max(map(len, _texts(one))) > _LONGEST
        passage = _shortened(one) if is_long else one
        cut += is_long
        left -= sum(map(len, _texts(passage))) + _PER_PASSAGE
        if left < 0:
            notes.append(f"more than {_MOST_TEXT // 1_000_000} MB of passages, the rest left out")
            break
        yield passage
    if cut:
        notes.append(
            f"longer than {_LONGEST // 1_000} kB, so that only their beginning was read: {cut:,} passages"
        )


def _texts(passage: IndexedPassage) -> tuple[str, ...]:
    return passage.text, passage.prose or "", passage.lead, passage.words, passage.title, passage.name


def _shortened(passage: IndexedPassage) -> IndexedPassage:
    """A passage up to the limit, in whole lines unless they are very long, with the code that is left in it."""
    end = passage.text.rfind("\n", _LONGEST // 2, _LONGEST)
    text = passage.text[: end if end > 0 else _LONGEST]
    return passage._replace(
        text=text,
        prose=None if passage.prose is None else passage.prose[:_LONGEST],
        lead=passage.lead[:_LONGEST],
        words=passage.words[:_LONGEST],
        title=passage.title[:_LONGEST],
        name=passage.name[:_LONGEST],
        code=tuple(block for block in passage.code if block in text),
    )
