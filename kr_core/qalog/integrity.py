"""Whether the logs have more than the journal: what it delivered, it must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.protocols import Issue, ReadableLog

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kr_core.protocols import EventLog, Log

__all__ = ["log_flaws"]

_HINT = "restore the journal from a backup; if you moved it aside on purpose, move the log aside too"


def log_flaws(journal: EventLog, logs: Mapping[str, Log]) -> Iterator[Issue]:
    """The logs whose last event the journal does not have.

    Raises:
        StorageError: the journal cannot be read.
    """
    for name, log in logs.items():
        if not isinstance(log, ReadableLog):
            continue
        try:
            last = log.last_record()  # before the journal, which then has at least as much
        except Exception as error:  # a third party's log may raise anything
            yield Issue(
                "unreadable", f"log {name}", f"{type(error).__name__}: {error}", "repair it, or move it aside"
            )
            continue
        if last is None:
            continue
        found = journal.read(last.number - 1, 1)
        if not found or (found[0][0], found[0][1].id) != (last.number, last.event.id):
            said = f"it ends with entry {last.number} of {last.event.time:%Y-%m-%d %H:%M:%S}, which the journal does not have"
            yield Issue("missing", f"log {name}", said, _HINT)
