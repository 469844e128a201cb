"""What a task has changed and may not land, kept aside: its whole difference as a patch, and the verdict beside it.

A patch is made in memory, and its content goes into the repository. So it has small files alone, and not too many; the others
are moved as they are, and the list beside the patch names them.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.dispatch.gate import patch_of
from kr_core.files import make_state_folder
from kr_core.git.work_tree_files import parent_folder, write_file
from kr_core.git.worktree import GitRefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.dispatch.gate import Verdict
    from kr_core.dispatch.manifest import Change
    from kr_core.dispatch.workspace import Workspace
    from kr_core.git.repository import Git

__all__ = ["kept_aside"]

_FILE_BYTES = 8 * 2**20
_PATCH_BYTES = 64 * 2**20
_EACH = 256
"""Bytes that each file takes beside its content."""


def kept_aside(git: Git, state: Path, name: tuple[str, str, str], space: Workspace, verdict: Verdict) -> Path:
    """Write the patch; what a patch cannot hold is in the list beside it.

    Args:
        git: of the project.
        state: where dispatch keeps what is its own.
        name: of the feature, the task and the attempt.
        space: the worktree.
        verdict: on it.

    Raises:
        OSError: it cannot be written.
    """
    feature, task, attempt = name
    folder = state / "aside" / _file_name(feature)
    make_state_folder(state)
    patch = folder / f"{_file_name(task)}-{attempt}.patch"
    small, large = _sorted(verdict.all)
    # Part by part: an agent without a sandbox may have put links there, and lead what KR writes into the project.
    place = os.fsencode(patch.relative_to(state))
    with parent_folder(state, place, make=True):
        patch.with_suffix(".files").unlink(missing_ok=True)
    with suppress(GitRefusedError):
        write_file(state, place, b"100644", patch_of(git, space, small))
    told = {
        "task": task,
        "base": space.base,
        "changed": [*verdict.changed],
        "refused": verdict.told,
        "moved": _moved(space.tree, large, patch.with_suffix(".files")),
    }
    text = json.dumps(told, indent=2) + "\n"
    write_file(state, os.fsencode(patch.with_suffix(".json").relative_to(state)), b"100644", text.encode())
    return patch


def _sorted(every: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """What goes into the patch, and the files that are too large for it, or too many."""
    small: list[Change] = []
    large: list[Change] = []
    left = _PATCH_BYTES
    for one in every:
        size = one.after[1] if one.after is not None and stat.S_ISREG(one.after[0]) else 0
        fits = size <= _FILE_BYTES and left - size - _EACH >= 0
        left -= size + _EACH if fits else 0
        (small if fits else large).append(one)
    return small, large


def _moved(tree: Path, large: Sequence[Change], folder: Path) -> dict[str, str]:
    """Move files out of a worktree; where each is now, by its path. What cannot be moved is left out."""
    found: dict[str, str] = {}
    for number, one in enumerate(
        one for one in large if one.after is not None and stat.S_ISREG(one.after[0])
    ):
        folder.mkdir(exist_ok=True)
        path = os.fsencode(one.path)
        with suppress(OSError), parent_folder(tree, path) as parent:
            if parent is not None:
                os.rename(path.rpartition(b"/")[2], folder / str(number), src_dir_fd=parent)
                found[one.path.encode("utf-8", "backslashreplace").decode()] = f"{folder.name}/{number}"
    return found


def _file_name(text: str) -> str:
    """A name of a feature or task as that of a file."""
    return re.sub(r"[^\w.-]|^\.+", "_", text)[:100] or "_"
