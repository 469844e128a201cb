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
    """Read what the nearest member depends on, then all that is locked; a member's name is in its `Cargo.toml`.

    Where no member is nearer than another, a version is known that all share, or that alone the workspace's list allows.
    """
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
    seen = [local[name] for name in named if name in local]
    versions: dict[str, list[str]] = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(string(package.get("version")))
    asked = {name: _own_names(folder, view) for folder, name in zip(view.members, named, strict=True)}
    unknown: set[str] = set()
    if seen:
        for nearness, member in enumerate(reversed(seen), 1):
            yield from _dependencies(member, asked[member["name"]], versions, nearness)
    else:
        pins = [pin for each in local.values() for pin in _dependencies(each, asked[named[-1]], versions, 1)]
        unknown = _several(pins)
        yield from (pin._replace(version="") if pin.name in unknown else pin for pin in pins)
    for package in packages:
        if package["name"] not in unknown:
            yield Pin(package["name"], string(package.get("version")))


def _dependencies(
    member: dict[str, Any], ranges: dict[str, str], versions: dict[str, list[str]], nearness: int
) -> Iterator[Pin]:
    """What a member depends on; a version outside of the range that is asked for is of a renamed crate."""
    for dependency in strings(member.get("dependencies")):
        name, _, rest = dependency.partition(" ")
        version = rest.partition(" ")[0] or next(iter(versions.get(name, ())), "")
        renamed = allows(ranges.get(name, ""), version, "rust") is False
        yield Pin(name, version, direct=True, nearness=nearness, renamed=renamed)


def _several(pins: list[Pin]) -> set[str]:
    """The crates of which members have several versions; those in the workspace's range come before the others."""
    in_range = {pin.name for pin in pins if not pin.renamed}
    versions: dict[str, set[str]] = {}
    for pin in pins:
        if not pin.renamed or pin.name not in in_range:
            versions.setdefault(pin.name, set()).add(pin.version)
    return {name for name, several in versions.items() if len(several) > 1}


def read_manifest(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what `Cargo.toml` asks for; a bare version is a caret range, and is shown as one."""
    yield from _wanted(parse_toml(text), ".", view)


def _wanted(data: dict[str, Any], folder: str, view: ProjectView) -> Iterator[Pin]:
    shared = table(table(data.get("workspace")).get("dependencies"))
    for name, wanted in shared.items():
        yield _asked(name, wanted, {}, development=False)
    if data and not shared:
        shared = _shared(folder, view)
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


def _shared(folder: str, view: ProjectView) -> dict[str, Any]:
    """The dependencies that a workspace keeps for its members, in the nearest `Cargo.toml` above a folder that has any."""
    for depth in range(1, _PARENTS):
        above = _manifest("/".join([folder, *[".."] * depth]), view)
        if shared := table(above.get("workspace")).get("dependencies"):
            return table(shared)
    return {}


def _member(folder: str, view: ProjectView) -> str:
    return string(table(_manifest(folder, view).get("package")).get("name"))


def _own_names(folder: str, view: ProjectView) -> dict[str, str]:
    """What a member asks for of the packages that it uses by their own names; another version of one is renamed."""
    return {
        pin.name: pin.version for pin in _wanted(_manifest(folder, view), folder, view) if not pin.renamed
    }


def _manifest(folder: str, view: ProjectView) -> dict[str, Any]:
    return view.parsed(f"{folder}/Cargo.toml", parse_toml, {})


READERS = {"Cargo.lock": read_lock, "Cargo.toml": read_manifest}
