"""Folders into the index: what is new or changed is read, what is gone is taken out; a killed run is taken up again."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError, StorageError
from kr_core.search.documents.folder_walk import FolderWalk
from kr_core.search.documents.index_errors import out_of_place
from kr_core.search.documents.sqlite_index import FileRecord
from kr_core.search.documents.worker_pool import ReadJob, processors, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kr_core.search.documents.sqlite_index import DocumentStore
    from kr_core.search.documents.worker_pool import PreparedFile

_SECONDS = 1.0
"""What a killed run loses at most, and how long others wait who want to write."""
_MAX_FAULTS = 200


class UpdateResult(NamedTuple):
    """What an update did."""

    name: str
    path: str
    read: int
    """Files that were new or changed."""
    unchanged: int
    removed: int
    passages: int
    """Of the files that were read."""
    notes: tuple[str, ...]
    """What was passed over, and why."""


class _Counts:
    def __init__(self) -> None:
        self.read = self.unchanged = self.removed = self.passages = 0
        self.faults: list[str] = []
        self.more = 0

    def fault(self, said: str) -> None:
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(said)
        else:
            self.more += 1


def update(
    store: DocumentStore,
    path: Path,
    name: str,
    told: Callable[[int, int], None] = lambda _files, _passages: None,
    processes: int | None = None,
) -> UpdateResult:
    """Bring the index of a folder or file up to date.

    A file of the same size and date is not read again, one of another date and the same content is not indexed again. What
    was done is kept every second: a run that is killed goes on where it was.

    Args:
        store: writable.
        path: a folder or a file; absolute and without links.
        name: of the collection.
        told: called now and then with the number of files looked at and of passages written.
        processes: how many others may read files where there are many; None for one for each processor.

    Raises:
        ConfigError: there is nothing at the path, or a link leads elsewhere.
        StorageError: the index cannot be written.
    """
    if not path.exists():
        raise ConfigError("there is no such file or folder", where=str(path))
    if said := out_of_place(name, path):
        raise ConfigError(said)
    return _Update(store, path, name, told).run(processors() if processes is None else processes)


class _Update:
    """One update; what was done is kept every second."""

    def __init__(self, store: DocumentStore, path: Path, name: str, told: Callable[[int, int], None]) -> None:
        self._store, self._path, self._name, self._told = store, path, name, told
        self._walk, self._counts = FolderWalk(path), _Counts()
        self._root = 0
        self._until = 0.0

    def run(self, processes: int) -> UpdateResult:
        store, counts = self._store, self._counts
        with store.writing():
            self._root = store.root(self._name, str(self._path))
            store.see_none()
            self._until = monotonic() + _SECONDS
            for job, prepared in read_all(self._jobs(), processes):
                self._write(job, prepared)
                self._keep_now_and_then()
            _drop_gone(store, self._root, self._path, self._walk, counts)
        return UpdateResult(
            self._name,
            str(self._path),
            counts.read,
            counts.unchanged,
            counts.removed,
            counts.passages,
            tuple(_notes(self._walk, counts)),
        )

    def _jobs(self) -> Iterator[ReadJob]:
        """The files that are new or have another size or date; the others are noted as seen."""
        root = str(self._path)
        for seen in self._walk.files():
            name = os.path.relpath(seen.path, root) if seen.path != root else ""
            name = name.encode("utf-8", "backslashreplace").decode()  # a name in bytes that are no text
            known = self._store.known(self._root, name)
            if known is None:
                yield ReadJob(root, seen.path, name, seen.size, seen.changed)
            elif (known.size, known.changed) != (seen.size, seen.changed):
                yield ReadJob(root, seen.path, name, seen.size, seen.changed, known.hash)
            else:
                self._counts.unchanged += 1
                self._store.see(known.id)
                self._keep_now_and_then()

    def _write(self, job: ReadJob, prepared: PreparedFile) -> None:
        """Write what became of a file; another process may have written the same file since it was asked for."""
        store, counts = self._store, self._counts
        for said in prepared.faults:
            counts.fault(said)
        known = store.known(self._root, job.name)
        number = known.id if known is not None else 0
        if known is not None and known.hash == prepared.hash:
            store.touch(known.id, job.size, job.changed)
            counts.unchanged += 1
        elif prepared.outcome == "read":
            if known is not None:
                store.drop_file(known.id)
            record = FileRecord(job.name, job.size, job.changed, prepared.hash, prepared.title, prepared.note)
            number, passages = store.add(self._root, record, prepared.blocks)
            counts.read += 1
            counts.passages += passages
        store.see(number)

    def _keep_now_and_then(self) -> None:
        if monotonic() > self._until:
            self._store.keep()
            self._told(self._counts.read + self._counts.unchanged, self._counts.passages)
            _check_still_there(self._store, self._root, self._path, self._name)
            self._until = monotonic() + _SECONDS


def _check_still_there(store: DocumentStore, root: int, path: Path, name: str) -> None:
    """Others may have written since: what would be indexed for a name that is gone could not be found, or taken out."""
    if (root, name, str(path)) not in store.roots_of(name):
        raise StorageError(
            "was taken out while it was indexed", where=name, hint="`kr docs index PATH` indexes it again"
        )


def _drop_gone(store: DocumentStore, root: int, base: Path, walk: FolderWalk, counts: _Counts) -> None:
    """Take out what the walk did not meet; what lies in a folder that could not be listed stays."""
    unread = tuple(f"{os.path.relpath(folder, base)}{os.sep}" for folder in walk.unread)
    everything = str(base) in walk.unread
    for number, path in store.unseen(root):
        if everything or (unread and path.startswith(unread)):
            continue
        store.drop_file(number)
        counts.removed += 1


def _notes(walk: FolderWalk, counts: _Counts) -> list[str]:
    faults = [*walk.faults, *counts.faults]
    notes = faults[:_MAX_FAULTS]
    more = len(faults) - len(notes) + counts.more
    if more:
        notes.append(f"{more} more files have notes like these")
    if walk.passed:
        notes.append(
            "passed over: " + ", ".join(f"{count} {what}" for what, count in walk.passed.most_common())
        )
    return notes


def remove(store: DocumentStore, name: str, path: Path | None = None) -> int:
    """Take a collection, or one path of it, out of the index; returns how many files it had.

    Raises:
        StorageError: the index cannot be written.
    """
    count = 0
    for root, _name, place in store.roots_of(name):
        if path is not None and str(path) != place:
            continue
        with store.writing():
            until = monotonic() + _SECONDS
            for number, _file in store.files_of(root):
                store.drop_file(number)
                count += 1
                if monotonic() > until:
                    store.keep()
                    until = monotonic() + _SECONDS
            store.forget_root(root)
    return count
