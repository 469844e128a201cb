"""What a run says as it goes: events to the journal, to observers, and on to the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.errors import StorageError
from kr_core.model import Event, new_id
from kr_core.protocols import LogRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from kr_core.protocols import Journal, Log

_BATCH = 500
PROGRESS = frozenset({"index.progress"})
"""Kinds of events that only observers see: a thousand of them say nothing afterwards."""


class Recorder:
    """The events of one run.

    Args:
        journal: where they are kept.
        observers: called with each event at once; what they raise is ignored, since they only watch.
    """

    def __init__(self, journal: Journal, observers: tuple[Callable[[Event], None], ...]) -> None:
        self.run = new_id()
        self._journal = journal
        self._observers = observers
        self._pending: list[Future[None]] = []

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Say what happened; never waits and never raises."""
        event = Event(kind=kind, run=self.run, data=dict(data))
        if kind not in PROGRESS:
            self._pending.append(self._journal.append([event]))
        for observer in self._observers:
            try:
                observer(event)
            except Exception:  # noqa: S112  an observer only watches; nobody else would want to know
                continue

    def settle(self) -> None:
        """Wait until everything said so far is durable.

        Raises:
            StorageError: it could not be made so.
        """
        pending, self._pending = self._pending, []
        for future in pending:
            future.result()


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
