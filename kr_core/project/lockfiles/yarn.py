"""`yarn.lock`, of yarn 1 and of berry (2 and later).

Both are read by their lines, which differ little: a line of descriptors (`ms@^2.1.0`), then what was chosen for them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from kr_core.project.lockfiles.npm import aliased, both_names, dependencies, workspace_members
from kr_core.project.lockfiles.parser import parse_json
from kr_core.project.lockfiles.pins import Pin, UnreadableError, string, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_VERSION = re.compile(r"^  version:? [\"']?(?P<version>[^\"'\s]+)", re.MULTILINE)
_RESOLUTION = re.compile(
    r"^  resolution: [\"']?(?P<name>(?:@[^/@\n]+/)?[^/@\n]+)@(?P<kind>\w+):", re.MULTILINE
)
_ENTRY = re.compile(r"^(?P<head>[^\s#].*):\n(?P<body>(?:[ \t].*\n)*)", re.MULTILINE)
_LONG_KEY = re.compile(r"^\? (?P<head>.*)\n:(?=\n)", re.MULTILINE)
"""How berry writes a key of more than 1,024 characters."""
_BOUND = "::in "
_OF_A_FOLDER = "0.0.0-use.local"
"""The version that yarn writes for a member of the workspace, and for what `link:` and `portal:` lead to."""
_MAX_SETTINGS_LENGTH = 1_000_000


class YarnEntry(NamedTuple):
    """What was chosen for some descriptors."""

    descriptors: tuple[str, ...]
    name: str
    version: str


def entries(text: str) -> Iterator[YarnEntry]:
    """Yield the packages of a `yarn.lock`; members of the workspace and linked folders are left out."""
    plain = _LONG_KEY.sub(r"\g<head>:", text.replace("\r\n", "\n") + "\n")
    for found in _ENTRY.finditer(plain):
        descriptors = tuple(part.strip().strip("\"'") for part in found["head"].strip("\"'").split(", "))
        version, resolution = _VERSION.search(found["body"]), _RESOLUTION.search(found["body"])
        if (
            version is None
            or version["version"] == _OF_A_FOLDER
            or descriptors[0] == "__metadata"
            or (resolution and resolution["kind"] == "workspace")
        ):
            continue
        name, wanted = split(descriptors[0])
        yield YarnEntry(
            descriptors, resolution["name"] if resolution else aliased(name, wanted), version["version"]
        )


def split(descriptor: str) -> tuple[str, str]:
    """Split a descriptor into the package's name and what is asked for.

    >>> split("@types/ms@npm:^2.1.0")
    ('@types/ms', 'npm:^2.1.0')
    """
    name, _, wanted = descriptor[1:].partition("@")
    return descriptor[:1] + name, wanted


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what was chosen for the `package.json` of the nearest member, then of the root, then all that is locked.

    A dependency that nothing was chosen for has no version, where several of the package are locked.
    """
    locked, is_berry = list(entries(text)), "__metadata" in text
    if not locked and text.strip() and "yarn lockfile" not in text and not is_berry:
        raise UnreadableError("no lock file of yarn", 1)
    # Berry takes the nearest `yarn.lock` for its own; yarn 1 does not look below the root of the workspace.
    members = workspace_members(view)
    view.governed = frozenset(
        each for each in members if not is_berry or view.beside(f"{each}/yarn.lock") is None
    )
    chosen = {_unbound(descriptor): each for each in locked for descriptor in each.descriptors}
    catalogs, resolutions = _catalogs(view), table(_manifest(".", view).get("resolutions"))
    versions: dict[str, set[str]] = {}
    for one in locked:
        versions.setdefault(split(one.descriptors[0])[0], set()).add(one.version)
    unknown: set[str] = set()
    for nearness, folder in enumerate(reversed(view.members), 1):
        manifest = _manifest(folder, view)
        for name, asked, development in dependencies(manifest):
            own = _catalogued(name, asked, catalogs)
            resolved = tuple(_resolved(name, own, string(manifest.get("name")), resolutions))
            wanted = (*resolved, own) if is_berry else (own, *resolved)
            bound = f"{_BOUND}{quote(folder, safe='')}"
            keys = (f"{name}@{key}" for each in wanted for key in (f"npm:{each}", each, f"{each}{bound}"))
            if found := next((chosen[key] for key in keys if key in chosen), None):
                pin = Pin(name, found.version, development, direct=True, nearness=nearness)
                yield from both_names(pin, found.name)
            elif len(versions.get(name, ())) > 1:
                unknown.add(name)
                yield Pin(name, "", development, direct=True, nearness=nearness)
    for one in locked:
        name = split(one.descriptors[0])[0]
        if name not in unknown:
            yield from both_names(Pin(name, one.version), one.name)


def _resolved(name: str, wanted: str, member: str, resolutions: dict[str, Any]) -> Iterator[str]:
    """What `resolutions` puts in the place of a dependency, by each key that yarn allows, the narrowest first."""
    plain = wanted.removeprefix("npm:")
    for key in (f"{name}@npm:{plain}", f"{name}@{plain}", name):
        for place in (f"{member}/{key}", key, f"**/{key}"):
            if found := string(resolutions.get(place)):
                yield found.removeprefix("npm:")
                yield found


def _unbound(descriptor: str) -> str:
    """A descriptor with the folder that its paths are relative to, but not the name of the member that lies there."""
    plain, bound, parameters = descriptor.partition("::")
    place = parameters.rpartition("%40workspace%3A")[2]
    return f"{plain}{_BOUND}{place}" if bound else descriptor


def _manifest(folder: str, view: ProjectView) -> dict[str, Any]:
    return view.parsed(f"{folder}/package.json", parse_json, {})


def _catalogs(view: ProjectView) -> dict[str, dict[str, Any]]:
    """The catalogs by name, the default one by none; what cannot be read has none."""
    text = view.beside(".yarnrc.yml") or ""
    if "catalog" not in text or len(text) > _MAX_SETTINGS_LENGTH:
        return {}
    from kr_core import yaml_text

    try:
        settings = table(yaml_text.load(text))
    except (yaml_text.YAMLError, ValueError, RecursionError):
        return {}
    named = {name: table(each) for name, each in table(settings.get("catalogs")).items()}
    return {**named, "": table(settings.get("catalog"))}


def _catalogued(name: str, wanted: str, catalogs: dict[str, dict[str, Any]]) -> str:
    if not wanted.startswith("catalog:"):
        return wanted
    return string(catalogs.get(wanted.removeprefix("catalog:"), {}).get(name)) or wanted


READERS = {"yarn.lock": read}
