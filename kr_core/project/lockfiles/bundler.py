"""`Gemfile.lock`, as Bundler writes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.project.lockfiles.pins import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_SPEC = re.compile(r"    (?P<name>[^\s(]+) \((?P<version>[^)-]++)[^)]*+\)")  # what follows `-` is a platform
_DEPENDENCY = re.compile(r"  (?P<name>[^\s(!]+)(?: \((?P<range>[^)]*)\))?!?")


def read(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read the gems of all sources; those under DEPENDENCIES are what the Gemfile asks for."""
    locked: dict[str, str] = {}
    direct: set[str] = set()
    section = ""
    for line in text.splitlines():
        if line and not line[0].isspace():
            section = line.strip()
        elif section == "DEPENDENCIES":
            if found := _DEPENDENCY.fullmatch(line.rstrip()):
                direct.add(found["name"])
        elif spec := _SPEC.fullmatch(line.rstrip()):
            locked.setdefault(spec["name"], spec["version"])
    for name, version in locked.items():
        yield Pin(name, version, direct=name in direct)


READERS = {"Gemfile.lock": read}
