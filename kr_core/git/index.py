"""Git's index, read without git: whether a folder is tracked (https://git-scm.com/docs/index-format)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["tracks"]

_LARGEST = 512 * 2**20
_LARGEST_LINK = 4096
_HEADER = 12
_STATUS = 40
"""Bytes of an entry before its hash: times, device, inode, mode, owner, size."""
_MODES = frozenset({0o040000, 0o100644, 0o100664, 0o100755, 0o120000, 0o160000})
_HASHES = (20, 32)
"""Bytes of SHA-1 and SHA-256; the index does not say which of them it has."""
_COMPRESSED = 4
"""The version whose names begin with a part of the name before."""


def tracks(folder: Path) -> bool:
    """Whether git tracks a folder, as a submodule, or a file below it; False where there is no index that can be read.

    Args:
        folder: in a work tree, or not.
    """
    place = Path(os.path.realpath(folder))
    for tree in place.parents:
        link = tree / ".git"
        if os.path.lexists(link):
            name = os.fsencode(place.relative_to(tree).as_posix())
            try:
                return _holds(_git_folder(link), name, folded=_is_folded(place))
            except (OSError, ValueError):
                return False
    return False


def _git_folder(link: Path) -> Path:
    """What `.git` is, or where it leads as a file: a further work tree's, a submodule's."""
    if link.is_dir():
        return link
    where = read_bytes(link, limit=_LARGEST_LINK).removeprefix(b"gitdir:").strip()
    return link.parent / os.fsdecode(where)


def _is_folded(place: Path) -> bool:
    """Whether its file system takes capitals for small letters: there `.KR/` is the same folder."""
    try:
        return place.with_name(place.name.upper()).samefile(place)
    except OSError:
        return False


def _holds(git: Path, folder: bytes, *, folded: bool) -> bool:
    files, seen = [git / "index"], 0
    while seen < len(files):
        content = read_bytes(files[seen], limit=_LARGEST)
        seen += 1
        if _is_among(content, folder, folded=folded):
            return True
        if seen == 1:
            files += _shared(git, content)
    return False


def _is_among(content: bytes, folder: bytes, *, folded: bool) -> bool:
    if content[:4] != b"DIRC":
        return False
    text, folder = (content.lower(), folder.lower()) if folded else (content, folder)
    if (
        _version(content) < _COMPRESSED and folder not in text
    ):  # nearly always: the entries need not be told apart
        return False
    for hashed in _HASHES:
        try:
            names = (name.lower() if folded else name for name in _names(content, hashed))
            return any(name == folder or name.startswith(folder + b"/") for name in names)
        except (ValueError, IndexError):  # its hashes have another length
            continue
    return False


def _version(content: bytes) -> int:
    return int.from_bytes(content[4:8], "big")


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
        if flags & 0xFFF != min(len(name), 0xFFF):
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
    """The files that hold the rest of an index that git has split; a name in them may have been taken out since."""
    at = content.rfind(b"link\0\0")
    found = [content[at + 8 : at + 8 + hashed].hex() for hashed in _HASHES] if at >= 0 else []
    return [file for name in found if (file := git / f"sharedindex.{name}").exists()]
