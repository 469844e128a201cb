"""`uv.lock`: one file for a workspace, which names each member and what it depends on."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_packages
from kr_core.project.lockfiles.pins import Pin, string, strings, table, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_LOCAL = ("editable", "virtual", "directory", "workspace")


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what the nearest member depends on, then the root, then all that is locked.

    Of several versions of one package (forks of the resolution), markers choose.
    """
    data = parse_packages(text, members=True)
    if data.get("version") not in {None, 1}:
        view.note(f"lock version {data['version']} is not known to KR; what is understood of it is read")
    packages = [each for each in tables(data.get("package")) if string(each.get("name"))]
    locked: dict[str, list[dict[str, Any]]] = {}
    members: dict[str, dict[str, Any]] = {}
    for package in packages:
        locked.setdefault(package["name"], []).append(package)
        if (folder := _folder(package)) is not None:
            members.setdefault(folder, package)
    seen = [members[folder] for folder in view.members if folder in members] or list(members.values())
    for nearness, member in enumerate(reversed(seen), 1):
        yield from _dependencies(member, locked, nearness)
    for package in packages:
        version = string(package.get("version"))
        yield Pin(package["name"], version, marker=_marker(package))


def _folder(package: dict[str, Any]) -> str | None:
    source = table(package.get("source"))
    return next(
        (posixpath.normpath(string(source[kind])) for kind in _LOCAL if string(source.get(kind))), None
    )


def _marker(package: dict[str, Any]) -> str:
    return " or ".join(f"({marker})" for marker in strings(package.get("resolution-markers")))


def _dependencies(
    member: dict[str, Any], locked: dict[str, list[dict[str, Any]]], nearness: int
) -> Iterator[Pin]:
    wanted = [(each, False) for each in tables(member.get("dependencies"))]
    for key in ("optional-dependencies", "dev-dependencies"):
        wanted += [(each, True) for group in table(member.get(key)).values() for each in tables(group)]
    for dependency, development in wanted:
        name, version = string(dependency.get("name")), string(dependency.get("version"))
        for package in locked.get(name, ()):
            if version in {"", package.get("version")}:
                marker = string(dependency.get("marker")) or _marker(package)
                yield Pin(
                    name,
                    string(package.get("version")),
                    development,
                    direct=True,
                    nearness=nearness,
                    marker=marker,
                )


READERS = {"uv.lock": read}
