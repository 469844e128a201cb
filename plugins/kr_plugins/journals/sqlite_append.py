"""One event appended to the SQLite journal by a process that has loaded nothing else of it: an answer that is repeated.

All that is imported here is loaded for each repeated answer, and so it lies beside the package, whose import loads the whole.
"""

import os
import sqlite3
import stat
import time
from hashlib import sha256

__all__ = ["LAST_HASH", "SCHEMA_DIGEST", "VERSION", "append", "link"]

VERSION = 2
"""The form of the file; kept in it as `PRAGMA user_version`, 0 in a new one."""
SCHEMA_DIGEST = "df0f0b5685f0429f3b9efad1a5e7f80061ada178f5159104201a90c916505da6"
"""Of what SQLite tells of the schema of that form. A file with another one is left to the journal, which looks closer."""
LAST_HASH = "SELECT hash FROM events ORDER BY number DESC LIMIT 1"
_IN_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name LIMIT 100"
_FILES = ("", "-wal", "-shm", "-journal")


def append(place: str, kind: str, data: str) -> bool:
    """Append an event, durably and in its chain; False where the file is not there in the known form, or empty.

    Args:
        place: the file.
        kind: the event's kind.
        data: JSON without a `feature_id`.
    """
    if not _is_of_files(place):
        return False
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1_000_000):06d}+00:00"
    row = (os.urandom(8).hex(), stamp, os.urandom(8).hex(), kind, data)
    try:
        connection = sqlite3.connect(place, timeout=30, isolation_level=None)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")  # no other event comes between the last one and this
            schema = connection.execute(_IN_SCHEMA).fetchall()
            if sha256(repr(schema).encode()).hexdigest() != SCHEMA_DIGEST:
                return False  # a view or a trigger would do what its author wants
            last = connection.execute(LAST_HASH).fetchone()
            if connection.execute("PRAGMA user_version").fetchone() != (VERSION,) or last is None:
                return False
            connection.execute(
                "INSERT INTO events (id, time, run, kind, data, hash) VALUES (?, ?, ?, ?, ?, ?)",
                (*row, link(last[0], *row)),
            )
            connection.execute("COMMIT")
        finally:
            connection.close()
    except sqlite3.Error:
        return False
    return True


def link(before: bytes, id: str, time: str, run: str, kind: str, data: str) -> bytes:  # noqa: A002  the column's name
    """The hash of an event, from the hash of the one before it and its values as they are stored."""
    text = f"{len(id)} {len(time)} {len(run)} {len(kind)}\n{id}{time}{run}{kind}{data}"
    return sha256(before + text.encode()).digest()


def _is_of_files(journal: str) -> bool:
    """Whether a journal is there, and only files are where SQLite opens some: a link leads elsewhere, a pipe never answers."""
    try:
        if not stat.S_ISDIR(os.lstat(os.path.dirname(journal)).st_mode):
            return False
        os.lstat(journal)
    except (OSError, ValueError):
        return False
    for end in _FILES:
        try:
            if not stat.S_ISREG(os.lstat(journal + end).st_mode):
                return False
        except OSError:
            continue
    return True
