"""`pyproject.toml`: what a Python project asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_toml
from kr_core.project.lockfiles.pins import Pin, conflicting, string, strings, table, tables
from kr_core.project.lockfiles.requirements import requirement
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.project.lockfiles.pins import ProjectView


def read(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read PEP 621, dependency groups (PEP 735), and the tables of Poetry, PDM and uv.

    The project itself comes before its default groups, and those before all others; where those disagree, no version is in use.
    What Poetry's own table says of an extra's package comes before the extra's list.
    """
    pins = list(_pins(text))
    by_poetry = {
        normalise(pin.name) for pin, group in pins if not group and "extra" in pin.marker and pin.version
    }
    pins = [
        each for each in pins if not (each[1].startswith("extra ") and normalise(each[0].name) in by_poetry)
    ]
    unknown = conflicting((pin._replace(name=normalise(pin.name)), group) for pin, group in pins)
    yield from (pin._replace(version="") if normalise(pin.name) in unknown else pin for pin, _group in pins)


def _pins(text: str) -> Iterator[tuple[Pin, str]]:
    """What is asked for, each with the extra or group."""
    data = parse_toml(text)
    project, tool = table(data.get("project")), table(data.get("tool"))
    poetry = table(tool.get("poetry"))
    yield from _grouped([_requirements(project.get("dependencies"), development=False)], "")
    yield from _grouped([_poetry(poetry.get("dependencies"), development=False)], "")
    for name, extra in table(project.get("optional-dependencies")).items():
        yield from _grouped([_requirements(extra, development=True)], f"extra {name}", 0)
    groups: dict[str, list[Iterator[Pin]]] = {}
    for listed in (data.get("dependency-groups"), table(tool.get("pdm")).get("dev-dependencies")):
        for name, group in table(listed).items():
            groups.setdefault(name, []).append(_requirements(group, development=True))
    for name, group in table(poetry.get("group")).items():
        groups.setdefault(name, []).append(_poetry(table(group).get("dependencies"), development=True))
    development = groups.setdefault("dev", [])
    development.append(_poetry(poetry.get("dev-dependencies"), development=True))
    development.append(_requirements(table(tool.get("uv")).get("dev-dependencies"), development=True))
    defaults = default_groups(data, groups)
    for name, members in groups.items():
        yield from _grouped(members, name, int(normalise(name) in defaults))


def default_groups(data: dict[str, Any], groups: Iterable[str]) -> set[str]:
    """The groups that are in use where none is asked for, normalised: `dev`, if `pyproject.toml` says nothing else to uv."""
    said = table(table(data.get("tool")).get("uv")).get("default-groups", ["dev"])
    return {normalise(each) for each in (groups if said == "all" else strings(said))}


def _grouped(pins: Iterable[Iterator[Pin]], group: str, rank: int = 2) -> Iterator[tuple[Pin, str]]:
    return ((pin._replace(nearness=rank), group) for each in pins for pin in each)


def _requirements(values: Any, *, development: bool) -> Iterator[Pin]:
    for value in strings(values):
        if pin := requirement(value, development=development):
            yield pin


def _poetry(dependencies: Any, *, development: bool) -> Iterator[Pin]:
    for name, wanted in table(dependencies).items():
        if name.lower() == "python":
            continue
        for each in tables(wanted) or [wanted]:  # several constraints, one for each marker
            constraint = table(each)
            version = string(constraint.get("version", "") if constraint else each)
            conditions = [string(constraint.get("markers"))]
            if python := string(constraint.get("python")):
                conditions.append(python_marker(python))
            if platform := string(constraint.get("platform")):
                conditions.append(_platform_marker(platform))
            marker = " and ".join(f"({each})" for each in conditions if each)
            yield Pin(name, "" if version == "*" else version, development, direct=True, marker=marker)


def is_project(folder: str, view: ProjectView) -> bool:
    """Whether a folder has a manifest of a project, and not only settings of tools."""
    text = f"\n{view.beside(f'{folder}/pyproject.toml') or ''}"
    tables_of_project = ("\n[project]", "\n[tool.poetry]")
    return any(each in text for each in tables_of_project) or view.beside(f"{folder}/Pipfile") is not None


def python_marker(wanted: str) -> str:
    """Poetry's `<3.12` as a marker; what has no operator of PEP 440 is not judged."""
    parts = [part.strip() for part in wanted.split(",")]
    operators = [
        next((each for each in ("<=", ">=", "==", "!=", "<", ">") if part.startswith(each)), "")
        for part in parts
    ]
    if not all(operators):
        return "python_version >= '3'"
    pairs = zip(parts, operators, strict=True)
    return " and ".join(
        f"python_full_version {operator} '{part[len(operator) :].strip()}'" for part, operator in pairs
    )


def _platform_marker(wanted: str) -> str:
    """Poetry's `linux || darwin` as a marker."""
    return " or ".join(f"sys_platform == '{each.strip()}'" for each in wanted.split("||"))


READERS = {"pyproject.toml": read}
