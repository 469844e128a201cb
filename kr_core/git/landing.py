"""Changes brought onto the branch that is checked out, by plumbing alone, with its work tree and index brought along.

The order makes a kill harmless: what is about to happen is written down, the branch moves, the index and the files follow. A
later run finds what is written down and goes on from there (`resume`). A file with changes of the user is left as it is, and
so are the branch and all the rest.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import lock, write_atomically
from kr_core.git.commit import locked_index
from kr_core.git.raw_checkout import LINK, blobs, tree_entries
from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kr_core.git.repository import Entry, Git

__all__ = ["Landing", "Rewrite", "land", "resume"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NONE = b"0"
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
    with lock(git.folder):
        resume(git, pending)
        if git.branch() != branch:
            raise GitRefusedError(
                f"{shown(branch)} is not checked out any more; check it out, and run the task again"
            )
        head = git.head()
        before = tree_entries(git, head)
        began = before if head == base else tree_entries(git, base)
        absent: Entry = (_NONE, git.no_object)
        changed = {path: entry for path, entry in entries.items() if before.get(path, absent) != entry}
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
        free = rewrite is not None and rewrite.path not in changed and rewrite.path not in staged
        ticked = _rewritten(git, before, rewrite) if rewrite is not None and free else None
        own = dict(changed)
        if rewrite is not None and ticked is not None:
            own[rewrite.path], old[rewrite.path] = ticked, before[rewrite.path]
        commit = ""
        if own:
            commit = _moved(git, branch, head, own, old, message, pending)
        return Landing(commit, rewrite is not None and _rewrite_file(git, rewrite))


def resume(git: Git, pending: Path) -> bool:
    """Go on with a landing that was interrupted; whether there was one.

    Raises:
        GitRefusedError, OSError: it cannot be done.
    """
    try:
        told = json.loads(pending.read_text("utf-8"))
        new, entries, old = told["new"], _read(told["entries"]), _read(told["old"])
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):  # it was never written whole, so nothing has moved
        pending.unlink(missing_ok=True)
        return False
    if git.branch() == told["branch"] and git.head() == new:
        _follow(git, new, entries, old)
    pending.unlink(missing_ok=True)
    return True


def _moved(
    git: Git,
    branch: str,
    head: str,
    entries: Mapping[bytes, Entry],
    old: Mapping[bytes, Entry],
    message: str,
    pending: Path,
) -> str:
    """Make the commit, move the branch to it, and let index and files follow."""
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        git("read-tree", head, index=index)
        git.enter(entries, index=index)
        differing = git.staged(git.tree_of(head), index)
        if differing.keys() != entries.keys():  # a folder in the place of a file, say
            name = shown(os.fsdecode(min(differing.keys() ^ entries.keys())))
            raise GitRefusedError(f"{name} would change as well, and is not part of the work")
        tree = git.tree(index)
    new = git.text("commit-tree", tree, "-p", head, stdin=message.encode("utf-8", "replace"))
    told = {"branch": branch, "new": new, "entries": _written(entries), "old": _written(old)}
    write_atomically(pending, json.dumps(told))
    subject = message.partition("\n")[0]
    try:
        git("update-ref", "-m", f"commit: {subject}", branch, new, head)  # refused if the branch has moved
    except BaseException:
        if git.head() != new:
            pending.unlink(missing_ok=True)
        raise
    _follow(git, new, entries, old)
    pending.unlink(missing_ok=True)
    return new


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
        with _folder(git.top, path) as parent:
            blocked = parent is None and _is_blocked(git.top, path)
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


def _is_blocked(top: Path, path: bytes) -> bool:
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


# -- what follows the branch ---------------------------------------------------------------------------------


def _follow(git: Git, new: str, entries: Mapping[bytes, Entry], old: Mapping[bytes, Entry]) -> None:
    """Bring index and files to the new commit, where they are as the old one has them; a second time changes nothing."""
    with locked_index(git.folder) as held, tempfile.TemporaryDirectory() as scratch:
        theirs = Path(scratch, "theirs")
        if held.index.exists():
            shutil.copy2(held.index, theirs)
        staged = git.staged(
            git.tree_of(new), theirs
        )  # what the new commit has of paths that the index has otherwise
        git.enter({path: entry for path, entry in entries.items() if path in staged}, index=theirs)
        held.write(theirs.read_bytes())
        held.publish()
    now = git.objects(entries)
    following = {
        path: entry for path, entry in entries.items() if now[path] == old[path] and now[path] != entry
    }
    for path, entry in following.items():
        if entry[0] == _NONE:
            _remove(git.top, path)
    ids = [id_ for mode, id_ in following.values() if mode != _NONE]
    contents = blobs(git, ids)
    for path, (mode, _id) in following.items():
        if mode != _NONE:
            _write(git.top, path, mode, next(contents))


@contextmanager
def _folder(top: Path, path: bytes, *, make: bool = False) -> Iterator[int | None]:
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


def _write(top: Path, path: bytes, mode: bytes, content: bytes) -> None:
    name = path.rpartition(b"/")[2]
    temporary = b".%s.kr-%s" % (name[:100], os.urandom(6).hex().encode())
    with _folder(top, path, make=True) as parent:
        with suppress(OSError):  # an empty folder in its place
            os.rmdir(name, dir_fd=parent)
        if mode == LINK:
            os.symlink(content, temporary, dir_fd=parent)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(temporary, flags, 0o777 if mode == b"100755" else 0o666, dir_fd=parent)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)


def _remove(top: Path, path: bytes) -> None:
    with _folder(top, path) as parent:
        if parent is None:
            return
        with suppress(FileNotFoundError):
            os.unlink(path.rpartition(b"/")[2], dir_fd=parent)
    folder = path.rpartition(b"/")[0]
    while folder:  # git keeps no empty folder
        with _folder(top, folder) as parent:
            try:
                os.rmdir(folder.rpartition(b"/")[2], dir_fd=parent)
            except OSError:
                return
        folder = folder.rpartition(b"/")[0]


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
    with _folder(git.top, rewrite.path) as parent:
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
    _write(git.top, rewrite.path, b"100755" if status.st_mode & stat.S_IXUSR else b"100644", changed)
    return True
