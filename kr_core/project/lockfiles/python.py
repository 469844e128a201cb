"""`poetry.lock`, `pdm.lock`, `Pipfile.lock` and `pylock.toml` (PEP 751)."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_json, parse_packages, parse_toml
from kr_core.project.lockfiles.pins import Pin, conflicting, string, strings, table, tables
from kr_core.project.lockfiles.pyproject import is_project, python_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_MAIN_GROUPS = frozenset({"main", "default"})
_PIPENV_GROUPS = {"default": 2, "develop": 1}
_POETRY_FOLDER = re.compile(
    r"^\[package\.source\]\ntype = \"directory\"\nurl = \"(?P<folder>[^\"\n]+)\"$", re.MULTILINE
)


def read_poetry(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read `poetry.lock`; markers (written since Poetry 2) choose among several versions of a package, or the Python each is for."""
    data = parse_packages(text, members=False)
    view.check_version(table(data.get("metadata")).get("lock-version"), "12")
    if _is_apart(_POETRY_FOLDER.findall(text.replace("\r\n", "\n")), view):
        return
    for package in tables(data.get("package")):
        markers = package.get("markers")
        groups = package.get("groups")
        if isinstance(markers, dict):  # one for each group that has a condition
            is_free = not markers.keys() >= set(strings(groups))
            markers = "" if is_free else " or ".join(f"({each})" for each in markers.values())
        marker = string(markers) or python_marker(string(package.get("python-versions")))
        development = package.get("category") == "dev" or _development(groups)
        yield from _pin(package, marker, development=development)


def read_pdm(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read `pdm.lock`."""
    data = parse_packages(text, members=False)
    view.check_version(table(data.get("metadata")).get("lock_version"), "34")
    packages = tables(data.get("package"))
    if _is_apart([string(each.get("path")) for each in packages], view):
        return
    for package in packages:
        yield from _pin(
            package, string(package.get("marker")), development=_development(package.get("groups"))
        )


def read_pipfile(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read `Pipfile.lock`: the group `default` before `develop`, and that before categories of one's own."""
    data = parse_json(text)
    view.check_version(table(data.get("_meta")).get("pipfile-spec"), "6")
    pins, folders = [], []
    for group, packages in data.items():
        if group == "_meta":
            continue
        for name, package in table(packages).items():
            version = string(table(package).get("version"))
            folders.append(string(table(package).get("path")))
            pin = Pin(
                name,
                version.removeprefix("===").removeprefix("==") if version != "*" else "",
                development=group != "default",
                nearness=_PIPENV_GROUPS.get(group, 0),
                marker=string(table(package).get("markers")),
            )
            pins.append((pin, group))
    if _is_apart(folders, view):
        return
    unknown = conflicting(pins)
    yield from (pin._replace(version="") if pin.name in unknown else pin for pin, _group in pins)


def read_pylock(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read `pylock.toml`; of a package that is locked without a version, such as a folder, only the name is known.

    Without an extra, and with the groups that are the default, is how an installer takes it if it is asked for nothing else.
    """
    data = parse_toml(text)
    view.check_version(data.get("lock-version"), "1")
    view.groups = frozenset(strings(data.get("default-groups")))
    for package in tables(data.get("packages")):
        yield from _pin(package, string(package.get("marker")))


def _is_apart(folders: list[str], view: ProjectView) -> bool:
    """Whether the working folder lies in a project of its own, and not in one of the folders that the file names as packages."""
    return view.is_apart({posixpath.normpath(each) for each in folders if each}, is_project)


def _pin(package: dict[str, Any], marker: str, *, development: bool = False) -> Iterator[Pin]:
    if isinstance(package.get("name"), str):
        yield Pin(package["name"], string(package.get("version")), development, marker=marker)


def _development(groups: Any) -> bool:
    return isinstance(groups, list) and bool(groups) and _MAIN_GROUPS.isdisjoint(map(str, groups))


READERS = {
    "poetry.lock": read_poetry,
    "pdm.lock": read_pdm,
    "Pipfile.lock": read_pipfile,
    "pylock.toml": read_pylock,
}
