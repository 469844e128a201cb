"""Git's index, read without git: whether a folder is tracked (https://git-scm.com/docs/index-format).

KR asks at the start of each run, before it trusts the project's state: a git process would take longer than a hit, and its
settings come from the project.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["came_with_repository", "tracks"]

_LARGEST = 512 * 2**20
"""Bytes of all parts of an index together."""
_MAX_SHARED = 200
"""The limit of shared indexes; git removes old ones after two weeks."""
_LARGEST_LINK = 4096
_HEADER = 12
_STATUS = 40
"""Bytes of an entry before its hash: times, device, inode, mode, owner, size."""
_MODES = frozenset({0o040000, 0o100644, 0o100664, 0o100755, 0o120000, 0o160000})
_HASHES = (20, 32)
"""Bytes of SHA-1 and SHA-256; the index does not say which of them it has."""
_HEXADECIMAL = re.compile(r"(?:[0-9a-f]{2})+")
_VERSIONS = (2, 3, 4)
_LONGEST_NAME = 32_768
"""Bytes of a name; no system has longer paths."""
_COMPRESSED = 4
"""The version whose names begin with a part of the name before."""


def tracks(folder: Path) -> bool:
    """Whether git tracks a folder, as a submodule, or a file below it; False where there is no repository, or no index in it.

    Args:
        folder: in a work tree, or not.

    Raises:
        OSError: there is an index, and it cannot be read: git may track the folder.
    """
    return _tracking(Path(os.path.realpath(folder))) is not None


def came_with_repository(place: Path, working_folder: Path) -> bool:
    """Whether a file or folder, or where a link in its place leads, came with the repository that is worked in.

    npm links the packages of a workspace, which git tracks, into `node_modules`, which it does not. What lies in another
    repository counts only if that is a submodule: `pip install -e git+...` and a person make such checkouts, too.

    Args:
        place: what may have come with it; git tracks it, or a file below it.
        working_folder: a folder of the work tree.
    """
    here = Path(os.path.realpath(working_folder))
    ways = {Path(os.path.realpath(place.parent)) / place.name, Path(os.path.realpath(place))}
    try:
        return any(_belongs(way, here) for way in ways)
    except OSError:  # KR refuses its state folder then, and with it nearly every command
        return False


def _belongs(place: Path, here: Path) -> bool:
    tree = _tracking(place)
    while tree is not None and not here.is_relative_to(tree):
        tree = _tracking(tree)
    return tree is not None


def _tracking(place: Path) -> Path | None:
    """The work tree whose repository tracks a place; None where the nearest one does not."""
    for tree in place.parents:
        link = tree / ".git"
        if os.path.lexists(link):
            name = os.fsencode(place.relative_to(tree).as_posix())
            try:
                return tree if _holds(_git_folder(link), name, folded=_is_folded(place)) else None
            except FileNotFoundError:
                return None
            except ValueError as error:
                raise OSError(errno.EINVAL, str(error), str(link)) from error
    return None


def _git_folder(link: Path) -> Path:
    """What `.git` is, or where it leads as a file: a further work tree's, a submodule's."""
    if link.is_dir():
        return link
    named, _, where = read_bytes(link, limit=_LARGEST_LINK).partition(b"gitdir:")
    if named or not where.strip():
        raise ValueError("`.git` does not say where the repository lies")
    return link.parent / os.fsdecode(where.strip())


def _is_folded(place: Path) -> bool:
    """Whether its file system takes capitals for small letters: there `.KR/` is the same folder."""
    try:
        return place.with_name(place.name.upper()).samefile(place)
    except OSError:
        return False


def _holds(git: Path, folder: bytes, *, folded: bool) -> bool:
    content = read_bytes(git / "index", limit=_LARGEST)
    if _is_among(content, folder, folded=folded):
        return True
    left = _LARGEST - len(content)
    for file in _shared(git, content):
        part = read_bytes(file, limit=left)
        left -= len(part)
        if _is_among(part, folder, folded=folded):
            return True
    return False


def _is_among(content: bytes, folder: bytes, *, folded: bool) -> bool:
    """Whether a folder, or a file below it, is in an index.

    Raises:
        ValueError: it does not read as an index.
    """
    version = _version(content)
    text, folder = (content.lower(), folder.lower()) if folded else (content, folder)
    if version < _COMPRESSED and folder not in text:  # nearly always: the entries need not be told apart
        return False
    is_read = False
    for hashed in _HASHES:  # what either finds counts: an index may read as one of both lengths
        try:
            for name in _names(content, hashed):
                known = name.lower() if folded else name
                if known == folder or known.startswith(folder + b"/"):
                    return True
            is_read = True
        except (ValueError, IndexError):  # its hashes have another length
            continue
    if not is_read:
        raise ValueError("the entries of the index cannot be read")
    return False


def _version(content: bytes) -> int:
    version = int.from_bytes(content[4:8], "big")
    if content[:4] != b"DIRC" or version not in _VERSIONS:
        raise ValueError("the index has a form that KR does not know")
    return version


def _names(content: bytes, hashed: int) -> Iterator[bytes]:
    """The names of an index, in order.

    Raises:
        ValueError, IndexError: its hashes are not of so many bytes, or it is none.
    """
    at, name, version = _HEADER, b"", _version(content)
    for _ in range(int.from_bytes(content[8:12], "big")):
        start = at
        if int.from_bytes(content[at + 24 : at + 28], "big") not in _MODES:
            raise ValueError("not an entry")
        at += _STATUS + hashed
        flags = int.from_bytes(content[at : at + 2], "big")
        at += 4 if flags & 0x4000 else 2
        removed = 0
        if version == _COMPRESSED:
            removed, at = _number(content, at)
        end = content.index(b"\0", at)
        name = name[: len(name) - removed] + content[at:end] if version == _COMPRESSED else content[at:end]
        if flags & 0xFFF != min(len(name), 0xFFF) or len(name) > _LONGEST_NAME:
            raise ValueError("not an entry")
        at = end + 1 if version == _COMPRESSED else start + (end - start + 8) // 8 * 8
        yield name


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as in a pack's offsets, and where it ends."""
    byte = content[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = content[at]
        value = (value + 1 << 7) | byte & 0x7F
    return value, at + 1


def _shared(git: Path, content: bytes) -> list[Path]:
    """Find the files with the rest of a split index; a name in them may be out of date.

    Raises:
        ValueError: there are too many to look through.
    """
    found = []
    for number, file in enumerate(git.glob("sharedindex.*")):
        if number >= _MAX_SHARED:
            raise ValueError(f"more than {_MAX_SHARED} shared indexes lie there")
        name = file.suffix[1:]
        if _HEXADECIMAL.fullmatch(name) and bytes.fromhex(name) in content:
            found.append(file)
    return found
