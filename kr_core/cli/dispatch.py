"""`kr dispatch`: the tasks of spec-kit's tasks.md, sent to specialists who keep to their folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core import aio
from kr_core.cli import output
from kr_core.cli.given_file import place_of
from kr_core.config import load
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import records
from kr_core.errors import ConfigError, suggestion
from kr_core.files import read_bytes
from kr_core.qalog.reader import LogFilter, entries
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.config import Config
    from kr_core.dispatch.plan import Plan
    from kr_core.dispatch.record import TaskRecord


NO_CONTENT = 4
_LARGEST_PATCH = 4 * 2**20
_ABOUT = {"exchange_id", "feature_id", "question_id"}


def run(options: argparse.Namespace) -> int:
    """Do one of its actions and return the exit code."""
    actions = {"plan": _plan, "run": _run, "status": _status, "log": _log, "show": _show}
    return actions[options.action](options)


def _plan(options: argparse.Namespace) -> int:
    config = _config(options)
    plan = read_plan(_file(options, config.root), config)
    if options.json:
        print(output.as_json(plan.to_dict()))
        return 0
    print(printable("\n".join(_lines(plan))))
    return 0


def _run(options: argparse.Namespace) -> int:
    from kr_core.dispatch.runner import Dispatcher, choose_tasks  # which a plan does not need
    from kr_core.dispatch.session import DispatchSession

    def tell(line: str) -> None:
        if not options.quiet or line.startswith("WARNING"):
            print(f"kr: {printable(_line(line))}", file=sys.stderr, flush=True)

    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        plan = read_plan(_file(options, pipeline.config.root), pipeline.config)
        chosen = choose_tasks(plan, options.wanted)

        async def work() -> list[TaskRecord]:
            session = DispatchSession(pipeline, tell)
            dispatcher = Dispatcher(session, plan, options.wanted)
            async with session.opened():
                return await dispatcher.run(chosen)

        found = aio.run(work())
    if options.json:
        print(output.as_json({"tasks": [one.to_dict() for one in found]}))
    else:
        print(printable("\n".join(map(_result, found)) or "every task is done"))
    return int(any(one.status != "succeeded" for one in found))


def _result(one: TaskRecord) -> str:
    said = f": {_line(one.reason)}" if one.reason else ""
    lines = [f"{one.id} {one.role} {one.status}{said}", *(f"    {path}" for path in one.changed)]
    lines += [f"    refused: {_line(refused.path)}: {refused.reason}" for refused in one.refused]
    lines += [
        f"    asked: {asked.path}: `kr inbox choose {asked.escalation} yes`, or no"
        for asked in one.requests
        if not asked.answer
    ]
    if one.patch:
        lines.append(f"    kept aside: {one.patch}")
    return "\n".join(lines)


def _line(text: str) -> str:
    """A text on one line: a file's name may have line ends, and would look like another task."""
    return text.replace("\n", "\N{REPLACEMENT CHARACTER}")


def _status(options: argparse.Namespace) -> int:
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        found = list(records(pipeline.journal, options.feature))
    if options.json:
        print(output.as_json({"tasks": [_whole(one) for one in found]}))
    else:
        lines = [
            f"{one.feature}  {one.id}  {one.role}  {one.status}  {_when(one)}  {_line(one.reason)}".rstrip()
            for one in found
        ]
        print(printable("\n".join(lines)) if lines else "no task was dispatched")
    return 0 if found else NO_CONTENT


def _log(options: argparse.Namespace) -> int:
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        record = _record(pipeline, options)
        wanted = LogFilter(record.feature, kinds=("task.*",))
        found = [one for one in entries(pipeline.journal, wanted) if one.question_id == record.id]
    for one in found:
        if options.json:
            print(output.as_json(one.model_dump(mode="json"), indent=None))
            continue
        told = {
            name: value
            for name, value in one.data.items()
            if name not in _ABOUT and value not in ("", [], None)
        }
        said = "  ".join(f"{name}={output.brief(_text(value), 100)}" for name, value in told.items())
        print(printable(f"{one.time.astimezone():%Y-%m-%d %H:%M:%S}  {one.kind}  {said}".rstrip()))
    return 0 if found else NO_CONTENT


def _show(options: argparse.Namespace) -> int:
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        record, root = _record(pipeline, options), pipeline.config.root
    if options.json:
        print(output.as_json(_whole(record)))
        return 0
    lines = [f"{record.feature} {record.id}: {record.title}", _result(record), f"    {_when(record)}"]
    if record.commit:
        lines.append(f"    commit: {record.commit}")
    if record.output:
        lines += ["", "Its agent printed:", record.output.rstrip()]
    if record.patch:
        try:
            patch = read_bytes(root / record.patch, limit=_LARGEST_PATCH, within=root).decode(
                "utf-8", "replace"
            )
        except OSError as error:
            patch = f"({record.patch}: {error.strerror})"
        lines += ["", "Its difference:", patch.rstrip()]
    print(printable("\n".join(lines)))
    return 0


def _record(pipeline: Pipeline, options: argparse.Namespace) -> TaskRecord:
    """The record of the task that is named.

    Raises:
        ConfigError: no task, or several, have this id.
    """
    every = list(records(pipeline.journal, options.feature))
    found = [one for one in every if one.id.casefold() == options.task.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        features = ", ".join(sorted(one.feature for one in found))
        raise ConfigError(
            "several features have this task", where=options.task, hint=f"--feature names one: {features}"
        )
    hint = (
        suggestion(options.task, [one.id for one in every], "dispatched")
        if every
        else "`kr dispatch run` dispatches"
    )
    raise ConfigError("was never dispatched", where=options.task, hint=hint)


def _whole(one: TaskRecord) -> dict[str, Any]:
    return {
        **one.to_dict(),
        **one.model_dump(mode="json", exclude={"id", "role", "status", "changed", "refused"}),
    }


def _when(one: TaskRecord) -> str:
    times = [time for time in (one.started, one.finished) if time is not None]
    return " - ".join(f"{time.astimezone():%Y-%m-%d %H:%M:%S}" for time in times)


def _text(value: object) -> str:
    return value if isinstance(value, str) else output.as_json(value, indent=None)


def _config(options: argparse.Namespace) -> Config:
    return load((options.folder or Path.cwd()).resolve(), options.config)


def _file(options: argparse.Namespace, root: Path) -> Path:
    """The task file; the folder of `-C` is where KR works.

    Raises:
        ConfigError: a link in the project leads out of it.
    """
    file = (options.folder or Path.cwd()).resolve() / options.tasks
    place_of(file, root)
    return Path(file)


def _lines(plan: Plan) -> list[str]:
    lines = [f"{plan.feature}: {len(plan.tasks)} tasks, {sum(one.task.done for one in plan.tasks)} done"]
    phase = None
    for one in plan.tasks:
        task, found = one.task, one.assignment
        if task.phase != phase:
            phase = task.phase
            lines += ["", phase or "(no phase)"]
        marks = f"{' [P]' if task.parallel else ''}{f' [{task.story}]' if task.story else ''}"
        lines.append(
            f"  [{'x' if task.done else ' '}] {task.id}{marks} {found.role}: {output.brief(task.title, 100)}"
        )
        lines.append(f"      {found.reason}")
    if plan.diagnostics:
        lines += ["", "Odd lines:"]
        lines += [f"  {one.line}: {one.code}: {one.message}" for one in plan.diagnostics]
    if plan.suggestions:
        lines += [
            "",
            "The plan's source tree suggests these scopes, which are not in force; in kr.yaml:",
            "dispatch:",
            "  scopes:",
        ]
        lines += [
            line
            for role, folders in plan.suggestions.items()
            for line in (f"    {role}:", f"      allow: [{', '.join(folders)}]")
        ]
    return lines
