"""`package-lock.json` and `package.json`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_json
from kr_core.project.lockfiles.pins import Pin, string, strings, table, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.project.lockfiles.pins import ProjectView

GROUPS = ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies")
_MODULES = "node_modules/"
_MOST_PATTERNS, _LONGEST_PATTERN = 1000, 500
_ALIAS = re.compile(r"(?:npm:)?(?P<name>(?:@[^@/]+/)?[^@/]+)@(?P<version>.+)")
_ELSEWHERE = re.compile(
    r"(?:file|link|portal|patch|exec|git|git\+\w+|github|gitlab|bitbucket|https?|catalog):|[\w.-]+/[\w.-]+(?:#|$)|\.{1,2}/|/|~/"
)
_TAG = re.compile(r"#(?P<version>v?\d++\.\d++[\w.+-]*+)$|#semver:(?P<range>[\^~<>=v]*+\d[\w.+-]*+)$")
"""A version behind an address; digits without a dot may begin the hash of a commit."""
_TARBALL = re.compile(r"https?://[^?#]+/-/[^/?#]{1,214}?-(?P<version>\d+\.\d+\.\d+[\w.+-]{,99})\.tgz")
"""The address of a package in a registry."""


def read_package_lock(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read `package-lock.json` of the versions 1 to 3, as Node resolves packages from the nearest member."""
    data = parse_json(text)
    view.check_version(data.get("lockfileVersion"), "123", "lockfileVersion")
    packages, tree = data.get("packages"), table(data.get("dependencies"))
    if isinstance(packages, dict):
        view.governed = workspace_members(view)  # version 1 does not say what a member depends on
    folders = packages if isinstance(packages, dict) else {_folder(each) for each in tree.values()}
    if view.is_apart(folders, is_project):
        return
    yield from _packages(packages, view) if isinstance(packages, dict) else _tree(tree, view)


def workspace_members(view: ProjectView) -> frozenset[str]:
    """The folders that are looked from and that `workspaces` of the `package.json` beside a lock file names."""
    manifest: dict[str, Any] = view.parsed("package.json", parse_json, {})
    listed = manifest.get("workspaces")
    patterns = [
        each
        for each in strings(table(listed).get("packages", listed))[:_MOST_PATTERNS]
        if len(each) <= _LONGEST_PATTERN
    ]
    named = [each.removeprefix("!").removeprefix("./").strip("/").split("/") for each in patterns]
    found: set[str] = set()
    for pattern, parts in zip(patterns, named, strict=True):  # the last that fits is believed
        fitting = {folder for folder in view.members[:-1] if _fits(folder.split("/"), parts)}
        found = found - fitting if pattern.startswith("!") else found | fitting
    return frozenset(found)


def _fits(folder: list[str], pattern: list[str]) -> bool:
    """Whether a folder fits a pattern, of which `**` is any number of folders."""
    reached = {0}
    for name in [*folder, ""]:
        for place, part in enumerate(pattern):
            if place in reached and part == "**":
                reached.add(place + 1)
        if not name:
            break
        reached = {
            place if pattern[place] == "**" else place + 1
            for place in reached
            if place < len(pattern) and (pattern[place] == "**" or fnmatchcase(name, pattern[place]))
        }
    return len(pattern) in reached


def read_package_json(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what `package.json` asks for, ranges as they are written, and the tool that it names."""
    data = parse_json(text)
    engines = table(data.get("devEngines")).get("packageManager")
    named = [
        string(data.get("packageManager")),
        *(string(each.get("name")) for each in [table(engines), *tables(engines)]),
    ]
    view.tool = next((each.partition("@")[0] for each in named if each), "")
    for name, wanted, development in dependencies(data):
        yield from _pins(name, wanted, development=development, direct=True)


def dependencies(package: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield name, range and whether only development needs it, of all that a `package.json` asks for."""
    for group in GROUPS:
        for name, wanted in table(package.get(group)).items():
            yield name, string(wanted), group == "devDependencies"


def wished(wanted: str) -> str:
    """The range in what `package.json` asks for, empty where it names none (`*`, a folder, a branch).

    >>> wished("npm:is-odd@^2.0.0"), wished("workspace:^1.2"), wished("github:user/repo#v1.2.3"), wished("file:../x")
    ('^2.0.0', '^1.2', 'v1.2.3', '')
    """
    text = wanted.strip()
    if text.startswith("workspace:"):
        text = text.removeprefix("workspace:")
        return text if re.match(r"[\^~]?v?\d", text) else ""
    if text.startswith("npm:"):
        found = _ALIAS.fullmatch(text)
        return found["version"] if found else ""
    if _ELSEWHERE.match(text):
        tag = _TARBALL.fullmatch(text) or _TAG.search(text)
        return (tag["version"] or tag["range"]) if tag else ""
    return "" if text in {"*", "x", "X"} else text


def is_elsewhere(wanted: str) -> bool:
    """Whether what `package.json` asks for comes from no registry."""
    return wanted.startswith("workspace:") or bool(_ELSEWHERE.match(wanted.strip()))


def aliased(name: str, wanted: str) -> str:
    """The package that is installed under a name: another one for `npm:other@^2`."""
    found = _ALIAS.fullmatch(wanted.strip()) if wanted.startswith("npm:") else None
    return found["name"] if found else name


def both_names(pin: Pin, name: str) -> Iterator[Pin]:
    """Yield a pin, and it by the package's own name where that is another one."""
    yield pin
    if name != pin.name:
        yield pin._replace(name=name, renamed=True)


def _pins(name: str, wanted: str, *, development: bool, direct: bool) -> Iterator[Pin]:
    """One pin, or two for a package that is installed under another name."""
    version = wished(wanted)
    yield from both_names(Pin(name, version, development, direct), aliased(name, wanted))


def is_project(folder: str, view: ProjectView) -> bool:
    """Whether a folder has a `package.json` that asks for packages."""
    return view.parsed(
        f"{folder}/package.json", lambda text: any(dependencies(parse_json(text))), absent=False
    )


def _packages(packages: dict[str, Any], view: ProjectView) -> Iterator[Pin]:
    """Read the versions 2 and 3: each place in the tree with what lies there."""
    places = {("" if folder == "." else folder + "/"): folder for folder in view.members}
    nearness = {place: rank for rank, place in enumerate(reversed(places), 1)}
    for place, folder in places.items():
        above = [each for each in places if nearness[each] <= nearness[place]]
        for name, wanted, development in dependencies(table(packages.get("" if folder == "." else folder))):
            if package := _found(packages, above, name, wanted):
                for pin in _installed(name, package, development=development):
                    yield pin._replace(direct=True, nearness=nearness[place])
    for place, value in packages.items():
        owner, modules, name = place.rpartition(_MODULES)
        if modules and not table(value).get("link"):
            for pin in _installed(name, table(value), development=bool(table(value).get("dev"))):
                yield pin._replace(nearness=nearness.get(owner, 0))


def _found(packages: dict[str, Any], places: Sequence[str], name: str, wanted: str) -> dict[str, Any] | None:
    """A dependency in the first place that has it; a link leads to a folder only where a folder was asked for."""
    linked = packages if wanted.startswith("file:") else {}
    for place in places:
        lying = table(packages.get(f"{place}{_MODULES}{name}"))
        if lying.get("link"):
            lying = table(linked.get(string(lying.get("resolved"))))
        if lying:
            return lying
    return None


def _installed(name: str, package: dict[str, Any], *, development: bool) -> Iterator[Pin]:
    """One pin, or two for a package that lies under another name."""
    pin = Pin(name, string(package.get("version")), development)
    yield from both_names(pin, string(package.get("name")) or name)


def _tree(dependencies: dict[str, Any], view: ProjectView) -> Iterator[Pin]:
    """Read the version 1: a tree of names; members of a workspace stand in it with their folders."""
    trees = [(dependencies, 1)]
    for value in dependencies.values():
        folder = _folder(value)
        if folder in view.members and folder != ".":
            rank = len(view.members) - view.members.index(folder)
            trees.append((table(table(value).get("dependencies")), rank))
    for tree, nearness in trees:
        for name, value in tree.items():
            version = string(table(value).get("version"))
            if not version.startswith("file:"):
                for pin in _pins(name, version, development=bool(table(value).get("dev")), direct=False):
                    yield pin._replace(nearness=nearness)


def _folder(package: Any) -> str:
    """The folder of a member, or of another package that is asked for by its folder, in the version 1."""
    return string(table(package).get("version")).removeprefix("file:")


READERS = {
    "npm-shrinkwrap.json": read_package_lock,
    "package-lock.json": read_package_lock,
    "package.json": read_package_json,
}
