"""From the journal on to the logs: each gets every event once, by a cursor of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.files import try_lock
from kr_core.protocols import LogRecord

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kr_core.protocols import Journal, Log

_BATCH = 500


def deliver(journal: Journal, logs: Mapping[str, Log], folder: Path) -> list[str]:
    """Hand each log what it does not have yet; a log that fails gets it next time.

    One at a time does this for a log, whatever thread or process it is. Nobody waits for another: who finds the log taken
    leaves its events to the one who has it, and who has it looks again after letting go.

    Args:
        journal: where the events and the cursors are.
        logs: each by its name.
        folder: where it is marked that a log is taken, the project's `.kr/`.

    Returns:
        A note for each log that failed.
    """
    notes = []
    for name, log in logs.items():
        try:
            _deliver(journal, name, log, folder)
        except StorageError as error:
            notes.append(f"log {name}: {error}; its events wait in the journal")
        except Exception as error:
            notes.append(f"log {name}: {type(error).__name__}: {error}; its events wait in the journal")
    return notes


def _deliver(journal: Journal, name: str, log: Log, folder: Path) -> None:
    cursor = journal.cursor(name)
    while journal.read(cursor, 1):
        with try_lock(folder / f"{name}.lock") as is_ours:
            if not is_ours:
                return
            cursor = journal.cursor(name)
            while records := [LogRecord(number, event) for number, event in journal.read(cursor, _BATCH)]:
                log.write(records)
                cursor = records[-1].number
                journal.advance(name, cursor)
