"""From the journal on to the logs: each gets every event once, by a cursor of its own; and whether a log has more than the journal.

Where machines share the journal, a log that can say what it received last is taken for one that each machine has, as a file;
any other is fed by one machine at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.protocols import Issue, LogRecord, ReadableLog

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kr_core.protocols import EventLog, Journal, Log
    from kr_core.turns import Turns

_BATCH = 500
_HINT = "restore the journal from a backup; if you moved it aside on purpose, move the log aside too"


def deliver(journal: Journal, logs: Mapping[str, Log], turns: Turns) -> list[str]:
    """Hand each log what it does not have yet; a log that fails gets it next time.

    One at a time does this for a log, whatever thread or process it is. Nobody waits for another: who finds the log taken
    leaves its events to the one who has it, and who has it looks again after letting go.

    Args:
        journal: where the events and the cursors are.
        logs: each by its name.
        turns: by which a log is taken.

    Returns:
        A note for each log that failed.
    """
    notes = []
    for name, log in logs.items():
        try:
            _deliver(journal, name, log, turns)
        except StorageError as error:
            notes.append(f"log {name}: {error}; its events wait in the journal")
        except Exception as error:
            notes.append(f"log {name}: {type(error).__name__}: {error}; its events wait in the journal")
    return notes


def _deliver(journal: Journal, name: str, log: Log, turns: Turns) -> None:
    mine = log if turns.leases is not None and isinstance(log, ReadableLog) else None
    cursor = _cursor(journal, name, mine)
    while journal.read(cursor, 1):
        with turns.hold(name) if mine is None else turns.here(name) as is_ours:
            if not is_ours:
                return
            cursor = _cursor(journal, name, mine)
            while records := [LogRecord(number, event) for number, event in journal.read(cursor, _BATCH)]:
                log.write(records)
                cursor = records[-1].number
                if mine is None:
                    journal.advance(name, cursor)


def _cursor(journal: Journal, name: str, mine: ReadableLog | None) -> int:
    """How far a log has come: as the journal says, or where each machine has a log of its own, as that says itself.

    One that ends with what the journal does not have begins with the first entry.
    """
    if mine is None:
        return journal.cursor(name)
    last = mine.last_record()
    found = journal.read(last.number - 1, 1) if last is not None else ()
    return found[0][0] if last is not None and found and found[0][1].id == last.event.id else 0


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
