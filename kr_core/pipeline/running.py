"""An event loop for one piece of work, which a call that ignores its cancellation cannot hold up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

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
