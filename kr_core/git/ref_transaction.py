"""A branch moved in two steps, from one commit to another and from no other (git-update-ref(1), `--stdin`).

Between the steps git holds the lock on the branch, and has compared it: what must be true before the new commit can be seen is
done there.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING

from kr_core.git.worktree import GitRefusedError
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from kr_core.git.repository import Git

__all__ = ["BranchBusyError", "moved_branch"]

_SECONDS = 60.0
_BUSY = ("but expected", "File exists")
"""What git says, in English, where the branch has moved or is locked."""


class BranchBusyError(GitRefusedError):
    """The branch has moved, or another git command is about to move it; nothing was changed."""


@contextmanager
def moved_branch(git: Git, branch: str, new: str, old: str, reason: str) -> Iterator[Callable[[], None]]:
    """Lock a branch that is at a commit; calling what this gives moves it, and else it stays.

    Args:
        git: of the repository.
        branch: its full name.
        new: the commit that it is to be at.
        old: the one that it is at.
        reason: one line for the reflog.

    Raises:
        BranchBusyError: it is not there any more, or is locked.
        GitRefusedError: git fails.
    """
    process = git.start("update-ref", "-m", reason, "--stdin")
    assert process.stdin is not None
    limit = Timer(_SECONDS, process.kill)
    limit.start()
    try:
        lines = b"start\nupdate %s %s %s\nprepare\n" % (
            branch.encode("utf-8", "surrogateescape"),
            new.encode(),
            old.encode(),
        )
        if not _said(process, lines, b"prepare: ok"):
            said = _fault(process)
            raise (BranchBusyError if any(one in said for one in _BUSY) else GitRefusedError)(said)

        def move() -> None:
            if not _said(process, b"commit\n", b"commit: ok"):
                raise GitRefusedError(_fault(process))

        yield move
    finally:
        with suppress(OSError):
            process.stdin.close()  # git gives up what is not committed
        process.wait()
        limit.cancel()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def _said(process: subprocess.Popen[bytes], lines: bytes, wanted: bytes) -> bool:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(lines)
        process.stdin.flush()
    except BrokenPipeError:
        return False
    return any(
        line.strip() == wanted for line in iter(process.stdout.readline, b"") if line != b"start: ok\n"
    )


def _fault(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said = process.stderr.read().decode("utf-8", "replace").strip().splitlines() or ["it was ended"]
    return printable(f"`git update-ref` failed: {said[0]}")
