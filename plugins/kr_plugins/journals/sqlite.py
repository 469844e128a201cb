"""The journal in one SQLite file, `.kr/journal.sqlite`: events, step results, budgets and the logs' cursors.

WAL with `synchronous=FULL`: what was reported as kept survives a killed process and a power failure
(https://www.sqlite.org/pragma.html#pragma_synchronous). A torn tail of the write-ahead log is dropped by SQLite
itself when the file is next opened. One thread writes all events of a process, in groups that share one disk sync. A
group that somebody waits for is committed at once; one that nobody waits for yet is left open for some milliseconds, so
that the thread does not take turns with the one that appends, event by event.
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
from itertools import chain
from typing import TYPE_CHECKING, Any

from kr_core import Event, Provider, StorageError, hookimpl, make_state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from kr_core import Journal

__all__ = ["SCHEMA_VERSION", "SQLite", "kr_journal"]

SCHEMA_VERSION = 1
"""Kept in the file as `PRAGMA user_version`."""

_SCHEMA = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- AUTOINCREMENT: a number is never given twice
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,                        -- ISO 8601 with its offset
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL                         -- JSON
);
CREATE TABLE steps (
    run TEXT NOT NULL, key TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE grants (
    grant_id TEXT PRIMARY KEY, session TEXT NOT NULL, story TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX grants_by_story ON grants (session, story);
CREATE TABLE cursors (log TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""
_APPEND = "INSERT INTO events (id, time, run, kind, data) VALUES {} ON CONFLICT (id) DO NOTHING"
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

_Row = tuple[str, str, str, str, str]


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


class _Group:
    """Events that become durable together."""

    __slots__ = ("done", "rows")

    def __init__(self) -> None:
        self.rows: list[_Row] = []
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
                for first in range(0, len(group.rows), _AT_ONCE):
                    rows = group.rows[first : first + _AT_ONCE]
                    values = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
                    connection.execute(_APPEND.format(values), list(chain.from_iterable(rows)))
        except Exception as error:  # whatever it is, those who wait must hear of it
            group.done.set_exception(error)
        else:
            group.done.set_result(None)

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        rows = self._rows(
            "SELECT number, id, time, run, kind, data FROM events WHERE number > ? ORDER BY number LIMIT ?",
            (after, limit),
        )
        return [
            (
                number,
                Event(id=key, time=datetime.fromisoformat(at), run=run, kind=kind, data=json.loads(data)),
            )
            for number, key, at, run, kind, data in rows
        ]

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
        """Make the tables of a new file, and refuse one from the future."""
        version = self._version(connection)
        _use_write_ahead_log(connection)
        if version == SCHEMA_VERSION:
            return
        with _immediate(connection):  # of several processes that found it new, one makes the tables
            if self._version(connection) != SCHEMA_VERSION:
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            raise StorageError(
                f"the journal was written by a newer KR (its form is {version}, this KR knows {SCHEMA_VERSION})",
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
    )


def _as_json(value: Any, what: str) -> str:
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{what} holds a value that JSON has none for: {error}") from error
