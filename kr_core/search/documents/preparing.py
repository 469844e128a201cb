"""A file as it goes into the index: read, divided, its words taken, its passages compressed; without the index itself."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.files import read_start
from kr_core.search.documents.packing import packed
from kr_core.search.documents.reading import Passed, kind_of, limit_of, read

if TYPE_CHECKING:
    from kr_core.search.documents.packing import Packed

__all__ = ["Job", "Prepared", "prepared"]


class Job(NamedTuple):
    """A file that is to be read."""

    root: str
    """The folder or file that is indexed."""
    path: str
    """The file, absolute."""
    name: str
    """Below the root; empty where the root is the file."""
    size: int
    changed: int
    """Nanoseconds."""
    hash: bytes = b""
    """SHA-256 of what the index has of it."""


class Prepared(NamedTuple):
    """What became of a file."""

    outcome: Literal["left", "same", "read"]
    """It cannot be read now, and what the index has of it stays; it has the same content; it was read."""
    faults: tuple[str, ...]
    """What to say of it."""
    hash: bytes = b""
    title: str = ""
    note: str = ""
    blocks: tuple[Packed, ...] = ()


def prepared(job: Job) -> Prepared:
    """Read a file, unless its content is known."""
    most = limit_of(kind_of(job.path) or "plain")
    try:
        # One that grows meanwhile is read again the next time; what it is now is not what was looked at.
        data = read_start(Path(job.path), min(job.size, most))
    except OSError as error:
        return Prepared("left", (f"{job.path}: cannot be read: {error.strerror}",))
    faults = []
    if len(data) == most < job.size:
        faults.append(f"{job.path}: larger than {len(data) // 1_000_000} MB; what lies beyond is not read")
    digest = hashlib.sha256(data).digest()
    if digest == job.hash:
        return Prepared("same", tuple(faults), digest)
    try:
        reading = read(job.path, data)
        blocks = tuple(packed(job.root, job.name, reading.title, reading.pieces))
    except Passed as passed:
        faults.append(f"{job.path}: {passed}")
        if passed.for_now:
            return Prepared("left", tuple(faults))
        return Prepared("read", tuple(faults), digest, note=str(passed))
    if reading.note:
        faults.append(f"{job.path}: {reading.note}")
    return Prepared("read", tuple(faults), digest, reading.title, reading.note, blocks)
