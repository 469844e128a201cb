"""`kr lessons`: hand out, list and record a project's lessons."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kr_core import yaml_text
from kr_core.cli import output
from kr_core.model.lessons import PHASES
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.model.lessons import Lesson, LessonsResult


def run(options: argparse.Namespace) -> int:
    """Run one of them and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        if options.action == "add":
            return _add(pipeline, options)
        if options.action == "list":
            return _list(pipeline, options)
        result = pipeline.lessons.inject(
            options.phase, framework=options.framework, topic=options.topic, text=options.text
        )
        return show(result, options)


def show(result: LessonsResult, options: argparse.Namespace) -> int:
    """Print a result: the block alone, or all of it as JSON or YAML; faults and notes on standard error."""
    if options.json:
        print(output.as_json(result.to_dict()))
    elif options.yaml:
        whole = result.to_dict()
        whole["results"]["injection_block"] = yaml_text.LiteralBlock(result.results.injection_block)
        print(output.as_yaml(whole), end="")
    else:
        print(printable(result.results.injection_block), end="")
    sys.stdout.flush()
    for fault in result.errors:
        known = f"; use one of {', '.join(PHASES)}" if fault.field == "lessons_inject.phase" else ""
        print(printable(f"kr: {fault.message}{known}"), file=sys.stderr)
    if not (options.quiet or options.json or options.yaml):
        output.tell(result.results.notes)
    return exit_code(result)


def exit_code(result: LessonsResult) -> int:
    """0 for an answer, an empty one too; 2 for an invalid request, 1 where the file cannot be read."""
    if result.status != "failure":
        return 0
    return 1 if any(fault.type == "file_read_error" for fault in result.errors) else 2


def _list(pipeline: Pipeline, options: argparse.Namespace) -> int:
    found = pipeline.lessons.read()
    if options.json:
        print(output.as_json([one.model_dump(mode="json") for one in found.lessons]))
        return 0
    for lesson in found.lessons:
        print(printable(_row(pipeline.lessons.shown, lesson)))
    if not found.lessons:
        print(f"there are no lessons in {pipeline.lessons.shown}")
    if not options.quiet:
        output.tell(pipeline.lessons.conflicts(found))
    return 0


def _row(file: str, lesson: Lesson) -> str:
    place = f" -- {lesson.path}" if lesson.path else ""
    return (
        f"{file}:{lesson.line}  {lesson.date or 'no date'}  {', '.join(lesson.tags)}  {lesson.summary}{place}"
    )


def _add(pipeline: Pipeline, options: argparse.Namespace) -> int:
    lessons = pipeline.lessons
    recorded = lessons.add(options.summary, phase=options.phase, tags=options.tags, ref=options.ref)
    said = "recorded" if recorded.added else "already there"
    print(printable(f"{said}: {_row(lessons.shown, recorded.lesson)}"))
    if not options.quiet:
        output.tell(recorded.notes)
    return 0
