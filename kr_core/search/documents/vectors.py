"""Vectors of passages: made when words first find a passage, kept by its content, compared exactly."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from typing import TYPE_CHECKING, Any

from kr_core.errors import RequestError
from kr_core.files import make_state_folder
from kr_core.model import Outcome
from kr_core.search.documents.encoding import block_of
from kr_core.search.documents.hits import shown
from kr_core.search.documents.index_errors import fault
from kr_core.search.schemas import distrust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from kr_core.protocols import Embedder
    from kr_core.search.documents.hits import Found
    from kr_core.search.documents.sqlite_index import DocumentStore

_AT_ONCE = 50
"""Passages that one question has embedded at most, the best by words first; more would keep people waiting."""
_BETWEEN = 10
"""Passages between two words to somebody who looks on: a slow model takes some seconds for them."""
_CANDIDATES = 100
_NEIGHBOURS, _NEIGHBOURS_WEIGH = 5, 0.5
"""How many passages have a say in another's score, and what they count there; chosen on one half of the questions."""
_TABLES = """
create table if not exists vectors (hash integer primary key, vector blob not null);
create table if not exists placed (passage integer primary key, hash integer not null);
create index if not exists placed_hash on placed (hash);
create table if not exists placed_of (made text not null);
"""
_ASKED = 500
"""Hashes that are asked for at once; SQLite takes no more than some thousand."""


class Vectors:
    """The vectors that one embedder has made of the passages of an index; for one thread at a time.

    Args:
        folder: the folder of the vectors.
        embedder: makes them.
        told: of how many passages vectors are made, and of how many they are to be made; for somebody who looks on. The
            embedder is given a few at a time then.

    Raises:
        ImportError: numpy is not installed.
        StorageError: they cannot be read or written.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, told: Callable[[int, int], None] | None = None
    ) -> None:
        import numpy as np

        self._np = np
        self._embedder = embedder
        self._told = told
        make_state_folder(folder)
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", embedder.identity)[:80]
        self.path = folder / f"docs-vectors-{name}.sqlite"
        self._made_of = ""
        self._seen = -1
        self._placed: dict[int, int] = {}
        """For each passage the hash of its content, in the index `_made_of`."""
        self._swept = 0
        self._waiting: list[int] = []
        self._hashes: list[int] = []
        self._places: dict[int, int] = {}
        self._room: Any = None
        """The vectors, and room for more: to copy a hundred thousand for each question would take longer than the question."""
        try:
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=60
            )
            distrust(self._connection, self.path)
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.executescript(_TABLES)
        except sqlite3.Error as error:
            raise fault("cannot be used", error, self.path) from None

    def follow(self, store: DocumentStore) -> None:
        """Read what other processes have added, and what is known of an index that was made anew; nothing, where nothing is.

        Raises:
            StorageError: they cannot be read or written.
        """
        made = store.made
        try:
            (seen,) = self._connection.execute("pragma data_version").fetchone()
            if (made, seen) == (self._made_of, self._seen):
                return
            if made != self._made_of:
                self._made_of, self._placed, self._swept, self._waiting = made, {}, 0, []
                self._drop_gone(store)
            self._read()
            self._seen = seen
        except sqlite3.Error as error:
            self._undo()
            raise fault("cannot be used", error, self.path) from None

    def _drop_gone(self, store: DocumentStore) -> None:
        """Take out what is kept of another index, and of passages that are gone; vectors stay, others may have their content."""
        there: set[int] = set()
        if self._is_kept():
            there = store.blocks()
            if all(
                block_of(row[0]) in there for row in self._connection.execute("select passage from placed")
            ):
                return
        self._connection.execute("begin immediate")
        if self._is_kept():
            numbers = self._connection.execute("select passage from placed").fetchall()
            gone = [row for row in numbers if block_of(row[0]) not in there]
            self._connection.executemany("delete from placed where passage = ?", gone)
        else:
            self._keep_no_other()
        self._connection.execute("commit")

    def _is_kept(self) -> bool:
        """Whether `placed` is of this index."""
        row = self._connection.execute("select made from placed_of").fetchone()
        return bool(row == (self._made_of,))

    def _keep_no_other(self) -> None:
        self._connection.execute("delete from placed")
        self._connection.execute("delete from placed_of")
        self._connection.execute("insert into placed_of values (?)", (self._made_of,))

    def _read(self) -> None:
        """Read the vectors that are not known yet, and which passages have them."""
        execute = self._connection.execute
        placed = execute("select passage, hash from placed").fetchall() if self._is_kept() else []
        hashes = [row[0] for row in execute("select hash from vectors")]
        new = [digest for digest in hashes if digest not in self._places]
        for start in range(0, len(new), _ASKED):
            some = new[start : start + _ASKED]
            marks = ",".join("?" * len(some))
            rows = execute(f"select hash, vector from vectors where hash in ({marks})", some).fetchall()
            width = len(rows[0][1]) if self._room is None else 2 * self._room.shape[1]
            rows = [row for row in rows if len(row[1]) == width]  # else of another model of the same name
            if rows:
                flat = self._np.frombuffer(b"".join(row[1] for row in rows), self._np.float16)
                self._append(flat.astype(self._np.float32).reshape(len(rows), -1), [row[0] for row in rows])
        for passage, digest in placed:
            if digest in self._places:  # its vector may be taken out by another process
                self._placed.setdefault(passage, digest)

    def _undo(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @property
    def _matrix(self) -> Any:
        """The vectors, a row for each of the hashes; None where there are none yet."""
        return None if self._room is None else self._room[: len(self._hashes)]

    def _append(self, made: Any, hashes: Iterable[int]) -> None:
        """Put vectors behind those there are."""
        count = len(self._hashes)
        if self._room is None or len(self._room) < count + len(made):
            room = self._np.empty((max(1024, 2 * count, count + len(made)), made.shape[1]), self._np.float32)
            if self._room is not None:
                room[:count] = self._room[:count]
            self._room = room
        self._room[count : count + len(made)] = made
        for digest in hashes:
            self._places[digest] = len(self._hashes)
            self._hashes.append(digest)

    def of(self, question: str) -> Any:
        """The vector of a question.

        Raises:
            RequestError: the embedder is a service that does not answer.
        """
        (vector,) = self._made([question])
        return vector

    def towards(self, vector: Any, numbers: list[int]) -> Any:
        """A vector moved half-way to the mean of some passages (Rocchio, 1971)."""
        places = [self._places[self._placed[number]] for number in numbers if number in self._placed]
        if not places:
            return vector
        (moved,) = self._normal([vector + self._matrix[places].mean(axis=0)])
        return moved

    def evened(self, found: Found) -> Found:
        """The best passages found, the score of each drawn towards those of the passages nearest to it.

        What lies among good passages is more often right than what stands alone (score regularisation, Diaz, 2005).
        Passages without a vector keep their score.
        """
        np = self._np
        placed = [one for one in found[:_CANDIDATES] if one[0] in self._placed]
        count = min(_NEIGHBOURS, len(placed) - 1)
        if count < 1:
            return found
        matrix = self._matrix[[self._places[self._placed[number]] for number, _file, _score in placed]]
        scores = np.array([score for *_rest, score in placed])
        likeness = matrix @ matrix.T
        np.fill_diagonal(likeness, -1.0)
        nearest = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(likeness, nearest, axis=1), 1e-9)
        theirs = (weights * scores[nearest]).sum(axis=1) / weights.sum(axis=1)
        drawn = scores + _NEIGHBOURS_WEIGH * (theirs - scores)
        new = {number: float(score) for (number, _file, _old), score in zip(placed, drawn, strict=True)}
        evened = [(number, file, new.get(number, score)) for number, file, score in found]
        return sorted(evened, key=lambda one: (-one[2], one[0]))

    def like(self, vector: Any, store: DocumentStore, found: Found) -> Found:
        """The passages whose vectors are nearest to one, with their cosine, and those that words have found.

        What words have found is embedded now, where it is not yet, as far as that does not take long.

        Raises:
            RequestError: the embedder is a service that does not answer.
            StorageError: new vectors cannot be kept.
        """
        self.follow(store)
        numbers = [number for number, _file, _score in found[:_AT_ONCE]]
        self.embed([*numbers, *self._further(_AT_ONCE - len(numbers), store)], store)
        if self._matrix is None:
            return []
        cosines = self._matrix @ vector
        count = min(_CANDIDATES, len(cosines))
        best = [self._hashes[place] for place in self._np.argpartition(-cosines, count - 1)[:count]]
        marks = ",".join("?" * len(best))
        near = self._connection.execute(
            f"select passage, hash from placed where hash in ({marks})", best
        ).fetchall()
        alike = {passage for passage, digest in near if self._placed.get(passage) == digest}
        alike |= {number for number in (one[0] for one in found) if number in self._placed}
        likeness = [
            (number, file, float(cosines[self._places[self._placed[number]]]))
            for number, file in store.files_by_passage(sorted(alike)).items()
        ]
        return sorted(likeness, key=lambda one: (-one[2], one[0]))

    def _further(self, count: int, store: DocumentStore) -> list[int]:
        """Passages that have no vector yet though no words led to them: in time all of a small index have one."""
        while len(self._waiting) < count:
            block = store.next_block(self._swept)
            if block is None:
                if not self._waiting:
                    self._drop_unneeded()
                break
            self._swept, numbers = block
            self._waiting += [number for number in numbers if number not in self._placed]
        taken, self._waiting = self._waiting[: max(0, count)], self._waiting[max(0, count) :]
        return taken

    def _drop_unneeded(self) -> None:
        """Take out the vectors of what no passage says any more, once every passage is known to have one."""
        unneeded = "from vectors where hash not in (select hash from placed)"
        try:
            if self._is_kept() and self._connection.execute(f"select 1 {unneeded} limit 1").fetchone():
                self._connection.execute(f"delete {unneeded}")
                self._placed, self._hashes, self._places, self._room = {}, [], {}, None
                self._read()
        except sqlite3.Error as error:
            raise fault("cannot be written", error, self.path) from None

    def _made(self, texts: list[str]) -> Any:
        """The vectors of texts, each of length 1.

        Raises:
            RequestError: they are not as many as texts, not of one length, that of all others, or hold what is no number.
        """
        try:
            made = self._np.asarray(self._embedder.embed(texts), dtype=self._np.float32)
        except (TypeError, ValueError):
            raise RequestError(Outcome.bad_answer, "what it made are no vectors of one length") from None
        wanted = made.shape[-1] if self._room is None else self._room.shape[1]
        if made.shape != (len(texts), wanted) or not wanted:
            shape = " x ".join(map(str, made.shape))
            what = f"made {shape} numbers of {len(texts)} texts; expected are {wanted} each"
            raise RequestError(
                Outcome.bad_answer, what, hint=f"if it is another model now, remove {self.path.name}"
            )
        if not self._np.isfinite(made).all():
            raise RequestError(Outcome.bad_answer, "made a vector with what is no number")
        return self._normal(made)

    def _all_made(self, texts: list[str]) -> Any:
        """The vectors of the texts of passages, each of length 1."""
        if self._told is None:
            return self._made(texts)
        made = []
        for start in range(0, len(texts), _BETWEEN):
            self._told(start, len(texts))
            made.append(self._made(texts[start : start + _BETWEEN]))
        return self._np.concatenate(made)

    def _normal(self, vectors: Any) -> Any:
        """As an array of float32, each of length 1."""
        made = self._np.asarray(vectors, dtype=self._np.float32)
        return made / self._np.maximum(self._np.linalg.norm(made, axis=1, keepdims=True), 1e-12)

    def embed(self, numbers: list[int], store: DocumentStore) -> None:
        """Place passages that are not placed yet, and embed those whose content is new.

        Raises:
            RequestError: the embedder is a service that does not answer, or answers what are no vectors.
            StorageError: new vectors cannot be kept.
        """
        self.follow(store)
        new = [number for number in numbers if number not in self._placed]
        if not new:
            return
        texts = {number: shown(one) for number, one in store.get(new).items()}
        placed = {number: _hash(text) for number, text in texts.items()}
        missing = {
            placed[number]: text for number, text in texts.items() if placed[number] not in self._places
        }
        made = self._all_made(list(missing.values())) if missing else None
        rows = [] if made is None else [
            (digest, vector.astype(self._np.float16).tobytes()) for digest, vector in zip(missing, made, strict=True)
        ]  # fmt: skip
        try:
            self._connection.execute("begin immediate")
            if not self._is_kept():
                self._keep_no_other()
            self._connection.executemany("insert or replace into vectors values (?, ?)", rows)
            self._connection.executemany("insert or replace into placed values (?, ?)", placed.items())
            self._connection.execute("commit")
        except sqlite3.Error as error:
            self._undo()
            raise fault("cannot be written", error, self.path) from None
        if made is not None:
            self._append(made, missing)
        self._placed.update(placed)


def _hash(text: str) -> int:
    """63 bits: passages of the same content have the same vector."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
