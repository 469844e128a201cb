"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows, where only atomic replacement is offered
    fcntl = None  # type: ignore[assignment]  # where the system has no such module


def _umask() -> int:
    mask = os.umask(0o077)  # it can be read only by setting it; a file made meanwhile is private
    os.umask(mask)
    return mask


_UMASK = _umask()
"""Read once, at import: set and set back while other threads write, it would give their files other permissions."""


def write_atomically(path: Path, text: str) -> os.stat_result:
    """Replace a file by a new text that is durable on return; a reader sees the old or the new, never a part.

    Returns:
        The status of the new file, from before it took its name: another one that has come in its place has another.

    Raises:
        OSError: nothing was changed.
    """
    _make_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), _mode_of(path))
            os.fsync(file.fileno())
            status = os.fstat(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with _ignored_os_error():
            Path(name).unlink()
        raise
    _sync_folder(path.parent)
    return status


def make_state_folder(folder: Path) -> None:
    """Make the folder of KR's own state, which keeps itself out of git.

    Raises:
        OSError: it cannot be made or written.
    """
    _make_folder(folder)
    if not (folder / ".gitignore").exists():
        write_atomically(folder / ".gitignore", "*\n")


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, each synced into the one that holds it: else a synced file could vanish."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0o666 & ~_UMASK


def _sync_folder(folder: Path) -> None:
    with _ignored_os_error():  # some file systems refuse to sync a folder; the file itself is synced
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _ignored_os_error() -> Iterator[None]:
    try:
        yield
    except OSError:
        pass


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's advisory lock, so that one process at a time changes what is in it.

    The lock is on the folder itself: no lock file appears in git, and a killed holder lets go.

    Raises:
        OSError: the folder cannot be opened.
    """
    _make_folder(folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def claimed(file: Path) -> Iterator[bool]:
    """Hold a file's advisory lock if nobody else does, and say so; the file is made if it is missing, and stays.

    It works between threads as between processes; a killed holder lets go.

    Raises:
        OSError: the file cannot be made or opened.
    """
    make_state_folder(file.parent)
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _taken(handle)
    finally:
        os.close(handle)


def held(file: Path) -> bool:
    """Whether somebody holds a file's advisory lock, as `claimed` takes it.

    Raises:
        OSError: the file is not there, or cannot be opened.
    """
    handle = os.open(file, os.O_RDWR)
    try:
        if fcntl is None:
            return True
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who look do not see each other
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
