"""`bun.lock`, the text that bun writes since its version 1.2; its binary `bun.lockb` is not read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.npm import both_names, dependencies, is_project, wished
from kr_core.project.lockfiles.parser import parse_json
from kr_core.project.lockfiles.pins import Pin, string, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_COMMA = re.compile(r'"(?:[^"\\]++|\\.)*+"?+|(?P<comma>,)(?=\s*+[\]}])', re.DOTALL)
"""A comma before the end of a list or a table, which JSON does not have; first texts, which may hold one."""
_SPECIFIER = re.compile(r"(?P<name>@?[^@]+)@(?P<version>.+)", re.DOTALL)
_FOLDERS = ("workspace:", "link:", "root:")


def packages(text: str) -> tuple[dict[str, Any], list[tuple[str, str, str, str]]]:
    """The whole file, and each package: its place in the tree (`debug/ms`), name, version or origin, and registry."""
    data = parse_json(_COMMA.sub(lambda found: "" if found["comma"] else found[0], text))
    listed = []
    for place, value in table(data.get("packages")).items():
        values = [string(each) for each in value[:2]] if isinstance(value, list) else []
        if values and (found := _SPECIFIER.fullmatch(values[0])):
            listed.append((place, found["name"], found["version"], values[1] if len(values) > 1 else ""))
    return data, listed


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what the nearest member depends on, then the root, then all that is locked."""
    data, listed = packages(text)
    view.check_version(data.get("lockfileVersion"), "012", "lockfileVersion")
    members = table(data.get("workspaces"))
    if view.is_apart(members, is_project):
        return
    view.governed = frozenset(members.keys() & set(view.members[:-1]))
    seen = [table(members.get("" if folder == "." else folder)) for folder in reversed(view.members)]
    owners = {(string(each.get("name")) if rank else ""): rank + 1 for rank, each in enumerate(seen) if each}
    found: dict[str, Pin] = {}
    for place, name, version, _registry in listed:
        if not version.startswith(_FOLDERS):
            owner, installed = _split(place)
            found[place] = Pin(installed, wished(version), nearness=owners.get(owner, 0))
            yield from both_names(found[place], name)
    names = {place: name for place, name, *_ in listed}
    for rank, member in enumerate(seen, 1):
        for name, _wanted, development in dependencies(member):
            own = f"{string(member.get('name'))}/{name}"
            place = own if own in found else name
            if place in found:
                pin = found[place]._replace(development=development, direct=True, nearness=rank)
                yield from both_names(pin, names[place])


def _split(place: str) -> tuple[str, str]:
    """The package that another one is installed for, and the other one's name.

    >>> _split("@shop/a/@types/ms"), _split("debug/ms"), _split("@types/ms")
    (('@shop/a', '@types/ms'), ('debug', 'ms'), ('', '@types/ms'))
    """
    parts = place.split("/")
    count = 2 if len(parts) > 1 and parts[-2].startswith("@") else 1
    return "/".join(parts[:-count]), "/".join(parts[-count:])


READERS = {"bun.lock": read}
