"""A task file with all that belongs to it: who would do what, why, in which order, and with which context."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.dispatch.roles import HUMAN, Assignment, assigned, outside_paths, suggested
from kr_core.dispatch.scopes import ROLES, Scope, scope_of
from kr_core.errors import ConfigError
from kr_core.files import read_bytes
from kr_core.speckit.feature_files import acceptance_criteria, feature_type, source_tree
from kr_core.speckit.task_file import MOST_TASKS, Diagnostic, look_alike, read_tasks
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.speckit.task_file import Task, TaskFile

    _Group = tuple[str, str | None]

__all__ = ["Plan", "PlannedTask", "configured_scopes", "read_plan", "read_task_text"]

_LARGEST = 4 * 2**20
_LARGEST_TASKS = 2**19
"""Bytes of a file of tasks; spec-kit's have some ten thousand. All its paths are held against all patterns."""
_MOST_NEIGHBOURS = 200
"""Tasks of a story or phase whose paths an agent gets to know; a story of spec-kit has some twenty."""
_DESIGN = ("plan.md", "spec.md", "data-model.md", "research.md", "quickstart.md")


class PlannedTask(NamedTuple):
    """A task, and who would do it."""

    task: Task
    assignment: Assignment
    criteria: tuple[str, ...]
    related: tuple[str, ...]

    def order(self, feature: str, granted: Sequence[str] = ()) -> dict[str, Any]:
        """All that an agent gets to know.

        Args:
            feature: the task's.
            granted: paths outside of the scope that a person lets it change.
        """
        task = self.task
        return {
            "id": task.id,
            "title": task.title,
            "role": self.assignment.role,
            "phase": task.phase,
            "story": task.story,
            "paths": list(task.paths),
            "criteria": list(self.criteria),
            "related": list(self.related),
            "feature": feature,
            **({"granted": list(granted)} if granted else {}),
        }


class Plan(NamedTuple):
    """What a task file comes to."""

    file: Path | None
    """None where the task was handed over by a program."""
    feature: str
    title: str
    tasks: tuple[PlannedTask, ...]
    diagnostics: tuple[Diagnostic, ...]
    scopes: Mapping[str, Scope]
    suggestions: Mapping[str, tuple[str, ...]]
    """Scopes that the plan's source tree suggests and that are not in force."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values in the published form."""
        return {
            "tasks": [
                {
                    "id": one.task.id,
                    "title": one.task.title,
                    "role": one.assignment.role,
                    "phase": one.task.phase,
                    "story": one.task.story,
                    "parallel": one.task.parallel,
                    "paths": list(one.task.paths),
                    "done": one.task.done,
                    "reason": one.assignment.reason,
                }
                for one in self.tasks
            ],
            "diagnostics": [one._asdict() for one in self.diagnostics],
        }

    def waves(self, chosen: Sequence[PlannedTask]) -> list[list[PlannedTask]]:
        """The tasks in the order in which they run; those of one wave run at once.

        Phases follow each other. Within one, a task with `[P]` runs beside those with `[P]` around it; another runs alone. A
        task comes after those that it depends on, and not beside one that names a path of it.

        Raises:
            ConfigError: some wait for each other.
        """
        waves: list[list[PlannedTask]] = []
        placed = {one.task.id for one in self.tasks} - {one.task.id for one in chosen}
        waiting = list(chosen)
        while waiting:
            ready = (at for at, one in enumerate(waiting) if placed.issuperset(one.task.depends_on))
            at = next(ready, None)
            if at is None:
                names = ", ".join(one.task.id for one in waiting)
                raise ConfigError(
                    f"tasks wait for each other: {names}",
                    where=str(self.file or "task"),
                    hint="take one `depends on` away",
                )
            first = waiting.pop(at)
            wave, paths = [first], {*first.task.paths}
            while first.task.parallel and at < len(waiting):
                one = waiting[at]
                if not one.task.parallel or one.task.phase != first.task.phase:
                    break
                if placed.issuperset(one.task.depends_on) and paths.isdisjoint(one.task.paths):
                    wave.append(waiting.pop(at))
                    paths.update(one.task.paths)
                else:
                    at += 1
            waves.append(wave)
            placed.update(one.task.id for one in wave)
        return waves


def read_plan(file: Path, config: Config) -> Plan:
    """Read a task file and what lies beside it.

    Raises:
        ConfigError: it cannot be read, or is not spec-kit's.
    """
    text = read_task_text(file)
    read = read_tasks(text)
    if what := look_alike(text, read):
        raise ConfigError(
            f"is {what}, not tasks of spec-kit",
            where=printable(str(file)),
            hint="KR reads lines such as `- [ ] T001 [P] [US1] Create src/a.py`; `/speckit.tasks` writes them",
        )
    if len(read.tasks) > MOST_TASKS:
        raise ConfigError(
            f"has more than {MOST_TASKS:,} tasks",
            where=printable(str(file)),
            hint="divide it into several features",
        )
    beside = {name: _text(file.parent / name) for name in ("spec.md", "plan.md")}
    scopes = {role: scope_of(role, configured_scopes(config)) for role in ROLES}
    kind = feature_type(text, beside["plan.md"], beside["spec.md"])
    pairs = [(task, assigned(task, scopes, kind)) for task in read.tasks]
    criteria = acceptance_criteria(beside["spec.md"])
    documents = _documents(file, config.root)
    beside_each = _neighbours(pairs)
    planned = tuple(
        PlannedTask(
            task, found, _criteria(task, criteria, read), _related(task, found, beside_each, documents)
        )
        for task, found in pairs
    )
    odd = [
        *read.diagnostics,
        *(one for task, found in pairs for one in _scope_diagnostics(task, found, scopes)),
    ]
    suggestions = {
        role: folders
        for role, folders in suggested(source_tree(beside["plan.md"])).items()
        if folders != scopes[role].allow
    }
    return Plan(file, _feature(file), read.title, planned, tuple(sorted(odd)), scopes, suggestions)


def configured_scopes(config: Config) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The scopes that the configuration has; where it only denies, the preset's patterns stay allowed."""
    found = {}
    for role, entry in config.settings.dispatch.scopes.items():
        allow = scope_of(role, {}).allow if entry.allow is None else entry.allow
        found[str(role)] = (allow, entry.deny)
    return found


def read_task_text(file: Path) -> str:
    """A task file, byte for byte.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8.
    """
    where = printable(str(file))
    try:
        return read_bytes(file, limit=_LARGEST_TASKS).decode()
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8", where=where, hint="save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(
            error.strerror or str(error), where=where, hint="name spec-kit's tasks.md"
        ) from None


def _text(file: Path) -> str:
    """A file beside it; empty where it cannot be read, since none of them is needed."""
    try:
        return read_bytes(file, limit=_LARGEST, within=file.parent).decode("utf-8", "replace")
    except OSError:
        return ""


def _feature(file: Path) -> str:
    """The feature's name: that of spec-kit's folder, or of the file itself."""
    real = file.absolute()
    return (
        real.parent.name if real.name == "tasks.md" else real.name.removesuffix(".md").removesuffix(".tasks")
    )


def _documents(file: Path, root: Path) -> tuple[str, ...]:
    """The feature's documents that are there, relative to the project."""
    folder = file.absolute().parent
    if not folder.is_relative_to(root):
        return ()
    return tuple(
        (folder / name).relative_to(root).as_posix() for name in _DESIGN if (folder / name).is_file()
    )


def _criteria(task: Task, criteria: Mapping[str, Sequence[str]], file: TaskFile) -> tuple[str, ...]:
    stories = [part if part.startswith("US") else f"US{part}" for part in task.story.split("+") if part]
    found = [item for story in stories for item in criteria.get(story, ())]
    if stories and (test := file.independent_tests.get(task.phase)):
        found.append(f"Independent Test: {test}")
    return (*found, *task.notes)


def _neighbours(pairs: Sequence[tuple[Task, Assignment]]) -> dict[_Group, list[tuple[Task, Assignment]]]:
    """The first tasks of each story, and of each phase."""
    groups: dict[_Group, list[tuple[Task, Assignment]]] = defaultdict(list)
    for pair in pairs:
        task = pair[0]
        for group in (("story", task.story), ("phase", task.phase)):
            if len(groups[group]) < _MOST_NEIGHBOURS:
                groups[group].append(pair)
    return groups


def _related(
    task: Task,
    found: Assignment,
    neighbours: Mapping[_Group, Sequence[tuple[Task, Assignment]]],
    documents: tuple[str, ...],
) -> tuple[str, ...]:
    """The paths that other roles work on for the same story: tests for who implements, code for who tests."""
    wanted = {"dede": ("marie",), "marie": ("dede",), "degaulle": ("marie", "dede", "gustave")}.get(
        found.role, ()
    )
    group = ("story", task.story) if task.story else ("phase", task.phase)
    same = [other for other, by in neighbours[group] if by.role in wanted]
    if found.role == "degaulle":  # who reads what was changed
        same = [other for other in same if other.done] if any(other.done for other in same) else same
    own = set(task.paths)
    paths = dict.fromkeys(path for other in same for path in other.paths if path not in own)
    return (*paths, *documents) if found.role != HUMAN else ()


def _scope_diagnostics(task: Task, found: Assignment, scopes: Mapping[str, Scope]) -> list[Diagnostic]:
    scope = scopes.get(found.role)
    outside = () if scope is None or found.role == "degaulle" else outside_paths(task, scope)
    return [
        Diagnostic(task.line, "outside-scope", f"{task.id} names `{path}`, which {found.role} may not write")
        for path in outside
        if not task.done
    ]
