"""`kr worker`: answers questions that other processes have queued, and does what is due for those that wait for a human."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.ask.async_service import AsyncKnowledgeRouterService
from kr_core.ask.question_runs import ASK
from kr_core.ask.research_batches import RESEARCH
from kr_core.ask.run_worker import RunCounts
from kr_core.cli.terminal import tell
from kr_core.cli.worker_health import health
from kr_core.errors import ConfigError, suggestion
from kr_core.research import Pipeline

if TYPE_CHECKING:
    import argparse

CONCURRENCY = 4
QUEUES = (ASK, RESEARCH, "upkeep")
"""What workers do: answer queued questions, work through batches, and send reminders and time limits for cases that wait for a human."""


def run(options: argparse.Namespace) -> int:
    """Work until the process is to end, or nothing is left, and return the exit code."""
    from kr_core.aio import run as run_to_its_end

    queues, concurrency = _queues(options.queues), options.concurrency
    if concurrency is not None and concurrency < 1:
        raise ConfigError(
            "is not a number of runs", where=f"--concurrency {concurrency}", hint="give 1 or more"
        )
    run_to_its_end(_work(options, queues, CONCURRENCY if concurrency is None else concurrency))
    return 0


async def _work(options: argparse.Namespace, queues: tuple[str, ...], concurrency: int) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    pipeline = Pipeline.open(options.config, folder=options.folder)
    async with AsyncKnowledgeRouterService(pipeline) as service:

        def end(number: int) -> None:
            stop.set()
            loop.remove_signal_handler(number)
            with suppress(OSError):  # the reader of its messages may be gone
                tell("ends when what has begun is done; again: at once")

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        counts = RunCounts()
        try:
            async with health(options.health, pipeline, counts, stop):
                await service.work(queues, concurrency, stop, drain=options.drain, tell=tell, counts=counts)
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def _queues(names: str | None) -> tuple[str, ...]:
    if names is None:
        return QUEUES
    queues = tuple(name.strip() for name in names.split(","))
    for name in queues:
        if name not in QUEUES:
            hint = suggestion(name, QUEUES, "queues")
            raise ConfigError(f"`{name}` is not a queue", where=f"--queues {names}", hint=hint)
    return queues
