"""Whose a project's `.kr/` is: what came with the project is not used, since it decides what KR takes for its own memory.

KR keeps its state out of git, so that a state folder in git's index came with a clone. No file there is opened for that.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from kr_core.config.trust_policy import ALL, VARIABLE
from kr_core.errors import StorageError
from kr_core.git.index import tracks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kr_core.config import Config

__all__ = ["require_own_state"]


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
    for path, kind in _strange(folder):
        raise StorageError(f"is {kind}, and KR makes none", where=path, hint="remove it")


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
