"""Folders into the index: what is new or changed is read, what is gone is taken out; a killed run is taken up again."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError, StorageError
from kr_core.search.documents.reading import Passed, kind_of, limit_of, read
from kr_core.search.documents.store import fault
from kr_core.search.documents.walking import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.search.documents.store import DocumentStore, Known
    from kr_core.search.documents.walking import Seen

_SECONDS = 1.0
"""What a killed run loses at most, and how long others wait who want to write."""
_MOST_FAULTS = 200


class Updated(NamedTuple):
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
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(said)
        else:
            self.more += 1


def update(
    store: DocumentStore,
    path: Path,
    name: str,
    told: Callable[[int, int], None] = lambda _files, _passages: None,
) -> Updated:
    """Bring the index of a folder or file up to date.

    A file of the same size and date is not read again, one of another date and the same content is not indexed again. What
    was done is kept every second: a run that is killed goes on where it was.

    Args:
        store: writable.
        path: a folder or a file; absolute.
        name: of the collection.
        told: called now and then with the number of files looked at and of passages written.

    Raises:
        ConfigError: there is nothing at the path.
        StorageError: the index cannot be written.
    """
    if not path.exists():
        raise ConfigError("there is no such file or folder", where=str(path))
    walk, counts = Walk(path), _Counts()
    store.begin()
    try:
        root = store.root(name, str(path))
        store.see_none()
        until = monotonic() + _SECONDS
        for seen in walk.files():
            store.see(_refresh(store, root, path, seen, counts))
            if monotonic() > until:
                store.keep()
                told(counts.read + counts.unchanged, counts.passages)
                _check_still_there(store, root, path, name)
                until = monotonic() + _SECONDS
        _drop_gone(store, root, path, walk, counts)
        store.commit()
    except sqlite3.Error as error:
        store.rollback()
        raise fault("cannot be written", error, store.path) from None
    except BaseException:
        store.rollback()
        raise
    return Updated(
        name,
        str(path),
        counts.read,
        counts.unchanged,
        counts.removed,
        counts.passages,
        tuple(_notes(walk, counts)),
    )


def _check_still_there(store: DocumentStore, root: int, path: Path, name: str) -> None:
    """Others may have written since: what would be indexed for a name that is gone could not be found, or taken out."""
    if (root, name, str(path)) not in store.roots_of(name):
        raise StorageError(
            "was taken out while it was indexed", where=name, todo="`kr docs index PATH` indexes it again"
        )


def _refresh(store: DocumentStore, root: int, base: Path, seen: Seen, counts: _Counts) -> int:
    """Bring one file up to date; its number, or 0 where it is not in the index."""
    name = os.path.relpath(seen.path, base) if seen.path != str(base) else ""
    name = name.encode("utf-8", "backslashreplace").decode()  # a name in bytes that are no text
    known = store.known(root, name)
    if known is not None and (known.size, known.changed) == (seen.size, seen.changed):
        counts.unchanged += 1
        return known.id
    try:
        data = _bytes_of(seen.path)
    except OSError as error:
        counts.fault(f"{seen.path}: cannot be read: {error.strerror}")
        return known.id if known else 0
    if len(data) < seen.size:
        counts.fault(f"{seen.path}: larger than {len(data) // 1_000_000} MB; what lies beyond is not read")
    digest = hashlib.sha256(data).digest()
    if known is not None and known.hash == digest:
        store.touch(known, seen.size, seen.changed)
        counts.unchanged += 1
        return known.id
    return _indexed(store, root, name, seen, data, digest, known, counts)


def _indexed(
    store: DocumentStore, root: int, name: str, seen: Seen, data: bytes, digest: bytes, known: Known | None, counts: _Counts
) -> int:  # fmt: skip
    title = note = ""
    try:
        reading = read(seen.path, data)
        title, note = reading.title, reading.note
        pieces = list(reading.pieces)
    except Passed as passed:
        counts.fault(f"{seen.path}: {passed}")
        if passed.for_now:
            return known.id if known else 0
        pieces, note = [], str(passed)
    else:
        if note:
            counts.fault(f"{seen.path}: {note}")
    if known is not None:
        store.drop_file(known.id)
    number, passages = store.add(root, name, seen.size, seen.changed, digest, pieces, title, note)
    counts.read += 1
    counts.passages += passages
    return number


def _bytes_of(path: str) -> bytes:
    """A file as far as it is read; one that grows while it is read is cut off, not followed."""
    most = limit_of(kind_of(path) or "plain")
    with Path(path).open("rb") as file:
        return file.read(most)


def _drop_gone(store: DocumentStore, root: int, base: Path, walk: Walk, counts: _Counts) -> None:
    """Take out what the walk did not meet; what lies in a folder that could not be listed stays."""
    unread = tuple(f"{os.path.relpath(folder, base)}{os.sep}" for folder in walk.unread)
    everything = str(base) in walk.unread
    for number, path in store.unseen(root):
        if everything or (unread and path.startswith(unread)):
            continue
        store.drop_file(number)
        counts.removed += 1


def _notes(walk: Walk, counts: _Counts) -> list[str]:
    faults = [*walk.faults, *counts.faults]
    notes = faults[:_MOST_FAULTS]
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
        store.begin()
        try:
            until = monotonic() + _SECONDS
            for number, _file in store.files_of(root):
                store.drop_file(number)
                count += 1
                if monotonic() > until:
                    store.keep()
                    until = monotonic() + _SECONDS
            store.forget_root(root)
            store.commit()
        except sqlite3.Error as error:
            store.rollback()
            raise fault("cannot be written", error, store.path) from None
        except BaseException:
            store.rollback()
            raise
    return count
