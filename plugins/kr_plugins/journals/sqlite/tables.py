"""The tables of `journal.sqlite`, how a file of an older form comes to have them, and their rows copied from journal to journal."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.plugin import RecordRow
from kr_plugins.journals import event_rows
from kr_plugins.journals.event_rows import START, decoded, feature_of
from kr_plugins.journals.sqlite_append import VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

__all__ = ["VERSION", "bring_up_to_date", "dumped", "restore", "stranger"]

_MANY = 2000
"""Rows that are in memory at a time while a whole file is read."""
_RECORD = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- AUTOINCREMENT: a number is never given twice
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,                        -- ISO 8601 with its offset
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,                        -- JSON
    feature TEXT,                              -- `feature_id` of the data
    hash BLOB NOT NULL
);
CREATE INDEX events_by_run ON events (run);
CREATE INDEX events_by_feature ON events (feature) WHERE feature IS NOT NULL;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which they were new
    kind TEXT NOT NULL, key TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL,
    UNIQUE (kind, key)
);
CREATE INDEX documents_by_status ON documents (kind, status);
CREATE TABLE counters (kind TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE chain (
    dense_after INTEGER NOT NULL               -- form 1 left numbers out; after this one, none is
);
"""
"""The events with their chain, documents and counters. Who changes this or `_SCHEMA` raises `VERSION`, and changes
`SCHEMA_DIGEST` in `sqlite_append.py` with it.
"""
_SCHEMA = """
CREATE TABLE steps (
    run TEXT NOT NULL, key TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE grants (
    grant_id TEXT PRIMARY KEY, session TEXT NOT NULL, story TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX grants_by_story ON grants (session, story);
CREATE TABLE cursors (log TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""
"""What every form has: steps, grants of budgets, cursors of logs."""
_EVENTS_1 = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
);
"""
"""The events in form 1."""
_IN_SCHEMA = "SELECT type, name, sql FROM sqlite_master LIMIT 100"
"""More than that are never KR's."""
_MADE = re.compile(r"\s*CREATE (TABLE|INDEX) (\w+)")
_COMMENT = re.compile("--[^\n]*")
_SPACE = re.compile("[ \t\r\n\f]+")
"""What SQLite takes for space, and nothing else."""
_EDGE = re.compile(" ?([(),]) ?")


def stranger(connection: sqlite3.Connection, version: int) -> str:
    """How the schema of a file differs from its form's; empty where it does not.

    A view in place of a table answers with what its author wants, or never; a trigger takes away what was just kept. Both
    come with a file that somebody else made.
    """
    known = _known(version)
    found = connection.execute(_IN_SCHEMA).fetchall()
    for kind, name, sql in found:
        if known.get(name) != (kind, _plain(sql)):
            return f"has the {kind} {str(name)[:100]!r}, which KR has not made"
    missing = [f"the {known[name][0]} `{name}`" for name in known if name not in {row[1] for row in found}]
    return f"lacks {', '.join(missing)}" if missing else ""


@cache
def _known(version: int) -> dict[str, tuple[str, str]]:
    """The names in the schema of a form, each with its kind and its text as `_plain` has it."""
    if not version:
        return {}
    known = {"sqlite_sequence": ("table", "CREATE TABLE sqlite_sequence(name,seq)")}
    for statement in ((_EVENTS_1 if version == 1 else _RECORD) + _SCHEMA).split(";\n"):
        if made := _MADE.match(statement):
            known[made[2]] = (made[1].lower(), _plain(statement))
            if "UNIQUE" in statement:  # of which SQLite makes an index
                known[f"sqlite_autoindex_{made[2]}_1"] = ("index", "")
    return known


def _plain(sql: str | None) -> str:
    """A statement without comments and needless space; none of KR's has quotes, in which they would mean something."""
    return _EDGE.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", sql or ""))).strip()


def bring_up_to_date(connection: sqlite3.Connection, version: int) -> None:
    """Make what a file of a form lacks, within the caller's transaction."""
    if version == 0:
        _make(connection, _RECORD + _SCHEMA)
        connection.execute("INSERT INTO chain (dense_after) VALUES (0)")
    elif version == 1:
        _chain_form_1(connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _make(connection: sqlite3.Connection, schema: str) -> None:
    for statement in schema.split(";\n"):
        connection.execute(statement)


def _chain_form_1(connection: sqlite3.Connection) -> None:
    """Copy the events of a file of form 1, which had no hashes; who still has it open as such can write no more."""
    connection.execute("ALTER TABLE events RENAME TO unchained")
    _make(connection, _RECORD)
    number, before = 0, event_rows.START
    insert = "INSERT INTO events (number, id, time, run, kind, data, feature, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    select = (
        "SELECT number, id, time, run, kind, data FROM unchained WHERE number > ? ORDER BY number LIMIT ?"
    )
    while rows := connection.execute(select, (number, _MANY)).fetchall():
        for number, *row in rows:
            before = event_rows.link(before, *row)
            connection.execute(insert, (number, *row, event_rows.feature_of(json.loads(row[-1])), before))
    connection.execute("DROP TABLE unchained")
    connection.execute("INSERT INTO chain (dense_after) VALUES (?)", (number,))


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
