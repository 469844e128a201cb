"""What stands in the inbox, kept at hand: thousands of cases are read once, and then only those that have changed.

Whoever changes a case says so in an event with its id, in the same transaction; so the record tells which to read again,
whichever process has changed them.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from kr_core.escalation.schedule import WAITING
from kr_core.escalation.serialization import KIND, plain
from kr_core.qalog.reader import last_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.protocols import Document, Journal

__all__ = ["STATES", "CachePage", "CachedCase", "InboxCache"]

_READ = 200
"""Cases that are read at once; one may have 100 kB."""
_PAGE = 1000
_REMEMBERED = 1000
STATES = ("waiting", "resolved", "expired", "superseded", "withdrawn", "all")
"""What cases are listed by; `waiting` are those that no one has decided."""


class CachedCase(NamedTuple):
    """A case as the list knows it."""

    key: str
    number: int
    feature: str
    status: str
    revision: int
    by: str
    """Who has answered it, if anybody."""
    action: str
    turns: int
    """Of the talk about it."""

    @property
    def waits(self) -> bool:
        """Whether no one has decided it."""
        return self.status in WAITING


class CachePage(NamedTuple):
    """A part of the list, newest first."""

    keys: Sequence[str]
    total: int
    """Cases that fit, on whatever page."""
    before: str | None
    """The id behind which the list goes on; None at its end."""


class InboxCache:
    """The cases of a project; may be used by several threads.

    Args:
        journal: where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._cases: dict[str, CachedCase] = {}
        self._order: list[CachedCase] = []
        """Newest first."""
        self._number = self._start = -1
        self._changes: deque[tuple[int, str]] = deque(maxlen=_REMEMBERED)

    @property
    def number(self) -> int:
        """The last entry of the record that it knows of."""
        return max(0, self._number)

    def part(self, state: str, feature: str, before: str, limit: int) -> CachePage:
        """Some cases.

        Args:
            state: one of `STATES`.
            feature: of these alone; empty for all.
            before: an id; only cases before it. Empty for the newest.
            limit: so many at most.

        Raises:
            StorageError: the journal cannot be read.
        """
        with self._lock:
            self._refresh()
            fitting = [one for one in self._order if _fits(one, state, feature)]
        last = _number(before) if before else None
        left = fitting if last is None else [one for one in fitting if one.number < last]
        shown = left[:limit]
        return CachePage(
            [one.key for one in shown], len(fitting), shown[-1].key if len(left) > len(shown) else None
        )

    def features(self) -> list[tuple[str, int]]:
        """The features of the cases that wait, each with how many of them; by name."""
        with self._lock:
            self._refresh()
            counts: dict[str, int] = {}
            for one in self._order:
                if one.waits:
                    counts[one.feature] = counts.get(one.feature, 0) + 1
        return sorted(counts.items())

    def news(self, after: int) -> tuple[int, list[CachedCase] | None]:
        """The cases that have changed behind an entry of the record.

        Returns:
            The number of the last entry, and the cases as they are; None where they are too many to be known.
        """
        with self._lock:
            self._refresh()
            known_from = self._changes[0][0] if len(self._changes) == _REMEMBERED else self._start
            if after < known_from:
                return self._number, None
            keys = dict.fromkeys(key for number, key in self._changes if number > after)
            return self._number, [self._cases[key] for key in keys if key in self._cases]

    def listed(self, key: str) -> CachedCase | None:
        """A case as it was when the list was last brought up to date."""
        with self._lock:
            return self._cases.get(key.upper())

    def _refresh(self) -> None:
        if self._number < 0:
            number = last_number(self._journal)
            after = ""
            while documents := self._journal.documents(KIND, limit=_READ, after=after):
                self._take(documents)
                after = documents[-1].key
            self._number = self._start = number
        while True:
            entries = self._journal.entries(after=self._number, limit=_PAGE)
            changed: dict[str, int] = {}
            for number, event in entries:
                key = event.data.get("escalation_id")
                if isinstance(key, str):
                    changed[key] = number
            self._changes.extend((number, key) for key, number in changed.items())
            found = [self._journal.document(KIND, key) for key in changed]
            self._take([one for one in found if one is not None])
            if entries:
                self._number = entries[-1][0]
            if len(entries) < _PAGE:
                return

    def _take(self, documents: Iterable[Document]) -> None:
        changed = False
        for document in documents:
            listed = _listed(document)
            if self._cases.get(listed.key) != listed:
                self._cases[listed.key] = listed
                changed = True
        if changed:
            self._order = sorted(self._cases.values(), key=lambda one: -one.number)


def _fits(one: CachedCase, state: str, feature: str) -> bool:
    if feature and one.feature != feature:
        return False
    return state == "all" or (one.waits if state == "waiting" else one.status == state)


def _listed(document: Document) -> CachedCase:
    data = document.data
    request, resolution, answer = data["request"], data["resolution"] or {}, data["answer"] or {}
    by_agent = resolution.get("action") == "add_context"
    return CachedCase(
        document.key,
        _number(document.key),
        request["question"]["feature_id"],
        plain(document.status),
        request["revision"],
        (answer.get("agent") if by_agent else None) or resolution.get("by", ""),
        resolution.get("action", ""),
        len(data["turns"]),
    )


def _number(key: str) -> int:
    return int(key[1:]) if key[1:].isascii() and key[1:].isdigit() else 0
