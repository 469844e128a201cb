"""`composer.lock` and `composer.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.project.lockfiles.parser import parse_json
from kr_core.project.lockfiles.pins import Pin, string, table, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView


def read_lock(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read the packages that are locked; `composer.json` beside it says which are asked for."""
    data = parse_json(text)
    wanted: list[Pin] = view.parsed("composer.json", lambda manifest: list(read_manifest(manifest, view)), [])
    asked = {pin.name for pin in wanted}
    for group in ("packages", "packages-dev"):
        for package in tables(data.get(group)):
            if name := string(package.get("name")):
                version, development = string(package.get("version")), group == "packages-dev"
                yield Pin(name, version, development, direct=name in asked, nearness=int(not development))


def read_manifest(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read what `composer.json` asks for, without PHP itself and its extensions."""
    data = parse_json(text)
    for group in ("require", "require-dev"):
        for name, wanted in table(data.get(group)).items():
            if "/" in name:
                version = string(wanted)
                yield Pin(name, "" if version == "*" else version, group == "require-dev", direct=True)


READERS = {"composer.lock": read_lock, "composer.json": read_manifest}
