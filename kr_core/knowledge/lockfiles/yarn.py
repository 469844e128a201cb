"""`yarn.lock`, of yarn 1 and of berry (2 and later).

Both are read by their lines, which differ little: a line of descriptors (`ms@^2.1.0`), then what was chosen for them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.lockfiles.npm import aliased, dependencies
from kr_core.knowledge.lockfiles.parsing import parse_json
from kr_core.knowledge.lockfiles.pins import Pin, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.knowledge.lockfiles.pins import View

_VERSION = re.compile(r"^  version:? [\"']?(?P<version>[^\"'\s]+)", re.MULTILINE)
_RESOLUTION = re.compile(
    r"^  resolution: [\"']?(?P<name>(?:@[^/@\n]+/)?[^/@\n]+)@(?P<kind>\w+):", re.MULTILINE
)
_ENTRY = re.compile(r"^(?P<head>[^\s#].*):\n(?P<body>(?:[ \t].*\n)*)", re.MULTILINE)


class Locked(NamedTuple):
    """What was chosen for some descriptors."""

    descriptors: tuple[str, ...]
    name: str
    version: str


def entries(text: str) -> Iterator[Locked]:
    """Yield the packages of a `yarn.lock`; members of the workspace are left out."""
    for found in _ENTRY.finditer(text.replace("\r\n", "\n") + "\n"):
        descriptors = tuple(part.strip().strip("\"'") for part in found["head"].strip("\"'").split(", "))
        version, resolution = _VERSION.search(found["body"]), _RESOLUTION.search(found["body"])
        if (
            version is None
            or descriptors[0] == "__metadata"
            or (resolution and resolution["kind"] == "workspace")
        ):
            continue
        name, wanted = split(descriptors[0])
        yield Locked(
            descriptors, resolution["name"] if resolution else aliased(name, wanted), version["version"]
        )


def split(descriptor: str) -> tuple[str, str]:
    """Split a descriptor into the package's name and what is asked for.

    >>> split("@types/ms@npm:^2.1.0")
    ('@types/ms', 'npm:^2.1.0')
    """
    name, _, wanted = descriptor[1:].partition("@")
    return descriptor[:1] + name, wanted


def read(text: str, view: View) -> Iterator[Pin]:
    """Read what was chosen for the `package.json` of the nearest member, then of the root, then all that is locked."""
    locked = list(entries(text))
    if not locked and text.strip() and "yarn lockfile" not in text and "__metadata" not in text:
        raise UnreadableError("no lock file of yarn", 1)
    chosen = {descriptor: each for each in locked for descriptor in each.descriptors}
    for nearness, folder in enumerate(reversed(view.members), 1):
        for name, wanted, development in _asked(folder, view):
            found = chosen.get(f"{name}@npm:{wanted}") or chosen.get(f"{name}@{wanted}")
            if found:
                for each in dict.fromkeys((name, found.name)):
                    yield Pin(each, found.version, development, direct=True, nearness=nearness)
    for one in locked:
        for name in dict.fromkeys((split(one.descriptors[0])[0], one.name)):
            yield Pin(name, one.version)


def _asked(folder: str, view: View) -> list[tuple[str, str, bool]]:
    manifest = view.beside(f"{folder}/package.json")
    try:
        return list(dependencies(parse_json(manifest))) if manifest else []
    except UnreadableError:  # it is told where that file itself is read
        return []


READERS = {"yarn.lock": read}
