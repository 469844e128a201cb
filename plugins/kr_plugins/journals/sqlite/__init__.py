"""The journal in one SQLite file, `.kr/journal.sqlite`: events, documents, step results, budgets and the logs' cursors.

WAL with `synchronous=FULL`: what was reported as kept survives a killed process and a power failure
(https://www.sqlite.org/pragma.html#pragma_synchronous). A torn tail of the write-ahead log is dropped by SQLite
itself when the file is next opened. Events and changes of a process are committed in groups (`group_commit`).

Each event has a hash (`hash_chain.link`) that ties it to the one before it. It is made where the event gets its number, in
the transaction that writes it, so that the chain is one for all processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.plugin import Provider, hookimpl
from kr_plugins.journals.sqlite.journal import SQLite

if TYPE_CHECKING:
    from kr_core.plugin import Journal

__all__ = ["kr_journal"]


@hookimpl
def kr_journal() -> Provider[Journal]:
    """Provide the journal in the project's state folder."""
    return Provider(lambda _, setup: SQLite(setup.state_folder))
