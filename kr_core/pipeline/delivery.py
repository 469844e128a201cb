"""From the journal on to the logs: each gets every event once, by a cursor of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.protocols import LogRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.protocols import Journal, Log

_BATCH = 500


def deliver(journal: Journal, logs: Mapping[str, Log]) -> list[str]:
    """Hand each log what it does not have yet; a log that fails gets it next time.

    Returns:
        A note for each log that failed.
    """
    notes = []
    for name, log in logs.items():
        try:
            cursor = journal.cursor(name)
            while records := [LogRecord(number, event) for number, event in journal.read(cursor, _BATCH)]:
                log.write(records)
                cursor = records[-1].number
                journal.advance(name, cursor)
        except StorageError as error:
            notes.append(f"log {name}: {error}; its events wait in the journal")
        except Exception as error:
            notes.append(f"log {name}: {type(error).__name__}: {error}; its events wait in the journal")
    return notes
