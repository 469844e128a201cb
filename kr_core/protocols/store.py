"""What a store must offer, and what its methods return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from kr_core.model import Entry, ResearchQuery

__all__ = ["Candidates", "ChangeResult", "Issue", "RebuildResult", "Repairable", "Store", "WriteResult"]


class Candidates(NamedTuple):
    """The entries that may match a query, and what went wrong while reading them."""

    entries: Sequence[Entry]
    warnings: Sequence[str] = ()
    files: Sequence[Path] = ()
    """The files that this answer was read from; a change of any of them makes it void."""


class WriteResult(NamedTuple):
    """What a write did."""

    entry: Entry | None
    """The entry as it stands in the index; None for a report that is not indexed."""
    path: str
    """The report's path, relative to the knowledge base."""
    index_count: int
    evicted: int = 0
    """Entries beyond the limit that the engine had archived after this write; -1 when that failed. Stores leave it 0."""
    files: Sequence[Path] = ()
    """The files that were written or removed, where the store keeps any: what a commit of this write holds."""


class ChangeResult(NamedTuple):
    """What a change of several entries came to."""

    entries: Sequence[Entry]
    """The entries as they stand now."""
    files: Sequence[Path] = ()
    """The files that were written, where the store keeps any."""


class RebuildResult(NamedTuple):
    """What was done to make an index anew."""

    message: Sequence[str] = ()
    """A line for each thing; none where nothing had to be done."""
    files: Sequence[Path] = ()
    """The files that were written, where the store keeps any."""


class Store(Protocol):
    """The knowledge base.

    Which entries are archived or stale is decided by the engine; a store only keeps.
    """

    def candidates(self, query: ResearchQuery) -> Candidates:
        """Entries that may answer the query, or a superset. A broken index is a warning, not an error."""

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of the index.

        Raises:
            StorageError: the index cannot be read.
        """

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report's text and its evidence ({} where there is none), or None if it is gone or empty."""

    def write(
        self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True
    ) -> WriteResult:
        """Keep a report and its entry, atomically; an entry with the same id is updated in place.

        With `index=False` only the report is written, and never over one that is there.

        Raises:
            StorageError: nothing was changed, or the report is there and the index is as it was.
        """

    def touch(self, entry: Entry, today: date) -> int:
        """Note that the entry was used today (at most one write a day) and return the number of entries.

        Raises:
            StorageError: the index cannot be written.
        """

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone.

        Raises:
            StorageError: the index cannot be written.
        """

    def mark_stale(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Give the chosen entries the status `stale`; their other values and their reports stay.

        `choose` is handed all entries while nobody else writes, so that none is marked that was just brought up to date.

        Raises:
            StorageError: the index cannot be read or written; nothing was changed.
        """

    def archive(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Move the chosen entries to the archive, with the status `archived`; their reports stay.

        `choose` is handed all entries while nobody else writes, so that none goes that was just used.

        Raises:
            StorageError: the index cannot be read or written; no entry was lost.
        """

    def archived(self) -> Sequence[Entry]:
        """The archived entries; they are neither candidates nor among `entries`, and can be read.

        Raises:
            StorageError: the archive cannot be read.
        """

    def restore(self, entry: Entry) -> WriteResult:
        """Move an archived entry back, as it is given; it is told by its id and path.

        Raises:
            StorageError: it is not in the archive, another entry has its id, or the index cannot be written.
        """


@runtime_checkable
class Repairable(Protocol):
    """A store that can say what is wrong with it, and make its index anew."""

    def check(self) -> Sequence[Issue]:
        """Everything that is wrong; nothing is changed. Whether an answer is stale is not the store's to say."""

    def rebuild(self) -> RebuildResult:
        """Make the index anew from the reports, with what the old one still tells; no report is changed.

        The old index is set aside first. Where nothing would change, nothing is written.

        Raises:
            StorageError: it cannot be written.
        """


class Issue(NamedTuple):
    """Something that is wrong with a knowledge base."""

    kind: str
    """`unreadable`, `orphan` (a report that no entry leads to), `dangling` (an entry without its report), `stale`, ..."""
    location: str
    """The file and line, the report's path, or the entry's id."""
    message: str
    hint: str
