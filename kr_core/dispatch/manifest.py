"""A manifest of a folder: every file, folder and link with the hash of its raw bytes, read without git.

Git's index and its ignore rules can be turned against a program that looks through them; this looks at the disk. A later manifest
takes over the hash of a file whose status has not changed at all: size, times, inode, mode and number of links. The change time
(ctime) is the system's own, and no program can set it back. A file that changed within a moment of the earlier look counts as
changed, since the clock of a file system has steps (git-update-index(1) calls such an entry racy).
"""

from __future__ import annotations

import errno
import gc
import hashlib
import os
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["LARGEST", "Change", "Manifest", "Node", "changes", "scan"]

LARGEST = 256 * 2**20
"""Bytes of a file that is read; a larger one is known by its size alone."""
_STEP = 2**20
_DEEPEST = 200
"""How deep folders may lie: each look at one opens all those above it."""
_UNREADABLE = b"unreadable:"
_RACY_NS = 2_000_000_000
"""How old a file's times must be at a look for the next one to trust them; some file systems count in two seconds."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Node: TypeAlias = tuple[int, int, int, int, int, int, bytes | None]
"""Mode, size, mtime and ctime in nanoseconds, inode, number of links, and the hash: of a file's bytes or of where a link
leads; None for all else."""


class Manifest(NamedTuple):
    """What lies in a folder at one moment."""

    nodes: dict[str, Node]
    """By path relative to the folder; odd bytes of a name as `os.fsdecode` has them."""
    taken_ns: int
    """When the look began, by the clock of the system."""


class Change(NamedTuple):
    """A path that differs between two manifests."""

    path: str
    before: Node | None
    after: Node | None


def scan(
    root: str | bytes | os.PathLike[str],
    earlier: Manifest | None = None,
    *,
    skip: Collection[str] = (),
    growth: int | None = None,
) -> Manifest:
    """Look at everything in a folder; links are not followed.

    Args:
        root: the folder; a missing one is empty.
        earlier: a look at the same folder before.
        skip: paths that are left out, with all below them.
        growth: bytes that its files may be longer by than at the look before; holes count, which take no room on the disk.

    Raises:
        OSError: something cannot be read, it has grown by more, or folders lie deeper than anyone puts them.
    """
    taken = time.time_ns()
    with _no_collection():
        return Manifest(_nodes(os.fsdecode(root), earlier, frozenset(skip), growth), taken)


def _nodes(root: str, earlier: Manifest | None, skip: frozenset[str], growth: int | None) -> dict[str, Node]:
    found: dict[str, Node] = {}
    known: Mapping[str, Node] = {} if earlier is None else earlier.nodes
    trusted = 0 if earlier is None else earlier.taken_ns - _RACY_NS
    get = known.get
    grown = 0
    try:
        top = os.open(root, _FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        return found
    try:
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            if folder.count("/") >= _DEEPEST:
                raise OSError(errno.ELOOP, f"folders lie deeper than {_DEEPEST}", folder[:100])
            handle = top if not folder else _opened(folder, top)
            before = f"{folder}/" if folder else ""
            try:
                with os.scandir(handle) as entries:
                    for entry in entries:
                        path = before + entry.name
                        if path in skip:
                            continue
                        status = entry.stat(follow_symlinks=False)
                        node = get(path)
                        if (
                            node is None
                            or node[3] != status.st_ctime_ns
                            or node[2] != status.st_mtime_ns
                            or node[4] != status.st_ino
                            or node[0] != status.st_mode
                            or node[1] != status.st_size
                            or node[5] != status.st_nlink
                            or node[3] > trusted
                        ):
                            if growth is not None and stat.S_ISREG(status.st_mode):
                                grown += max(0, status.st_size - (0 if node is None else node[1]))
                                if grown > growth:
                                    raise OSError(
                                        errno.EFBIG, f"its files have grown by more than {growth // 2**30} GB"
                                    )
                            node = _node(handle, entry.name, status)
                        found[path] = node
                        if stat.S_ISDIR(node[0]):
                            waiting.append(path)
            finally:
                if handle != top:
                    os.close(handle)
    finally:
        os.close(top)
    return found


def _opened(folder: str, top: int) -> int:
    """A folder below another, none of whose parts is a link by now.

    Raises:
        OSError: it is.
    """
    handle = top
    for part in folder.split("/"):
        try:
            below = os.open(part, _FOLDER, dir_fd=handle)
        finally:
            if handle != top:
                os.close(handle)
        handle = below
    return handle


def _node(folder: int, name: str, status: os.stat_result) -> Node:
    mode, digest = status.st_mode, None
    if stat.S_ISREG(mode):
        digest = b"" if status.st_size > LARGEST else _hashed(folder, name, status)
    elif stat.S_ISLNK(mode):
        digest = hashlib.sha256(os.fsencode(os.readlink(name, dir_fd=folder))).digest()
    return (
        mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_nlink,
        digest,
    )


def _hashed(folder: int, name: str, status: os.stat_result) -> bytes:
    try:
        handle = os.open(name, _OPEN, dir_fd=folder)
    except PermissionError:  # it may be ours without being readable: an agent may have taken that away
        return _unreadable(status)
    try:
        data = os.read(handle, min(status.st_size + 1, _STEP))
        if len(data) == status.st_size:
            return hashlib.sha256(data).digest()
        whole = hashlib.sha256(data)
        left = LARGEST
        while data and left > 0:
            data = os.read(handle, _STEP)
            whole.update(data)
            left -= len(data)
        return whole.digest()
    finally:
        os.close(handle)


def _unreadable(status: os.stat_result) -> bytes:
    """What a file that its owner may not read has in place of a hash: its status tells it from all others."""
    return (
        _UNREADABLE + repr((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)).encode()
    )


def changes(before: Manifest, after: Manifest) -> list[Change]:
    """The paths whose kind, mode, bytes or number of links differ, in order.

    A folder's number of links and size say nothing that its content does not.
    """
    found = []
    for path, node in after.nodes.items():
        old = before.nodes.get(path)
        if old is node:
            continue
        if old is None or old[0] != node[0] or (not stat.S_ISDIR(node[0]) and _differs(old, node)):
            found.append(Change(path, old, node))
    found += [Change(path, node, None) for path, node in before.nodes.items() if path not in after.nodes]
    return sorted(found)


def _differs(old: Node, node: Node) -> bool:
    return old[6] != node[6] or old[5] != node[5] or (not node[6] and old != node)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's collector, which would look again and again at all that is found here."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
