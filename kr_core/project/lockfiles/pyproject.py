"""`pyproject.toml`: what a Python project asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_toml
from kr_core.project.lockfiles.pins import Pin, string, strings, table, tables
from kr_core.project.lockfiles.requirements import requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView


def read(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read PEP 621, dependency groups (PEP 735), and the tables of Poetry, PDM and uv."""
    data = parse_toml(text)
    project, tool = table(data.get("project")), table(data.get("tool"))
    yield from _requirements(project.get("dependencies"), development=False)
    for extra in table(project.get("optional-dependencies")).values():
        yield from _requirements(extra, development=True)
    poetry = table(tool.get("poetry"))
    yield from _poetry(poetry.get("dependencies"), development=False)
    yield from _poetry(poetry.get("dev-dependencies"), development=True)
    for group in table(poetry.get("group")).values():
        yield from _poetry(table(group).get("dependencies"), development=True)
    groups = [data.get("dependency-groups"), table(tool.get("pdm")).get("dev-dependencies")]
    for group in (group for each in groups for group in table(each).values()):
        yield from _requirements(group, development=True)
    yield from _requirements(table(tool.get("uv")).get("dev-dependencies"), development=True)


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
            marker = string(constraint.get("markers"))
            if python := string(constraint.get("python")):
                marker = f"{marker} and {_python(python)}" if marker else _python(python)
            yield Pin(name, "" if version == "*" else version, development, direct=True, marker=marker)


def _python(wanted: str) -> str:
    """Poetry's `python = "<3.12"` as a marker; what has no operator of PEP 440 is not judged."""
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


READERS = {"pyproject.toml": read}
