"""Vectors of passages: made when words first find a passage, kept by its content, compared exactly."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any

from kr_core.errors import StorageError
from kr_core.files import make_state_folder
from kr_core.search.documents.searching import texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.protocols import Embedder
    from kr_core.search.documents.searching import Found
    from kr_core.search.documents.store import DocumentStore

_AT_ONCE = 50
"""Passages that one question has embedded at most, the best by words first; more would keep people waiting."""
_CANDIDATES = 100


class Vectors:
    """The vectors that one embedder has made of the passages of an index; for one thread at a time.

    Args:
        folder: where they are kept.
        embedder: makes them.

    Raises:
        ImportError: numpy is not installed.
        StorageError: they cannot be read or written.
    """

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        import numpy as np

        self._np = np
        self._embedder = embedder
        make_state_folder(folder)
        self.path = folder / f"docs-vectors-{re.sub(r'[^A-Za-z0-9.-]+', '-', embedder.identity)[:80]}.sqlite"
        try:
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=60
            )
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.execute(
                "create table if not exists vectors (hash integer primary key, vector blob not null)"
            )
            rows = self._connection.execute("select hash, vector from vectors order by hash").fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"cannot be used: {error}", where=str(self.path)) from None
        self._hashes: list[int] = [row[0] for row in rows]
        self._places = {digest: place for place, digest in enumerate(self._hashes)}
        self._matrix: Any = None
        if rows:
            size = len(rows[0][1]) // 2
            self._matrix = np.frombuffer(b"".join(row[1] for row in rows), np.float16)
            self._matrix = self._matrix.reshape(-1, size).astype(np.float32)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def of(self, question: str) -> Any:
        """The vector of a question.

        Raises:
            RequestError: the embedder is a service that does not answer.
        """
        (vector,) = self._normal(self._embedder.embed([question]))
        return vector

    def towards(self, vector: Any, numbers: list[int], store: DocumentStore) -> Any:
        """A vector moved half-way to the mean of some passages (Rocchio, 1971)."""
        places = [self._places[digest] for _number, digest in store.hashes(numbers) if digest in self._places]
        if not places or self._matrix is None:
            return vector
        (moved,) = self._normal([vector + self._matrix[places].mean(axis=0)])
        return moved

    def like(self, vector: Any, store: DocumentStore, found: Found) -> Found:
        """The passages whose vectors are nearest to one, with their cosine, and those that words have found.

        What words have found is embedded now, where it is not yet, as far as that does not take long.

        Raises:
            RequestError: the embedder is a service that does not answer.
            StorageError: new vectors cannot be kept.
        """
        self._embed([number for number, _file, _score in found[:_AT_ONCE]], store)
        if self._matrix is None:
            return []
        cosines = self._matrix @ vector
        count = min(_CANDIDATES, len(cosines))
        best = self._np.argpartition(-cosines, count - 1)[:count]
        by_hash = {self._hashes[place]: float(cosines[place]) for place in best}
        for _number, digest in store.hashes([number for number, _file, _score in found]):
            if digest in self._places:
                by_hash[digest] = float(cosines[self._places[digest]])
        rows = store.with_hash(list(by_hash))
        return sorted(
            ((number, file, by_hash[digest]) for number, file, digest in rows), key=lambda one: -one[2]
        )

    def _normal(self, vectors: Any) -> Any:
        """As an array of float32, each of length 1."""
        made = self._np.asarray(vectors, dtype=self._np.float32)
        return made / self._np.maximum(self._np.linalg.norm(made, axis=1, keepdims=True), 1e-12)

    def _embed(self, numbers: list[int], store: DocumentStore) -> None:
        np = self._np
        missing = {digest: number for number, digest in store.hashes(numbers) if digest not in self._places}
        if not missing:
            return
        stored = store.get(list(missing.values()))
        wanted = [stored[number] for number in missing.values() if number in stored]
        made = self._normal(self._embedder.embed(texts_of(wanted)))
        rows = [
            (one.hash, vector.astype(np.float16).tobytes()) for one, vector in zip(wanted, made, strict=True)
        ]
        try:
            self._connection.execute("begin immediate")
            self._connection.executemany("insert or replace into vectors values (?, ?)", rows)
            self._connection.execute("commit")
        except sqlite3.Error as error:
            raise StorageError(f"cannot be written: {error}", where=str(self.path)) from None
        for one in wanted:
            self._places[one.hash] = len(self._hashes)
            self._hashes.append(one.hash)
        self._matrix = made if self._matrix is None else np.concatenate([self._matrix, made])
