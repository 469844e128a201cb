"""The files of a commit, written as the bytes that git holds: no filter, no line ending, no attribute takes effect.

`git checkout` and `git worktree add` run the filters that attributes name, and hooks. A tree may also hold names that git itself
would refuse to write (`.git/config`, `..`), since a program can make any tree; those are refused here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.git.repository import Entry, Git

__all__ = ["GITLINK", "LINK", "blobs", "tree_entries", "write_files"]

LINK = b"120000"
GITLINK = b"160000"
_AT_ONCE = 2000
_BYTES_AT_ONCE = 64 * 2**20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class _Listed(NamedTuple):
    path: bytes
    mode: bytes
    id: bytes
    size: int


def tree_entries(git: Git, commit: str) -> dict[bytes, Entry]:
    """Mode and object of each path of a commit.

    Raises:
        GitRefusedError: git does not read it.
    """
    found = {}
    for line in git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, id_ = about.split()
        found[path] = (mode, id_)
    return found


def _listed(git: Git, commit: str) -> list[_Listed]:
    found = []
    for line in git("ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, id_, size = about.split()
        found.append(_Listed(path, mode, id_, 0 if size == b"-" else int(size)))
    return found


def blobs(git: Git, ids: Sequence[bytes]) -> Iterator[bytes]:
    """The content of objects, in order.

    Raises:
        GitRefusedError: one is missing.
    """
    told = git("cat-file", "--batch", "--buffer", stdin=b"".join(b"%s\n" % id_ for id_ in ids))
    at = 0
    for id_ in ids:
        end = told.index(b"\n", at)
        words = told[at:end].split()
        if len(words) != 3 or words[1] != b"blob":
            raise GitRefusedError(f"the object {id_.decode()} is missing; fetch it first")
        size = int(words[2])
        yield told[end + 1 : end + 1 + size]
        at = end + 2 + size


def write_files(git: Git, commit: str, folder: Path) -> dict[bytes, Entry]:
    """Write the files of a commit into an empty folder; links come last, so that none leads a file elsewhere.

    Returns:
        Mode and object of each path.

    Raises:
        GitRefusedError: an object is missing, or a name is none that git would write.
        OSError: a file cannot be written.
    """
    listed = _listed(git, commit)
    made: set[bytes] = set()
    top = os.fsencode(folder)
    for one in listed:
        _require_plain(one.path)
        _make_folders(top, one.path if one.mode == GITLINK else one.path.rpartition(b"/")[0], made)
    for part in _parts([one for one in listed if one.mode not in {LINK, GITLINK}]):
        for one, content in zip(part, blobs(git, [one.id for one in part]), strict=True):
            handle = os.open(top + b"/" + one.path, _NEW, 0o777 if one.mode == b"100755" else 0o666)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
    links = [one for one in listed if one.mode == LINK]
    for part in _parts(links):
        for one, content in zip(part, blobs(git, [one.id for one in part]), strict=True):
            os.symlink(content, top + b"/" + one.path)  # noqa: PTH211  bytes, as git has them
    return {one.path: (one.mode, one.id) for one in listed}


def _parts(listed: Sequence[_Listed]) -> Iterator[list[_Listed]]:
    part: list[_Listed] = []
    size = 0
    for one in listed:
        if part and (len(part) >= _AT_ONCE or size + one.size > _BYTES_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(one)
        size += one.size
    if part:
        yield part


def _make_folders(top: bytes, folder: bytes, made: set[bytes]) -> None:
    if folder and folder not in made:
        Path(os.fsdecode(top + b"/" + folder)).mkdir(parents=True, exist_ok=True)
        made.add(folder)


def _require_plain(path: bytes) -> None:
    parts = path.lower().split(b"/")
    if any(part in {b"", b".", b"..", b".git", b"git~1"} for part in parts):
        raise GitRefusedError(f"the commit has a file {shown(os.fsdecode(path))}, which git would not write")
