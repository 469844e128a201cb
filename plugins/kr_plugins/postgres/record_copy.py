"""A project's record, taken out of the database row by row and into it."""

from __future__ import annotations

from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from psycopg import IsolationLevel

from kr_core import StorageError
from kr_core.plugin import RecordRow
from kr_plugins.journals.event_rows import START, decoded, feature_of
from kr_plugins.postgres.database import streamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from psycopg import Connection

    from kr_plugins.postgres.database import Database

__all__ = ["dumped", "restored"]

_DUMP = {
    "chain": "SELECT dense_after FROM projects WHERE id = %s",
    "events": "SELECT number, id, time, run, kind, data, encode(hash, 'hex') FROM events WHERE project = %s ORDER BY number",
    "documents": "SELECT kind, key, status, version, data FROM documents WHERE project = %s ORDER BY number",
    "steps": "SELECT run, key, result FROM steps WHERE project = %s ORDER BY run, key",
    "grants": "SELECT grant_id, session, story FROM grants WHERE project = %s ORDER BY grant_id",
    "counters": "SELECT kind, number FROM counters WHERE project = %s ORDER BY kind",
    "cursors": "SELECT log, number FROM cursors WHERE project = %s ORDER BY log",
}
_RESTORE = {
    "chain": "UPDATE projects SET dense_after = %s WHERE id = %s",
    "events": "INSERT INTO events (number, id, time, run, kind, data, hash, feature, project)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
    "documents": "INSERT INTO documents (kind, key, status, version, data, project) VALUES (%s, %s, %s, %s, %s, %s)",
    "steps": "INSERT INTO steps (run, key, result, project) VALUES (%s, %s, %s, %s)",
    "grants": "INSERT INTO grants (grant_id, session, story, project) VALUES (%s, %s, %s, %s)",
    "counters": "INSERT INTO counters (kind, number, project) VALUES (%s, %s, %s)",
    "cursors": "INSERT INTO cursors (log, number, project) VALUES (%s, %s, %s)",
}
_PAGE = 1000


def dumped(database: Database) -> Iterator[RecordRow]:
    """All rows of a project, as they are at one moment.

    Raises:
        StorageError: they cannot be read.
    """
    with database.long_transaction() as connection:
        for table, query in _DUMP.items():
            for values in streamed(connection, query, (database.project,)):
                yield RecordRow(table, tuple(values))


def restored(database: Database, rows: Iterable[RecordRow]) -> None:
    """Take the rows of another journal; all or none.

    Raises:
        StorageError: the project has a record already, or the rows cannot be written.
    """
    with database.long_transaction(IsolationLevel.READ_COMMITTED) as connection:
        connection.execute("SELECT FROM projects WHERE id = %s FOR UPDATE", (database.project,))
        _require_empty(connection, database)
        last, last_hash = 0, START
        for table, of_table in groupby(rows, attrgetter("table")):
            while page := [_stored(row, database.project) for row in islice(of_table, _PAGE)]:
                connection.cursor().executemany(_RESTORE[table], page)
                if table == "events":
                    last, last_hash = page[-1][0], page[-1][6]
        connection.execute(
            "UPDATE projects SET last_number = %s, last_hash = %s WHERE id = %s",
            (last, last_hash, database.project),
        )


def _stored(row: RecordRow, project: int) -> tuple[Any, ...]:
    if row.table != "events":
        return (*row.values, project)
    *values, data, told = row.values
    return (*values, data, bytes.fromhex(told), feature_of(decoded(data)), project)


def _require_empty(connection: Connection[Any], database: Database) -> None:
    counts = connection.execute(
        "SELECT last_number, (SELECT count(*) FROM documents WHERE project = id), (SELECT count(*) FROM steps WHERE project = id),"
        " (SELECT count(*) FROM grants WHERE project = id) FROM projects WHERE id = %s",
        (database.project,),
    ).fetchone()
    if counts is not None and any(counts):
        raise StorageError(
            f"the project `{database.project_name}` has a record already, of {counts[0]} entries; two records cannot become one",
            where=database.where,
            hint="name a project that is new (plugins.postgres.project); nothing was imported",
        )
