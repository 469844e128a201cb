"""`Cargo.lock` and `Cargo.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_packages, parse_toml
from kr_core.project.lockfiles.pins import Pin, string, strings, table, tables
from kr_core.project.version_ranges import allows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_GROUPS = ("dependencies", "build-dependencies", "dev-dependencies")
_PARENTS = 10


def read_lock(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what the nearest member depends on, then all that is locked; a member's name is in its `Cargo.toml`."""
    data = parse_packages(text, members=True)
    view.check_version(data.get("version"), "1234")
    packages = [each for each in tables(data.get("package")) if string(each.get("name"))]
    local = {package["name"]: package for package in packages if "source" not in package}
    named = [_member(folder, view) for folder in view.members]
    view.governed = frozenset(
        folder
        for folder, name in zip(view.members[:-1], named, strict=False)
        if name in local
        and "workspace" in _manifest(".", view)
        and "workspace" not in _manifest(folder, view)
    )
    seen = [local[name] for name in named if name in local] or list(local.values())
    versions: dict[str, list[str]] = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(string(package.get("version")))
    asked = {name: _own_names(folder, view) for folder, name in zip(view.members, named, strict=True)}
    for nearness, member in enumerate(reversed(seen), 1):
        ranges = asked.get(member["name"], {})
        for dependency in strings(member.get("dependencies")):
            name, _, rest = dependency.partition(" ")
            version = rest.partition(" ")[0] or next(iter(versions.get(name, ())), "")
            renamed = allows(ranges.get(name, ""), version, "rust") is False
            yield Pin(name, version, direct=True, nearness=nearness, renamed=renamed)
    for package in packages:
        yield Pin(package["name"], string(package.get("version")))


def read_manifest(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what `Cargo.toml` asks for; a bare version is a caret range, and is shown as one."""
    yield from _wanted(parse_toml(text), view)


def _wanted(data: dict[str, Any], view: ProjectView) -> Iterator[Pin]:
    shared = table(table(data.get("workspace")).get("dependencies"))
    for name, wanted in shared.items():
        yield _asked(name, wanted, {}, development=False)
    if not shared:
        shared = _shared(view)
    for place in (data, *map(table, table(data.get("target")).values())):
        for group in _GROUPS:
            for name, wanted in table(place.get(group)).items():
                yield _asked(name, wanted, shared, development=group != "dependencies")


def _asked(name: str, wanted: Any, shared: dict[str, Any], *, development: bool) -> Pin:
    if table(wanted).get("workspace") is True:
        wanted = shared.get(name, "")
    version = string(wanted) or string(table(wanted).get("version"))
    if version[:1].isdigit() and "," not in version:
        version = f"^{version}"
    package = string(table(wanted).get("package")) or name
    version = "" if version == "*" else version
    return Pin(package, version, development, direct=True, renamed=package != name)


def _shared(view: ProjectView) -> dict[str, Any]:
    """The dependencies that a workspace keeps for its members, in the nearest `Cargo.toml` above that has any."""
    for depth in range(1, _PARENTS):
        above = _manifest("/".join([".."] * depth), view)
        if shared := table(above.get("workspace")).get("dependencies"):
            return table(shared)
    return {}


def _member(folder: str, view: ProjectView) -> str:
    return string(table(_manifest(folder, view).get("package")).get("name"))


def _own_names(folder: str, view: ProjectView) -> dict[str, str]:
    """What a member asks for of the packages that it uses by their own names; another version of one is renamed."""
    return {pin.name: pin.version for pin in _wanted(_manifest(folder, view), view) if not pin.renamed}


def _manifest(folder: str, view: ProjectView) -> dict[str, Any]:
    return view.parsed(f"{folder}/Cargo.toml", parse_toml, {})


READERS = {"Cargo.lock": read_lock, "Cargo.toml": read_manifest}
