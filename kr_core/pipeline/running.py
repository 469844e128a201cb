"""Work in an event loop that may be cancelled: a call that will not stop is left behind, a write is seen to its end."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")

GRACE_SECONDS = 1.0
"""How long a cancelled call may take to clean up before it is left behind."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end and return its result, as `asyncio.run` does, but leave behind what will not stop.

    `asyncio.run` waits for ever for a task that swallows its cancellation, and for threads that tasks have started.
    """
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    try:
        return runner.run(work)
    finally:
        _close(runner)


def _close(runner: asyncio.Runner) -> None:
    loop = runner.get_loop()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        runner.run(_wait(left))
    runner.run(loop.shutdown_asyncgens())
    loop.set_exception_handler(lambda _loop, _context: None)  # what was left behind has been noted already
    loop.close()  # tells the threads of its executor to end, and does not wait for them


async def _wait(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks, timeout=GRACE_SECONDS)


async def to_its_end(
    work: Callable[[], Result], when_cancelled: Callable[[Result], object] | None = None
) -> Result:
    """Do what reads and writes files in a thread; a cancellation waits for it, since a thread cannot be stopped.

    So nothing goes on behind the caller's back, and a pipeline may be closed right afterwards.

    Args:
        work: takes milliseconds.
        when_cancelled: told the result where nobody else will see it.
    """
    loop = asyncio.get_running_loop()
    # no task: whoever cancels all tasks of a loop cancels only the one that waits here
    done = loop.run_in_executor(None, contextvars.copy_context().run, work)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait({done})
        if done.exception() is None and when_cancelled is not None:
            when_cancelled(done.result())
        raise
