"""`kr research --batch`: many questions, some at once, one result a line.

A batch that was cut off is given again as it was: what was answered is in the knowledge base and costs nothing, and what
sources said within a day is remembered. Where the configuration names a runtime, workers do it, and it goes on without who asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from kr_core.aio import run as run_loop
from kr_core.cli.given_file import document, text_of
from kr_core.cli.output import as_json, tell
from kr_core.cli.research import exit_code, refreshed
from kr_core.errors import ConfigError
from kr_core.lessons.lesson_requests import wants_lessons
from kr_core.review import reviewed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from kr_core.ask.research_batches import ResearchBatches
    from kr_core.cli.output import ProgressLine
    from kr_core.model import ResearchResult
    from kr_core.model.lessons import LessonsResult
    from kr_core.research import Pipeline

PAUSED = 5
"""The exit code of a batch that waits until a person resumes it."""


def run(pipeline: Pipeline, options: argparse.Namespace, progress: ProgressLine) -> int:
    """Answer many, at most `defaults.max_concurrent` at once, and print the results in the order asked.

    Returns:
        The worst exit code.
    """
    lines = list(_lines(options.batch, options.folder, pipeline.config.root))
    if options.refresh:
        lines = [refreshed(line) for line in lines]
    out = sys.stdout
    batches = batches_of(pipeline)
    if options.max_cost is not None and batches is None:
        raise ConfigError(
            "only workers keep to a limit of cost",
            where="--max-cost",
            hint="name a `runtime` in kr.yaml and start `kr worker`, or leave it out",
        )
    if batches is not None and not any(map(wants_lessons, lines)):
        worst = run_loop(_queued(batches, lines, options, progress))
        progress.clear()
        return worst
    with contextlib.redirect_stdout(sys.stderr):  # a plugin may print; the results stand alone
        worst = run_loop(_answered(pipeline, lines, progress, out))
    progress.clear()
    # lessons leave no trace, not even an empty journal
    notes = [] if all(map(wants_lessons, lines)) else pipeline.deliver_logs()
    if not options.quiet:
        tell(notes)
    return worst


def batches_of(pipeline: Pipeline) -> ResearchBatches | None:
    """The batches that workers take; None where the process that asks does the work."""
    runtime = pipeline.components.runtime
    if runtime is None:
        return None
    from kr_core.ask.research_batches import ResearchBatches

    return ResearchBatches(pipeline, runtime)


async def _queued(
    batches: ResearchBatches, lines: list[Any], options: argparse.Namespace, progress: ProgressLine
) -> int:
    """Let workers answer, and print what they have, in the order asked, until all is there or the batch is paused."""
    done, worst = 0, 0
    batch = await batches.begin(lines, options.max_cost)
    if not options.quiet:
        tell([f"batch {batch}: {len(lines)} requests are queued; `kr batch pause {batch}` holds them"])
    async for result in batches.results(batch):
        done += 1
        progress.clear()
        print(as_json(result.to_dict(), indent=None), flush=True)
        progress.count(done, len(lines))
        worst = max(worst, exit_code(result))
    if done < len(lines):
        tell([f"batch {batch} is paused; `kr batch list` tells why, `kr batch resume {batch}` lets it go on"])
        return PAUSED
    return worst


async def _answered(pipeline: Pipeline, lines: list[Any], progress: ProgressLine, out: Any) -> int:
    # Beside the pipeline's own gate: what waits here has not begun, so its time limit does not run yet.
    gate = asyncio.Semaphore(pipeline.config.settings.defaults.max_concurrent)
    done, worst = 0, 0

    async def one(raw: Any) -> ResearchResult | LessonsResult:
        nonlocal done
        async with gate:
            if wants_lessons(raw):
                result: ResearchResult | LessonsResult = await asyncio.to_thread(pipeline.lessons.inject, raw)
            else:
                request = await asyncio.to_thread(pipeline.read_request, raw)
                result = (await reviewed(pipeline, request, await pipeline.aresearch(request))).result
        done += 1
        progress.count(done, len(lines))
        return result

    for pending in [asyncio.ensure_future(one(raw)) for raw in lines]:
        result = await pending
        print(as_json(result.to_dict(), indent=None), file=out, flush=True)
        worst = max(worst, exit_code(result))
    return worst


def _lines(name: str, folder: Path | None, root: Path) -> Iterator[Any]:
    """The requests of a file: a JSON value a line, or a list in a file of YAML."""
    text = text_of(name, folder, root)
    values = _of_yaml(name, text) if name.endswith((".yaml", ".yml")) else _of_json(name, text)
    for value in values:
        yield {"question": value} if isinstance(value, str) else value


def _of_json(name: str, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"is not JSON: {error}", where=f"{name}:{number}", hint="write one JSON value a line"
            ) from error


def _of_yaml(name: str, text: str) -> list[Any]:
    values = document(name, text)
    if not isinstance(values, list):
        raise ConfigError(
            "is not a list", where=name, hint="write one question or request an item: `- How ...?`"
        )
    return values
