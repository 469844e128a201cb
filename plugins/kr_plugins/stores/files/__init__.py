"""The knowledge base as files, friendly to git: `index.yaml`, reports in Markdown, their evidence in JSON.

    index.yaml                              what is known, see `index`
    _archived-index.yaml                    entries that were set aside
    frameworks/{framework}/{topic}.md       a report
    frameworks/{framework}/{topic}.evidence.json
    lessons/_lessons-learned.md

Reading creates nothing. Writers exclude each other by a lock on the folder; every file is replaced as a whole, so
readers need no lock, and a writer that is killed leaves a report without an entry at worst.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from kr_core import (
    SKELETON_MARK,
    Candidates,
    Kept,
    Provider,
    StorageError,
    Store,
    fold_name,
    hookimpl,
    inside,
    locked,
    write_atomically,
)
from kr_plugins.stores.files.index import Index, UnreadableError, archived_paths, is_about, parse
from kr_plugins.stores.files.reports import entry_of, readable_text, rebuild

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core import Entry, ResearchQuery

__all__ = ["Files", "kr_store"]

_ARCHIVE = "schema_version: 1\narchived_entries: []\n"
_LESSONS = "# Lessons Learned\n"
_LEFTOVER = re.compile(r"\..+\.[a-z0-9_]{8}\.tmp")
_SPACE = {errno.ENOSPC, errno.EDQUOT}
_PERMISSION = {errno.EROFS, errno.EACCES, errno.EPERM}


@hookimpl
def kr_store() -> Provider[Store]:
    """Provide the knowledge base in the configured folder."""
    return Provider(lambda _, setup: Files(setup.knowledge_base, today=setup.today))


def _now() -> datetime:
    return datetime.now(UTC)


class Files:
    """A knowledge base in a folder.

    Args:
        folder: the knowledge base; made on the first write.
        max_entries: what the header of a new index says.
        cache_ttl_days: what the header of a new index says.
        today: the date that a new index was created.
        now: the time in the name of an index that is set aside.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_entries: int = 200,
        cache_ttl_days: int = 30,
        today: Callable[[], date] = date.today,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._folder = folder
        self._file = folder / "index.yaml"
        self._limits = {"max_entries": max_entries, "cache_ttl_days": cache_ttl_days}
        self._today = today
        self._now = now
        self._snapshot: tuple[tuple[int, int, int], Index] | None = None
        self._written: list[Path] = []
        self.warnings: list[str] = []
        """What a write had to mend; handed over, and forgotten, with the next candidates."""

    # -- reading -----------------------------------------------------------------------------------------

    def candidates(self, query: ResearchQuery) -> Candidates:
        """The entries of the query's framework, case and separators folded."""
        pending, self.warnings = self.warnings, []
        try:
            index = self._index()
        except (OSError, UnreadableError) as error:
            return Candidates((), (*pending, f"{self._file} cannot be read: {_reason(error)}"), (self._file,))
        entries = index.by_framework.get(fold_name(query.framework), ())
        return Candidates(tuple(entries), (*pending, *index.warnings), (self._file,))

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of the index; none where there is no index yet.

        Raises:
            StorageError: the index cannot be read.
        """
        return self._readable().entries

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report and its evidence; None if the report is gone, empty, not text or not in this folder."""
        file = self._report(entry.path)
        text = readable_text(file) if file is not None else None
        return None if file is None or text is None else (text, self._evidence(file))

    def _evidence(self, report: Path) -> dict[str, Any]:
        file = report.with_suffix(".evidence.json")
        is_ours = inside(
            self._folder, file.relative_to(self._folder).as_posix()
        )  # and no link that leads out
        try:
            evidence = json.loads((is_ours and readable_text(file)) or "{}")
        except (ValueError, RecursionError):
            return {}
        return evidence if isinstance(evidence, dict) else {}

    def _report(self, path: str) -> Path | None:
        """The file of a report's path, or None for a path that no report of this knowledge base can have."""
        parts = PurePosixPath(path).parts
        strange = not path.endswith(".md") or "\\" in path or parts[:1] == ("lessons",)
        if strange or any(part.startswith(".") for part in parts):
            return None
        # The path as it was given: a link that leads elsewhere inside is replaced, not what it leads to.
        return self._folder / path if inside(self._folder, path) else None

    def _index(self) -> Index:
        """The index as it is on disk, parsed again only if the file has changed.

        Raises:
            OSError, UnreadableError
        """
        try:
            with self._file.open("rb") as file:
                status = os.fstat(file.fileno())
                stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
                known = self._snapshot
                if known is not None and known[0] == stamp:
                    return known[1]
                text = file.read().decode("utf-8-sig")
        except FileNotFoundError:
            return self._parsed("", self._today())
        except UnicodeError as error:
            raise UnreadableError(str(error)) from error
        written = datetime.fromtimestamp(status.st_mtime, UTC).date()
        index = self._parsed(text.replace("\r\n", "\n"), written)
        self._snapshot = (stamp, index)
        return index

    def _parsed(self, text: str, undated: date) -> Index:
        created = self._today().isoformat()
        header = {"schema_version": 1, "bso_module_version": "1.0.0", "created": created, **self._limits}
        return parse(text, header=header, undated=undated)

    def _readable(self) -> Index:
        try:
            return self._index()
        except (OSError, UnreadableError) as error:
            raise StorageError(
                f"the index cannot be read: {_reason(error)}",
                where=str(self._file),
                todo="mend it; the next report that is kept sets it aside and rebuilds it from the reports",
            ) from error

    # -- writing -----------------------------------------------------------------------------------------

    def write(self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True) -> Kept:
        """Keep a report, then its evidence, then its entry.

        An entry that is known (by its id, else by its report's path, framework and topic) is updated in its
        place and keeps its id, path and `created`. A new one never takes the file of another: if its path is
        not free, the path gets a suffix. An index that cannot be parsed is set aside and rebuilt from the
        reports; `warnings` says so. Files the knowledge base lacks are made.

        Raises:
            StorageError: nothing was changed, or the report is there and the index is as it was.
        """
        text = report.replace("\0", "\N{REPLACEMENT CHARACTER}")  # a text with NUL would not be read again
        quotes = _as_json(evidence, where=entry.path)
        with self._changing():
            found, broken = self._index_or_rebuilt()
            if not index:
                path = self._keep_skeleton(text, entry, found)
                self._furnish(found)
                return Kept(None, path, len(found.entries), files=tuple(self._written))
            position = found.position(entry)
            entry = self._placed(entry, found, position)
            file = self._folder / entry.path
            self._replace(file, text)
            with self._report_stays(file):
                self._replace(file.with_suffix(".evidence.json"), quotes)
                if broken:
                    self._set_aside(broken)
                after = found.with_entry(entry, position)
                self._save(after, before=None if broken else found)
            self._furnish(after)
            return Kept(entry, entry.path, len(after.entries), files=tuple(self._written))

    def touch(self, entry: Entry, today: date) -> int:
        """Note that the entry was used today; a second use on the same day writes nothing.

        Raises:
            StorageError: the index cannot be read or written.
        """
        index = self._readable()
        if _used_on(index, entry, today):
            return len(index.entries)
        with self._changing():
            index = self._readable()
            position = index.position(entry)
            if position is not None and not _used_on(index, entry, today):
                self._save(index.touched(position, today), before=index)
            return len(index.entries)

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone; one whose report has come back meanwhile stays.

        Raises:
            StorageError: the index cannot be read or written.
        """
        if self._readable().position(entry) is None:
            return
        with self._changing():
            index = self._readable()
            position = index.position(entry)
            if position is not None and self.read(entry) is None:
                self._save(index.without(position), before=index)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Exclude other writers, and say what to do about what the system refuses."""
        try:
            with locked(self._folder):
                self._written = []  # the lock excludes other threads too
                yield
        except (OSError, UnicodeError) as error:
            raise self._failure("the knowledge base cannot be written", error) from error

    @contextmanager
    def _report_stays(self, file: Path) -> Iterator[None]:
        try:
            yield
        except (OSError, UnicodeError) as error:
            what = f"the report was kept as {file}, but its evidence or the index cannot be written"
            raise self._failure(what, error) from error

    def _failure(self, what: str, error: Exception) -> StorageError:
        number = error.errno if isinstance(error, OSError) else None
        todo = "see what lies there"
        if number in _SPACE:
            todo = "make room on the disk"
        elif number in _PERMISSION:
            todo = "make the folder writable, or set knowledge_research.knowledge_base_path to one that is"
        where = Path(getattr(error, "filename2", None) or getattr(error, "filename", None) or self._folder)
        where = where.parent if _LEFTOVER.fullmatch(where.name) else where
        return StorageError(f"{what}: {_reason(error)}", where=str(where), todo=todo)

    def _save(self, index: Index, *, before: Index | None) -> None:
        if before is None or index.items != before.items:
            self._replace(self._file, index.text())

    def _replace(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        # All writers hold the lock: what looks like a temporary file was left by one that was killed.
        for other in file.parent.iterdir():
            if _LEFTOVER.fullmatch(other.name):
                other.unlink(missing_ok=True)
        write_atomically(file, text)
        self._written.append(file)

    def _furnish(self, index: Index) -> None:
        """Make what is missing; the report counts, so what cannot be made is a warning."""
        wanted: dict[str, Callable[[], str]] = {
            "_archived-index.yaml": lambda: _ARCHIVE,
            "lessons/_lessons-learned.md": lambda: _LESSONS,
            "index.yaml": index.text,
        }
        for name, text in wanted.items():
            file = self._folder / name
            try:
                if not os.path.lexists(file):
                    self._replace(file, text())
            except OSError as error:
                self.warnings.append(f"{file} cannot be made: {_reason(error)}")

    # -- an index that was lost --------------------------------------------------------------------------

    def _index_or_rebuilt(self) -> tuple[Index, str]:
        """The index, and why it had to be rebuilt; empty if it had not."""
        try:
            return self._index(), ""
        except UnreadableError as error:
            index = self._parsed("", self._today())
            archived = self._archived()
            for entry in rebuild(self._folder):
                if entry.path not in archived:
                    index = index.with_entry(entry, None)
            return index, _reason(error)

    def _set_aside(self, reason: str) -> None:
        """Give the broken index a second name; the first one is replaced by the rebuilt index at once.

        Renaming it instead would leave a moment without an index, and a process killed then would leave an
        empty knowledge base.
        """
        name = f"index.yaml.corrupt-{self._now():%Y%m%dT%H%M%S}"
        names = itertools.chain([name], (f"{name}-{n}" for n in itertools.count(2)))
        aside = next(file for file in map(self._folder.joinpath, names) if not os.path.lexists(file))
        try:
            aside.hardlink_to(self._file)
        except OSError:  # not every file system has hard links
            shutil.copyfile(self._file, aside)
        self.warnings.append(
            f"{self._file} could not be read ({reason}); it was set aside as {aside.name} and rebuilt from the reports"
        )

    def _archived(self) -> frozenset[str]:
        with suppress(OSError, UnicodeError):
            return archived_paths((self._folder / "_archived-index.yaml").read_text(encoding="utf-8-sig"))
        return frozenset()

    # -- where a report goes -----------------------------------------------------------------------------

    def _placed(self, entry: Entry, index: Index, position: int | None) -> Entry:
        """The entry as it will stand in the index."""
        known = None if position is None else index.parsed[position]
        if known is None:
            return entry.model_copy(update={"path": self._free_path(entry, index)})
        keeps = known.path if self._report(known.path) else self._free_path(entry, index)
        return entry.model_copy(update={"id": known.id, "created": known.created, "path": keeps})

    def _keep_skeleton(self, text: str, entry: Entry, index: Index) -> str:
        path = self._free_path(entry, index)
        if not os.path.lexists(self._folder / path):
            self._replace(self._folder / path, text)
        return path

    def _free_path(self, entry: Entry, index: Index) -> str:
        """The entry's path, or one with a suffix where that holds what is not this entry's."""
        if self._report(entry.path) is None:
            raise StorageError(
                f"the report of {entry.id!r} would lie outside the knowledge base's reports",
                where=entry.path,
                todo="a report's path is relative to the knowledge base and ends with .md",
            )
        path = PurePosixPath(entry.path)
        digests = (hashlib.sha256(f"{entry.id}\0{n}".encode()).hexdigest()[:8] for n in itertools.count())
        suffixed = (path.with_stem(f"{path.stem}-{digest}") for digest in digests)
        return next(
            place.as_posix()
            for place in itertools.chain([path], suffixed)
            if place.as_posix() not in index.paths and self._may_replace(place.as_posix(), entry)
        )

    def _may_replace(self, path: str, entry: Entry) -> bool:
        """Whether nothing is lost if a report without an entry makes way for this entry's.

        KR's own are a skeleton, and a report on the same subject, with evidence, whose writer was killed
        before it could write the index. What a person put there stays.
        """
        file = self._folder / path
        if not os.path.lexists(file):
            return True
        text = readable_text(file)
        if text is None:
            return file.is_file() and not file.stat().st_size
        if SKELETON_MARK in text:
            return True
        left = entry_of(path, text, undated=entry.created)
        same = left is not None and is_about(left, entry)
        return same and file.with_suffix(".evidence.json").exists() and path not in self._archived()


def _used_on(index: Index, entry: Entry, day: date) -> bool:
    position = index.position(entry)
    known = None if position is None else index.parsed[position]
    return known is None or known.last_accessed == day


def _as_json(evidence: Mapping[str, Any], *, where: str) -> str:
    try:
        return json.dumps(dict(evidence), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise StorageError(
            f"the evidence holds a value that JSON has none for: {error}", where=where
        ) from error


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
