"""The journal in one SQLite file, `.kr/journal.sqlite`: events, documents, step results, budgets and the logs' cursors.

It uses WAL with `synchronous=FULL`: data reported as durable survives a killed process and a power failure
(https://www.sqlite.org/pragma.html#pragma_synchronous). SQLite itself drops a torn tail of the write-ahead log when it
next opens the file. It commits events and changes of a process in groups (`group_commit`).

Each event has a hash (`event_rows.link`) that links it to the one before it. The transaction that writes the event
computes it together with the number, so all processes share one chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.plugin import Provider, hookimpl
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

if TYPE_CHECKING:
    from kr_core.plugin import Journal

__all__ = ["kr_journal"]


@hookimpl
def kr_journal() -> Provider[Journal]:
    """Provide the journal in the project's state folder."""
    return Provider(lambda _, setup: SQLite(setup.state_folder))
