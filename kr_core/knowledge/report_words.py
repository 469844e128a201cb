"""Which of some words each entry of a knowledge base has, in itself or in its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.model import Entry
    from kr_core.protocols import Store

__all__ = ["EntryWords", "ReportWords"]

_MOST = 50_000_000
"""Characters of all reports that one search reads; two hundred usual ones have a tenth of it."""
_PIECE = 100_000
"""Characters that are looked at together: the words of a long text would take much memory."""


class EntryWords(NamedTuple):
    """What an entry has of the words that are searched for."""

    entry: Entry
    own: frozenset[str]
    """Those in its id, library, topic and tags."""
    all: frozenset[str]
    """These and those of its report, which is not read where it has all words itself."""


class ReportWords:
    """A search for words in the entries of a store, and in their reports: each report once, and not more than 50 MB together.

    Args:
        store: which has the reports.
        text: the words.
    """

    def __init__(self, store: Store, text: str) -> None:
        self.wanted = stems(text)
        self.unread = 0
        """Entries whose reports were not read, since others were too long."""
        self._store = store
        self._starts = tuple(word[: max(1, len(word) - 2)] for word in self.wanted)
        """A stem differs from its word in the last two letters, or in letters behind it."""
        self._known: dict[str, frozenset[str]] = {}
        self._left = _MOST

    def of(self, entries: Iterable[Entry]) -> Iterator[EntryWords]:
        """What each of these entries has, in their order."""
        for entry in entries:
            own = self.wanted & stems(" ".join((entry.id, entry.framework, entry.topic, *entry.tags)))
            yield EntryWords(entry, own, own if own == self.wanted else own | self._told(entry))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the search."""
        if not self.unread:
            return ()
        size = f"{_MOST // 1_000_000} MB"
        return (f"the reports of {self.unread} entries were not searched: those before them have {size}",)

    def _told(self, entry: Entry) -> frozenset[str]:
        if entry.path not in self._known:
            if self._left <= 0:
                self.unread += 1
                return frozenset()
            kept = self._store.read(entry)
            text = kept[0] if kept is not None else ""
            self._left -= len(text)
            self._known[entry.path] = self._found(text)
        return self._known[entry.path]

    def _found(self, text: str) -> frozenset[str]:
        found: set[str] = set()
        for piece in _pieces(text):
            lower = piece.lower()
            if any(start in lower for start in self._starts):
                near = {word for word in words(piece) if word.startswith(self._starts)}
                found |= self.wanted.intersection(stem(word) for word in near - STOP_WORDS)
            if found == self.wanted:
                break
        return frozenset(found)


def _pieces(text: str) -> Iterator[str]:
    """Pieces of a text, cut between words."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            end = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end)) + 1 or end
        yield text[start:end]
        start = end
