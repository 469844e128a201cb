"""The journal in one SQLite file, `.kr/journal.sqlite`: events, documents, step results, budgets and the logs' cursors.

WAL with `synchronous=FULL`: what was reported as kept survives a killed process and a power failure
(https://www.sqlite.org/pragma.html#pragma_synchronous). A torn tail of the write-ahead log is dropped by SQLite
itself when the file is next opened. One thread writes all events of a process, in groups that share one disk sync. A
group that somebody waits for is committed at once; one that nobody waits for yet is left open for some milliseconds, so
that the thread does not take turns with the one that appends, event by event.

Each event has a hash (`chaining.link`) that ties it to the one before it. It is made where the event gets its number, in
the transaction that writes it, so that the chain is one for all processes.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import sqlite3
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kr_core import Document, Event, Provider, StorageError, hookimpl, make_state_folder
from kr_plugins.journals import chaining, forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from kr_core import Flaw, Journal

__all__ = ["SQLite", "kr_journal"]

_APPEND = "INSERT INTO events (id, time, run, kind, data, feature, hash) VALUES {}"
_BUSY_SECONDS = 30.0
_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
"""Made once: `json.dumps` would make one for each event."""
_GROUP = 1000
"""Events in one transaction, but for those of the last append; bounds how long other processes wait for their turn."""
_OPEN_SECONDS = 0.01
"""How long a group that nobody waits for is open to more events."""
_AT_ONCE = 100
"""Rows in one statement: Python's lock is let go and fought for again at each."""
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_MOVE_ASIDE = "move it aside together with its -wal and -shm files; KR then starts a new one"

_Row = tuple[str, str, str, str, str, str | None]
"""An event as it is stored: id, time, run, kind, data and feature."""


@hookimpl
def kr_journal() -> Provider[Journal]:
    """Provide the journal in the project's state folder."""
    return Provider(lambda _, setup: SQLite(setup.state_folder))


class _Durable(Future[None]):
    """Resolves when a group of events is durable; who waits for it, or wants to be told, has the group committed at once."""

    def __init__(self) -> None:
        super().__init__()
        self.hurry = threading.Event()
        self.set_running_or_notify_cancel()

    def result(self, timeout: float | None = None) -> None:
        self.hurry.set()
        super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.hurry.set()
        return super().exception(timeout)

    def add_done_callback(self, fn: Callable[[Future[None]], object]) -> None:
        self.hurry.set()
        super().add_done_callback(fn)


class _Change:
    """A document that is to be changed, if nobody was first, and the events of that."""

    __slots__ = ("data", "document", "made", "rows")

    def __init__(self, document: Document, rows: list[_Row]) -> None:
        self.document = document
        self.data = _as_json(document.data, f"{document.kind} {document.key!r}")
        self.rows = rows
        self.made = False
        """Whether it was made; to be read once its group is durable."""


class _Group:
    """Events and changes that become durable together."""

    __slots__ = ("done", "rows")

    def __init__(self) -> None:
        self.rows: list[_Row | _Change] = []
        self.done = _Durable()


class SQLite:
    """A journal for any number of threads and processes.

    Args:
        folder: where `journal.sqlite` lies; made, with a `.gitignore` of its own, if it is missing.

    Raises:
        StorageError: the file cannot be made or opened, is damaged, or was written by a newer KR.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "journal.sqlite"
        self._idle: deque[sqlite3.Connection] = deque()
        self._queue: queue.SimpleQueue[_Group | None] = queue.SimpleQueue()
        self._open: _Group | None = None
        self._newest: _Durable | None = None
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None
        self._closed = False
        _make_folder(folder)
        try:
            with self._connection() as connection:
                self._prepare(connection)
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
            rows = [_row(event) for event in events]
        except StorageError as error:
            return _ended(error)
        if not rows:
            return _ended()
        return self._queued(rows)

    def _queued(self, rows: Sequence[_Row | _Change]) -> Future[None]:
        with self._lock:  # nothing may be queued behind the end that `close` queues
            if self._closed:
                return _ended(StorageError("the journal is closed", where=str(self._file)))
            group = self._open
            if group is None:
                group = self._open = _Group()
                self._newest = group.done
                self._queue.put(group)
                if self._writer is None:
                    self._start_writer()
            group.rows += rows
            if len(group.rows) >= _GROUP:
                self._open = None
                group.done.hurry.set()
        return group.done

    def _start_writer(self) -> None:
        self._writer = threading.Thread(target=self._write, name="kr-journal", daemon=True)
        self._writer.start()
        atexit.register(self._wait_at_exit, os.getpid())

    def _wait_at_exit(self, process: int) -> None:
        """What nobody waits for is kept also where nobody closes; a forked child has no writer to wait for."""
        if self._newest is not None and os.getpid() == process:
            self._newest.exception()

    def _write(self) -> None:
        """Commit group by group, until the end is queued."""
        while (group := self._queue.get()) is not None:
            group.done.hurry.wait(_OPEN_SECONDS)
            with self._lock:
                if self._open is group:
                    self._open = None
            self._commit(group)

    def _commit(self, group: _Group) -> None:
        try:
            with self._transaction() as connection:
                rows: list[_Row] = []
                for one in group.rows:
                    if isinstance(one, _Change):
                        one.made = _change(connection, one.document, one.data)
                        rows += one.rows if one.made else []
                    else:
                        rows.append(one)
                _insert(connection, rows)
        except Exception as error:  # whatever it is, those who wait must hear of it
            group.done.set_exception(error)
        else:
            group.done.set_result(None)

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        return self._events("", (), after, limit)

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature, or of an exchange, with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        wanted = [("feature = ?", feature), ("run = ?", exchange)]
        clauses = " AND ".join(clause for clause, value in wanted if value) or "feature IS NOT NULL"
        return self._events(f"{clauses} AND ", [value for _, value in wanted if value], after, limit)

    def _events(self, clauses: str, values: Sequence[str], after: int, limit: int) -> list[tuple[int, Event]]:
        rows = self._rows(
            f"SELECT number, id, time, run, kind, data FROM events WHERE {clauses}number > ? ORDER BY number LIMIT ?",  # noqa: S608  the clauses are this module's own
            (*values, after, limit),
        )
        return [
            (
                number,
                Event(id=key, time=datetime.fromisoformat(at), run=run, kind=kind, data=json.loads(data)),
            )
            for number, key, at, run, kind, data in rows
        ]

    def verify(self) -> Sequence[Flaw]:
        """What is wrong with the record: entries that were altered, added, moved or taken out, also at its end.

        Raises:
            StorageError: the journal cannot be read.
        """
        with self._connection() as connection, _snapshot(connection):
            dense_after = int(connection.execute("SELECT dense_after FROM chain").fetchone()[0])
            last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
            rows = connection.execute(
                "SELECT number, id, time, run, kind, data, feature, hash FROM events ORDER BY number"
            )
            return chaining.flaws(rows, last=int(last[0]) if last else 0, dense_after=dense_after)

    # -- documents ---------------------------------------------------------------------------------------

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1; durable on return."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO counters (kind, number) VALUES (?, 1)"
                " ON CONFLICT (kind) DO UPDATE SET number = number + 1",
                (kind,),
            )
            return int(
                connection.execute("SELECT number FROM counters WHERE kind = ?", (kind,)).fetchone()[0]
            )

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""
        rows = self._rows(
            "SELECT kind, key, status, version, data FROM documents WHERE kind = ? AND key = ?", (kind, key)
        )
        return _document(rows[0]) if rows else None

    def documents(self, kind: str, status: str = "", limit: int = 1000) -> Sequence[Document]:
        """The latest versions of a kind's documents (of one status, if given), oldest document first."""
        if status:
            rows = self._rows(
                "SELECT kind, key, status, version, data FROM documents WHERE kind = ? AND status = ?"
                " ORDER BY number LIMIT ?",
                (kind, status, limit),
            )
        else:
            rows = self._rows(
                "SELECT kind, key, status, version, data FROM documents WHERE kind = ? ORDER BY number LIMIT ?",
                (kind, limit),
            )
        return [_document(row) for row in rows]

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Keep a document and append the events, in one transaction; False where somebody was first.

        They come after whatever this process has appended before.

        Raises:
            StorageError: nothing was kept, or JSON has no form for it.
        """
        change = _Change(document, [_row(event) for event in events])
        self._queued([change]).result()
        return change.made

    # -- logs --------------------------------------------------------------------------------------------

    def cursor(self, log: str) -> int:
        """The number of the last event that this log has confirmed; 0 at first."""
        rows = self._rows("SELECT number FROM cursors WHERE log = ?", (log,))
        return int(rows[0][0]) if rows else 0

    def advance(self, log: str, number: int) -> None:
        """Note that the log has everything up to this event; a cursor never goes back."""
        with self._transaction() as connection:
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
        text = _as_json(result, f"the result of step {key!r}")
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO steps (run, key, result) VALUES (?, ?, ?)", (run, key, text)
            )

    # -- budgets -----------------------------------------------------------------------------------------

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call of the story's budget; a grant that was given before is True again, and costs nothing."""
        with self._transaction() as connection:
            if connection.execute("SELECT 1 FROM grants WHERE grant_id = ?", (grant,)).fetchone():
                return True
            if _spent(connection, session_id, story_key) >= limit:
                return False
            connection.execute(
                "INSERT INTO grants (grant_id, session, story) VALUES (?, ?, ?)",
                (grant, session_id, story_key),
            )
            return True

    def refund(self, grant: str) -> None:
        """Give back a call that was never sent; an unknown grant is no error."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM grants WHERE grant_id = ?", (grant,))

    def spent(self, session_id: str, story_key: str) -> int:
        """Calls taken by the story in this session."""
        with self._connection() as connection:
            return _spent(connection, session_id, story_key)

    # -- the file ----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Wait until everything queued is durable, and let go of the file; a second time does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
                if self._open is not None:
                    self._open.done.hurry.set()
        if self._writer is not None:
            self._writer.join()
            atexit.unregister(self._wait_at_exit)
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile."""
        connection: sqlite3.Connection | None = None
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
                connection.execute("PRAGMA synchronous = FULL")
            yield connection
        except BaseException as error:
            if connection is not None:
                connection.close()  # what state it is in is not known
            if isinstance(error, sqlite3.Error):
                raise self._failure(error) from error
            raise
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection, _immediate(connection):
            yield connection

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with self._connection() as connection:
            return connection.execute(query, values).fetchall()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file, bring those of an older one up to date, and refuse one from the future."""
        version = self._version(connection)
        _use_write_ahead_log(connection)
        if version == forms.VERSION:
            return
        with _immediate(connection):  # of several processes that found it new, one makes the tables
            forms.bring_up_to_date(connection, self._version(connection))

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > forms.VERSION:
            raise StorageError(
                f"the journal was written by a newer KR (its form is {version}, this KR knows {forms.VERSION})",
                where=str(self._file),
                todo=f"update KR, or {_MOVE_ASIDE}",
            )
        return version

    def _failure(self, error: sqlite3.Error) -> StorageError:
        # The low byte is the plain code; the rest says more. Errors of the Python module itself have none.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        what, todo = "the journal cannot be used", "see that the folder can be written and is not full"
        if code in _DAMAGED:
            what, todo = "the journal is damaged, or is not one", _MOVE_ASIDE
        elif code in _BUSY:
            what, todo = (
                f"another process kept the journal locked for {_BUSY_SECONDS:.0f} s",
                "end it and try again",
            )
        elif code == sqlite3.SQLITE_FULL:
            what, todo = "the journal cannot be written", "make room on the disk"
        return StorageError(f"{what} ({error})", where=str(self._file), todo=todo)


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


def _insert(connection: sqlite3.Connection, rows: list[_Row]) -> None:
    """Append events; those whose ids are there already are left out."""
    try:
        _link(connection, rows)
    except sqlite3.IntegrityError:  # nothing of the statement stays, so that no number is left out
        known: set[str] = set()
        for one in rows:
            if one[0] not in known:
                known.add(one[0])
                if not connection.execute("SELECT 1 FROM events WHERE id = ?", (one[0],)).fetchone():
                    _link(connection, [one])


def _link(connection: sqlite3.Connection, rows: list[_Row]) -> None:
    last = connection.execute("SELECT hash FROM events ORDER BY number DESC LIMIT 1").fetchone()
    before = last[0] if last else chaining.START
    for first in range(0, len(rows), _AT_ONCE):
        values: list[Any] = []
        for row in rows[first : first + _AT_ONCE]:
            before = chaining.link(before, *row[:5])
            values += (*row, before)
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(rows[first : first + _AT_ONCE]))
        connection.execute(_APPEND.format(marks), values)


def _change(connection: sqlite3.Connection, document: Document, data: str) -> bool:
    """Keep a document if the version before it is the one that is kept."""
    kind, key, status, version, _ = document
    if version == 1:
        made = connection.execute(
            "INSERT INTO documents (kind, key, status, version, data) VALUES (?, ?, ?, 1, ?)"
            " ON CONFLICT (kind, key) DO NOTHING",
            (kind, key, status, data),
        )
    else:
        made = connection.execute(
            "UPDATE documents SET status = ?, version = ?, data = ? WHERE kind = ? AND key = ? AND version = ?",
            (status, version, data, kind, key, version - 1),
        )
    return made.rowcount == 1


def _document(row: tuple[str, str, str, int, str]) -> Document:
    kind, key, status, version, data = row
    return Document(kind, key, status, version, json.loads(data))


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch a new file to WAL; the mode stays with the file.

    SQLite does not wait for a lock here (the busy handler is not called), so several processes that make
    the file at once would see `database is locked`: wait as it would.
    """
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _make_folder(folder: Path) -> None:
    try:
        make_state_folder(folder)
    except OSError as error:
        raise StorageError(
            f"the folder for KR's state cannot be made or written: {error.strerror or error}",
            where=str(folder),
            todo="make the project's folder writable",
        ) from error


def _ended(error: StorageError | None = None) -> Future[None]:
    future: Future[None] = Future()
    future.set_exception(error) if error else future.set_result(None)
    return future


def _spent(connection: sqlite3.Connection, session_id: str, story_key: str) -> int:
    query = "SELECT count(*) FROM grants WHERE session = ? AND story = ?"
    return int(connection.execute(query, (session_id, story_key)).fetchone()[0])


def _row(event: Event) -> _Row:
    return (
        event.id,
        event.time.isoformat(),
        event.run,
        event.kind,
        _as_json(event.data, f"event {event.kind!r}"),
        chaining.feature_of(event.data),
    )


def _as_json(value: Any, what: str) -> str:
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{what} holds a value that JSON has none for: {error}") from error
