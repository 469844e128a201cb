"""How a process comes to the journal's file: its connections, its turns, and what SQLite's errors mean for who uses KR."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kr_core import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["MOVE_ASIDE", "ConnectionPool", "FairLock", "use_write_ahead_log"]

MOVE_ASIDE = "move it aside together with its -wal, -shm and -head files; KR then starts a new one"
_BUSY_SECONDS = 30.0
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}
_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}


def _for_reading(file: Path) -> str:
    """How to open a file that lies where nothing can be written: read-only medium, full disk, another one's folder.

    SQLite needs a place for its shared memory then, unless the file is said not to change: true where no log lies beside it.
    """
    log = file.with_name(f"{file.name}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return f"{file.resolve(strict=True).as_uri()}?mode=ro{still}"


class _ReadConnection(sqlite3.Connection):
    """A connection to a file that cannot be written."""


class ConnectionPool:
    """As many as threads use at the same time; they are kept, since to make one takes as long as several statements.

    Args:
        file: what they lead to.
        link: SQL's function of that name: the hash of a row, from the one before it and the row's values.
    """

    def __init__(self, file: Path, link: Callable[..., bytes]) -> None:
        self._file = file
        self._link = link
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    def one(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile.

        Raises:
            StorageError: SQLite has failed, in the block or before it.
        """
        return _LentConnection(self)

    def lend(self) -> sqlite3.Connection:
        """One that is idle, or a new one; to be given back."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()

    def take_back(self, connection: sqlite3.Connection, error: BaseException | None) -> None:
        """Keep what was lent; after an error it is not known what state it is in, and it is closed.

        So is one for reading alone: the next one may be able to write, or see what others have written.
        """
        if error is None and not self._closed and not isinstance(connection, _ReadConnection):
            self._idle.append(connection)
            return
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise self._failure(error) from error

    def close(self) -> None:
        """Close those that are idle now, and the others when they are given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _new(self) -> sqlite3.Connection:
        try:
            return self._opened(str(self._file), sqlite3.Connection)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE:
                with suppress(sqlite3.Error, OSError):
                    return self._opened(_for_reading(self._file), _ReadConnection)
            raise self._failure(error) from error

    def _opened(self, where: str, kind: type[sqlite3.Connection]) -> sqlite3.Connection:
        connection = sqlite3.connect(
            where,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=kind,
            uri=kind is _ReadConnection,
        )
        try:
            _distrust(connection)
            connection.create_function("link", 6, self._link)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA user_version").fetchone()  # the file is opened by its first reading
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _failure(self, error: sqlite3.Error) -> StorageError:
        # The low byte is the plain code; the rest says more. Errors of the Python module itself have none.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        what, hint = "the journal cannot be used", "see that the folder can be written and is not full"
        if code in _DAMAGED:
            what, hint = "the journal is damaged, or is not one", MOVE_ASIDE
        elif code in _BUSY:
            what, hint = (
                f"another process kept the journal locked for {_BUSY_SECONDS:.0f} s",
                "end it and try again",
            )
        elif "no such table" in str(error):  # it was there when the journal was opened
            what, hint = "the journal lacks a table", f"restore it from a backup, or {MOVE_ASIDE}"
        elif code == sqlite3.SQLITE_FULL:
            what, hint = "the journal cannot be written", "make room on the disk"
        elif code == sqlite3.SQLITE_READONLY:
            what = "the journal can be read, and not written"
        return StorageError(f"{what} ({error})", where=str(self._file), hint=hint)


def _distrust(connection: sqlite3.Connection) -> None:
    """Let nothing that stands in the file's schema act: who made the file is not known."""
    connection.execute("PRAGMA trusted_schema = OFF")
    if sys.version_info >= (3, 12):
        settings = {
            sqlite3.SQLITE_DBCONFIG_DEFENSIVE: True,
            sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER: False,
            sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW: False,
        }
        for what, is_on in settings.items():
            connection.setconfig(what, is_on)


class _LentConnection:
    """A connection for a while. A class, since each event needs one: a generator would take longer."""

    __slots__ = ("_connection", "_connections")

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def __enter__(self) -> sqlite3.Connection:
        self._connection = self._connections.lend()
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._connections.take_back(self._connection, error)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
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


try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # Windows has no such locks, and mypy reads the module of this system


_SHORTEST, _LONGEST = 0.0002, 0.01
"""Seconds between two looks, each time twice as many: a file that changes hands with each event is read anew by each."""
_PATIENCE = 0.25
"""Seconds after which whoever has the turn may be stopped, and not only slow."""


class FairLock:
    """The turns of all threads and processes at one file, so that nobody sleeps while it is free.

    SQLite waits by trying again, after up to 100 ms (https://www.sqlite.org/c3ref/busy_timeout.html): eight processes that wait for
    each event of theirs write 190 events a second with its busy timeout alone, and 270 in turns. A turn is a courtesy: who does not
    get it soon goes on without, and SQLite keeps the writers apart.

    Args:
        file: is locked, and never written; made if it is missing.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._process = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have the turn, or have waited for it, until the block ends."""
        if fcntl is None or not self._lock.acquire(timeout=_PATIENCE):
            yield
            return
        try:
            handle = self._taken()
            try:
                yield
            finally:
                if handle is not None:
                    fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Let go of the file; it is opened again where it is needed."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)

    def _opened(self) -> int:
        if (
            self._handle is None or self._process != os.getpid()
        ):  # a forked child would have its parent's turn
            self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
            self._process = os.getpid()
        return self._handle

    def _taken(self) -> int | None:
        """The locked file; None where it did not come free soon."""
        pause, end = _SHORTEST, time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                handle = self._opened()
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
            except OSError:  # a file system without locks, no handles left: SQLite says what is wrong
                return None
            else:
                return handle
        return None
