"""The project that a server answers for: opened when it is first needed, closed when the server ends."""

from __future__ import annotations

import asyncio
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.model import Event
    from kr_core.research import Pipeline
    from kr_core.team.resident import Resident

__all__ = ["ServedProject", "told_to"]

told_to: ContextVar[Callable[[Event], object] | None] = ContextVar("told_to", default=None)
"""Who is told of the events of the call that is under way; each call has its own, in all of its tasks and threads."""

_DELIVERY_SECONDS = 1.0
"""Logs are handed the events of so long a time together."""


class ServedProject:
    """A project's pipeline and service.

    Args:
        config: the configuration file; found from the folder if None.
        folder: where the project is; the working folder if None.
    """

    def __init__(self, config: Path | None = None, folder: Path | None = None) -> None:
        self._config = config
        self._folder = folder
        self._service: AsyncKnowledgeRouterService | None = None
        self._opening = asyncio.Lock()
        self._delivery: asyncio.Task[None] | None = None
        self._tending: asyncio.Task[None] | None = None
        self._resident: Resident | None = None

    async def service(self) -> AsyncKnowledgeRouterService:
        """The service, opened by the first call; one that could not be opened is tried again by the next.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
        """
        if self._service is None:
            from kr_core.aio import shielded

            async with self._opening:
                if self._service is None:
                    self._service = await shielded(self._opened, lambda service: service.pipeline.close())
                    self._tending = asyncio.create_task(_tend(self._service))
        return self._service

    async def pipeline(self) -> Pipeline:
        """The pipeline.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
        """
        return (await self.service()).pipeline

    async def resident(self) -> Resident:
        """What answers the requests of a team, within one budget for each story as long as the server lives.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
        """
        pipeline = await self.pipeline()
        async with self._opening:
            if self._resident is None:
                from kr_core.team.resident import Resident

                resident = Resident(pipeline, tell=lambda line: print(line, file=sys.stderr))
                await resident.start(tend=False)
                self._resident = resident
        return self._resident

    def _opened(self) -> AsyncKnowledgeRouterService:
        from kr_core.ask.async_service import AsyncKnowledgeRouterService
        from kr_core.config.template_trust import unused_note
        from kr_core.research import Pipeline

        pipeline = Pipeline.open(self._config, folder=self._folder, on_event=_tell)
        if note := unused_note(pipeline.config.root, pipeline.config.environ):
            print(printable(f"note: {note}"), file=sys.stderr)
        return AsyncKnowledgeRouterService(pipeline)

    def used(self) -> None:
        """Hand the logs, a little later, what a call has said."""
        if self._service is not None and (self._delivery is None or self._delivery.done()):
            self._delivery = asyncio.create_task(self._deliver_later(self._service))

    async def _deliver_later(self, service: AsyncKnowledgeRouterService) -> None:
        await asyncio.sleep(_DELIVERY_SECONDS)
        await _deliver(service)

    async def close(self) -> None:
        """End what is under way, hand the logs the rest, and let go of the journal."""
        for task in (self._delivery, self._tending):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        resident, self._resident = self._resident, None
        if resident is not None:
            resident.abandon()
            await resident.shut_down()
        service, self._service = self._service, None
        if service is None:
            return
        try:
            await _deliver(service)
        finally:
            await service.close()


async def _tend(service: AsyncKnowledgeRouterService) -> None:
    """Do what is due for questions that wait for a human, as long as the server lives; none waits in an untouched project."""
    from kr_core.ask.worker_loop import TEND_SECONDS

    while not service.pipeline.config.state_folder.is_dir():  # noqa: ASYNC110  nobody tells when another process makes it
        await asyncio.sleep(TEND_SECONDS)
    try:
        await service.keep_tending(lambda note: print(f"note: {printable(note)}", file=sys.stderr))
    except Exception as error:  # the tools answer all the same
        print(f"note: what waits for a human is not looked after: {printable(str(error))}", file=sys.stderr)


async def _deliver(service: AsyncKnowledgeRouterService) -> None:
    from kr_core.aio import shielded

    try:
        notes = await shielded(service.pipeline.deliver_logs)
    except Exception as error:  # a log that fails is no reason to answer nobody any more
        notes = [f"{type(error).__name__}: {error}"]
    for note in notes:
        print(printable(f"kr: {note}"), file=sys.stderr)


def _tell(event: Event) -> None:
    tell = told_to.get()
    if tell is not None:
        tell(event)
