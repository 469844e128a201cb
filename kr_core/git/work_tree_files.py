"""Single files of a work tree, written and removed without following a link on the way."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kr_core.git.raw_checkout import LINK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["is_blocked", "parent_folder", "remove_file", "write_file"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def is_blocked(top: Path, path: bytes) -> bool:
    """Whether a link or a file lies where a folder of a path would."""
    place = top
    for part in os.fsdecode(path).split("/")[:-1]:
        place /= part
        try:
            mode = place.lstat().st_mode
        except OSError:
            return False
        if not stat.S_ISDIR(mode):
            return True
    return False


@contextmanager
def parent_folder(top: Path, path: bytes, *, make: bool = False) -> Iterator[int | None]:
    """The folder that a path lies in, opened part by part without following a link; None where there is none."""
    handle: int | None = os.open(top, _FOLDER)
    try:
        for part in path.split(b"/")[:-1]:
            assert handle is not None
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=handle)
            try:
                below = os.open(part, _FOLDER, dir_fd=handle)
            except OSError:
                if make:
                    raise
                os.close(handle)
                handle = None
                break
            os.close(handle)
            handle = below
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def write_file(top: Path, path: bytes, mode: bytes, content: bytes) -> None:
    """Put a file or link in its place as a whole.

    Raises:
        OSError: it cannot be written, or a link or a file lies where one of its folders would.
    """
    name = path.rpartition(b"/")[2]
    temporary = b".%s.kr-%s" % (name[:100], os.urandom(6).hex().encode())
    with parent_folder(top, path, make=True) as parent:
        with suppress(OSError):  # an empty folder in its place
            os.rmdir(name, dir_fd=parent)
        try:
            if mode == LINK:
                os.symlink(content, temporary, dir_fd=parent)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                handle = os.open(temporary, flags, 0o777 if mode == b"100755" else 0o666, dir_fd=parent)
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise


def remove_file(top: Path, path: bytes) -> None:
    """Remove a file, and the folders that it leaves empty."""
    with parent_folder(top, path) as parent:
        if parent is None:
            return
        with suppress(FileNotFoundError):
            os.unlink(path.rpartition(b"/")[2], dir_fd=parent)
    folder = path.rpartition(b"/")[0]
    while folder:  # git keeps no empty folder
        with parent_folder(top, folder) as parent:
            try:
                os.rmdir(folder.rpartition(b"/")[2], dir_fd=parent)
            except OSError:
                return
        folder = folder.rpartition(b"/")[0]
