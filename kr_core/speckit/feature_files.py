"""What a feature's `spec.md` and `plan.md` say of its tasks: acceptance criteria, the source tree, the type of feature."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.speckit.lines import lines_of, plain

if TYPE_CHECKING:
    from kr_core.speckit.lines import FileLine

__all__ = ["FEATURE_TYPES", "acceptance_criteria", "feature_type", "source_tree"]

FEATURE_TYPES: dict[str, tuple[str, ...]] = {
    "full stack": ("duc", "veuve", "marie", "dede", "degaulle"),
    "backend only": ("duc", "veuve", "marie", "dede", "degaulle"),
    "infra/devops": ("duc", "veuve", "gustave", "degaulle"),
    "capacity change": ("gustave", "degaulle"),
    "config update": ("gustave",),
}
"""Who takes part in a feature of each type."""
_STORY = re.compile(r"User Story (\d+(?:\.\d+)?)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+])\s+(.+)")
_SCENARIOS = re.compile(r"\s*+(?:\*++\s*+)?Acceptance (?:Scenarios|Criteria)", re.IGNORECASE)
_TYPE = re.compile(r"\s*(?:[-*]\s+)?\**Feature Type\**\s*:\s*\**\s*(?P<type>[^*<\[]+)", re.IGNORECASE)
_BRANCH = re.compile(r"^(?P<indent>[│| \t\u00a0]*)(?:[├└]──|[|`+]--)\s*(?P<name>[^\s#←(]+)")
_MAX_CRITERIA = 50
_MAX_DIRECTORIES = 500


def acceptance_criteria(spec: str) -> dict[str, tuple[str, ...]]:
    """The acceptance scenarios of each user story, by its label (`US1`)."""
    found: dict[str, list[str]] = {}
    story = ""
    within = False
    for line in lines_of(spec):
        if line.level:
            titles = [match[1] for title in line.path if (match := _STORY.search(title))]
            story, within = f"US{titles[-1]}" if titles else "", bool(_SCENARIOS.match(line.text.strip("# ")))
        elif _SCENARIOS.match(line.text):
            within = True
        elif re.match(r"\s*\*\*[^*]+\*\*\s*:", line.text) and not _ITEM.match(line.text):
            within = False
        elif within and story:
            _add(found.setdefault(story, []), line)
    return {name: tuple(items) for name, items in found.items() if items}


def _add(items: list[str], line: FileLine) -> None:
    item = _ITEM.match(line.text)
    if item and len(items) < _MAX_CRITERIA:
        items.append(plain(item[1]))
    elif items and line.text.startswith((" ", "\t")) and line.text.strip():
        items[-1] = f"{items[-1]} {plain(line.text)}"[:2000]


def feature_type(*texts: str) -> str:
    """The type that one of some files names in a line `**Feature Type**: ...`, in small letters; empty where none does."""
    for text in texts:
        for line in lines_of(text):
            if found := _TYPE.match(line.text):
                name = " ".join(found["type"].split()).casefold()
                aliases = {"infra": "infra/devops", "devops": "infra/devops", "backend": "backend only", "capacity": "capacity change",
                           "config": "config update", "fullstack": "full stack", "infrastructure": "infra/devops"}  # fmt: skip
                name = aliases.get(name, name)
                return name if name in FEATURE_TYPES else ""
    return ""


def source_tree(plan: str) -> tuple[str, ...]:
    """The folders that a plan draws under `Source Code`, relative to the repository, each with `/` at its end.

    It leaves out options of the template that are marked as unused.
    """
    found: dict[str, None] = {}
    stack: list[tuple[int, str]] = []
    within = fenced = skipped = False
    for line in lines_of(plan):
        raw = line.raw.rstrip("\r\n")
        if line.level:
            within = "source code" in line.text.casefold()
        elif raw.lstrip().startswith(("```", "~~~")):
            fenced, stack, skipped = not fenced, [], False
        elif within and fenced and len(found) < _MAX_DIRECTORIES:
            if raw.lstrip().startswith("#"):
                skipped = "REMOVE IF UNUSED" in raw.upper()
                stack = []
            elif not skipped:
                _branch(raw, stack, found)
    return tuple(found)


def _branch(raw: str, stack: list[tuple[int, str]], found: dict[str, None]) -> None:
    branch = _BRANCH.match(raw)
    name = branch["name"] if branch else raw.strip().split(" ")[0].split("#")[0]
    depth = (
        len(branch["indent"]) + 1 if branch else len(raw) - len(raw.lstrip()) and len(raw) - len(raw.lstrip())
    )
    if not name or not re.fullmatch(r"[\w.@/-]+/?", name) or ".." in name:
        return
    while stack and stack[-1][0] >= depth:
        stack.pop()
    if not name.endswith("/"):
        return
    parent = stack[-1][1] if stack else ""
    whole = name if name == "./" else f"{parent}{name}".removeprefix("./")
    if branch is None and not stack and name == "./":
        whole = ""
    stack.append((depth, whole))
    if whole and not whole.startswith("/"):
        found.setdefault(whole)
