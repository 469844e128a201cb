"""Sphinx's `objects.inv`: which symbol or section stands on which page of a built documentation, at which anchor.

Read here rather than with `sphobjinv`: the format is four lines and a compressed list, and one dependency less is worth
forty lines. Version 2 is what Sphinx has written since 2010 (`sphinx/util/inventory.py`).
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_HEAD = re.compile(
    rb"# Sphinx inventory version 2\r?\n# Project: ?([^\r\n]*)\r?\n# Version: ?([^\r\n]*)\r?\n#[^\n]*zlib[^\n]*\n"
)
_PROJECT, _VERSION = re.compile(r"[\w .+-]{1,100}"), re.compile(r"[\w.+!-]{1,40}")
"""A name and a version, and no sentences: notes show both."""
_LINE = re.compile(r"(\S(?:.*?\S)??)\s+([\w-]+):([\w-]+)\s+(-?\d+)\s(\S*+)\s++(.*)")
_LARGEST = 60_000_000
"""Bytes of the list, unpacked."""
_MAX_TARGETS = 200_000
"""Python's own documentation has twenty thousand."""
_CHUNK = 65_536
_LARGEST_FILE = 20_000_000
_MAX_LINE_LENGTH = 2000


class Target(NamedTuple):
    """A symbol, section or term, and where it stands."""

    name: str
    domain: str
    role: str
    page: str
    """Relative to the inventory's folder: `library/json.html`."""
    anchor: str
    title: str


class Head(NamedTuple):
    """Whose documentation it is; the version may be short (`3.11`) or empty."""

    project: str
    version: str


def read_head(path: Path, within: Sequence[Path] | None = None) -> Head | None:
    """The project and version that an inventory names.

    None where the file is none, names no project, or lies in none of these folders.
    """
    try:
        found = _HEAD.match(read_bytes(path, limit=_LARGEST_FILE, within=within)[:2000])
    except OSError:
        return None
    if found is None:
        return None
    project, version = (part.decode("utf-8", "replace").strip() for part in found.groups())
    if _PROJECT.fullmatch(project) is None:
        return None
    return Head(project, version if _VERSION.fullmatch(version) else "")


def read_targets(path: Path, within: Sequence[Path] | None = None) -> list[Target]:
    """What an inventory lists; lines that say nothing understandable are passed over.

    Raises:
        ValueError: it is no inventory, not whole, or far larger than the largest that are known.
        OSError: it cannot be read.
    """
    content = read_bytes(path, limit=_LARGEST_FILE, within=within)
    head = _HEAD.match(content)
    if head is None:
        raise ValueError("no Sphinx inventory of version 2")
    found: list[Target] = []
    for line in _lines(content[head.end() :]):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        if len(found) >= _MAX_TARGETS:
            raise ValueError(f"more than {_MAX_TARGETS:,} entries")
        name, domain, role, _priority, place, title = match.groups()
        page, _hash, anchor = place.partition("#")
        if anchor.endswith("$"):
            anchor = anchor[:-1] + name
        found.append(Target(name, domain, role, page, anchor, name if title == "-" else title))
    return found


def _lines(packed: bytes) -> Iterator[str]:
    """The lines of a compressed list, unpacked as they are asked for; those that are too long are left out.

    Raises:
        ValueError: it is not whole, or too large.
    """
    unpacking = zlib.decompressobj()
    size, rest = 0, b""
    while packed and not unpacking.eof:
        try:
            part = unpacking.decompress(packed, _CHUNK)
        except zlib.error as error:
            raise ValueError(f"not whole ({error})") from None
        packed = unpacking.unconsumed_tail
        size += len(part)
        if size > _LARGEST:
            raise ValueError(f"more than {_LARGEST // 1_000_000} MB when unpacked")
        *lines, rest = (rest + part).split(b"\n")
        rest = rest[: _MAX_LINE_LENGTH + 1]
        yield from (line.decode("utf-8", "replace") for line in lines if len(line) <= _MAX_LINE_LENGTH)
    if len(rest) <= _MAX_LINE_LENGTH:
        yield rest.decode("utf-8", "replace")
