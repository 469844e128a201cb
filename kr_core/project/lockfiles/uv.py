"""`uv.lock`: one file for a workspace, which names each member and what it depends on."""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_packages
from kr_core.project.lockfiles.pins import Pin, conflicting, string, strings, table, tables
from kr_core.project.lockfiles.pyproject import is_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_MOST_FORKS = 20
"""Versions of one package that a dependency may mean; of several, uv names one."""
_MOST_DEPENDENCIES = 200_000
"""Of all members, each with the versions that it may mean."""
_MARKER = "resolution marker"
"""Where KR puts the marker of a package, made once: many dependencies may mean one package with a long one."""
_LOCAL = ("editable", "virtual", "directory", "workspace")


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what the nearest member depends on, then the root, then all that is locked.

    Of several versions of one package (forks of the resolution), markers choose.
    """
    data = parse_packages(text, members=True)
    view.check_version(data.get("version"), "1")
    packages = [each for each in tables(data.get("package")) if string(each.get("name"))]
    locked: dict[tuple[str, str], list[dict[str, Any]]] = {}
    members: dict[str, dict[str, Any]] = {}
    for package in packages:
        package[_MARKER] = _marker(package)
        for version in dict.fromkeys(("", string(package.get("version")))):
            locked.setdefault((package["name"], version), []).append(package)
        if (folder := _folder(package)) is not None:
            members.setdefault(folder, package)
    if members and view.is_apart(members, is_project):
        return
    of_workspace = set(strings(table(data.get("manifest")).get("members")))
    view.governed = frozenset(
        folder for folder in view.members[:-1] if members.get(folder, {}).get("name") in of_workspace
    )
    seen = [members[folder] for folder in view.members if folder in members] or list(members.values())
    unknown: set[str] = set()
    left = _MOST_DEPENDENCIES
    for nearness, member in enumerate(reversed(seen), 1):
        pins = list(islice(_dependencies(member, locked, nearness), left))
        left -= len(pins)
        unknown |= conflicting(pins)
        yield from (pin._replace(version="") if pin.name in unknown else pin for pin, _group in pins)
    if not left:
        view.note(f"more than {_MOST_DEPENDENCIES:,} dependencies are read in part")
    for package in packages:
        if package["name"] not in unknown:
            yield Pin(package["name"], string(package.get("version")), marker=package[_MARKER])


def _folder(package: dict[str, Any]) -> str | None:
    source = table(package.get("source"))
    return next(
        (posixpath.normpath(string(source[kind])) for kind in _LOCAL if string(source.get(kind))), None
    )


def _marker(package: dict[str, Any]) -> str:
    return " or ".join(f"({marker})" for marker in strings(package.get("resolution-markers")))


def _dependencies(
    member: dict[str, Any], locked: dict[tuple[str, str], list[dict[str, Any]]], nearness: int
) -> Iterator[tuple[Pin, str]]:
    """What a member depends on, each with its extra or group: itself before the group `dev` before all others."""
    wanted = [(each, "", 2) for each in tables(member.get("dependencies"))]
    for key in ("optional-dependencies", "dev-dependencies"):
        for group, listed in table(member.get(key)).items():
            rank = int((key, group) == ("dev-dependencies", "dev"))
            wanted += [(each, f"{key} {group}", rank) for each in tables(listed)]
    for dependency, group, rank in wanted:
        name, version = string(dependency.get("name")), string(dependency.get("version"))
        for package in locked.get((name, version), ())[:_MOST_FORKS]:
            marker = string(dependency.get("marker")) or package[_MARKER]
            pin = Pin(name, string(package.get("version")), bool(group), direct=True, marker=marker)
            yield pin._replace(nearness=3 * nearness + rank), group


READERS = {"uv.lock": read}
