"""The best passages for a question, one for each file, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.documents.wording import asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.search.documents.store import DocumentStore, Stored

_CANDIDATES = 100


class DocumentHit(NamedTuple):
    """A passage that answers a question, as it is shown."""

    path: str
    """The file, absolute."""
    locator: str
    """Where in it: `:12`, a line; `#anchor`; `#page=3`; `#cell-4`."""
    score: float
    """Larger is better; comparable within one question only."""
    text: str
    """The headings that lead to the passage, and the passage, verbatim."""
    stored: Stored


def search(store: DocumentStore, question: str, limit: int = 10) -> list[DocumentHit]:
    """The best passages for a question.

    Where several passages of a file are found, the best stands for the file; the others follow when there are fewer files
    than hits are wanted.
    """
    words = asked(question)
    if not words:
        return []
    found = store.bm25(" OR ".join(f'"{word}"' for word in words), max(_CANDIDATES, 3 * limit))
    first: list[tuple[int, float]] = []
    later: list[tuple[int, float]] = []
    files: set[int] = set()
    for number, file, score in found:
        (later if file in files else first).append((number, score))
        files.add(file)
    chosen = [*first, *later][:limit]
    chosen.sort(key=lambda one: -one[1])
    return shown(store, chosen)


def shown(store: DocumentStore, chosen: Sequence[tuple[int, float]]) -> list[DocumentHit]:
    """Passages with their scores as hits."""
    stored = store.get([number for number, _score in chosen])
    return [hit(stored[number], score) for number, score in chosen if number in stored]


def hit(stored: Stored, score: float) -> DocumentHit:
    """A stored passage as a hit."""
    path = f"{stored.root}/{stored.path}" if stored.path else stored.root
    above = stored.outer or ("" if stored.name else stored.title)
    return DocumentHit(
        path, stored.place, score, f"{above}\n\n{stored.body}" if above else stored.body, stored
    )
