"""`kr dispatch`: the tasks of spec-kit's tasks.md, sent to specialists who keep to their folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core import aio
from kr_core.cli import output
from kr_core.config import load
from kr_core.dispatch.plan import read_plan
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.config import Config
    from kr_core.dispatch.plan import Plan
    from kr_core.dispatch.record import TaskRecord


def run(options: argparse.Namespace) -> int:
    """Do one of its actions and return the exit code."""
    return {"plan": _plan, "run": _run}[options.action](options)


def _plan(options: argparse.Namespace) -> int:
    plan = read_plan(_file(options), _config(options))
    if options.json:
        print(output.as_json(plan.to_dict()))
        return 0
    print(printable("\n".join(_lines(plan))))
    return 0


def _run(options: argparse.Namespace) -> int:
    from kr_core.dispatch.runner import Dispatcher, choose_tasks  # which a plan does not need

    def tell(line: str) -> None:
        if not options.quiet or line.startswith("WARNING"):
            print(f"kr: {printable(line)}", file=sys.stderr, flush=True)

    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        plan = read_plan(_file(options), pipeline.config)
        chosen = choose_tasks(plan, options.wanted)

        async def work() -> list[TaskRecord]:
            return await Dispatcher(pipeline, plan, tell).run(chosen)

        found = aio.run(work())
    if options.json:
        print(output.as_json({"tasks": [one.to_dict() for one in found]}))
    else:
        print(printable("\n".join(map(_result, found)) or "every task is done"))
    return int(any(one.status != "succeeded" for one in found))


def _result(one: TaskRecord) -> str:
    said = f": {one.reason}" if one.reason else ""
    lines = [f"{one.id} {one.role} {one.status}{said}", *(f"    {path}" for path in one.changed)]
    lines += [f"    refused: {refused.path}: {refused.reason}" for refused in one.refused]
    if one.patch:
        lines.append(f"    kept aside: {one.patch}")
    return "\n".join(lines)


def _config(options: argparse.Namespace) -> Config:
    return load((options.folder or Path.cwd()).resolve(), options.config)


def _file(options: argparse.Namespace) -> Path:
    """The task file; the folder of `-C` is where KR works."""
    return Path((options.folder or Path.cwd()).resolve() / options.tasks)


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
        lines += ["", f"Odd lines in {plan.file.name}:"]
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
