"""What a runtime must offer: the engine that hands runs to workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

__all__ = ["QueuedRun", "Runtime"]


class QueuedRun(NamedTuple):
    """A run that waits for a worker. What it is about, and what came of it, is a document of the journal."""

    id: str
    """The same id is the same run. Letters, digits and `-`, at most 100."""
    queue: str
    """Which workers take it: `ask`, say."""
    priority: int = 0
    """A higher one is taken first."""


class Runtime(Protocol):
    """Hands runs to the workers of all machines.

    A run may be handed out more than once, after its worker died for one: the engine sees to it that what is done already is
    not done again. It must not be lost once `submit` has returned.
    """

    async def submit(self, run: QueuedRun) -> None:
        """Queue a run; durable on return. One that waits under this id already is not queued twice.

        Raises:
            StorageError: it could not be queued.
        """

    async def work(
        self,
        perform: Callable[[QueuedRun], Awaitable[None]],
        queues: Sequence[str],
        concurrency: int,
        stop: asyncio.Event,
        *,
        drain: bool = False,
    ) -> None:
        """Perform runs until `stop` is set; those that have begun are ended first.

        A run whose worker died is handed to another one within a minute. One for which `perform` raises is handed out again, a
        little later each time.

        Args:
            perform: does a run.
            queues: the queues whose runs are taken.
            concurrency: how many at once.
            stop: says when to end.
            drain: end also when no run waits.

        Raises:
            StorageError: the runtime cannot be used.
        """
