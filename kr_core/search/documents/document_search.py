"""The best passages for a question, one for each file, best first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kr_core.search.documents.hits import DocumentHit, shown
from kr_core.search.documents.tokenizer import asked
from kr_core.text import STOP_WORDS, WEAK_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.search.documents.encoding import StoredPassage
    from kr_core.search.documents.hits import Found
    from kr_core.search.documents.sqlite_index import DocumentStore
    from kr_core.search.documents.static_vectors import StaticVectors
    from kr_core.search.documents.tantivy_index import FastIndex
    from kr_core.search.documents.tokenizer import QueryWords
    from kr_core.search.documents.vectors import Vectors

__all__ = ["hit_of", "search"]


_CANDIDATES, _CANDIDATES_TO_FUSE = 100, 200
_LONG = 9
"""Telling words of a question from which on the first passages say what else it is about; a short one is only blurred."""
_FEEDBACK_FILES, _FEEDBACK_WORDS = 10, 10
_SURE_FILES, _SURE_WORDS, _SURE_TIMES = 5, 20, 2
"""The same where vectors have had their say too, so that the first files are more often right; and how many times a word
that was asked counts more than without them."""
_OFTEN = 60
_SHORTEST = 3
VECTORS_WEIGH = 0.65
"""What likeness by vectors counts against likeness by words (`docs/quality.md`)."""


def search(
    store: DocumentStore,
    question: str,
    limit: int = 10,
    vectors: Vectors | None = None,
    gone: Sequence[int] = (),
    fast: FastIndex | None = None,
    static: StaticVectors | None = None,
) -> list[DocumentHit]:
    """The best passages for a question.

    Where several passages of a file are found, the best stands for the file; the others follow when there are fewer files
    than hits are wanted.

    Args:
        store: the index.
        question: in plain words.
        limit: how many at most.
        vectors: of the passages; without them words alone count.
        gone: roots that nothing is answered from.
        fast: finds words in place of the store.
        static: ranks by the vectors in the index.

    Raises:
        sqlite3.Error: the index cannot be read.
    """
    said, by = asked(question), fast or store
    most = max(_CANDIDATES if static is None else _CANDIDATES_TO_FUSE, 3 * limit)
    found = _by_words(store, by, said, most) if said.words else []
    if static is not None:
        found = static.fused(store, question, found)
    if vectors is not None and question.strip():
        found = _by_both(store, by, vectors, question, said, found)
    if gone:
        there = store.without({file for _number, file, _score in found}, gone)
        found = [one for one in found if one[1] in there]
    first: list[tuple[int, float]] = []
    later: list[tuple[int, float]] = []
    files: set[int] = set()
    for number, file, score in found:
        (later if file in files else first).append((number, score))
        files.add(file)
    hits = _different(store, [*first, *later], limit)
    return sorted(hits, key=lambda one: -one.score)


def _different(store: DocumentStore, found: list[tuple[int, float]], limit: int) -> list[DocumentHit]:
    """The first passages that say something else than those before them: a manual may have each page once more, in a whole."""
    hits: list[DocumentHit] = []
    said: set[tuple[str, str]] = set()
    for start in range(0, len(found), limit):
        some = found[start : start + limit]
        stored = store.get([number for number, _score in some])
        for number, score in some:
            one = stored.get(number)
            if one is None or (one.name, one.body) in said:
                continue
            said.add((one.name, one.body))
            hits.append(hit_of(one, score))
            if len(hits) == limit:
                return hits
    return hits


def _by_words(store: DocumentStore, by: DocumentStore | FastIndex, said: QueryWords, limit: int) -> Found:
    found = by.bm25(said.query(), limit)
    if said.telling < _LONG or not found:
        return found
    return by.bm25(said.query(1, _feedback(store, by, said, found, _FEEDBACK_WORDS)), limit)


def _by_both(
    store: DocumentStore,
    by: DocumentStore | FastIndex,
    vectors: Vectors,
    question: str,
    said: QueryWords,
    by_words: Found,
) -> Found:
    vectors.follow(store)
    vector = vectors.of(question)
    found = _fused(by_words, vectors.like(vector, store, by_words))
    if said.telling < _LONG or not found:
        return found
    more = _feedback(store, by, said, found, _SURE_WORDS)
    by_words = by.bm25(said.query(_SURE_TIMES, more), len(by_words))
    vector = vectors.towards(vector, _first(found, _SURE_FILES))
    return vectors.evened(_fused(by_words, vectors.like(vector, store, by_words)))


def _first(found: Found, files: int) -> list[int]:
    """The first passage of each of the first files."""
    first = {file: number for number, file, _score in reversed(found)}
    return [first[file] for file in list(dict.fromkeys(file for _number, file, _score in found))[:files]]


def _feedback(
    store: DocumentStore, by: DocumentStore | FastIndex, said: QueryWords, found: Found, most: int
) -> list[str]:
    """The words that the passages of the first files say often, and others seldom (pseudo-relevance feedback)."""
    shares: dict[str, float] = {}
    for stored in store.get(_first(found, _FEEDBACK_FILES)).values():
        counts = Counter(
            stem(word)
            for word in words(f"{stored.outer} {stored.name} {stored.body}")
            if len(word) >= _SHORTEST and word.isalpha() and word not in STOP_WORDS and word not in WEAK_WORDS
        )
        total = counts.total() or 1
        for root, count in counts.items():
            shares[root] = shares.get(root, 0.0) + count / total
    known = {stem(word) for word in said.words}
    often = sorted((root for root in shares if root not in known), key=lambda root: (-shares[root], root))
    rarities = by.rarities(often[:_OFTEN])
    return sorted(rarities, key=lambda root: -shares[root] * rarities[root])[:most]


def _fused(by_words: Found, by_vectors: Found) -> Found:
    """Both lists as one, by the weighted sum of their scores, each stretched to 0-1 (convex combination)."""
    files = {number: file for number, file, _score in (*by_words, *by_vectors)}
    one, other = _stretched(by_words), _stretched(by_vectors)
    scores = {
        number: (1 - VECTORS_WEIGH) * one.get(number, 0.0) + VECTORS_WEIGH * other.get(number, 0.0)
        for number in files
    }
    return [
        (number, files[number], scores[number]) for number in sorted(scores, key=lambda n: (-scores[n], n))
    ]


def _stretched(found: Found) -> dict[int, float]:
    if not found:
        return {}
    low, high = min(score for *_rest, score in found), max(score for *_rest, score in found)
    return {number: (score - low) / (high - low) if high > low else 1.0 for number, _file, score in found}


def hit_of(stored: StoredPassage, score: float) -> DocumentHit:
    """A passage as it is shown."""
    path = f"{stored.root}/{stored.path}" if stored.path else stored.root
    return DocumentHit(path, stored.location, score, shown(stored), stored)
