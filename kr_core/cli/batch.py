"""`kr batch`: the batches that workers research are listed, paused and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.aio import run as run_loop
from kr_core.cli.output import as_json
from kr_core.cli.research_batch import batches_of
from kr_core.errors import ConfigError
from kr_core.research import Pipeline

if TYPE_CHECKING:
    import argparse

    from kr_core.ask.research_batches import BatchProgress


def run(options: argparse.Namespace) -> int:
    """List, pause or resume, and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        batches = batches_of(pipeline)
        if batches is None:
            raise ConfigError(
                "has no workers: `kr research --batch` does the work itself",
                where=f"runtime: {pipeline.config.settings.runtime}",
                hint="name a runtime that has workers in kr.yaml",
            )
        if options.action == "pause":
            run_loop(batches.pause(options.id))
        elif options.action == "resume":
            run_loop(batches.resume(options.id, options.max_cost))
        else:
            found = run_loop(batches.all())
            if options.json:
                print(as_json([one._asdict() for one in found]))
            for one in () if options.json else found:
                print(_line(one))
    return 0


def _line(one: BatchProgress) -> str:
    limit = "" if one.max_cost_usd is None else f" of ${one.max_cost_usd:.2f}"
    parts = f"{one.chunks_ended} of {one.chunks} parts"
    return f"{one.id}  {one.status:<7}  {one.requests} requests  {parts}  ${one.cost_usd:.2f}{limit}"
