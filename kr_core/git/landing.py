"""Changes brought onto the branch that is checked out, by plumbing alone, with its work tree and index brought along.

All of it happens under the lock on the user's index. A `git commit` reads HEAD, then the index, and moves the branch only from the
commit that it has read. So the new index is there before the branch moves, and the branch is locked by then: who reads the new
commit never reads the old index, whose commit would undo what landed.

The order makes a kill harmless, too: what is about to happen is written down, the index follows, the branch moves, the files follow.
A later run finds what is written down and goes on from there (`resume`). A file with changes of the user is left as it is,
and so are the branch and all the rest.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import lock, write_atomically
from kr_core.git.commit import locked_index, release_left_lock, require_ready
from kr_core.git.raw_checkout import blobs, tree_entries
from kr_core.git.ref_transaction import BranchBusyError, moved_branch
from kr_core.git.work_tree_files import is_blocked, parent_folder, remove_file, write_file
from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_core.git.commit import IndexLock
    from kr_core.git.repository import Entry, Git

__all__ = ["Landing", "Rewrite", "land", "resume"]

_NONE = b"0"
_INDEX_SECONDS = 30.0
"""How long another git command may hold the index: `git commit -a` does while its editor is open."""
_BRANCH_SECONDS = 30.0
"""How long we try to be faster than others who move the branch."""
_PAUSE_SECONDS = 0.01
_LARGEST_TEXT = 16 * 2**20


class Rewrite(NamedTuple):
    """A small change of one file that is made to whatever is there."""

    path: bytes
    change: Callable[[bytes], bytes | None]
    """The new bytes; None where nothing is to be changed."""


class Landing(NamedTuple):
    """What has landed."""

    commit: str
    """Empty where nothing differed from the branch."""
    rewritten: bool
    """Whether the rewrite was made in the work tree."""


def land(
    git: Git,
    branch: str,
    base: str,
    entries: Mapping[bytes, Entry],
    message: str,
    pending: Path,
    rewrite: Rewrite | None = None,
) -> Landing:
    """Commit entries onto the branch that is checked out, where it has not changed them since `base`.

    Args:
        git: of the project.
        branch: the full name of the branch that was checked out when the work began.
        base: the commit that the work began from.
        entries: the new mode and object of each path; mode 0 removes it.
        message: of the commit.
        pending: the file that says what is under way.
        rewrite: a change of one more file, which need not be tracked.

    Raises:
        GitRefusedError: the branch or the work tree has other changes there; nothing was changed.
        OSError: a file cannot be written; `resume` goes on.
    """
    work = _Work(branch, base, entries, message, pending, rewrite)
    with lock(git.folder):
        resume(git, pending)
        until = monotonic() + _BRANCH_SECONDS
        while True:
            try:
                with locked_index(git.folder, _INDEX_SECONDS) as held:
                    return _landed(git, held, work)
            except BranchBusyError:  # the user has committed at the same moment
                if monotonic() > until:
                    raise
                sleep(_PAUSE_SECONDS)


def resume(git: Git, pending: Path) -> bool:
    """Go on with a landing that was interrupted; whether there was one.

    Raises:
        GitRefusedError, OSError: it cannot be done.
    """
    try:
        told = json.loads(pending.read_text("utf-8"))
        new, entries, old = told["new"], _read(told["entries"]), _read(told["old"])
        branch, left = told["branch"], told["lock"]
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):  # it was never written whole, so nothing has moved
        pending.unlink(missing_ok=True)
        return False
    release_left_lock(git.folder, left)
    with locked_index(git.folder, _INDEX_SECONDS) as held:
        head = git.head()
        if head and git.branch() == branch:
            now = tree_entries(git, head)
            landed = git.has_commit(head, new)
            wanted = entries if landed else old
            same = {path: entry for path, entry in wanted.items() if now.get(path, _absent(git)) == entry}
            if landed:
                _write_files(git, same, old)
            else:
                _undo_index(git, held, new, same)
        pending.unlink(missing_ok=True)
    return True


class _Work(NamedTuple):
    """What is to land; see `land`."""

    branch: str
    base: str
    entries: Mapping[bytes, Entry]
    message: str
    pending: Path
    rewrite: Rewrite | None


def _landed(git: Git, held: IndexLock, work: _Work) -> Landing:
    """Land what fits the branch as it is now."""
    require_ready(git, {})
    if git.branch() != work.branch:
        raise GitRefusedError(
            f"{shown(work.branch)} is not checked out any more; check it out, and run the task again"
        )
    head = git.head()
    before = tree_entries(git, head)
    began = before if head == work.base else tree_entries(git, work.base)
    absent = _absent(git)
    changed = {path: entry for path, entry in work.entries.items() if before.get(path, absent) != entry}
    for path in changed:
        if before.get(path, absent) != began.get(path, absent):
            raise GitRefusedError(
                f"{shown(os.fsdecode(path))} has changed on the branch meanwhile; run the task again"
            )
    old = {path: before.get(path, absent) for path in changed}
    _require_clean(git, old)
    staged = _staged(git, head)
    if found := staged & changed.keys():
        raise GitRefusedError(
            f"{shown(os.fsdecode(min(found)))} is staged; commit it, and run the task again"
        )
    rewrite = work.rewrite
    free = rewrite is not None and rewrite.path not in changed and rewrite.path not in staged
    ticked = _rewritten(git, before, rewrite) if rewrite is not None and free else None
    own = dict(changed)
    if rewrite is not None and ticked is not None:
        own[rewrite.path], old[rewrite.path] = ticked, before[rewrite.path]
    commit = _moved(git, held, work, head, own, old) if own else ""
    return Landing(commit, rewrite is not None and _rewrite_file(git, rewrite))


def _moved(
    git: Git,
    held: IndexLock,
    work: _Work,
    head: str,
    entries: Mapping[bytes, Entry],
    old: Mapping[bytes, Entry],
) -> str:
    """Make the commit, and let the index, the branch and the files go to it."""
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        git("read-tree", head, index=index)
        git.enter(entries, index=index)
        differing = git.staged(git.tree_of(head), index)
        if differing.keys() != entries.keys():  # a folder in the place of a file, say
            name = shown(os.fsdecode(min(differing.keys() ^ entries.keys())))
            raise GitRefusedError(f"{name} would change as well, and is not part of the work")
        tree = git.tree(index)
    new = git.text("commit-tree", tree, "-p", head, stdin=work.message.encode("utf-8", "replace"))
    theirs = held.index.read_bytes() if held.index.exists() else None
    ours = _with_entries(git, held, entries)
    told = {
        "branch": work.branch,
        "new": new,
        "entries": _written(entries),
        "old": _written(old),
        "lock": held.identity,
    }
    write_atomically(work.pending, json.dumps(told))
    subject = work.message.partition("\n")[0]
    try:
        with moved_branch(git, work.branch, new, head, f"commit: {subject}") as move:
            held.replace(ours)
            move()
    except BaseException:
        if git.head() != new:
            held.replace(theirs)
            work.pending.unlink(missing_ok=True)
        raise
    _write_files(git, entries, old)
    work.pending.unlink(missing_ok=True)
    return new


def _absent(git: Git) -> Entry:
    return _NONE, git.no_object


def _written(entries: Mapping[bytes, Entry]) -> dict[str, list[str]]:
    return {os.fsdecode(path): [mode.decode(), id_.decode()] for path, (mode, id_) in entries.items()}


def _read(told: Mapping[str, list[str]]) -> dict[bytes, Entry]:
    return {os.fsencode(path): (mode.encode(), id_.encode()) for path, (mode, id_) in told.items()}


# -- what the user has changed -------------------------------------------------------------------------------


def _require_clean(git: Git, old: Mapping[bytes, Entry]) -> None:
    """Check that the files are as the branch has them.

    Raises:
        GitRefusedError: one is not.
    """
    for path in old:
        with parent_folder(git.top, path) as parent:
            blocked = parent is None and is_blocked(git.top, path)
        if blocked:
            raise _dirty(path)
    try:
        now = git.objects(old)
    except OSError as error:
        name = os.path.relpath(error.filename, git.top) if error.filename else "a file"
        raise GitRefusedError(
            f"{shown(name)} cannot be read ({error.strerror}); mend it, and run the task again"
        ) from error
    for path, entry in old.items():
        there = git.top / os.fsdecode(path)
        is_folder = entry[0] == _NONE and there.is_dir() and not there.is_symlink()
        if now[path] != entry or (is_folder and any(there.rglob("*"))):
            raise _dirty(path)


def _dirty(path: bytes) -> GitRefusedError:
    hint = "commit or remove them, and run the task again"
    return GitRefusedError(f"{shown(os.fsdecode(path))} has changes that are not committed; {hint}")


def _staged(git: Git, head: str) -> set[bytes]:
    """The paths in which the user's index differs from the branch."""
    if not (git.folder / "index").exists():
        return set()
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        shutil.copy2(git.folder / "index", index)
        return set(git.staged(git.tree_of(head), index))


# -- what goes with the branch -------------------------------------------------------------------------------


def _with_entries(git: Git, held: IndexLock, entries: Mapping[bytes, Entry]) -> bytes:
    """The user's index with some entries."""
    with tempfile.TemporaryDirectory() as scratch:
        theirs = Path(scratch, "theirs")
        if held.index.exists():
            shutil.copy2(held.index, theirs)  # with its time: git trusts what is older than the index
        git.enter(entries, index=theirs)
        return theirs.read_bytes()


def _undo_index(git: Git, held: IndexLock, new: str, old: Mapping[bytes, Entry]) -> None:
    """Put entries back where the index has those of a commit that the branch never came to."""
    with tempfile.TemporaryDirectory() as scratch:
        theirs = Path(scratch, "theirs")
        if not held.index.exists():
            return
        shutil.copy2(held.index, theirs)
        differing = git.staged(git.tree_of(new), theirs)
    if back := {path: entry for path, entry in old.items() if path not in differing}:
        held.replace(_with_entries(git, held, back))


def _write_files(git: Git, entries: Mapping[bytes, Entry], old: Mapping[bytes, Entry]) -> None:
    """Bring the files to the new commit that are as the old one has them; a second time changes nothing."""
    now = git.objects(entries)
    following = {
        path: entry for path, entry in entries.items() if now[path] == old[path] and now[path] != entry
    }
    for path, entry in following.items():
        if entry[0] == _NONE:
            remove_file(git.top, path)
    ids = [id_ for mode, id_ in following.values() if mode != _NONE]
    contents = blobs(git, ids)
    for path, (mode, _id) in following.items():
        if mode != _NONE:
            write_file(git.top, path, mode, next(contents))


# -- the rewrite ---------------------------------------------------------------------------------------------


def _rewritten(git: Git, before: Mapping[bytes, Entry], rewrite: Rewrite) -> Entry | None:
    """The entry of the rewritten file on the branch; None where it is not tracked, or stays as it is."""
    mode, id_ = before.get(rewrite.path, (_NONE, b""))
    if not mode.startswith(b"100"):
        return None
    changed = rewrite.change(next(blobs(git, [id_])))
    if changed is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "file")
        file.write_bytes(changed)
        return mode, git.written([file])[0]


def _rewrite_file(git: Git, rewrite: Rewrite) -> bool:
    """Make the change in the work tree's own file too, which may have other changes, or not be tracked."""
    with parent_folder(git.top, rewrite.path) as parent:
        if parent is None:
            return False
        name = rewrite.path.rpartition(b"/")[2]
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        except OSError:
            return False
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return False
            content = file.read(_LARGEST_TEXT + 1)
    changed = rewrite.change(content) if len(content) <= _LARGEST_TEXT else None
    if changed is None:
        return True  # it is so already, or has no such line
    write_file(git.top, rewrite.path, b"100755" if status.st_mode & stat.S_IXUSR else b"100644", changed)
    return True
