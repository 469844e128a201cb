"""A report and its evidence, replaced as one: who reads sees both as they were or both as they are now.

Both are written beside their places first and synced, the report before the evidence; then the report is moved to its
place, then the evidence. What a killed writer leaves tells how far it came, and the next one brings it to an end:

    .x.md.new                             nothing has happened yet: forgotten
    .x.md.new and .x.evidence.json.new    the same
    .x.evidence.json.new                  the report is in its place: the evidence follows; without one it is forgotten

No further file says so, and no further sync is needed.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUFFIX = ".new"
_TRIES = 20
LARGEST = 20_000_000
"""Bytes of a report or its evidence; they have some hundred thousand. A larger one is none of KR's."""


def evidence_of(report: Path) -> Path:
    """Where the evidence of a report lies."""
    return report.with_suffix(".evidence.json")


def current_evidence(report: Path) -> Path:
    """The evidence that belongs to the report as it is: the one that waits, where the report has been moved already."""
    waiting = _staged(evidence_of(report))
    if waiting.exists() and not _staged(report).exists():
        return waiting
    return evidence_of(report)


def read(report: Path, may_read: Callable[[Path], bool]) -> tuple[bytes, bytes]:
    """The bytes of a report and of its evidence, both as one write left them; empty where there is no plain file.

    A reader that meets a writer twenty times in a row takes what it has.
    """
    place, evidence_place = os.fspath(report), os.fspath(evidence_of(report))
    # As texts: a check asks for thousands.
    staged = _staged_text(place), _staged_text(evidence_place)

    def current() -> str:
        moved = os.path.exists(staged[1]) and not os.path.exists(staged[0])  # noqa: PTH110
        return staged[1] if moved else evidence_place

    may_read_evidence = may_read(Path(evidence_place))
    for _ in range(_TRIES):
        evidence = current()
        may_read_it = may_read_evidence if evidence == evidence_place else may_read(Path(evidence))
        # Both are held open, so that no later file is given the number of either.
        with _opened(place) as of_report, _opened(evidence) as of_evidence:
            contents = _content(of_report), _content(of_evidence) if may_read_it else b""
            # The report last: while it is the same, none but its own evidence is current.
            evidence_now = _identity(current()) or _identity(evidence_place)
            if _identity(of_evidence) == evidence_now and _identity(of_report) == _identity(place):
                break
    return contents


def content(report: Path) -> bytes:
    """The bytes of a report alone.

    Raises:
        OSError: why it cannot be read.
    """
    place = os.fspath(report)
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", place)
        if status.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"larger than {LARGEST // 1_000_000} MB", place)
        return _content(handle)
    finally:
        os.close(handle)


@contextmanager
def _opened(place: str) -> Iterator[int | None]:
    try:
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for a writer
    except OSError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _content(handle: int | None) -> bytes:
    if handle is None:
        return b""
    status = os.fstat(handle)
    size = status.st_size
    if not stat.S_ISREG(status.st_mode) or size > LARGEST:
        return b""
    content = b""
    while piece := os.read(handle, max(size, len(content)) + 1):  # a buffer for the limit would cost more
        content += piece
        if len(content) > LARGEST:
            return b""
        if len(content) == size:  # more was asked for, and there was none
            break
    return content


_PLAIN = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
)


def plain_content(place: str) -> bytes:
    """The bytes of a regular file; empty for a link and anything else."""
    try:
        handle = os.open(place, _PLAIN | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return b""
    try:
        return _content(handle)
    except OSError:
        return b""
    finally:
        os.close(handle)


def _identity(place: str | int | None) -> tuple[int, int] | None:
    """Which file it is: every write makes a new one."""
    try:
        status = os.stat(place) if place is not None else None  # noqa: PTH116  also of a handle
    except OSError:
        return None
    return None if status is None else (status.st_dev, status.st_ino)


def stage(report: Path, text: str, evidence: str) -> None:
    """Write both beside their places, durably.

    Raises:
        OSError, UnicodeError: neither was changed.
    """
    contents = {report: text.encode(), evidence_of(report): evidence.encode()}
    settle(report)
    try:
        for place, content in contents.items():
            with _created(_staged(place)) as file:
                file.write(content)
                file.flush()
                if place.exists():
                    os.fchmod(file.fileno(), place.stat().st_mode & 0o777)
                os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            _forget(report)
        raise


def _created(place: Path) -> BinaryIO:
    """A new file: not what a link in its place, which came with the project, leads to."""
    place.unlink(missing_ok=True)
    return os.fdopen(
        os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666), "wb"
    )


def move_report(report: Path) -> None:
    """Move the staged report to its place; its evidence is the staged one from now on.

    Raises:
        OSError: neither was changed.
    """
    _staged(report).replace(report)


def move_evidence(report: Path) -> None:
    """Move the staged evidence to its place, durably.

    Raises:
        OSError: it waits beside its place, and is found there.
    """
    _staged(evidence_of(report)).replace(evidence_of(report))
    _sync(report.parent)


def settle(report: Path) -> None:
    """Bring what a killed writer began on this report to an end."""
    if _staged(report).exists() or not os.path.lexists(report):
        _forget(report)
    elif _staged(evidence_of(report)).exists():
        _staged(evidence_of(report)).replace(evidence_of(report))


def _forget(report: Path) -> None:
    # In this order: without the report's, the evidence would seem to wait for its move.
    _staged(evidence_of(report)).unlink(missing_ok=True)
    _staged(report).unlink(missing_ok=True)


def settle_folder(folder: Path) -> None:
    """Bring what killed writers began in a folder to an end."""
    for name in [file.name for file in folder.iterdir()]:
        if name.startswith(".") and name.endswith(f".md{SUFFIX}"):
            with suppress(OSError):  # told when that report is written
                settle(folder / name[1 : -len(SUFFIX)])
    for name in [file.name for file in folder.iterdir()]:
        if name.startswith(".") and name.endswith(f".evidence.json{SUFFIX}"):
            with suppress(OSError):
                settle(folder / f"{name[1 : -len(f'.evidence.json{SUFFIX}')]}.md")


def _staged(place: Path) -> Path:
    return place.with_name(f".{place.name}{SUFFIX}")


def _staged_text(place: str) -> str:
    above, name = os.path.split(place)
    return os.path.join(above, f".{name}{SUFFIX}")  # noqa: PTH118


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably: else the files synced in it could vanish with it.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    with suppress(OSError):  # some file systems refuse to sync a folder; the files in it are synced
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
