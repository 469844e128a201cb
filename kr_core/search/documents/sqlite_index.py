"""The index of documents: one SQLite file with full-text search, changed in place, whole after any crash."""

from __future__ import annotations

import secrets
import sqlite3
import time
from contextlib import contextmanager
from math import log
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import StorageError
from kr_core.files import make_state_folder
from kr_core.search.documents.encoding import BLOCKS, NUMBERED, block_of, stored, words_of
from kr_core.search.documents.index_errors import fault
from kr_core.search.schemas import distrust

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_core.search.documents.encoding import PackedBlock, StoredPassage

FORMAT = "6"
"""Raised whenever the tables, passages, or words or vectors put into them change; an index of another format is made anew."""
FILE_NAME = "docs.sqlite"

_TABLES = """
create table meta (key text primary key, value text not null) without rowid;
create table collections (id integer primary key, name text not null unique);
create table roots (id integer primary key, collection integer not null, path text not null, unique (collection, path));
create table files (
    id integer primary key, root integer not null, path text not null, size integer not null, changed integer not null,
    hash blob not null, title text not null, note text not null, unique (root, path)
);
create table blocks (id integer primary key, file integer not null, count integer not null, data blob not null);
create index blocks_file on blocks (file);
create table vectors (block integer primary key, rows blob not null);
create virtual table postings using fts5(
    name, body, content='', tokenize='porter unicode61 remove_diacritics 2'
);
"""
_HELD = 8 * 1024 * 1024
"""Bytes of postings that SQLite gathers before it writes them: eight times its own number takes a third off the time."""
NAME_WEIGHT, BODY_WEIGHT = 4.0, 1.0
"""BM25 weights of a passage's headings and its file's name, and of its text; chosen on one half of the questions."""


_PAUSE = 0.025
"""Seconds between two transactions of an update. SQLite tries again after pauses of up to 100 ms, so that who waits to write
comes in by one of them in a few seconds; with none of them it waits till the update ends."""


class Collection(NamedTuple):
    """What was indexed under one name."""

    name: str
    paths: tuple[str, ...]
    files: int
    passages: int


class IndexedFile(NamedTuple):
    """A file as it was indexed."""

    id: int
    size: int
    changed: int
    hash: bytes


class FileRecord(NamedTuple):
    """What is written of a file beside its passages."""

    path: str
    """Below its root; empty where the root is the file."""
    size: int
    changed: int
    """Nanoseconds."""
    hash: bytes
    title: str
    note: str


class DocumentStore:
    """The index; for one thread at a time.

    Args:
        path: its file, in a folder of KR's own state.
        writable: whether it may be changed; one that is missing is made then.

    Raises:
        StorageError: it is not there, cannot be opened, or is of another format and not writable.
    """

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        self.path = path
        try:
            if writable:
                make_state_folder(path.parent)
            where = path if writable else f"{path.resolve().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(
                where, uri=not writable, isolation_level=None, check_same_thread=False, timeout=60
            )
            try:
                self._prepare(writable=writable)
            except BaseException:
                self._connection.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise fault("cannot be opened", error, path) from None

    def _prepare(self, *, writable: bool) -> None:
        distrust(self._connection, self.path)
        if writable:
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.execute("pragma cache_size=-65536")
            self._make()
        else:
            self._connection.execute("pragma mmap_size=1073741824")
        if self._meta("format") != FORMAT:
            raise StorageError(
                "an index of another version of KR",
                where=str(self.path),
                hint="`kr docs index` makes it anew",
            )

    def _make(self) -> None:
        """Make the tables where there are none; those of another format are made anew, with what is to be indexed in them."""
        execute = self._connection.execute
        execute("begin immediate")
        tables = [row[0] for row in execute("select name from sqlite_master where type = 'table'")]
        roots: list[tuple[str, str]] = []
        if "meta" in tables and self._meta("format") != FORMAT:
            roots = execute(
                "select c.name, r.path from roots r join collections c on c.id = r.collection"
            ).fetchall()
            execute("drop table if exists postings")  # and the tables that belong to it
            for table in tables:
                if not table.startswith(("postings", "sqlite_")):
                    execute(f"drop table {table}")
            tables = []
        if "meta" not in tables:
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    execute(statement)
            execute("insert into postings (postings, rank) values ('hashsize', ?)", (_HELD,))
            execute("insert into meta values ('format', ?), ('made', ?)", (FORMAT, secrets.token_hex(8)))
        for name, path in roots:
            self.root(name, path)
        execute("commit")

    def _meta(self, key: str) -> str | None:
        row = self._connection.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def made(self) -> str:
        """Which index this is: one that is made anew has another, and gives the numbers of passages again."""
        return self._meta("made") or ""

    @property
    def state(self) -> str:
        """What tells this content of the index from all that it has had: whatever is added has a number that nothing had before."""
        rows = self._connection.execute(
            "select value from meta where key in ('made', 'next_block', 'passages') order by key"
        )
        return " ".join(str(row[0]) for row in rows)

    @property
    def size(self) -> int:
        """How many passages there are."""
        return int(self._meta("passages") or 0)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # -- changing ------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: what the block did is there from its end on, and nobody else may write until then.

        Raises:
            StorageError: somebody else writes for longer than a minute, the disk is full; nothing of the transaction stays.
        """
        try:
            self._begin()
            yield
            self._commit()
        except sqlite3.Error as error:
            self._rollback()
            raise fault("cannot be written", error, self.path) from None
        except BaseException:
            self._rollback()
            raise

    def keep(self) -> None:
        """Within `writing`: commit, let others write who wait for that, and begin again.

        Raises:
            sqlite3.Error: for `writing` to tell.
        """
        self._commit()
        time.sleep(_PAUSE)
        self._begin()

    def _begin(self) -> None:
        self._connection.execute("begin immediate")
        self._next_block = int(self._meta("next_block") or 1)
        self._passages = self.size

    def _commit(self) -> None:
        values = {"next_block": self._next_block, "passages": self._passages}
        self._connection.executemany("insert or replace into meta values (?, ?)", values.items())
        self._connection.execute("commit")

    def _rollback(self) -> None:
        if self._connection.in_transaction:  # SQLite may have done so by itself
            self._connection.execute("rollback")

    def root(self, collection: str, path: str) -> int:
        """The number of a path in a collection; both are made if they are new."""
        execute = self._connection.execute
        execute("insert or ignore into collections (name) values (?)", (collection,))
        (number,) = execute("select id from collections where name = ?", (collection,)).fetchone()
        execute("insert or ignore into roots (collection, path) values (?, ?)", (number, path))
        return int(
            execute("select id from roots where collection = ? and path = ?", (number, path)).fetchone()[0]
        )

    def known(self, root: int, path: str) -> IndexedFile | None:
        """A file as it was indexed below a root."""
        row = self._connection.execute(
            "select id, size, changed, hash from files where root = ? and path = ?", (root, path)
        ).fetchone()
        return None if row is None else IndexedFile(int(row[0]), int(row[1]), int(row[2]), bytes(row[3]))

    def touch(self, file: int, size: int, changed: int) -> None:
        """Note that a file has another date and the same content."""
        self._connection.execute("update files set size = ?, changed = ? where id = ?", (size, changed, file))

    def add(self, root: int, record: FileRecord, blocks: Iterable[PackedBlock]) -> tuple[int, int]:
        """Index a file; returns its number, and how many passages it has."""
        inserted = self._connection.execute(
            "insert into files (root, path, size, changed, hash, title, note) values (?,?,?,?,?,?,?)",
            (root, *record),
        ).lastrowid
        file = int(inserted or 0)
        before = self._passages
        for words, data, vectors in blocks:
            self._connection.executemany(
                "insert into postings (rowid, name, body) values (?,?,?)",
                [(number, *said) for number, said in enumerate(words, start=self._next_block * NUMBERED)],
            )
            self._connection.execute(
                "insert into blocks (id, file, count, data) values (?,?,?,?)",
                (self._next_block, file, len(words), data),
            )
            self._connection.execute("insert into vectors values (?,?)", (self._next_block, vectors))
            self._next_block += 1
            self._passages += len(words)
        return file, self._passages - before

    def drop_file(self, file: int) -> None:
        """Take a file out of the index."""
        rows = self._connection.execute(f"select {BLOCKS} where f.id = ?", (file,)).fetchall()
        taken = [(one.id, *words_of(one)) for one in stored(rows)]
        self._connection.executemany(
            "insert into postings (postings, rowid, name, body) values ('delete', ?, ?, ?)", taken
        )
        self._connection.execute(
            "delete from vectors where block in (select id from blocks where file = ?)", (file,)
        )
        self._connection.execute("delete from blocks where file = ?", (file,))
        self._connection.execute("delete from files where id = ?", (file,))
        self._passages -= len(taken)

    def see_none(self) -> None:
        """Begin to note which files were met."""
        self._connection.execute("create temp table if not exists seen (id integer primary key)")
        self._connection.execute("delete from temp.seen")

    def see(self, file: int) -> None:
        """Note that a file was met; 0 is none."""
        self._connection.execute("insert or ignore into temp.seen values (?)", (file,))

    def unseen(self, root: int) -> Iterator[tuple[int, str]]:
        """The files below a root that were not met, a batch at a time, so that they may be taken out meanwhile."""
        return self._batches("and id not in (select id from temp.seen)", root)

    def files_of(self, root: int) -> Iterator[tuple[int, str]]:
        """The files below a root, a batch at a time, so that they may be taken out meanwhile."""
        return self._batches("", root)

    def _batches(self, condition: str, root: int) -> Iterator[tuple[int, str]]:
        last = 0
        while True:
            rows = self._connection.execute(
                f"select id, path from files where root = ? and id > ? {condition} order by id limit 1000",
                (root, last),
            ).fetchall()
            if not rows:
                return
            for number, path in rows:
                yield int(number), str(path)
            last = int(rows[-1][0])

    def forget_root(self, root: int) -> None:
        """Take a root out whose files are gone, and its collection if it was the last one."""
        self._connection.execute("delete from roots where id = ?", (root,))
        self._connection.execute("delete from collections where id not in (select collection from roots)")

    # -- looking -------------------------------------------------------------------------------------------

    def collections(self) -> list[Collection]:
        """What is indexed, by name."""
        found = []
        for number, name in self._connection.execute(
            "select id, name from collections order by name"
        ).fetchall():
            roots = self._connection.execute(
                "select id, path from roots where collection = ? order by path", (number,)
            ).fetchall()
            marks = ",".join("?" * len(roots))
            numbers = [row[0] for row in roots]
            (files,) = self._connection.execute(
                f"select count(*) from files where root in ({marks})", numbers
            ).fetchone()
            (passages,) = self._connection.execute(
                f"select coalesce(sum(b.count), 0) from blocks b join files f on f.id = b.file where f.root in ({marks})",
                numbers,
            ).fetchone()
            found.append(
                Collection(str(name), tuple(str(row[1]) for row in roots), int(files), int(passages))
            )
        return found

    def roots_of(self, collection: str | None = None) -> list[tuple[int, str, str]]:
        """(number, collection, path) of the roots of a collection, or of all."""
        rows = self._connection.execute(
            "select r.id, c.name, r.path from roots r join collections c on c.id = r.collection "
            "where ?1 is null or c.name = ?1 order by c.name, r.path",
            (collection,),
        ).fetchall()
        return [(int(row[0]), str(row[1]), str(row[2])) for row in rows]

    def passages_of(self, root: int) -> int:
        """How many passages lie below a root."""
        row = self._connection.execute(
            "select coalesce(sum(b.count), 0) from blocks b join files f on f.id = b.file where f.root = ?",
            (root,),
        ).fetchone()
        return int(row[0])

    def bare(self) -> list[tuple[str, str]]:
        """(collection, path) of the roots of which no file is indexed, as after an index was made anew."""
        rows = self._connection.execute(
            "select c.name, r.path from roots r join collections c on c.id = r.collection "
            "where not exists (select 1 from files f where f.root = r.id) order by c.name, r.path"
        ).fetchall()
        return [(str(name), str(path)) for name, path in rows]

    def without(self, files: Iterable[int], roots: Sequence[int]) -> set[int]:
        """Those of some files that lie below none of some roots."""
        numbers = list(files)
        marks, others = ",".join("?" * len(numbers)), ",".join("?" * len(roots))
        rows = self._connection.execute(
            f"select id from files where id in ({marks}) and root not in ({others})", [*numbers, *roots]
        )
        return {int(row[0]) for row in rows}

    def blocks(self) -> set[int]:
        """The numbers of all blocks of passages."""
        return {int(row[0]) for row in self._connection.execute("select id from blocks")}

    def bm25(self, query: str, limit: int) -> list[tuple[int, int, float]]:
        """(passage, file, score) of the best passages for a query in FTS5's language; larger is better."""
        rows = self._connection.execute(
            "select rowid, rank from postings where postings match ? "
            f"and rank match 'bm25({NAME_WEIGHT}, {BODY_WEIGHT})' order by rank limit ?",
            (query, limit),
        ).fetchall()
        files = self.files_by_passage([int(row[0]) for row in rows])
        return [
            (int(number), files[int(number)], -float(score)) for number, score in rows if int(number) in files
        ]

    def rarities(self, roots: Sequence[str]) -> dict[str, float]:
        """How rare stems are among the passages, as BM25 has it; a stem that stands nowhere is not in it."""
        self._connection.execute(
            "create virtual table if not exists temp.vocabulary using fts5vocab(main, postings, row)"
        )
        size, found = self.size, {}
        for root in roots:
            row = self._connection.execute(
                "select doc from temp.vocabulary where term = ?", (root,)
            ).fetchone()
            if row is not None:
                found[root] = log(1 + size / int(row[0]))
        return found

    def files_by_passage(self, numbers: Sequence[int]) -> dict[int, int]:
        """The file of each passage; those that are gone are not in it."""
        blocks = list({block_of(number) for number in numbers})
        marks = ",".join("?" * len(blocks))
        files = dict(
            self._connection.execute(f"select id, file from blocks where id in ({marks})", blocks).fetchall()
        )
        return {number: files[block_of(number)] for number in numbers if block_of(number) in files}

    def next_block(self, block: int) -> tuple[int, range] | None:
        """The block after one (0: the first), and the numbers of its passages; None after the last."""
        row = self._connection.execute(
            "select id, count from blocks where id > ? order by id limit 1", (block,)
        ).fetchone()
        return None if row is None else (int(row[0]), range(row[0] * NUMBERED, row[0] * NUMBERED + row[1]))

    def get(self, numbers: Sequence[int]) -> dict[int, StoredPassage]:
        """Passages by number; those that are gone are not in it."""
        blocks = list({block_of(number) for number in numbers})
        marks = ",".join("?" * len(blocks))
        rows = self._connection.execute(f"select {BLOCKS} where b.id in ({marks})", blocks)
        return {one.id: one for one in stored(rows, frozenset(numbers))}

    def vectors(self, blocks: Iterable[int] | None = None) -> Iterator[tuple[int, bytes]]:
        """The vectors of the passages of some blocks, or of all, with each block's number."""
        if blocks is None:
            yield from self._connection.execute("select block, rows from vectors order by block")
            return
        numbers = list(blocks)
        marks = ",".join("?" * len(numbers))
        yield from self._connection.execute(
            f"select block, rows from vectors where block in ({marks})", numbers
        )

    def of_file(self, root: int, path: str) -> list[StoredPassage]:
        """The passages of a file below a root, in order; none where it is not indexed."""
        rows = self._connection.execute(
            f"select {BLOCKS} where f.root = ? and f.path = ? order by b.id", (root, path)
        )
        return list(stored(rows))

    def of_page(self, file: int) -> list[StoredPassage]:
        """The passages of a file by its number, in order."""
        rows = self._connection.execute(f"select {BLOCKS} where f.id = ? order by b.id", (file,))
        return list(stored(rows))
