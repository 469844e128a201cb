"""What a task has changed and may not land, kept aside: its whole difference as a patch, and the verdict beside it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.dispatch.gate import patch_of
from kr_core.files import make_state_folder
from kr_core.git.worktree import GitRefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.dispatch.gate import Verdict
    from kr_core.dispatch.workspace import Workspace
    from kr_core.git.repository import Git

__all__ = ["kept_aside"]


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
    folder.mkdir(parents=True, exist_ok=True)
    patch = folder / f"{_file_name(task)}-{attempt}.patch"
    with suppress(GitRefusedError):
        patch.write_bytes(patch_of(git, space, verdict.all))
    told = {
        "task": task,
        "base": space.base,
        "changed": [*verdict.changed],
        "refused": [one._asdict() for one in verdict.refused],
    }
    patch.with_suffix(".json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    return patch


def _file_name(text: str) -> str:
    """A name of a feature or task as that of a file."""
    return re.sub(r"[^\w.-]|^\.+", "_", text)[:100] or "_"
