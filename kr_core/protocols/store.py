"""What a store must offer, and what its methods return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from kr_core.model import Entry, ResearchQuery

__all__ = [
    "ArchiveByFramework",
    "Candidates",
    "ChangeResult",
    "Closable",
    "ConditionalWrites",
    "Issue",
    "RebuildResult",
    "Remote",
    "Repairable",
    "Store",
    "WriteResult",
]


class Candidates(NamedTuple):
    """The entries that may match a query, and warnings from reading them."""

    entries: Sequence[Entry]
    warnings: Sequence[str] = ()
    files: Sequence[Path] = ()
    """The files that these entries come from; a change of any of them makes them outdated."""


class WriteResult(NamedTuple):
    """The result of a write."""

    entry: Entry | None
    """The entry as stored in the index; None for a report that is not indexed."""
    path: str
    """The report's path, relative to the knowledge base."""
    index_count: int
    evicted: int = 0
    """The number of entries beyond the limit that the engine archived after this write; -1 if that failed. Stores
    leave it 0.
    """
    files: Sequence[Path] = ()
    """The files that the store wrote or removed, if it uses files; a commit of this write contains them."""


class ChangeResult(NamedTuple):
    """The result of changing several entries."""

    entries: Sequence[Entry]
    """The entries in their current state."""
    files: Sequence[Path] = ()
    """The files that the store wrote, if it uses files."""


class RebuildResult(NamedTuple):
    """The result of rebuilding an index."""

    message: Sequence[str] = ()
    """A line for each step; empty if there was nothing to do."""
    files: Sequence[Path] = ()
    """The files that the store wrote, if it uses files."""


class Store(Protocol):
    """The knowledge base.

    The engine decides which entries are archived or stale; a store only stores them.
    """

    def candidates(self, query: ResearchQuery) -> Candidates:
        """The entries that may answer the query, or a superset. A broken index is a warning, not an error."""

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of the index.

        Raises:
            StorageError: the index cannot be read.
        """

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report's text and its evidence ({} if there is none), or None if the report is gone or empty."""

    def write(
        self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True
    ) -> WriteResult:
        """Store a report and its entry atomically; update an entry with the same id in place.

        With `index=False`, write only the report, and never over an existing one.

        Raises:
            StorageError: nothing changed, or only the report was written and the index is unchanged.
        """

    def touch(self, entry: Entry, today: date) -> int:
        """Record that the entry was used today (at most one write a day) and return the number of entries.

        Raises:
            StorageError: the index cannot be written.
        """

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone or empty.

        Raises:
            StorageError: the index cannot be written, or the report is there and cannot be read; the entry stays.
        """

    def mark_stale(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Give the chosen entries the status `stale`; their other values and their reports do not change.

        `choose` receives all entries while no one else writes, so that it marks none that was just updated.

        Raises:
            StorageError: the index cannot be read or written; nothing changed.
        """

    def archive(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Move the chosen entries to the archive, with the status `archived`; their reports stay in place.

        `choose` receives all entries while no one else writes, so that it archives none that was just used.

        Raises:
            StorageError: the index cannot be read or written; no entry is lost.
        """

    def archived(self) -> Sequence[Entry]:
        """The archived entries. They are neither candidates nor among `entries`, but `read` works for them.

        Raises:
            StorageError: the archive cannot be read.
        """

    def restore(self, entry: Entry) -> WriteResult:
        """Move an archived entry back, with the given values; the store finds it by its id and path.

        Raises:
            StorageError: it is not in the archive, another entry has its id, or the index cannot be written.
        """


@runtime_checkable
class ArchiveByFramework(Protocol):
    """A store that finds the archived entries of one framework without reading those of the others."""

    def archived_of(self, framework: str) -> Sequence[Entry]:
        """The entries of `archived` about a framework, in the same order; case and separators do not count.

        Raises:
            StorageError: the archive cannot be read.
        """


@runtime_checkable
class Closable(Protocol):
    """A store that holds something open, such as connections."""

    def close(self) -> None:
        """Let go of it; KR calls this when the pipeline is closed."""


@runtime_checkable
class Remote(Protocol):
    """A store or a journal that keeps nothing in the project's folders."""

    place: str
    """Where it keeps things, for people: no password."""


@runtime_checkable
class ConditionalWrites(Protocol):
    """A store that replaces a report only if no other process has changed it."""

    def write_over(
        self, before: tuple[str, dict[str, Any]], report: str, evidence: Mapping[str, Any], entry: Entry
    ) -> WriteResult | None:
        """Do what `write` does if `read` still returns `before`; else change nothing and return None.

        No one else writes between the comparison and the write.

        Raises:
            StorageError: as `write`.
        """


@runtime_checkable
class BatchWrites(Protocol):
    """A store that keeps many reports for the price of one change of its index."""

    def write_all(self, writes: Sequence[tuple[str, Mapping[str, Any], Entry]]) -> ChangeResult:
        """Do what `write` does for each, in their order. A caller that is killed meanwhile may have to repeat all of them.

        Raises:
            StorageError: some of the reports were written, and the index has none of them, or those.
        """


@runtime_checkable
class Repairable(Protocol):
    """A store that can check itself and rebuild its index."""

    def check(self) -> Sequence[Issue]:
        """All faults; changes nothing. The engine decides whether an answer is stale."""

    def rebuild(self) -> RebuildResult:
        """Rebuild the index from the reports and what the old one still contains; no report changes.

        The store keeps a copy of the old index first. If nothing would change, it writes nothing.

        Raises:
            StorageError: it cannot be written.
        """


@runtime_checkable
class Inspectable(Protocol):
    """A store that reads each report once for `kr cache check`, and shows it to the engine; else both read all of them."""

    def inspect(self, look: Callable[[Entry, str], None]) -> Sequence[Issue]:
        """All faults, as `check` tells them; `look` is called with each entry that has a report, and that report."""


@runtime_checkable
class Mergeable(Protocol):
    """A store whose index lies in git, and that merges two versions of it; `kr cache merge` is git's merge driver."""

    def merge(self, base: str, ours: str, theirs: str) -> str:
        """The text of both versions as one; `base`, what both come from, is empty where git knows none.

        Raises:
            StorageError: they contradict each other, or one is not an index.
        """


class Issue(NamedTuple):
    """A fault in a knowledge base."""

    kind: str
    """`unreadable`, `orphan` (a report without an entry), `dangling` (an entry without its report), `stale`, ..."""
    location: str
    """The file and line, the report's path, or the entry's id."""
    message: str
    hint: str
