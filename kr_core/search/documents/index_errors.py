"""What is said of an index that cannot be used, or of which something is missing, and what to do about it."""

from __future__ import annotations

import os
import sqlite3
from errno import EROFS
from shlex import quote
from typing import TYPE_CHECKING

from kr_core.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["absent", "fault", "is_there", "out_of_place", "unread"]

_REMEDIES = {
    sqlite3.SQLITE_CORRUPT: "the index is damaged: delete it, and index again with `kr docs index PATH`",
    sqlite3.SQLITE_NOTADB: "this is no index: delete it, and index again with `kr docs index PATH`",
    sqlite3.SQLITE_READONLY: "make the project's folder writable",
    sqlite3.SQLITE_CANTOPEN: "make the project's folder writable",
    sqlite3.SQLITE_BUSY: "another `kr docs` writes it; try again when that is done",
    sqlite3.SQLITE_FULL: "make room on the disk",
}


def fault(what: str, error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """What to say, and to do, about an index that cannot be used.

    Args:
        what: what failed: "cannot be read".
        error: why.
        path: of the index.
    """
    if isinstance(error, OSError):
        return StorageError(
            f"{what}: {error.strerror or error}",
            where=str(error.filename or path),
            hint="make the project's folder writable"
            if isinstance(error, PermissionError) or error.errno == EROFS
            else "",
        )
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of it says more than is needed
    return StorageError(f"{what}: {error}", where=str(path), hint=_REMEDIES.get(code, ""))


def is_there(path: str | Path) -> bool:
    """Whether there is something at a path that can be reached."""
    return os.path.exists(path)  # noqa: PTH110  a path's own raises where a folder above may not be looked into


def absent(name: str, path: str) -> str:
    """What to say of a collection's path where nothing is any more."""
    return f"{name}: {path} is not there, and nothing is answered from it; `kr docs remove {quote(name)}` takes {name} out of the index"


def out_of_place(name: str, path: str | Path) -> str:
    """What to say of a collection's path that is gone or leads elsewhere by now; nothing of one that is where it was."""
    if not is_there(path):
        return absent(name, str(path))
    place = os.path.realpath(path)
    if place == str(path):
        return ""
    return (
        f"{name}: {path} leads to {place} by now, and KR does not read that; `kr docs index {quote(place)}` reads it"
        f" if you mean it, and `kr docs remove {quote(name)}` takes {name} out of the index"
    )


def unread(name: str, path: str) -> str:
    """What to say of a collection's path of which nothing is indexed, as after an index was made anew."""
    return f"{name}: nothing of {path} is indexed; `kr docs index` reads it"
