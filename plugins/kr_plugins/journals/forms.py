"""The tables of `journal.sqlite`, and how a file of an older form comes to have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kr_plugins.journals import chaining

if TYPE_CHECKING:
    import sqlite3

__all__ = ["VERSION", "bring_up_to_date"]

VERSION = 2
"""The form that is described here; kept in the file as `PRAGMA user_version`, 0 in a new one."""
_MANY = 2000
"""Rows that are in memory at a time while a whole file is read."""
_EVENTS = """
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


def bring_up_to_date(connection: sqlite3.Connection, version: int) -> None:
    """Make what a file of a form lacks, within the caller's transaction."""
    if version == 0:
        _make(connection, _EVENTS + _SCHEMA)
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
    _make(connection, _EVENTS)
    number, before = 0, chaining.START
    insert = "INSERT INTO events (number, id, time, run, kind, data, feature, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    select = (
        "SELECT number, id, time, run, kind, data FROM unchained WHERE number > ? ORDER BY number LIMIT ?"
    )
    while rows := connection.execute(select, (number, _MANY)).fetchall():
        for number, *row in rows:
            before = chaining.link(before, *row)
            connection.execute(insert, (number, *row, chaining.feature_of(json.loads(row[-1])), before))
    connection.execute("DROP TABLE unchained")
    connection.execute("INSERT INTO chain (dense_after) VALUES (?)", (number,))
