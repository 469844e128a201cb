"""The documents of a project: what `kr docs search` and the source `local_docs` ask."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, NamedTuple, Self

from kr_core.errors import ConfigError, KRError
from kr_core.search.documents.document_search import hit_of, search
from kr_core.search.documents.index_errors import absent, fault, is_there, unread
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tokenizer import asked
from kr_core.search.word_vectors import WordTable
from kr_core.text import is_weak, root_of, stem, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kr_core.protocols import Embedder
    from kr_core.search.documents.hits import DocumentHit
    from kr_core.search.documents.static_vectors import StaticVectors
    from kr_core.search.documents.tantivy_index import FastIndex
    from kr_core.search.documents.vectors import Vectors

__all__ = ["Coverage", "Documents"]

_NOTHING, _INDEX_IT = "nothing is indexed yet", "`kr docs index PATH` indexes a folder or a file"
_EVERYDAY = 0.3
"""What an everyday word counts of what its rarity says."""


class Coverage(NamedTuple):
    """How much of a question the passages cover."""

    shares: list[float]
    """For each passage the share of the question's words that it holds, weighted by rarity; 0-1."""
    covered: list[frozenset[str]]
    """For each passage the words that it holds."""
    missing: tuple[str, ...]
    """Telling words of the question that no document holds."""


class Documents:
    """The searchable index of a project's documents; for any thread, but one at a time.

    Args:
        state_folder: the project's `.kr/`.
        embedder: returns the embedder, or None; called on the first search.
        told: called with progress while a search makes vectors: the number of passages done, and in total.

    Raises:
        ConfigError: nothing is indexed.
        StorageError: the index cannot be read.
    """

    def __init__(
        self,
        state_folder: Path,
        embedder: Callable[[], Embedder | None] | None = None,
        told: Callable[[int, int], None] | None = None,
    ) -> None:
        path = state_folder / FILE_NAME
        if not path.exists():
            raise ConfigError(_NOTHING, hint=_INDEX_IT)
        self._folder = state_folder
        self._store = DocumentStore(path)
        self._fast = _fast_index(self._store, state_folder)
        self._embedder = embedder
        self._told = told
        self._vectors: Vectors | None = None
        self._static: StaticVectors | None = None
        self._lock = threading.Lock()
        self._said: list[str] = []
        self._lacks: list[str] = []

    @property
    def notes(self) -> list[str]:
        """Problems during a search, each once, such as a search by words alone, and what the index lacks now."""
        slow = [self._fast.lacks] if self._fast is not None and self._fast.lacks else []
        return [*self._said, *self._lacks, *slow]

    @property
    def unready(self) -> str:
        """Why no search can find anything: no indexed document is there. Empty if there is one.

        Raises:
            StorageError: the index cannot be read.
        """
        with self._lock:
            try:
                gone, bare = set(self._gone()), self._store.bare()
                left = [one for one in self._store.roots_of() if one[0] not in gone and one[1:] not in bare]
            except sqlite3.Error as error:
                raise fault("cannot be read", error, self._store.path) from None
        return "" if left else "; ".join(self._lacks) or f"{_NOTHING}; {_INDEX_IT}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._store.close()
        if self._vectors is not None:
            self._vectors.close()

    def search(self, question: str, limit: int = 10) -> list[DocumentHit]:
        """The best passages for a question, best first: one for each file, then others.

        Raises:
            StorageError: the index cannot be read.
        """
        with self._lock:
            try:
                return self._searched(question, limit)
            except sqlite3.Error as error:
                raise fault("cannot be read", error, self._store.path) from None

    def page_of(self, hit: DocumentHit) -> list[DocumentHit]:
        """All passages of the file of a hit, in their order.

        Raises:
            StorageError: the index cannot be read.
        """
        stored = hit.stored
        with self._lock:
            try:
                return [hit_of(one, 0.0) for one in self._store.of_page(stored.file)]
            except sqlite3.Error as error:
                raise fault("cannot be read", error, self._store.path) from None

    def _searched(self, question: str, limit: int) -> list[DocumentHit]:
        gone, vectors = self._gone(), self._opened()
        if vectors is not None:
            try:
                return search(self._store, question, limit, vectors, gone, self._fast)
            except sqlite3.Error:
                raise
            except Exception as error:  # a plugin may raise anything, and words are searched all the same
                said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
                self._note(f"embedder: {said}; words alone were searched")
        return search(self._store, question, limit, gone=gone, fast=self._fast, static=self._static)

    def _gone(self) -> list[int]:
        """The roots of which nothing is there any more; what is not indexed of the others is noted, too."""
        gone, bare = [], self._store.bare()
        self._lacks = []
        for root, name, path in self._store.roots_of():
            if not is_there(path):
                gone.append(root)
                self._lacks.append(absent(name, path))
            elif (name, path) in bare:
                self._lacks.append(unread(name, path))
        return gone

    def coverage(self, question: str, hits: Sequence[DocumentHit]) -> Coverage:
        """How much of a question the passages cover."""
        said = {stem(word): word for word in asked(question).words}
        known, weights = self._weights(said)
        total = sum(weights.values()) or 1.0
        shares, covered = [], []
        for hit in hits:
            roots = {root_of(word) for word in words(hit.text)}
            held = {root: word for root, word in said.items() if root_of(word) in roots}
            shares.append(sum(weights[root] for root in held) / total)
            covered.append(frozenset(held.values()))
        missing = tuple(word for root, word in said.items() if root not in known and not is_weak(word))
        return Coverage(shares, covered, missing)

    def weights(self, question: str) -> dict[str, float]:
        """The weight of each word of a question, by its stem: its rarity among the passages, less for everyday words.

        A word that no passage contains has the weight of the rarest.

        Raises:
            StorageError: the index cannot be read.
        """
        try:
            return self._weights({stem(word): word for word in asked(question).words})[1]
        except sqlite3.Error as error:
            raise fault("cannot be read", error, self._store.path) from None

    def _weights(self, said: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
        """How rare those words are that some passage holds, and what each weighs; words by their stems."""
        with self._lock:
            known = self._store.rarities(list(said))
        rarest = max(known.values(), default=1.0)
        weights = {
            root: known.get(root, rarest) * (_EVERYDAY if is_weak(word) else 1.0)
            for root, word in said.items()
        }
        return known, weights

    def _opened(self) -> Vectors | None:
        if self._vectors is None and self._embedder is not None:
            try:
                embedder = self._embedder()
                if isinstance(embedder, WordTable):
                    from kr_core.search.documents.static_vectors import StaticVectors

                    self._static = StaticVectors(embedder)
                elif embedder is not None:
                    from kr_core.search.documents.vectors import Vectors

                    self._vectors = Vectors(self._folder, embedder, self._told)
            except ImportError:
                self._note(
                    "embedder: needs numpy, which is not installed (pip install 'kr-core[semantic]'); words alone were searched"
                )
            except KRError as error:
                self._note(f"embedder: {error}; words alone were searched")
            if self._vectors is None:
                self._embedder = None
        return self._vectors

    def _note(self, said: str) -> None:
        if said not in self._said:
            self._said.append(said)


def _fast_index(store: DocumentStore, state_folder: Path) -> FastIndex | None:
    from kr_core.search.documents.tantivy_index import FOLDER_NAME, FastIndex

    try:
        return FastIndex(store, state_folder / FOLDER_NAME)
    except ImportError:  # without the extra SQLite is asked
        return None
