"""A commit of exactly the given files, and of nothing else that is changed or staged.

KR builds the commit in a private index, from the tree of HEAD and the files as they are. It locks the user's index meanwhile,
as `git commit` does, and enters the same files there, so that they do not look undone. A file with staged changes belongs to the
commit that the user is preparing: KR leaves it out and says so.

`git commit --only` refuses new files, commits what is staged in the same file, and runs hooks that `--no-verify` does not turn off.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from kr_core.files import lock
from kr_core.git.repository import Git
from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.git.repository import Entry

__all__ = [
    "CommitResult",
    "IndexLock",
    "commit",
    "foresee",
    "locked_index",
    "release_left_lock",
    "require_ready",
]

_LOCK_SECONDS = 3.0
"""How long another git command may hold the index before we give up; `git add` takes milliseconds."""
_STAGED = "you have staged it; commit it with your own changes"
_BUSY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}
"""What lies in the repository's folder while an operation waits for its end: a commit would become part of it."""


class CommitResult(NamedTuple):
    """What became of the files."""

    id: str | None = None
    """The commit; None where there was nothing to commit, or no work tree to commit it in."""
    notes: tuple[str, ...] = ()
    """What was not committed, and why."""


def commit(
    files: Iterable[Path], message: str, *, folder: Path, environ: Mapping[str, str] = os.environ
) -> CommitResult:
    """Commit files as they are now, those that are gone as removed; never raises for what git refuses.

    Outside a work tree, and for files that are ignored or have not changed, nothing happens, without a word.

    Args:
        files: below `folder`.
        message: of the commit; its first line is the subject.
        folder: what decides which work tree it is.
        environ: of git; what would lead it to another repository is left out.
    """
    where = Path(os.path.realpath(folder))
    try:
        git = Git.open(where, environ)
        paths = [] if git is None else _paths(files, git.top)
        if git is None or not paths:
            return CommitResult()
        require_ready(git, environ)
        with lock(git.folder):  # KR's own processes wait for each other here, and not for the index
            return _committed(git, paths, message)
    except GitRefusedError as refused:
        return CommitResult(notes=(f"not committed: {refused}",))
    except OSError as error:
        return CommitResult(notes=(f"not committed: {_explained(error, where)}",))


def foresee(folder: Path, environ: Mapping[str, str] = os.environ) -> tuple[bool, str]:
    """Whether a commit of what changes in a folder would be made now, and where or why not; for `kr doctor`."""
    where = Path(os.path.realpath(folder))
    near = next(above for above in (where, *where.parents) if above.is_dir())
    try:
        git = Git.open(near, environ)
        if git is None:
            return False, f"{shown(folder)} lies in no git work tree; nothing is committed"
        name = os.fsencode(where.relative_to(git.top) / "index.yaml")
        if git.ignored([name]):
            return False, f"{shown(folder)} is ignored by git; nothing is committed"
        require_ready(git, environ)
        git("var", "GIT_COMMITTER_IDENT")
    except GitRefusedError as refused:
        return False, f"nothing is committed: {refused}"
    except OSError as error:
        return False, f"nothing is committed: {_explained(error, where)}"
    return True, f"what changes in {shown(folder)} is committed in {shown(git.top)}"


def _paths(files: Iterable[Path], top: Path) -> list[bytes]:
    """The files as git names them, each once. A link in the last place is a file itself, in another it is followed."""
    paths = []
    for file in files:
        real = Path(os.path.realpath(file.parent), file.name)
        if not real.is_relative_to(top):
            raise GitRefusedError(f"{shown(file)} lies outside the work tree {shown(top)}")
        paths.append(os.fsencode(real.relative_to(top)))
    return list(dict.fromkeys(paths))


def require_ready(git: Git, environ: Mapping[str, str]) -> None:
    """Check that no operation of git waits for its end in a repository.

    Raises:
        GitRefusedError: one does, or KR runs in a hook of git.
    """
    for name, operation in _BUSY.items():
        if os.path.lexists(git.folder / name):
            raise GitRefusedError(f"{operation} is under way in {shown(git.top)}; commit when it is done")
    index = environ.get("GIT_INDEX_FILE")
    if index and any(
        Path(near, index).resolve().is_relative_to(git.folder) for near in (Path.cwd(), git.top)
    ):
        # In a pre-commit hook, say: git would find its HEAD moved, and refuse the user's commit.
        raise GitRefusedError("another git command is at work here and has run KR (GIT_INDEX_FILE is set)")


def _committed(git: Git, paths: Sequence[bytes], message: str) -> CommitResult:
    ignored = git.ignored(paths)
    paths = [path for path in paths if path not in ignored]
    if not paths:
        return CommitResult()
    entries = git.objects(paths)
    with tempfile.TemporaryDirectory() as scratch:
        ours, theirs = Path(scratch, "ours"), Path(scratch, "theirs")
        head = git.head()
        changed = _enter(git, entries, head, ours)
        if not changed:
            return CommitResult()
        with locked_index(
            git.folder
        ) as lock:  # no longer than it must be: the user's git does not wait for it
            if (now := git.head()) != head:
                head = now
                changed = _enter(git, entries, head, ours)
            if lock.index.exists():
                shutil.copy2(lock.index, theirs)  # with its time: git trusts what is older than the index
            staged = sorted(changed.keys() & git.staged(git.tree_of(head), theirs).keys())
            git.enter({path: changed.pop(path) for path in staged}, index=ours)
            notes = tuple(f"not committed: {shown(os.fsdecode(path))}: {_STAGED}" for path in staged)
            if not changed:
                return CommitResult(None, notes)
            git.enter({path: entries[path] for path in changed}, index=theirs)
            lock.write(theirs.read_bytes())
            return CommitResult(_moved_head(git, message, head, ours, lock), notes)


def _enter(git: Git, entries: Mapping[bytes, Entry], head: str, ours: Path) -> dict[bytes, Entry]:
    """Fill a private index with what HEAD holds and the files as they are; returns what HEAD holds of those that differ."""
    base = git.tree_of(head)
    git("read-tree", base, index=ours)
    git.enter(entries, index=ours)
    changed = git.staged(base, ours)
    if other := changed.keys() - entries.keys():
        name = shown(os.fsdecode(min(other)))
        raise GitRefusedError(f"{name} is a file in HEAD and a folder now; commit that yourself")
    return changed


def _moved_head(git: Git, message: str, head: str, ours: Path, lock: IndexLock) -> str:
    """Commit what the private index holds, and put the user's index that is written in its place."""
    parents = ("-p", head) if head else ()
    made = git.text("commit-tree", git.tree(ours), *parents, stdin=message.encode("utf-8", "replace"))
    moved = False
    try:
        subject = message.partition("\n")[0]
        git("update-ref", "-m", f"commit: {subject}", "HEAD", made, head)  # refused if HEAD has moved
        moved = True
    finally:
        if moved or git.head() == made:  # also where we were interrupted just after it was done
            lock.publish()
    return made


# -- the lock on the user's index ------------------------------------------------------------------------


class IndexLock:
    """`index.lock`, made as git makes it: whoever has it may replace the index."""

    def __init__(self, index: Path) -> None:
        self.index = index
        self._file = index.with_name("index.lock")
        self._before = index.stat() if index.exists() else None
        mode = self._before.st_mode & 0o777 if self._before else 0o666
        self._handle = os.open(self._file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        self._published = False

    def write(self, raw: bytes) -> None:
        """Write the index that is to take the place of the present one."""
        with os.fdopen(os.dup(self._handle), "wb") as file:
            self._fill(file, raw)
        self._keep_times(self._file)

    def replace(self, raw: bytes | None) -> None:
        """Put an index in the place of the present one, and go on holding the lock; None leaves no index."""
        if raw is None:
            self.index.unlink(missing_ok=True)
            return
        fresh = self.index.with_name("index.kr")  # nobody else writes it: we have the lock
        fresh.unlink(missing_ok=True)
        handle = os.open(
            fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IMODE(os.fstat(self._handle).st_mode)
        )
        with os.fdopen(handle, "wb") as file:
            self._fill(file, raw)
        self._keep_times(fresh)
        fresh.replace(self.index)

    @property
    def identity(self) -> list[int]:
        """What tells this lock from a later one of the same name."""
        status = os.fstat(self._handle)
        return [status.st_dev, status.st_ino, status.st_mtime_ns]

    def publish(self) -> None:
        """Put it there."""
        self._file.replace(self.index)
        self._published = True

    @staticmethod
    def _fill(file: BinaryIO, raw: bytes) -> None:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())

    def _keep_times(self, file: Path) -> None:
        if self._before:  # git looks into files that are not older than the index, and did not do so now
            os.utime(file, ns=(self._before.st_atime_ns, self._before.st_mtime_ns))

    def close(self) -> None:
        """Let go; without `publish` nothing has changed."""
        os.close(self._handle)
        if not self._published:
            self._file.unlink(missing_ok=True)


@contextmanager
def locked_index(folder: Path, seconds: float | None = None) -> Iterator[IndexLock]:
    """Hold the lock on the index of a work tree, as git does.

    Args:
        folder: of the work tree's repository.
        seconds: how long to wait for another git command; 3 if not given.

    Raises:
        GitRefusedError: another git command holds it for too long.
    """
    until = monotonic() + (_LOCK_SECONDS if seconds is None else seconds)
    while True:
        try:
            lock = IndexLock(folder / "index")
            break
        except FileExistsError:
            if monotonic() > until:
                hint = "end the other git command, such as a `git commit` with its editor open; remove the file if none runs"
                raise GitRefusedError(f"{shown(folder / 'index.lock')} is there; {hint}") from None
            sleep(0.02)
    try:
        yield lock
    finally:
        lock.close()


def release_left_lock(folder: Path, identity: Sequence[int]) -> None:
    """Remove the lock that a process of KR was killed with; another one stays."""
    file = folder / "index.lock"
    with suppress(FileNotFoundError):
        status = file.lstat()
        if [status.st_dev, status.st_ino, status.st_mtime_ns] == list(identity):
            file.unlink()


def _explained(error: OSError, where: Path) -> str:
    return shown(f"{error.strerror or error}: {error.filename or where}")
