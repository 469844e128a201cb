"""The journal's methods: events, documents, step results, budgets and cursors, each in a transaction."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.plugin import Document, LightAppender
from kr_core.toolkit import make_state_folder
from kr_plugins.journals import event_rows, sqlite_append
from kr_plugins.journals.event_rows import DocumentChange, EventRow, as_json, events_of, of_entries, row_of
from kr_plugins.journals.group_commit import GroupCommit
from kr_plugins.journals.sqlite import record_head, tables
from kr_plugins.journals.sqlite.connections import MOVE_ASIDE, ConnectionPool, FairLock, use_write_ahead_log
from kr_plugins.journals.sqlite.record_head import RecordHead

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_core import Event
    from kr_core.plugin import Issue, RecordRow

__all__ = ["SQLite"]


_MARKS = "(?, ?, ?, ?, ?, ?, ?)"
_NO_ROW = (None,) * 7
_APPEND = (
    "INSERT INTO events (id, time, run, kind, data, feature, hash) SELECT * FROM (VALUES {})"
    " WHERE column1 IS NOT NULL"
)
_BEHIND = f" AND ({sqlite_append.LAST_HASH}) = ?"
_APPEND_ONE = (
    "INSERT INTO events (id, time, run, kind, data, feature, hash) VALUES (?, ?, ?, ?, ?, ?,"  # noqa: S608  what is put in is a constant
    f" link(({sqlite_append.LAST_HASH}), ?, ?, ?, ?, ?))"
)
_KNOWN = "SELECT 1 FROM events WHERE id = ?"


class SQLite:
    """A journal for any number of threads and processes.

    Args:
        folder: where `journal.sqlite` lies; made, with a `.gitignore` of its own, if it is missing.

    Raises:
        StorageError: the file cannot be made or opened, is damaged, holds what KR has not made, or was written by a newer KR.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "journal.sqlite"
        self._turns = FairLock(folder / "journal.turn")
        self._connections = ConnectionPool(self._file, self._link)
        self._head = RecordHead(self._file)
        self._last = event_rows.START
        """The hash of the last event that this process has written; right as long as no other writes."""
        self._groups: GroupCommit[EventRow | DocumentChange] = GroupCommit(self._commit)
        _make_folder(folder)
        try:
            with self._connections.one() as connection:
                self._prepare(connection)
                self._head.open(connection)
        except StorageError:
            self.close()
            raise

    # -- events ------------------------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> Future[None]:
        """Queue events; an id that the journal already has is not added again.

        The future cannot be cancelled: an event that was queued is kept, also if nobody waits for it. Appends that are
        committed together have one future.
        """
        try:
            rows = [row_of(event) for event in events]
        except StorageError as error:
            return _ended(error)
        if not rows:
            return _ended()
        return self._queued(rows)

    def _queued(self, rows: Sequence[EventRow | DocumentChange]) -> Future[None]:
        done = self._groups.add(rows)
        return _ended(StorageError("the journal is closed", where=str(self._file))) if done is None else done

    def _commit(self, group: Sequence[EventRow | DocumentChange]) -> None:
        """Write a group in one transaction.

        An event alone, as most are that somebody waits for, is one statement; so are many while no other process writes.
        Python's lock is let go and fought for again at each.
        """
        rows = [one for one in group if not isinstance(one, DocumentChange)]
        if len(rows) == len(group):
            with self._turns.turn(), self._connections.one() as connection:
                number = _append(connection, rows[0]) if len(rows) == 1 else self._appended(connection, rows)
            if number:
                self._head.advance(number, self._last)
                return
        with self._transaction() as connection:
            rows = []
            for one in group:
                if isinstance(one, DocumentChange):
                    one.made = _change(connection, one.document, one.data)
                    rows += one.rows if one.made else []
                else:
                    rows.append(one)
            self._last, number = _insert(connection, rows)
        if number:
            self._head.advance(number, self._last)

    def _appended(self, connection: sqlite3.Connection, rows: Sequence[EventRow]) -> int:
        """Append events if the last one is of this process, and return the last number; 0 where it is not, or one is there already."""
        if len(rows) > _most(connection):
            return 0
        values, last = _linked(self._last, rows)
        try:
            done = connection.execute(_of_many(values, len(rows)) + _BEHIND, [*values, self._last])
        except sqlite3.IntegrityError:
            return 0
        if done.rowcount != len(rows):
            return 0
        self._last = last
        return int(done.lastrowid or 0)

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        return self._events("", (), after, limit)

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature or an exchange with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        return self._events(*of_entries(feature, exchange, "?"), after, limit)

    def _events(self, clauses: str, values: Sequence[str], after: int, limit: int) -> list[tuple[int, Event]]:
        rows = self._rows(
            f"SELECT number, id, time, run, kind, data FROM events WHERE {clauses}number > ? ORDER BY number LIMIT ?",  # noqa: S608  the clauses are this module's own
            (*values, after, limit),
        )
        return events_of(rows, self._damaged)

    def _damaged(self, what: str, error: Exception) -> StorageError:
        return StorageError(
            f"{what} cannot be read: {error}",
            where=str(self._file),
            hint="`kr log --verify` tells what else is wrong; restore the journal from a backup",
        )

    def light_appender(self) -> LightAppender:
        """How a process that has loaded nothing of this journal appends an event."""
        return LightAppender(sqlite_append.__name__, str(self._file))

    def verify(self) -> Sequence[Issue]:
        """What is wrong: entries that were altered, added, moved or taken out, also at the end, and rows missing elsewhere.

        Raises:
            StorageError: the journal cannot be read.
        """
        head = self._head.read()
        with self._connections.one() as connection, _snapshot(connection):
            begun = connection.execute("SELECT dense_after FROM chain").fetchone()
            dense_after = int(begun[0]) if begun else 0
            last = connection.execute(  # a log cannot have had what was never there
                "SELECT max(seq) FROM (SELECT seq FROM sqlite_sequence WHERE name = 'events'"
                " UNION ALL SELECT number FROM cursors)"
            ).fetchone()
            rows = connection.execute(
                "SELECT number, id, time, run, kind, data, feature, hash FROM events ORDER BY number"
            )
            given = int(last[0] or 0)
            found = event_rows.flaws(rows, last=given, dense_after=dense_after)
            found += record_head.entry_flaws(connection, head, given)
            return [*found, *record_head.table_flaws(connection, head.totals)]

    # -- documents ---------------------------------------------------------------------------------------

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1, and above the number of its documents; durable on return.

        A counter that was lost or set back goes on behind the documents that were numbered by it.
        """
        with self._counted() as connection:
            connection.execute(
                "INSERT INTO counters (kind, number) VALUES (?, 1 + (SELECT count(*) FROM documents WHERE kind = ?))"
                " ON CONFLICT (kind) DO UPDATE SET number = max(number + 1, excluded.number)",
                (kind, kind),
            )
            return int(
                connection.execute("SELECT number FROM counters WHERE kind = ?", (kind,)).fetchone()[0]
            )

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""
        rows = self._rows(
            "SELECT kind, key, status, version, data FROM documents WHERE kind = ? AND key = ?", (kind, key)
        )
        return self._document(*rows[0]) if rows else None

    def documents(
        self, kind: str, status: str = "", limit: int = 1000, after: str = ""
    ) -> Sequence[Document]:
        """The latest versions of a kind's documents, oldest document first; only those with the status, if given."""
        of_status, values = (" AND status = ?", (kind, status)) if status else ("", (kind,))
        rows = self._rows(
            f"SELECT kind, key, status, version, data FROM documents WHERE kind = ?{of_status}"  # noqa: S608  the clause is this module's own
            " AND number > coalesce((SELECT number FROM documents WHERE kind = ? AND key = ?), 0) ORDER BY number LIMIT ?",
            (*values, kind, after, limit),
        )
        return [self._document(*row) for row in rows]

    def _document(self, kind: str, key: str, status: str, version: int, data: str) -> Document:
        try:
            return Document(kind, key, status, version, json.loads(data))
        except ValueError as error:
            raise self._damaged(f"{kind} {key}", error) from None

    def versions(self, kind: str) -> Sequence[tuple[str, str, int]]:
        """Key, status and version of each of a kind's documents, oldest first."""
        return self._rows(
            "SELECT key, status, version FROM documents WHERE kind = ? ORDER BY number", (kind,)
        )

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Keep a document and append the events, in one transaction; False where somebody was first.

        They come after whatever this process has appended before.

        Raises:
            StorageError: nothing was kept, or JSON has no form for it.
        """
        change = DocumentChange(document, [row_of(event) for event in events])
        self._queued([change]).result()
        return change.made

    # -- logs --------------------------------------------------------------------------------------------

    def cursor(self, log: str) -> int:
        """The number of the last event that this log confirmed; 0 at first."""
        rows = self._rows("SELECT number FROM cursors WHERE log = ?", (log,))
        return int(rows[0][0]) if rows else 0

    def advance(self, log: str, number: int) -> None:
        """Note that the log has everything up to this event; a cursor never goes back."""
        with self._counted() as connection:
            connection.execute(
                "INSERT INTO cursors (log, number) VALUES (?, ?)"
                " ON CONFLICT (log) DO UPDATE SET number = max(number, excluded.number)",
                (log, number),
            )

    # -- steps -------------------------------------------------------------------------------------------

    def step(self, run: str, key: str) -> Any | None:
        """The kept result of a step, or None."""
        rows = self._rows("SELECT result FROM steps WHERE run = ? AND key = ?", (run, key))
        return json.loads(rows[0][0]) if rows else None

    def keep_step(self, run: str, key: str, result: Any) -> None:
        """Keep the result of a step; the first one stays.

        Raises:
            StorageError: it could not be kept, or JSON has no form for it.
        """
        text = as_json(result, f"the result of step {key!r}")
        insert = "INSERT OR IGNORE INTO steps (run, key, result) VALUES (?, ?, ?)"
        with self._counted() as connection:
            if connection.execute(insert, (run, key, text)).rowcount:
                record_head.count(connection, record_head.STEPS)

    # -- budgets -----------------------------------------------------------------------------------------

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call of the story's budget; a grant that was given before is True again, and costs nothing."""
        with self._counted() as connection:
            if connection.execute("SELECT 1 FROM grants WHERE grant_id = ?", (grant,)).fetchone():
                return True
            if _spent(connection, session_id, story_key) >= limit:
                return False
            connection.execute(
                "INSERT INTO grants (grant_id, session, story) VALUES (?, ?, ?)",
                (grant, session_id, story_key),
            )
            record_head.count(connection, record_head.GRANTS)
            return True

    def refund(self, grant: str) -> None:
        """Give back a call that was never sent; an unknown grant is no error."""
        with self._counted() as connection:
            if connection.execute("DELETE FROM grants WHERE grant_id = ?", (grant,)).rowcount:
                record_head.count_refund(connection)

    def spent(self, session_id: str, story_key: str) -> int:
        """The number of calls that the story took in this session."""
        with self._connections.one() as connection:
            return _spent(connection, session_id, story_key)

    # -- the file ----------------------------------------------------------------------------------------

    def dump(self) -> Iterator[RecordRow]:
        """All rows, as they are at one moment.

        Raises:
            StorageError: the journal cannot be read.
        """
        with self._connections.one() as connection, _snapshot(connection):
            yield from tables.dumped(connection)

    def restore(self, rows: Iterable[RecordRow]) -> None:
        """Take the rows of another journal; all or none.

        Raises:
            StorageError: there is a record already, or the rows cannot be written.
        """
        with self._counted() as connection:
            number, last = tables.restore(connection, rows, str(self._file), MOVE_ASIDE)
        if number:
            self._last = last
            self._head.advance(number, last)

    def close(self) -> None:
        """Wait until everything queued is durable, and let go of the file; a second time does nothing."""
        self._groups.close()
        self._connections.close()
        self._turns.close()

    def _link(self, before: bytes | None, *row: str) -> bytes:
        """The hash of a row, for SQL; if the row is not kept after all, the next group finds that another event is the last."""
        self._last = event_rows.link(event_rows.START if before is None else before, *row)
        return self._last

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._turns.turn(), self._connections.one() as connection, _immediate(connection):
            yield connection

    @contextmanager
    def _counted(self) -> Iterator[sqlite3.Connection]:
        """A transaction after which the head of the record has the new totals."""
        with self._turns.turn(), self._connections.one() as connection:
            with _immediate(connection):
                yield connection
            self._head.keep_totals(connection)

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with self._connections.one() as connection:
            return connection.execute(query, values).fetchall()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file, bring those of an older one up to date, and refuse one from the future."""
        if self._version(connection) == tables.VERSION:
            self._require_known(connection, tables.VERSION)
            return
        use_write_ahead_log(connection)
        with _immediate(connection):  # of several processes that found it new, one makes the tables
            version = self._version(connection)
            self._require_known(connection, version)
            tables.bring_up_to_date(connection, version)

    def _require_known(self, connection: sqlite3.Connection, version: int) -> None:
        if found := tables.stranger(connection, version):
            raise StorageError(
                f"the journal {found}",
                where=str(self._file),
                hint=f"restore it from a backup, or {MOVE_ASIDE}"
                if found.startswith("lacks")
                else f"if you added it yourself, take it out; else {MOVE_ASIDE}",
            )

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > tables.VERSION:
            raise StorageError(
                f"the journal was written by a newer KR (its form is {version}, this KR knows {tables.VERSION})",
                where=str(self._file),
                hint=f"update KR, or {MOVE_ASIDE}",
            )
        return version


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that holds the write lock from its start: what it reads stays true until it commits."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:  # it failed; a full disk may have rolled it back already
            connection.execute("ROLLBACK")


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that sees the file as it is at its first reading; it keeps nobody from writing."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _append(connection: sqlite3.Connection, row: EventRow) -> int:
    """Append an event and return its number; 0 where its id is there already."""
    try:
        return int(connection.execute(_APPEND_ONE, (*row, *row[:5])).lastrowid or 0)
    except sqlite3.IntegrityError:
        return 0


def _insert(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> tuple[bytes, int]:
    """Append events, but those whose ids are there already, and return the hash and the number of the last one; 0 where none is new."""
    last = connection.execute(sqlite_append.LAST_HASH).fetchone()
    before: bytes = last[0] if last else event_rows.START
    connection.execute("SAVEPOINT rows")
    try:
        return _put(connection, before, rows)
    except sqlite3.IntegrityError:
        connection.execute("ROLLBACK TO rows")  # nothing stays, so that no number is left out
        ids = {row[0]: row for row in reversed(rows)}
        known = {name for name in ids if connection.execute(_KNOWN, (name,)).fetchone()}
        return _put(connection, before, [row for name, row in reversed(ids.items()) if name not in known])


def _put(connection: sqlite3.Connection, before: bytes, rows: Sequence[EventRow]) -> tuple[bytes, int]:
    most, number = _most(connection), 0
    for first in range(0, len(rows), most):
        part = rows[first : first + most]
        values, before = _linked(before, part)
        number = int(connection.execute(_of_many(values, len(part)), values).lastrowid or 0)
    return before, number


def _of_many(values: list[Any], rows: int) -> str:
    """The statement that appends so many rows; it and the values are filled up to a power of two, so that there are few.

    To read a statement anew takes as long as to carry it out.
    """
    size = 1 << (rows - 1).bit_length()
    for _ in range(size - rows):
        values += _NO_ROW
    return _APPEND.format(", ".join([_MARKS] * size))


def _most(connection: sqlite3.Connection) -> int:
    """Rows that a statement can have."""
    return connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 16


def _linked(before: bytes, rows: Sequence[EventRow]) -> tuple[list[Any], bytes]:
    """The values of rows with their hashes, and the last hash."""
    values: list[Any] = []
    for row in rows:
        before = event_rows.link(before, *row[:5])
        values += (*row, before)
    return values, before


def _change(connection: sqlite3.Connection, document: Document, data: str) -> bool:
    """Keep a document if the version before it is the one that is kept."""
    kind, key, status, version, _ = document
    if version == 1:
        made = connection.execute(
            "INSERT INTO documents (kind, key, status, version, data) VALUES (?, ?, ?, 1, ?)"
            " ON CONFLICT (kind, key) DO NOTHING",
            (kind, key, status, data),
        )
        if made.rowcount == 1:
            record_head.count(connection, record_head.DOCUMENTS)
    else:
        made = connection.execute(
            "UPDATE documents SET status = ?, version = ?, data = ? WHERE kind = ? AND key = ? AND version = ?",
            (status, version, data, kind, key, version - 1),
        )
    return made.rowcount == 1


def _make_folder(folder: Path) -> None:
    try:
        make_state_folder(folder)
    except OSError as error:
        raise StorageError(
            f"the folder for KR's state cannot be made or written: {error.strerror or error}",
            where=str(folder),
            hint="make the project's folder writable",
        ) from error


def _ended(error: StorageError | None = None) -> Future[None]:
    future: Future[None] = Future()
    future.set_exception(error) if error else future.set_result(None)
    return future


def _spent(connection: sqlite3.Connection, session_id: str, story_key: str) -> int:
    query = "SELECT count(*) FROM grants WHERE session = ? AND story = ?"
    return int(connection.execute(query, (session_id, story_key)).fetchone()[0])
