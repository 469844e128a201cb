"""What a process that lives for days does beside answering: it hands the logs what happened, and minds the cases."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.research import Pipeline

__all__ = ["BackgroundWork"]

_DELIVERY_SECONDS = 5.0


class BackgroundWork:
    """Looks after a project until it is ended; lives in one event loop.

    Args:
        pipeline: the project's.
        tell: called with each line of the log.
    """

    def __init__(self, pipeline: Pipeline, tell: Callable[[str], object]) -> None:
        self._pipeline = pipeline
        self._tell = tell
        self._delivery: asyncio.Task[None] | None = None
        self._tending: asyncio.Task[None] | None = None
        self._noted: set[str] = set()
        self.undelivered = False
        """Whether something has happened that the logs do not know."""

    def start(self, *, tend: bool) -> None:
        """Begin; `tend` says whether to look after the questions that wait for a human, too."""
        self._delivery = asyncio.create_task(self._deliver_now_and_then())
        if tend:
            self._tending = asyncio.create_task(self._tend())

    async def end(self) -> None:
        """End what goes on; what the logs do not know yet is the caller's to hand over."""
        if self._delivery is not None:
            self._delivery.cancel()
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.wait([self._tending])

    def committed(self) -> tuple[str, ...]:
        """Commit what waits for a commit; notes of what could not be."""
        from kr_core.git.autocommit import commit_pending

        return commit_pending(self._pipeline.config)

    def delivered(self) -> list[str]:
        """Hand the logs what happened; notes of what could not be."""
        try:
            return self._pipeline.deliver_logs()
        except Exception as error:  # a log that is wrongly configured stops no answer
            return [str(error)]

    async def _tend(self) -> None:
        """Do what is due for questions that wait for a human, whoever has put them."""
        from kr_core.ask.async_service import AsyncKnowledgeRouterService

        service = AsyncKnowledgeRouterService(self._pipeline)  # never closed: the pipeline is the caller's
        try:
            await service.keep_tending(lambda note: self._tell(f"[KR-TEAM] note: {note}"))
        except Exception as error:  # research is answered all the same
            self._tell(f"[KR-TEAM] note: what waits for a human is not looked after: {printable(str(error))}")

    async def _deliver_now_and_then(self) -> None:
        """Hand the logs what happened, since this process may live for days."""
        while True:
            await asyncio.sleep(_DELIVERY_SECONDS)
            if not self.undelivered:
                continue
            self.undelivered = False
            for note in await asyncio.to_thread(self.delivered):
                if note not in self._noted:
                    self._noted.add(note)
                    self._tell(f"[KR-TEAM] note: {note}")
