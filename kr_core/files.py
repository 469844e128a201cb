"""Files read within bounds, and written whole or not at all.

Who wrote a project's files is not known, so KR opens each of them through `read_bytes` or `read_text`: a regular file of a
bounded size, and where it matters one that really lies in the folder it belongs to.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from kr_core.terminal_text import one_line
from kr_core.user_state import STATE_FOLDER, is_known, is_unused, mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows, where only atomic replacement is offered
    fcntl = None  # type: ignore[assignment]  # where the system has no such module


_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
"""How a file is opened that may be something else by now: nothing waits, and no terminal becomes ours."""


def _umask() -> int:
    mask = os.umask(0o077)  # it can be read only by setting it; a file made meanwhile is private
    os.umask(mask)
    return mask


_MOST_VALUES = 500_000
"""Of a JSON file; the largest evidence has some thousand."""
LARGEST_IGNORE = 10_000
"""Bytes of the `.gitignore` of a state folder."""
_UMASK = _umask()
"""Read once, at import: set and set back while other threads write, it would give their files other permissions."""


def too_many_values(text: str) -> bool:
    """Whether JSON has more values than KR ever writes into one file: each takes a hundred times its size in memory."""
    return text.count("{") + text.count("[") + text.count(",") > _MOST_VALUES


def read_bytes(path: Path, *, limit: int, within: Path | Sequence[Path] | None = None) -> bytes:
    """Read a whole regular file.

    It refuses a pipe, a socket, a device or a folder without waiting, and a file that is larger than the limit or grows
    beyond it while reading.

    Args:
        path: the file; links are followed.
        limit: the largest allowed size in bytes.
        within: the folder, or folders, one of which must contain the file after following all links; anywhere if not
            given. A folder whose path has no links needs no look at the disk. Below it no name may have control characters.

    Raises:
        OSError: the file cannot be read or is refused; `strerror` says why, in words for users.
    """
    with open_regular(path) as file:
        if within is not None:
            _require_inside(_real_path(file.fileno(), path), within, path)
        size = os.fstat(file.fileno()).st_size
        content = (
            file.read(size + 1) if size <= limit else None
        )  # a buffer for the limit would cost more than the file
        if content is not None and len(content) > size:
            content += file.read(limit + 1 - len(content))
    if content is None or len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", str(path))
    return content


def read_start(path: Path, size: int, *, within: Path | Sequence[Path] | None = None) -> bytes:
    """Read a regular file up to a size, whatever it has beyond.

    Args:
        path: the file; links are followed.
        size: in bytes.
        within: as for `read_bytes`.

    Raises:
        OSError: it cannot be read or is refused, as by `read_bytes`.
    """
    with open_regular(path) as file:
        if within is not None:
            _require_inside(_real_path(file.fileno(), path), within, path)
        return file.read(size)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to be read; links are followed.

    Raises:
        OSError: it cannot be opened, or is a pipe, a socket, a device or a folder.
    """
    _require_regular(path.stat(), path)  # before it is opened: to open a device may already do something
    file = os.fdopen(os.open(path, os.O_RDONLY | _AT_ONCE), "rb")
    try:
        _require_regular(os.fstat(file.fileno()), path)
    except BaseException:
        file.close()
        raise
    return file


def read_text(
    path: Path, *, limit: int, within: Path | Sequence[Path] | None = None, errors: str = "strict"
) -> str:
    """Read a whole regular file as UTF-8, like `read_bytes`; removes a byte order mark and normalises line endings.

    Raises:
        OSError: it cannot be read or is refused.
        UnicodeDecodeError: it is not UTF-8, with `errors="strict"`.
    """
    text = read_bytes(path, limit=limit, within=within).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def lies_within(path: Path, folder: Path | Sequence[Path]) -> bool:
    """Whether a path, after following all links, is a folder, one of several, or below it; none need exist."""
    folders = [folder] if isinstance(folder, Path) else folder
    return _below(os.path.realpath(path), folders) is not None


def _require_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def _require_inside(real: str, within: Path | Sequence[Path], path: Path) -> None:
    folders, named = ([within], str(within)) if isinstance(within, Path) else (within, "its folders")
    below = _below(real, folders)
    if below is None:
        raise OSError(errno.ELOOP, f"a link leads out of {named}", str(path))
    if one_line(below) != below:  # KR would cite it in several lines
        raise OSError(errno.EINVAL, "its name has control characters", str(path))


def _below(real: str, folders: Sequence[Path]) -> str | None:
    """The part of a path below the one of the folders in which it lies; None if it lies in none."""
    # What lies below a folder by its real path does so by that folder's own: most are given by it, and need no look.
    ways = chain(map(str, folders), map(os.path.realpath, folders))
    return next((real[len(way) :] for way in ways if _is_inside(real, way)), None)


def _real_path(handle: int, path: Path) -> str:
    """Where an open file lies: by the system's word where it gives one, since links may change meanwhile."""
    try:
        shown = str(Path(f"/proc/self/fd/{handle}").readlink())
    except OSError:
        return os.path.realpath(path)
    return shown if shown.startswith("/") else os.path.realpath(path)


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def write_atomically(path: Path, text: str) -> os.stat_result:
    """Replace the content of a file, durable on return; a reader sees the old or the new text, never a part.

    Returns:
        The status of the new file, read before it took its name, so that you can recognise a file that replaces it.

    Raises:
        OSError: nothing was changed.
    """
    import tempfile  # not needed to read, and slow to load

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
    """Create the folder of KR's own state, or one in it, with a file that keeps it out of git.

    A project's state folder gets the user's mark, so that KR knows it again (`kr_core.user_state`), before anything else
    is in it: another process that looks meanwhile would take it for a folder from elsewhere.

    Raises:
        OSError: the folder cannot be created or written, or is a link, which could lead out of the project.
    """
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "it is a link; remove it, and KR makes a folder", str(folder))
    top = next((one for one in (folder, *folder.parents) if one.name == STATE_FOLDER), folder)
    for one in dict.fromkeys((top, folder)):
        _make_folder(one)
        ignore = one / ".gitignore"
        if one.name == STATE_FOLDER and is_unused(os.listdir(one)):  # noqa: PTH208  names are enough
            add_mark(ignore)
        elif not ignore.exists():
            write_atomically(ignore, mark() if one.name == STATE_FOLDER else "*\n")


def add_mark(ignore: Path) -> None:
    """Write the user's mark into the `.gitignore` of a state folder, unless it has one; its other lines stay.

    Raises:
        OSError: it cannot be written.
    """
    try:
        text = read_text(ignore, limit=LARGEST_IGNORE, within=ignore.parent)
    except (OSError, ValueError):  # there is none, or it is no text: a new one takes its place
        text = "*\n"
    if is_known(text):
        return
    marked = mark(text)
    write_atomically(ignore, marked if len(marked.encode()) <= LARGEST_IGNORE else mark())


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
def lock(folder: Path) -> Iterator[None]:
    """Hold the folder's advisory lock, so that one process at a time changes its content.

    The lock is on the folder itself: no lock file appears in git, and the lock ends with its process.

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
def try_lock(file: Path) -> Iterator[bool]:
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


def is_locked(file: Path) -> bool:
    """Whether somebody holds a file's advisory lock, as `try_lock` takes it.

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
