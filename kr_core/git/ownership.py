"""Whose a project's `.kr/` is: what came with the project is not used, since it decides what KR takes for its own memory.

KR keeps its state out of git, so that a state folder in git's index came with a clone. No file there is opened for that.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from kr_core.config.trust_policy import ALL, VARIABLE
from kr_core.errors import StorageError
from kr_core.files import LARGEST_IGNORE, add_mark, read_text
from kr_core.git_index import tracks
from kr_core.user_state import is_known, is_unused, marks_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kr_core.config import Config

_IGNORE = ".gitignore"

__all__ = ["adopt", "is_foreign", "require_own_state"]


def require_own_state(config: Config) -> None:
    """Refuse a state folder that is a link, another user's or tracked by git, or that holds what is neither file nor folder.

    One that is not there is fine; one that is a file is refused by who needs a folder.

    Raises:
        StorageError: it is refused.
    """
    folder = config.state_folder
    try:
        status = folder.lstat()
    except OSError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise StorageError(
            "is a link, and KR keeps its state in the project's own folder",
            where=str(folder),
            hint="remove it; KR then makes a folder",
        )
    if not stat.S_ISDIR(status.st_mode):
        return
    if not _is_own(status, config):
        raise StorageError(
            f"belongs to another user (number {status.st_uid})",
            where=str(folder),
            hint=f"remove it, or set {VARIABLE}={ALL} where several users share a project",
        )
    _require_untracked(folder, config)
    if is_foreign(config):
        raise StorageError(
            f"was not made by your KR: it has no mark that is known in {marks_folder()}",
            where=str(folder),
            hint=f"remove it; or, if all in it is your own, run `kr trust`, or set {VARIABLE}={ALL}",
        )
    for path, kind in _strange(folder):
        raise StorageError(f"is {kind}, and KR makes none", where=path, hint="remove it")


def is_foreign(config: Config) -> bool:
    """Whether the state folder came from elsewhere, such as from an archive; one that holds nothing yet did not."""
    folder = config.state_folder
    if config.environ.get(VARIABLE) == ALL or folder.is_symlink():  # a link is refused as such
        return False
    try:
        names = os.listdir(folder)  # noqa: PTH208  names are enough
    except OSError:  # there is none, or the part that needs it says why it cannot be read
        return False
    if is_unused(names):
        return False
    try:
        return not is_known(read_text(folder / _IGNORE, limit=LARGEST_IGNORE))
    except (OSError, ValueError):
        return True


def adopt(config: Config) -> None:
    """Make a foreign state folder the user's own; the lines of its `.gitignore` stay.

    Raises:
        StorageError: its mark cannot be written.
    """
    file = config.state_folder / _IGNORE
    try:
        add_mark(file)
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error.strerror or error}", where=str(file), hint="check its permissions"
        ) from error


def _require_untracked(folder: Path, config: Config) -> None:
    try:
        tracked = tracks(folder)
    except OSError as error:
        if config.environ.get(VARIABLE) == ALL:
            return
        raise StorageError(
            f"may be tracked by git, whose index KR cannot read: {error.strerror or error}",
            where=str(folder),
            hint=f"run `git status`; where all in the folder is your own, set {VARIABLE}={ALL}",
        ) from error
    if tracked:
        raise StorageError(
            "is tracked by git, so that what it holds may be anybody's",
            where=str(folder),
            hint=f"`git rm -r --cached {folder.name}`, then remove the folder, unless all in it is your own",
        )


def _is_own(status: os.stat_result, config: Config) -> bool:
    """Whether it belongs to the user, to root, or to whom the project belongs: in a container that is often another."""
    if not hasattr(os, "getuid") or config.environ.get(VARIABLE) == ALL:
        return True
    try:
        return status.st_uid in {os.getuid(), 0, config.root.stat().st_uid}
    except OSError:
        return False


def _strange(folder: Path) -> Iterator[tuple[str, str]]:
    """What is neither a file nor a folder: a link leads elsewhere, and who opens a pipe may wait for ever."""
    folders = [str(folder)]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:  # it is gone, or closed: who needs it says so
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                yield entry.path, "a link" if entry.is_symlink() else "a pipe, a socket or a device"
