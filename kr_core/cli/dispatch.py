"""`kr dispatch`: the tasks of spec-kit's tasks.md, sent to specialists who keep to their folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.cli import output
from kr_core.config import load
from kr_core.dispatch.plan import read_plan
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.config import Config
    from kr_core.dispatch.plan import Plan


def run(options: argparse.Namespace) -> int:
    """Do one of its actions and return the exit code."""
    return {"plan": _plan}[options.action](options)


def _plan(options: argparse.Namespace) -> int:
    plan = read_plan(_file(options), _config(options))
    if options.json:
        print(output.as_json(plan.to_dict()))
        return 0
    print(printable("\n".join(_lines(plan))))
    return 0


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
