"""The store: entries and reports read, written, archived and mended, for any number of processes."""

from __future__ import annotations

import json
import os
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import StorageError
from kr_core.plugin import Candidates, ChangeResult, RebuildResult, WriteResult
from kr_core.toolkit import fold_name
from kr_plugins.stores.files import repair
from kr_plugins.stores.files.folder import KnowledgeFolder, reason, utc_now
from kr_plugins.stores.files.index import ARCHIVED, LIVE, Index, RowChange
from kr_plugins.stores.files.index_file import IndexFile, UnreadableIndexError
from kr_plugins.stores.files.index_merge import merge_indexes, resolve_conflict
from kr_plugins.stores.files.reports import ReportPaths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.plugin import Entry, Issue, ResearchQuery

_ARCHIVE = "schema_version: 1\narchived_entries: []\n"
_LESSONS = "# Lessons Learned\n"
_TOLD = 5
"""So many flaws of an index are told with candidates; `check` lists all."""


class _Write(NamedTuple):
    """A report to write, as its files will hold it."""

    text: str
    evidence: str
    entry: Entry


class _Batch:
    """What changes in an index when reports are written one after the other.

    The index is changed with the last one, or where one may be on the same as an earlier one.
    """

    def __init__(self, index: Index, places: ReportPaths) -> None:
        self.entries: list[Entry] = []
        self._index = index
        self._places = places
        self._changes: list[RowChange] = []
        self._names: set[str] = set()

    def change_for(self, entry: Entry) -> RowChange:
        """The row of an entry, with the path of its report."""
        change = self._change_for(entry)
        if self._names.isdisjoint({entry.id, entry.path, change.entry.path}):
            return change
        self.index()
        return self._change_for(entry)

    def _change_for(self, entry: Entry) -> RowChange:
        position = self._index.position(entry)
        return RowChange(self._places.placed(entry, self._index, position), position)

    def add(self, change: RowChange) -> None:
        """Add a change whose report was written."""
        self.entries.append(change.entry)
        self._changes.append(change)
        self._names |= {change.entry.id, change.entry.path}

    def index(self) -> Index:
        """The index after all changes."""
        self._index = self._index.with_entries(self._changes)
        self._changes, self._names = [], set()
        return self._index


class Files:
    """A knowledge base in a folder.

    Args:
        folder: the knowledge base; made on the first write.
        max_entries: what the header of a new index says.
        cache_ttl_days: what the header of a new index says.
        today: the date that a new index was created.
        now: the time in the name of an index that is set aside.
        turns: the folder where writers queue, so that who comes first is served first; None to let them in as they come.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_entries: int = 200,
        cache_ttl_days: int = 30,
        today: Callable[[], date] = date.today,
        now: Callable[[], datetime] = utc_now,
        turns: Path | None = None,
    ) -> None:
        self._folder = KnowledgeFolder(folder, now=now, turns=turns)
        self._today = today
        self._limits = {"max_entries": max_entries, "cache_ttl_days": cache_ttl_days}
        self._live = IndexFile(self._folder, "index.yaml", LIVE, self._header, today, self._warn)
        self._archive = IndexFile(
            self._folder, "_archived-index.yaml", ARCHIVED, lambda: {"schema_version": 1}, today, self._warn
        )
        self._places = ReportPaths(self._folder, self._archived_paths)
        self.warnings: list[str] = []
        """What a write had to mend; handed over, and forgotten, with the next candidates."""

    def _warn(self, said: str) -> None:
        self.warnings.append(said)

    def _header(self) -> dict[str, Any]:
        created = self._today().isoformat()
        return {"schema_version": 1, "bso_module_version": "1.0.0", "created": created, **self._limits}

    # -- reading -----------------------------------------------------------------------------------------

    def candidates(self, query: ResearchQuery) -> Candidates:
        """The entries of the query's framework, case and separators folded."""
        pending, self.warnings = self.warnings, []
        files = (self._live.path,)
        try:
            index = self._live.read()
        except (OSError, UnreadableIndexError) as error:
            return self._without_index(error, query, pending)
        entries = index.of_framework(query.framework)
        return Candidates(entries, (*pending, *_told(index)), files)

    def _without_index(self, error: Exception, query: ResearchQuery, pending: Sequence[str]) -> Candidates:
        """What both sides of a merge conflict still tell; nothing where the file is broken in another way."""
        said = f"{self._live.place_of(error)} cannot be read: {reason(error)}"
        found: Sequence[Entry] = ()
        if isinstance(error, UnreadableIndexError):  # who writes may well be gone before the next candidates
            both = resolve_conflict(self._live.raw(), undated=self._today())
            if both is not None and both.rows:
                found = both.of_framework(query.framework)
                said += "; both sides are used meanwhile, and `kr cache rebuild` merges them"
            said += "; the next report that is kept sets it aside and rebuilds it from the reports"
        return Candidates(found, (*pending, said), (self._live.path,))

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of the index; none where there is no index yet.

        Raises:
            StorageError: the index cannot be read.
        """
        return self._live.readable().entries

    def archived(self) -> Sequence[Entry]:
        """The archived entries, in the order in which they went; what stands in the index too is not archived.

        Raises:
            StorageError: one of the two files cannot be read.
        """
        return self._gone(self._archive.readable().entries)

    def archived_of(self, framework: str) -> Sequence[Entry]:
        """The archived entries of a framework; the others are not read.

        Raises:
            StorageError: one of the two files cannot be read.
        """
        return self._gone(self._archive.readable().of_framework(framework))

    def _gone(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        live = self._live.readable()
        return [
            entry for entry in entries if (place := live.position(entry)) is None
            or live.entry_at(place).path != entry.path
        ]  # fmt: skip

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report and its evidence; None if the report is gone, empty, not text or not in this folder."""
        return self._folder.read(entry.path)

    # -- writing -----------------------------------------------------------------------------------------

    def write(
        self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True
    ) -> WriteResult:
        """Keep a report with its evidence, then its entry.

        An entry that is known (by its id, else by its report's path, framework and topic) is updated in its
        place and keeps its id, path and `created`. A new one never takes the file of another: if its path is
        not free, the path gets a suffix. An index that cannot be parsed is set aside and rebuilt from the
        reports; `warnings` says so. Files the knowledge base lacks are made.

        Raises:
            StorageError: nothing changed, or only the report was written and the index is unchanged.
        """
        write = _checked(report, evidence, entry)
        with self._folder.changing():
            return self._written(write) if index else self._written_alone(write)

    def write_all(self, writes: Sequence[tuple[str, Mapping[str, Any], Entry]]) -> ChangeResult:
        """Do what `write` does for each, in their order; the index is written once, after all reports.

        Raises:
            StorageError: the reports before the one that cannot be written are in the index, if that can be written.
        """
        checked = [_checked(*write) for write in writes]
        with self._folder.changing():
            entries, _index = self._all_written(checked)
            return ChangeResult(tuple(entries), tuple(self._folder.written))

    def write_over(
        self, before: tuple[str, dict[str, Any]], report: str, evidence: Mapping[str, Any], entry: Entry
    ) -> WriteResult | None:
        """Keep a report and its entry in place of one that was read; None if it has changed since.

        Raises:
            StorageError: as `write`.
        """
        write = _checked(report, evidence, entry)
        with self._folder.changing():
            return self._written(write) if self.read(entry) == before else None

    def _written_alone(self, write: _Write) -> WriteResult:
        """Write a report without an entry, under the lock."""
        found, _broken = self._readable_or_rebuilt()
        path = self._keep_skeleton(write.text, write.entry, found)
        self._furnish(found)
        return WriteResult(None, path, found.count, files=tuple(self._folder.written))

    def _written(self, write: _Write) -> WriteResult:
        """Write a report, its evidence and its entry, under the lock."""
        (entry,), index = self._all_written([write])
        return WriteResult(entry, entry.path, index.count, files=tuple(self._folder.written))

    def _all_written(self, writes: Sequence[_Write]) -> tuple[list[Entry], Index]:
        """Write reports with their evidence, then all their entries, under the lock."""
        found, broken = self._readable_or_rebuilt()
        batch = _Batch(found, self._places)
        try:
            for write in writes:
                change = batch.change_for(write.entry)
                self._folder.put(change.entry.path, write.text, write.evidence)
                batch.add(change)
        finally:
            after = batch.index()
            if batch.entries:
                with self._folder.report_stays(batch.entries[-1].path):
                    if broken:
                        self._set_aside(broken)
                    self._live.save(after, before=None if broken else found)
        self._furnish(after)
        return batch.entries, after

    def _keep_skeleton(self, text: str, entry: Entry, index: Index) -> str:
        path = self._places.free(entry, index)
        if not os.path.lexists(self._folder.root / path):
            self._folder.replace(self._folder.root / path, text)
        return path

    def _readable_or_rebuilt(self) -> tuple[Index, str]:
        """The index, and why it had to be rebuilt; empty if it had not."""
        try:
            return self._live.read(), ""
        except UnreadableIndexError as error:
            rebuilt, notes = repair.rebuilt(self._folder, self._live, self._archived_paths(), self._today())
            self.warnings.extend(notes)
            return rebuilt, f"{self._live.place_of(error)} could not be read ({error})"

    def _set_aside(self, why: str) -> None:
        aside = self._folder.set_aside(self._live.path, "corrupt")
        self.warnings.append(f"{why}; it was set aside as {aside} and rebuilt from the reports")

    def _furnish(self, index: Index) -> None:
        """Make what is missing; the report counts, so what cannot be made is a warning."""
        wanted: dict[str, Callable[[], str]] = {
            "_archived-index.yaml": lambda: _ARCHIVE,
            "lessons/_lessons-learned.md": lambda: _LESSONS,
            "index.yaml": index.text,
        }
        for name, text in wanted.items():
            file = self._folder.root / name
            try:
                if not os.path.lexists(file):
                    self._folder.replace(file, text())
            except OSError as error:
                self.warnings.append(f"{file} cannot be made: {reason(error)}")

    def touch(self, entry: Entry, today: date) -> int:
        """Note that the entry was used today; a second use on the same day writes nothing.

        Raises:
            StorageError: the index cannot be read or written.
        """
        index = self._live.readable()
        if _used_on(index, entry, today):
            return index.count
        with self._folder.changing():
            index = self._live.readable()
            position = index.position(entry)
            if position is not None and not _used_on(index, entry, today):
                self._live.save(index.touched(position, today), before=index)
            return index.count

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone or empty; one whose report has come back meanwhile stays.

        Raises:
            StorageError: the index cannot be read or written, or the report is there and cannot be read.
        """
        if self._live.readable().position(entry) is None:
            return
        if why := self._folder.why_unreadable(entry.path):
            raise StorageError(
                f"its report cannot be read: {why}",
                where=entry.path,
                hint="mend the file, or remove it; the entry stays meanwhile",
            )
        with self._folder.changing():
            index = self._live.readable()
            position = index.position(entry)
            if position is not None and self.read(entry) is None:
                self._live.save(index.without([position]), before=index)

    def mark_stale(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Mark those entries as stale that `choose` names of all; nobody else writes meanwhile.

        Raises:
            StorageError: the index cannot be read or written.
        """
        with self._folder.changing():
            index = self._live.readable()
            changes = [
                RowChange(index.entry_at(position).model_copy(update={"status": "stale"}), position)
                for position in _positions(index, choose(index.entries))
            ]
            self._live.save(index.with_entries(changes), before=index)
            return ChangeResult(tuple(change.entry for change in changes), tuple(self._folder.written))

    # -- the archive -------------------------------------------------------------------------------------

    def archive(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Move those entries to the archive that `choose` names of all; nobody else writes meanwhile.

        The archive is written first. One that is killed in between leaves entries in both, and then they have not gone.

        Raises:
            StorageError: one of the two files cannot be read or written.
        """
        with self._folder.changing():
            index = self._live.readable()
            archive = self._archive.readable()
            going = _positions(index, choose(index.entries))
            changes = list(_moves(index, going, archive))
            if changes:
                self._archive.save(archive.with_entries(changes), before=archive)
                self._live.save(index.without(going), before=index)
            return ChangeResult(tuple(change.entry for change in changes), tuple(self._folder.written))

    def restore(self, entry: Entry) -> WriteResult:
        """Move an archived entry back, as it is given.

        Raises:
            StorageError: it is not in the archive, an entry of its id is in the index, or a file cannot be read or written.
        """
        with self._folder.changing():
            index = self._live.readable()
            archive = self._archive.readable()
            place = archive.position(entry)
            if place is None or archive.entry_at(place).path != entry.path:
                hint = "`kr cache list --archived` shows what is there"
                raise StorageError("no such entry in the archive", where=entry.id, hint=hint)
            present = index.position(entry)
            if present is not None:
                there = index.entry_at(present)
                if there.path != entry.path:
                    hint = f"archived, it stays readable as {entry.path}"
                    raise StorageError(
                        f"a newer report on this is there, {there.path}", where=entry.id, hint=hint
                    )
            after = index.with_entry(entry, present, item=archive.rows[place].read.item)
            self._live.save(after, before=index)
            self._archive.save(archive.without([place]), before=archive)
            return WriteResult(entry, entry.path, after.count, files=tuple(self._folder.written))

    def _archived_paths(self) -> frozenset[str]:
        try:
            return self._archive.read().paths
        except (OSError, UnreadableIndexError):
            rows = repair.salvaged_rows(self._archive, self._today())
            return frozenset(PurePosixPath(row.read.entry.path).as_posix() for row in rows if row.read.entry)

    # -- repair ------------------------------------------------------------------------------------------

    def check(self) -> Sequence[Issue]:
        """Everything that is wrong: reports without an entry, entries without a report, what cannot be read."""
        return self.inspect(lambda _entry, _report: None)

    def inspect(self, look: Callable[[Entry, str], None]) -> Sequence[Issue]:
        """The same; each entry of the index that has a report is shown with it."""
        return repair.flaws(self._folder, self._live, self._archive, self._today(), look)

    def merge(self, base: str, ours: str, theirs: str) -> str:
        """The text of two versions of an index, or of an archive, as one.

        Raises:
            StorageError: a text is not an index, or the keys beside the list changed on both sides.
        """
        try:
            return merge_indexes(base, ours, theirs, undated=self._today()).text()
        except UnreadableIndexError as error:
            raise StorageError(
                f"the two versions cannot be merged: {error}", where="index.yaml", hint="merge it by hand"
            ) from error

    def rebuild(self) -> RebuildResult:
        """Make the index anew from the reports, with what the old one still tells; say what was done.

        Ids, dates, comments and unknown keys of entries that can be read stay. The old files are set aside
        first, and where nothing would change nothing is written.

        Raises:
            StorageError: a file cannot be written.
        """
        with self._folder.changing():
            said = repair.rebuild(self._folder, self._live, self._archive, self._today())
            return RebuildResult(said, tuple(self._folder.written))


def _told(index: Index) -> list[str]:
    """What is wrong with an index that can be read, a line each; not all of it where it is much."""
    told = [
        f"index.yaml:{odd.line}: {odd.message}" if odd.line else f"index.yaml: {odd.message}"
        for odd in index.oddities[:_TOLD]
    ]
    more = len(index.oddities) - len(told)
    return [*told, f"index.yaml: {more} more such entries; `kr cache check` lists them"] if more else told


def _positions(index: Index, entries: Sequence[Entry]) -> list[int]:
    """The rows of the chosen entries, in the order of the index."""
    found = (index.position(entry) for entry in entries)
    return sorted({position for position in found if position is not None})


def _moves(index: Index, going: Sequence[int], archive: Index) -> Iterator[RowChange]:
    """What changes in the archive when rows of the index go there."""
    new: dict[tuple[str, str, str], int] = {}
    for position in going:
        entry = index.entry_at(position).model_copy(update={"status": "archived"})
        place = archive.position(entry)
        if place is not None and archive.entry_at(place).path != entry.path:
            place = None  # an older one of the same id, with a report of its own
        if place is None:  # of two that are the same the last one stays
            key = (fold_name(entry.framework), entry.id, entry.path)
            row = len(archive.rows) + len(new)
            place = new.setdefault(key, row)
            place = None if place == row else place
        yield RowChange(entry, place, index.rows[position].read.item)


def _used_on(index: Index, entry: Entry, day: date) -> bool:
    position = index.position(entry)
    return position is None or index.entry_at(position).last_accessed == day


def _checked(report: str, evidence: Mapping[str, Any], entry: Entry) -> _Write:
    text = report.replace("\0", "\N{REPLACEMENT CHARACTER}")  # a text with NUL would not be read again
    return _Write(text, _as_json(evidence, where=entry.path), entry)


def _as_json(evidence: Mapping[str, Any], *, where: str) -> str:
    try:
        return json.dumps(dict(evidence), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise StorageError(
            f"the evidence holds a value that JSON has none for: {error}", where=where
        ) from error
