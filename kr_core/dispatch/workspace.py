"""A worktree for one task: the files of the branch in a repository of its own, which shares the project's objects to read.

What an agent does with git there moves nothing of the project: branches, hooks and configuration are its own, and KR throws
them away. `git worktree add` would share all three, and run the project's filters and hooks.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.dispatch.manifest import scan
from kr_core.git.raw_checkout import write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_core.dispatch.manifest import Manifest
    from kr_core.git.repository import Entry, Git

__all__ = ["CHANGEABLE", "Workspace", "open_workspace", "remove_folder"]

CHANGEABLE = (
    "objects", "index", "index.lock", "logs", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE", "MERGE_MSG", "gc.log",
    "sharedindex",
)  # fmt: skip
"""What git itself writes in its folder when an agent looks at its work, or commits it; none of it is ever read."""
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = false\n"
_IDENTITY = "[user]\n\tname = KR task\n\temail = task@kr.invalid\n[commit]\n\tgpgSign = false\n"
"""Whose an agent's own commits are: nothing that is read."""


class Workspace(NamedTuple):
    """A worktree that is ready for its agent."""

    tree: Path
    base: str
    """The commit that it holds."""
    entries: Mapping[bytes, Entry]
    """Mode and object of each path of that commit."""
    before: Manifest
    """Of its files."""
    repository: Manifest
    """Of its repository, without what git may change there."""
    objects: Path
    """The project's objects, which it reads."""


def open_workspace(git: Git, folder: Path, base: str, branch: str) -> Workspace:
    """Make a worktree in a folder that does not exist yet.

    Args:
        git: of the project.
        folder: the worktree.
        base: the commit.
        branch: the full name of the branch that it is of.

    Raises:
        GitRefusedError: the commit cannot be read, or has names that git would not write.
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True)
    entries = write_files(git, base, folder)
    objects = git.common / "objects"
    _write_repository(git, folder / ".git", base, branch, objects)
    before = scan(folder, skip=(".git",))
    own = scan(folder / ".git", skip=CHANGEABLE)
    return Workspace(folder, base, entries, before, own, objects)


def _write_repository(git: Git, own: Path, base: str, branch: str, objects: Path) -> None:
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (own / name).mkdir(parents=True)
    (own / "HEAD").write_text(f"{base}\n")
    named = own / branch
    named.parent.mkdir(parents=True, exist_ok=True)
    named.write_text(f"{base}\n")
    (own / "objects/info/alternates").write_bytes(os.fsencode(objects) + b"\n")
    extended = git.object_format != "sha1"
    config = _CONFIG.format(version=int(extended))
    (own / "config").write_text(
        config + ("[extensions]\n\tobjectformat = sha256\n" if extended else "") + _IDENTITY
    )
    (own / "info/exclude").write_bytes(git.exclude_rules())
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        git("read-tree", base, index=index)
        shutil.copyfile(index, own / "index")


def remove_folder(folder: Path) -> None:
    """Remove a worktree with all that an agent may have made of it; what cannot be removed stays."""

    def again(remove: Callable[..., object], name: str, _error: object) -> None:
        try:
            for place in (Path(name).parent, Path(name)):
                if stat.S_ISDIR(place.lstat().st_mode):
                    place.chmod(0o700)
            remove(name)
        except OSError:
            return

    if folder.is_symlink() or folder.is_file():
        folder.unlink(missing_ok=True)
    elif folder.exists():
        with suppress(RecursionError):
            shutil.rmtree(folder, onerror=again)
        if folder.exists() and (remove := shutil.which("rm")):  # which follows folders of any depth
            subprocess.run([remove, "-rf", "--", folder], check=False, capture_output=True)  # noqa: S603  no shell
