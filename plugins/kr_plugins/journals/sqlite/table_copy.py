"""A journal's rows, taken out of the file and into it, table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.plugin import RecordRow
from kr_plugins.journals.event_rows import decoded
from kr_plugins.journals.hash_chain import START, feature_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

__all__ = ["dumped", "restore"]

_DUMP = {
    "chain": "SELECT dense_after FROM chain",
    "events": "SELECT number, id, time, run, kind, data, lower(hex(hash)) FROM events ORDER BY number",
    "documents": "SELECT kind, key, status, version, data FROM documents ORDER BY number",
    "steps": "SELECT run, key, result FROM steps ORDER BY run, key",
    "grants": "SELECT grant_id, session, story FROM grants ORDER BY grant_id",
    "counters": "SELECT kind, number FROM counters WHERE kind NOT LIKE '@%' ORDER BY kind",  # @: of this file's own rows
    "cursors": "SELECT log, number FROM cursors ORDER BY log",
}
_RESTORE = {
    "chain": "UPDATE chain SET dense_after = ?",
    "events": "INSERT INTO events (number, id, time, run, kind, data, hash, feature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "documents": "INSERT INTO documents (kind, key, status, version, data) VALUES (?, ?, ?, ?, ?)",
    "steps": "INSERT INTO steps (run, key, result) VALUES (?, ?, ?)",
    "grants": "INSERT INTO grants (grant_id, session, story) VALUES (?, ?, ?)",
    "counters": "INSERT INTO counters (kind, number) VALUES (?, ?)",
    "cursors": "INSERT INTO cursors (log, number) VALUES (?, ?)",
}
_FILLED = ("events", "documents", "steps", "grants")


def dumped(connection: sqlite3.Connection) -> Iterator[RecordRow]:
    """All rows; the caller's transaction keeps them as they are."""
    for table, query in _DUMP.items():
        for values in connection.execute(query):
            yield RecordRow(table, tuple(values))


def restore(
    connection: sqlite3.Connection, rows: Iterable[RecordRow], where: str, hint: str
) -> tuple[int, bytes]:
    """Take the rows of another journal, in the caller's transaction; returns the number and the hash of the last entry.

    Raises:
        StorageError: this one has rows already.
    """
    for table in _FILLED:
        if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608  a constant
            entries = connection.execute("SELECT count(*) FROM events").fetchone()[0]
            raise StorageError(
                f"there is a record already, of {entries} entries; two records cannot become one",
                where=where,
                hint=f"{hint}; nothing was imported",
            )
    last = (0, START)
    for row in rows:
        values: tuple[Any, ...] = row.values
        if row.table == "events":
            *rest, data, told = values
            values = (*rest, data, bytes.fromhex(told), feature_of(decoded(data)))
            last = (values[0], values[6])
        connection.execute(_RESTORE[row.table], values)
    return last
