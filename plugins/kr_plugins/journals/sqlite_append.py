"""One event appended to the SQLite journal by a process that has loaded nothing else of it: an answer that is repeated.

All that is imported here is loaded for each repeated answer, and so it lies beside the package, whose import loads the whole.
"""

import os
import sqlite3
import stat
import time
from hashlib import sha256

__all__ = [
    "HEAD",
    "LAST_HASH",
    "SCHEMA_DIGEST",
    "SLOT",
    "VERSION",
    "append",
    "link",
    "pack",
    "read_head",
    "read_slots",
    "unpack",
    "write_slot",
]

VERSION = 2
"""The form of the file; kept in it as `PRAGMA user_version`, 0 in a new one."""
SCHEMA_DIGEST = "df0f0b5685f0429f3b9efad1a5e7f80061ada178f5159104201a90c916505da6"
"""Of what SQLite tells of the schema of that form. A file with another one is left to the journal, which looks closer."""
LAST_HASH = "SELECT hash FROM events ORDER BY number DESC LIMIT 1"
_IN_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name LIMIT 100"
HEAD = "-head"
"""What the name of the file ends with that names the last entry, outside of the database (`sqlite.record_head`)."""
SLOT = 128
"""Bytes of one of the two slots in which that file names an entry."""
_FILES = ("", "-wal", "-shm", "-journal", HEAD)
SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


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
            head = read_head(place)
            this = link(last[0], *row)
            number = connection.execute(
                "INSERT INTO events (id, time, run, kind, data, hash) VALUES (?, ?, ?, ?, ?, ?)",
                (*row, this),
            ).lastrowid
            connection.execute("COMMIT")
            if number and head == (number - 1, last[0]):  # else the journal looks closer when it is opened
                write_slot(place, 0, number, f"{number} {this.hex()}", SLOT)
        finally:
            connection.close()
    except sqlite3.Error:
        return False
    return True


def link(before: bytes, id: str, time: str, run: str, kind: str, data: str) -> bytes:  # noqa: A002  the column's name
    """The hash of an event, from the hash of the one before it and its values as they are stored."""
    text = f"{len(id)} {len(time)} {len(run)} {len(kind)}\n{id}{time}{run}{kind}{data}"
    return sha256(before + text.encode()).digest()


def read_head(place: str) -> tuple[int, bytes] | None:
    """The number and the hash of the last entry, as the file beside the journal has them; None where it names none."""
    text = read_slots(place, 2 * SLOT)
    found = (unpack(text[:SLOT]), unpack(text[SLOT:]))
    try:
        return max(((one[0], bytes.fromhex(one[1])) for one in found if one), default=None)
    except ValueError:
        return None


def read_slots(place: str, size: int) -> bytes:
    """So many bytes from the start of the file beside the journal; none where it cannot be read."""
    try:
        handle = os.open(place + HEAD, os.O_RDONLY | SAFELY)
    except OSError:
        return b""
    try:
        return os.read(handle, size)
    except OSError:
        return b""
    finally:
        os.close(handle)


def write_slot(place: str, start: int, turn: int, text: str, size: int) -> None:
    """Write one of two slots of the file beside the journal, in turn: the other one always stays whole.

    It is written after what it tells is durable, and waits for no disk: after a crash it may tell of less, never of more.
    Where it cannot be written the record goes on without.
    """
    try:
        handle = os.open(place + HEAD, os.O_WRONLY | os.O_CREAT | SAFELY, 0o666)
    except OSError:
        return
    try:
        os.lseek(handle, start + turn % 2 * size, os.SEEK_SET)
        os.write(handle, pack(text, size))
    except OSError:
        return
    finally:
        os.close(handle)


def pack(text: str, size: int) -> bytes:
    """A slot with a text in it and what shows that it is whole."""
    return f"{sha256(text.encode()).hexdigest()[:16]} {text}".ljust(size - 1).encode() + b"\n"


def unpack(slot: bytes) -> tuple[int, str] | None:
    """The turn of a slot and what it tells; None where it is not whole."""
    check, _, text = slot.rstrip().partition(b" ")
    if check != sha256(text).hexdigest()[:16].encode():
        return None
    turn, _, told = text.decode(errors="replace").partition(" ")
    return (int(turn), told) if turn.isdecimal() and len(turn) < 20 else None


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
