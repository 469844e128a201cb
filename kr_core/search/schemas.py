"""What an index may have in its schema: who made the file is not known, and a view or a trigger does what its author wants."""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING

from kr_core.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["distrust"]


def distrust(connection: sqlite3.Connection, path: Path) -> None:
    """Let nothing in the schema of a file act, and refuse one with views or triggers, of which KR makes none.

    Raises:
        StorageError: it has one.
        sqlite3.Error: it cannot be read.
    """
    connection.execute("pragma trusted_schema=off")
    if sys.version_info >= (3, 12):
        allowed = {sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER: False, sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW: False}
        for what, is_allowed in allowed.items():
            connection.setconfig(what, is_allowed)
    acting = "select type, name from sqlite_master where type not in ('table', 'index') limit 1"
    for kind, name in connection.execute(acting):
        raise StorageError(
            f"has the {kind} {str(name)[:100]!r}, which KR has not made",
            where=str(path),
            hint="delete it; KR makes it again",
        )
