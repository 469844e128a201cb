"""The connections of a process to the database: lent, lost and made again; and what the server's errors mean for who uses KR."""

from __future__ import annotations

import random
import threading
import time
import weakref
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from kr_core import StorageError
from kr_plugins.postgres import schema_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Database", "Rows", "streamed"]

Result = TypeVar("Result")
Rows = list[Any]

PATIENCE_SECONDS = 20.0
"""How long KR tries again where the server is restarted, or has no connection left."""
ANSWER_SECONDS = 40.0
"""How long the server may be silent; a network that swallows everything looks the same. Longer than its own limits."""
_CONNECT_SECONDS = 5
_MOST = 4
"""Connections of one component of one process. Who wants more waits: a server has a hundred or so for all."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_SETTINGS = {
    "statement_timeout": "30s",
    "lock_timeout": "25s",
    "idle_in_transaction_session_timeout": "10s",  # of a process that was stopped within a transaction
}
_NETWORK = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_FULL = (
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "starting up",
    "shutting down",
    "recovery mode",
)
_LOGIN = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "FATAL: role")
_NO_DATABASE = ("FATAL: database",)
"""Parts of what the server says to who connects; libpq has no code for these."""
_OLDEST_SERVER = 140000
_PAGE = 2000
_MAY_PASS = (psycopg.OperationalError, psycopg.InterfaceError, errors.IdleInTransactionSessionTimeout)


class _Connection(psycopg.Connection[Any]):
    """A connection on which nothing is waited for longer than the server could need."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        return super().wait(gen, interval, ANSWER_SECONDS if timeout is None else timeout)


class Database:
    """The project's part of a database.

    Args:
        dsn: how to connect.
        schema: where the tables are.
        project: whose rows are read and written.
        label: what the project is called on this machine.

    Raises:
        StorageError: the database cannot be used; the message says why, and never shows the password.
    """

    def __init__(self, dsn: str, schema: str, project: str, label: str) -> None:
        self.options = self._read(dsn)
        """How to connect."""
        self.where = self._place(self.options, schema)
        self.schema = schema
        self.project_name = project
        self.warnings: list[str] = []
        """What a person must know of the project; handed over once."""
        self._idle: deque[_Connection] = deque()
        weakref.finalize(self, _close, self._idle)  # also where no one closes it
        self._free = threading.BoundedSemaphore(_MOST)
        self._closed = False
        self._reached = False
        self.project = self.run(lambda connection, _again: self._prepare(connection, label))
        """The number of the project."""

    # -- work --------------------------------------------------------------------------------------------

    def run(self, work: Callable[[psycopg.Connection[Any], bool], Result]) -> Result:
        """Do some work on a connection, again where that was lost.

        Args:
            work: gets the connection, which commits each statement unless it begins a transaction; and whether it may have been
                done before, where the answer of the server was lost.

        Raises:
            StorageError: the server refused, or could not be reached for so long.
        """
        end = time.monotonic() + PATIENCE_SECONDS
        pause, again = _FIRST_PAUSE, False
        while True:
            try:
                return self._once(work, again=again)
            except _MAY_PASS as error:
                if not self._may_pass(error) or time.monotonic() + pause > end or self._closed:
                    raise self._failure(error) from error
                again = again or not isinstance(error, _NotConnectedError)
            except (psycopg.Error, UnicodeError) as error:
                raise self._failure(error) from error
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  no secret: those who lost the server do not come back at once
            pause = min(2 * pause, _LONGEST_PAUSE)

    def rows(self, query: str, values: tuple[Any, ...] | dict[str, Any]) -> Rows:
        """The rows of one statement.

        Raises:
            StorageError: as `run`.
        """
        return self.run(lambda connection, _again: connection.execute(query, values).fetchall())

    def do(self, query: str, values: tuple[Any, ...]) -> int:
        """Carry out one statement and return the number of rows it changed.

        Raises:
            StorageError: as `run`.
        """
        return self.run(lambda connection, _again: connection.execute(query, values).rowcount)

    @contextmanager
    def long_transaction(
        self, level: psycopg.IsolationLevel = psycopg.IsolationLevel.REPEATABLE_READ
    ) -> Iterator[psycopg.Connection[Any]]:
        """A connection of its own, in a transaction for as long as it takes; it sees everything as it is at its first statement.

        Raises:
            StorageError: as `run`.
        """
        try:
            with self._connected() as connection:
                connection.isolation_level = level
                with connection.transaction():
                    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                    yield connection
        except (psycopg.Error, UnicodeError) as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close what is idle now, and the rest when it is given back."""
        self._closed = True
        _close(self._idle)

    def _once(self, work: Callable[[psycopg.Connection[Any], bool], Result], *, again: bool) -> Result:
        with self._free:
            connection = self._idle.pop() if self._idle else self._connected()
            try:
                result = work(connection, again)
            except BaseException as error:
                connection.close()  # in what state it is, is not known
                if isinstance(error, psycopg.OperationalError):
                    _close(self._idle)  # of a server that was restarted they are lost as well
                raise
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
            return result

    # -- connections -------------------------------------------------------------------------------------

    def _connected(self) -> _Connection:
        try:
            connection = _Connection.connect(autocommit=True, **self.options)
        except psycopg.OperationalError as error:
            raise _NotConnectedError(" ".join(str(error).split())) from error
        try:
            names = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items())
            connection.execute(
                f"SELECT set_config('search_path', %s, false), {names}, set_config('synchronous_commit', CASE WHEN"
                " current_setting('synchronous_commit') = 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)",
                (f'"{self.schema}"',),
            )
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: psycopg.Connection[Any], label: str) -> int:
        """Make the tables, or bring them up to date; returns the number of the project."""
        self._reached = True
        if connection.info.server_version < _OLDEST_SERVER:
            raise StorageError(
                f"the server is PostgreSQL {connection.info.server_version // 10000}",
                where=self.where,
                hint=f"KR needs {_OLDEST_SERVER // 10000} or newer",
            )
        if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
            raise StorageError(
                f"the database has the encoding {encoding}, which has no form for every text",
                where=self.where,
                hint="make one with `createdb --encoding=UTF8 --template=template0`",
            )
        schema_forms.bring_up_to_date(connection, self.schema, self.where)
        number, others = schema_forms.project_number(connection, self.project_name, label)
        if others:
            self.warnings.append(
                f"the project `{self.project_name}` in {self.where} is also used from a folder named {', '.join(others)}: if that is"
                " another project, give this one a name of its own (plugins.postgres.project)"
            )
        return number

    @staticmethod
    def _read(dsn: str) -> dict[str, Any]:
        hint = "write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        try:
            told = conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:  # its message may hold the password
            raise StorageError(
                "is not a connection string", where="plugins.postgres.dsn", hint=hint
            ) from None
        return {"connect_timeout": _CONNECT_SECONDS, "application_name": "kr", **_NETWORK, **told}

    @staticmethod
    def _place(options: dict[str, Any], schema: str) -> str:
        host = options.get("host") or options.get("hostaddr") or "the local server"
        port = f":{options['port']}" if options.get("port") else ""
        name = options.get("dbname") or options.get("user") or "the default database"
        return f"PostgreSQL {host}{port}/{name}, schema {schema}"

    # -- errors ------------------------------------------------------------------------------------------

    def _may_pass(self, error: psycopg.Error) -> bool:
        """Whether trying again may help: the server is restarted, full, or chose this work to end a deadlock."""
        if isinstance(error, _NotConnectedError):
            said = str(error)
            return _says(said, _FULL) or (self._reached and not _says(said, _LOGIN + _NO_DATABASE))
        if isinstance(error, errors.QueryCanceled | errors.LockNotAvailable | errors.DiskFull):
            return False
        return error.sqlstate is None or error.sqlstate[:2] in {"08", "25", "40", "53", "57"}

    def _failure(self, error: Exception) -> StorageError:
        said = " ".join(str(error).removeprefix("connection failed: ").split())
        what, hint = f"the database cannot be used ({said})", "see the log of the server"
        if isinstance(error, _NotConnectedError):
            what, hint = _connection_failure(said)
        elif isinstance(error, errors.InsufficientPrivilege):
            what = f"the user has no right to this ({said})"
            hint = f"let the owner of the schema `{self.schema}` grant it to the user"
        elif isinstance(error, errors.DiskFull):
            what, hint = f"the server's disk is full ({said})", "make room; nothing was stored"
        elif isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
            what = f"the server took too long ({said})"
            hint = "see what holds it in pg_stat_activity, and try again"
        elif isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
            what, hint = f"a table is missing ({said})", "restore the schema from a backup"
        elif isinstance(
            error, UnicodeError | errors.UntranslatableCharacter | errors.CharacterNotInRepertoire
        ):
            what, hint = f"a text holds a character that no database stores ({said})", "take it out"
        elif isinstance(error, psycopg.DataError):
            what, hint = f"a value cannot be stored ({said})", "take out what the server does not accept"
        elif isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
            what = f"the server does not answer any more ({said or 'it was silent for too long'})"
            hint = "see that it runs and can be reached, and try again"
        return StorageError(what, where=self.where, hint=hint)


class _NotConnectedError(psycopg.OperationalError):
    """No connection was made, and so nothing was done."""


def _close(idle: deque[_Connection]) -> None:
    with suppress(IndexError):  # another thread may have been first
        while idle:
            idle.pop().close()


def streamed(connection: psycopg.Connection[Any], query: str, values: tuple[Any, ...]) -> Iterator[Any]:
    """The rows of a statement within a transaction, of which some thousand are in memory at a time."""
    with connection.cursor("kr_stream") as cursor:
        cursor.itersize = _PAGE
        yield from cursor.execute(query, values)


def _says(said: str, parts: tuple[str, ...]) -> bool:
    return any(part in said for part in parts)


def _connection_failure(said: str) -> tuple[str, str]:
    """What to say of a connection that was not made, and what to do."""
    if _says(said, _LOGIN):
        return f"the server refuses the user ({said})", "check user and password in plugins.postgres.dsn"
    if _says(said, _NO_DATABASE):
        return (
            f"there is no such database ({said})",
            "make it with `createdb`, or name another in plugins.postgres.dsn",
        )
    if _says(said, _FULL):
        return f"the server takes no more connections ({said})", "try again, or raise its max_connections"
    if "timeout" in said:
        return (
            f"the server does not answer ({said})",
            "check host and port in plugins.postgres.dsn, and the network",
        )
    return (
        f"the server cannot be reached ({said})",
        "check host and port in plugins.postgres.dsn, and that it runs",
    )
