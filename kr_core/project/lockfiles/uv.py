"""`uv.lock`: one file for a workspace, which names each member and what it depends on."""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_packages, parse_toml
from kr_core.project.lockfiles.pins import Pin, conflicting, string, strings, table, tables
from kr_core.project.lockfiles.pyproject import default_groups, is_project

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
    exclusive = _exclusive(data.get("conflicts"))
    unknown: set[str] = set()
    left = _MOST_DEPENDENCIES
    for nearness, member in enumerate(reversed(seen), 1):
        of_member = exclusive.get(member["name"], set())
        defaults = _defaults(member, view) if of_member else {"dev"}
        pins = list(islice(_dependencies(member, locked, nearness, defaults), left))
        left -= len(pins)
        unknown |= conflicting(pins)
        unknown |= _one_sided(pins, of_member - {f"dev-dependencies {each}" for each in defaults}, locked)
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


def _exclusive(conflicts: Any) -> dict[str, set[str]]:
    """The extras and groups of each member that exclude others."""
    found: dict[str, set[str]] = {}
    for listed in conflicts if isinstance(conflicts, list) else ():
        for each in tables(listed):
            for kind, key in (("extra", "optional-dependencies"), ("group", "dev-dependencies")):
                if name := string(each.get(kind)):
                    found.setdefault(string(each.get("package")), set()).add(f"{key} {name}")
    return found


def _defaults(member: dict[str, Any], view: ProjectView) -> set[str]:
    """The groups of a member that are in use where none is asked for."""
    absent: dict[str, Any] = {}
    manifest = view.parsed(f"{_folder(member)}/pyproject.toml", parse_toml, absent)
    return default_groups(manifest, table(member.get("dev-dependencies")))


def _one_sided(
    pins: list[tuple[Pin, str]], exclusive: set[str], locked: dict[tuple[str, str], list[dict[str, Any]]]
) -> set[str]:
    """The packages that only an extra or group names which excludes others, and that those have in another version."""
    versions: dict[str, set[str]] = {}
    groups: dict[str, set[str]] = {}
    for pin, group in pins:
        versions.setdefault(pin.name, set()).add(pin.version)
        groups.setdefault(pin.name, set()).add(group)
    return {
        name
        for name, named in versions.items()
        if groups[name] <= exclusive
        and any(string(each.get("version")) not in named for each in locked[name, ""])
    }


def _dependencies(
    member: dict[str, Any],
    locked: dict[tuple[str, str], list[dict[str, Any]]],
    nearness: int,
    defaults: set[str],
) -> Iterator[tuple[Pin, str]]:
    """What a member depends on, each with its extra or group: itself before the default groups before all others."""
    wanted = [(each, "", 2) for each in tables(member.get("dependencies"))]
    for key in ("optional-dependencies", "dev-dependencies"):
        for group, listed in table(member.get(key)).items():
            rank = int(key == "dev-dependencies" and group in defaults)
            wanted += [(each, f"{key} {group}", rank) for each in tables(listed)]
    for dependency, group, rank in wanted:
        name, version = string(dependency.get("name")), string(dependency.get("version"))
        for package in locked.get((name, version), ())[:_MOST_FORKS]:
            marker = string(dependency.get("marker")) or package[_MARKER]
            pin = Pin(name, string(package.get("version")), bool(group), direct=True, marker=marker)
            yield pin._replace(nearness=3 * nearness + rank), group


READERS = {"uv.lock": read}
