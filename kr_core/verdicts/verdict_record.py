"""Reads what humans said of answers from the record, and keeps how far it came, so that a new process reads little."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.protocols import Document, Issue
from kr_core.verdicts.learned import Learned

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.protocols import EventLog, Journal

__all__ = ["VerdictRecord", "flaws"]

_KIND = "verdicts"
_KEY = "learned"
_PAGE = 1000
_KEEP_AFTER = 500
"""Entries that a process may have to read again; to keep after each would cost a transaction for each answer."""


class VerdictRecord:
    """The verdicts of a project; safe to use from several threads.

    Args:
        journal: gives the project's journal.
    """

    def __init__(self, journal: Callable[[], Journal]) -> None:
        self._journal = journal
        self._learned: Learned | None = None
        self._kept = 0
        self._lock = threading.Lock()

    def read(self) -> Learned:
        """What the record says by now.

        Raises:
            StorageError: the journal cannot be read.
        """
        journal = self._journal()
        with self._lock:
            learned = self._learned
            if learned is None:
                kept = journal.document(_KIND, _KEY)
                learned = self._learned = Learned() if kept is None else Learned.from_dict(kept.data)
                self._kept = learned.position
            _learn(learned, journal)
            if learned.position - self._kept >= _KEEP_AFTER:
                with suppress(StorageError):  # the record has all of it
                    self._keep(journal, learned)
            return learned

    @property
    def last(self) -> Learned:
        """What the record said when it was last read.

        Raises:
            StorageError: it never was, and the journal cannot be read.
        """
        return self._learned or self.read()

    def _keep(self, journal: Journal, learned: Learned) -> None:
        self._kept = learned.position
        before = journal.document(_KIND, _KEY)
        if before is None or Learned.from_dict(before.data).position < learned.position:
            version = 1 if before is None else before.version + 1
            journal.change(Document(_KIND, _KEY, "kept", version, learned.to_dict()))


def flaws(journal: Journal) -> list[Issue]:
    """Whether what is kept of the verdicts is what the record says: no hash ties it to the entries.

    Raises:
        StorageError: the journal cannot be read.
    """
    kept = journal.document(_KIND, _KEY)
    known = Learned() if kept is None else Learned.from_dict(kept.data)
    if not known.position:  # it is read from the record anyway
        return []
    again = Learned()
    _learn(again, journal, known.position)
    if again.to_dict() == known.to_dict():
        return []
    hint = "set `calibration: raw`, and restore the journal from a backup; what counts is the log"
    return [Issue("altered", "verdicts", "KR's copy of the verdicts is not what the record says", hint)]


def _learn(learned: Learned, journal: EventLog, last: int | None = None) -> None:
    """Learn from the entries that are new, up to the last one."""
    while page := journal.read(learned.position, _PAGE):
        for number, event in page:
            if last is not None and number > last:
                return
            learned.learn(number, event, lambda run: journal.entries(exchange=run, limit=_PAGE))
