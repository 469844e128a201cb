"""Reads that requests share: who asks for what is read right now waits for the next reading, with all others who do.

So hundreds of clients that ask for the same page cost two readings, and no one gets a state from before their request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from kr_core.aio import consume_exception

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

__all__ = ["SharedReads"]

Result = TypeVar("Result")


class SharedReads:
    """The reads of an event loop, each under a key that says all it depends on."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[Any]] = {}
        self._next: dict[Hashable, asyncio.Task[Any]] = {}

    async def read(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """What a reading gives that begins after this call.

        Raises:
            Exception: what the work raises; all who share it see the same.
        """
        task = self._next.get(key)
        if task is None:
            task = asyncio.ensure_future(self._run(key, self._running.get(key), work))
            task.add_done_callback(consume_exception)  # everybody who waited may have left
            self._next[key] = task
        result: Result = await asyncio.shield(task)
        return result

    async def _run(
        self, key: Hashable, before: asyncio.Task[Any] | None, work: Callable[[], Awaitable[Result]]
    ) -> Result:
        if before is not None:
            await asyncio.wait([before])
        task = self._running[key] = self._next.pop(key)
        try:
            return await work()
        finally:
            if self._running.get(key) is task:
                del self._running[key]

    async def close(self) -> None:
        """Wait until nothing is read any more."""
        while tasks := {*self._running.values(), *self._next.values()}:
            await asyncio.wait(tasks)
