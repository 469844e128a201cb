"""A worker takes queued runs of several kinds, and queues lost ones again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from kr_core.protocols import QueuedRun, Runtime

__all__ = ["QueueWork", "RunCounts", "take_runs"]

_SWEEP_SECONDS = 30.0
"""How often runs are queued again that no worker performs."""


class QueueWork:
    """What a worker does for one queue.

    Args:
        perform: does a run.
        sweep: queues the runs again that have not ended: the runtime may have lost them, or never heard of them.
    """

    def __init__(
        self, perform: Callable[[QueuedRun], Awaitable[None]], sweep: Callable[[], Awaitable[None]]
    ) -> None:
        self.perform = perform
        self.sweep = sweep


class RunCounts:
    """How many runs a worker performs now, and how many it has performed."""

    def __init__(self) -> None:
        self.performing = 0
        self.performed = 0
        self.failed = 0
        """Those that are tried again."""

    async def counted(self, work: Awaitable[None]) -> None:
        """Await a run, and count it."""
        self.performing += 1
        try:
            await work
            self.performed += 1
        except Exception:
            self.failed += 1
            raise
        finally:
            self.performing -= 1


async def take_runs(
    runtime: Runtime,
    work: Mapping[str, QueueWork],
    concurrency: int,
    stop: asyncio.Event,
    *,
    drain: bool,
    counts: RunCounts | None = None,
) -> None:
    """Perform queued runs, and queue lost ones again, until `stop` is set, or with `drain` until nothing waits.

    Args:
        runtime: has the queues.
        work: what to do, by queue.
        concurrency: how many runs at once.
        stop: says when to end.
        drain: end also when nothing waits.
        counts: counts the runs.

    Raises:
        StorageError: the journal or the runtime cannot be used.
    """
    if not work:
        await stop.wait()
        return

    async def sweep() -> None:
        for one in work.values():
            await one.sweep()

    async def keep_sweeping() -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            with suppress(StorageError):  # the next one may succeed
                await sweep()

    counts = counts or RunCounts()
    await sweep()
    sweeps = asyncio.create_task(keep_sweeping())
    try:
        await runtime.work(
            lambda run: counts.counted(work[run.queue].perform(run)),
            tuple(work),
            concurrency,
            stop,
            drain=drain,
        )
    finally:
        sweeps.cancel()
