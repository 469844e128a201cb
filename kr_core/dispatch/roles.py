"""Who a task is for: by what its paths are, its heading says, its words say; a human where that is unclear."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.speckit.feature_files import FEATURE_TYPES
from kr_core.speckit.task_paths import is_infrastructure, is_source, is_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.dispatch.scopes import Scope
    from kr_core.speckit.task_file import Task

__all__ = ["HUMAN", "Assignment", "assigned", "suggested"]

HUMAN = "human"
_WORK = {"marie": "tests", "dede": "code", "gustave": "infrastructure"}
_REVIEW = re.compile(r"(?:peer[ -]|code[ -]|security[ -])?(?:review|audit)\b", re.IGNORECASE)
_CHANGE = re.compile(r"\b(?:fix|update|add|implement|write|change|refactor|correct|apply)\b", re.IGNORECASE)
_TESTS = re.compile(
    r"(?:(?:write|add|create|implement|extend|update)\s{1,4})?(?:(?:the|an?|unit|integration|contract|e2e|end-to-end|acceptance|regression|"
    r"smoke|functional|failing|performance|load|api|ui|component|widget|snapshot|property|fuzz)[\s-]{1,4}){0,6}tests?\b(?!\s+(?:data|environment))",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:implement|refactor|fix|develop|code|wire)\b", re.IGNORECASE)
_INFRASTRUCTURE = re.compile(
    r"\b(?:deploy(?:s|ed|ment|ments)?|kubernetes|k8s|helm|argo ?cd|kustomiz\w*|terraform|manifests?|ingress|autoscal\w+|"
    r"ci/cd|pipelines?|github actions?|docker(?:file|-compose)?|replicas?|grafana|prometheus)\b",
    re.IGNORECASE,
)
_MENTION = re.compile(r"(?<![\w@])@(marie|dede|gustave|degaulle)\b", re.IGNORECASE)


class Assignment(NamedTuple):
    """Who a task is for, and why."""

    role: str
    """`marie`, `dede`, `gustave`, `degaulle` or `human`."""
    reason: str


def assigned(task: Task, scopes: Mapping[str, Scope], feature_type: str = "") -> Assignment:
    """Say who a task is for.

    Args:
        task: of the file.
        scopes: what each role may write.
        feature_type: the type of its feature; empty where it is not known.
    """
    if task.cancelled:
        return Assignment(HUMAN, "it is struck out")
    found = _assigned(task, scopes)
    part = FEATURE_TYPES.get(feature_type)
    if part is not None and found.role != HUMAN and found.role not in part:
        return Assignment(
            HUMAN, f"{found.role} has no part in a feature of the type {feature_type} ({found.reason})"
        )
    return found


def _assigned(task: Task, scopes: Mapping[str, Scope]) -> Assignment:
    named = {name.lower() for name in _MENTION.findall(task.title)}
    if len(named) == 1:
        return Assignment(named.pop(), "the task names it")
    if _REVIEW.match(task.title) and not _CHANGE.search(task.title):
        return Assignment("degaulle", "it is a review")
    if task.paths:
        return _by_paths(task.paths, scopes)
    heading = f"{task.phase} / {task.section}"
    if re.match(r"tests? for\b", task.section, re.IGNORECASE):
        return Assignment("marie", f"its heading is `{task.section}`")
    words = [
        role
        for role, pattern in (("marie", _TESTS), ("dede", _CODE), ("gustave", _INFRASTRUCTURE))
        if (pattern.search if role == "gustave" else pattern.match)(task.title)
    ]
    if len(words) == 1 or words[:1] == ["marie"]:
        return Assignment(words[0], f"its words are of {_WORK[words[0]]}")
    if not words and re.match(r"implementation for\b", task.section, re.IGNORECASE):
        return Assignment("dede", f"its heading is `{task.section}`")
    return Assignment(
        HUMAN, f"it names no path, and neither its words nor `{heading.strip(' /')}` say whose it is"
    )


def _by_paths(paths: Sequence[str], scopes: Mapping[str, Scope]) -> Assignment:
    able = [
        role
        for role, scope in scopes.items()
        if scope.allow and not any(_outside(scope, path) for path in paths)
    ]
    kinds = {path: _kind(path) for path in paths}
    if len(able) == 1:
        return Assignment(able[0], f"{_listed(paths)} {_lies(paths)} in {able[0]}'s scope")
    roles = {role for role in kinds.values() if role}
    if len(roles) > 1:
        said = "; ".join(
            f"{_listed([p for p in paths if kinds[p] == role])}: {role}" for role in sorted(roles)
        )
        return Assignment(HUMAN, f"it has paths of several roles ({said})")
    if roles:
        role = roles.pop()
        return Assignment(
            role,
            f"{_listed([path for path in paths if kinds[path]])} {_lies(paths, 'is', 'are')} {_WORK[role]}",
        )
    return Assignment(
        HUMAN,
        f"{_listed(paths)} {_lies(paths)} in no role's scope, and {_lies(paths, 'is', 'are')} not tests, code or infrastructure",
    )


def _outside(scope: Scope, path: str) -> str:
    """Why a path that a task names is outside; one with `/` at its end means what lies below it."""
    return scope.fault((f"{path}x" if path.endswith("/") else path).encode("utf-8", "surrogateescape"))


def _kind(path: str) -> str:
    return (
        "marie"
        if is_test(path)
        else "gustave"
        if is_infrastructure(path)
        else "dede"
        if is_source(path)
        else ""
    )


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths[:3]) + (
        f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    )


def _lies(paths: Sequence[str], one: str = "lies", many: str = "lie") -> str:
    return one if len(paths) == 1 else many


def outside_paths(task: Task, scope: Scope) -> tuple[str, ...]:
    """The paths that a task names and its role may not write."""
    return tuple(path for path in task.paths if _outside(scope, path))


def suggested(tree: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The scopes that a plan's source tree suggests: for each role that has a folder there, the outermost ones.

    Args:
        tree: folders with `/` at their ends.
    """
    found: dict[str, list[str]] = {}
    for folder in tree:
        parts = folder.strip("/").split("/")
        if parts[0] in {"specs", "docs", ".git", ".specify"}:
            continue
        above = {"/".join(parts[:n]) + "/" for n in range(1, len(parts))}
        kind = "marie" if is_test(folder) else "gustave" if is_infrastructure(folder) else ""
        if not kind:
            inner = [other for other in tree if other.startswith(folder) and other != folder]
            mixed = any(is_test(other) or is_infrastructure(other) for other in inner)
            kind = "" if mixed else "dede"
        if kind and not above & {*found.get(kind, ())}:
            found.setdefault(kind, []).append(folder)
    return {role: tuple(found[role]) for role in ("marie", "dede", "gustave") if role in found}
