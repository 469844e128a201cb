"""The channels as they are called: one call at a time, with a way out of the machine and a time limit."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import httpx

from kr_core.net.source_context import ConsultationContext
from kr_core.protocols import Ephemeral

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from kr_core.protocols import Escalation, EscalationContext
    from kr_core.research.pipeline import Pipeline

__all__ = ["CALL_SECONDS", "Channels"]

Result = TypeVar("Result")
CALL_SECONDS = 30.0
"""How long a channel may take for one thing; what it has not done then is tried again later."""
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)


class Channels:
    """The channels of one project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = (
            WeakKeyDictionary()
        )

    def configured(self) -> tuple[dict[str, Escalation], dict[str, Escalation], list[str]]:
        """Those that are owed what is due, those that show a case only to those who ask, and notes of what cannot be built.

        Raises:
            ConfigError: one is wrongly configured.
        """
        channels, notes = self._pipeline.components.escalations()
        passing: dict[str, Escalation] = {name: one for name, one in channels.items() if _is_momentary(one)}
        return {name: channel for name, channel in channels.items() if name not in passing}, passing, notes

    @asynccontextmanager
    async def turn(self, name: str, seconds: float = CALL_SECONDS) -> AsyncIterator[bool]:
        """Be the only one, of all processes, that works with a channel; False where that could not be in this time."""
        turns = self._turns.setdefault(asyncio.get_running_loop(), {})
        lock = turns.setdefault(name, asyncio.Lock())
        try:
            await asyncio.wait_for(lock.acquire(), seconds)
        except TimeoutError:
            yield False
            return
        try:
            async with self._pipeline.components.turns.wait(f"channels/{_safe(name)}", seconds) as mine:
                yield mine
        finally:
            lock.release()

    async def call(
        self,
        name: str,
        emit: Callable[[str, dict[str, Any]], None],
        work: Callable[[EscalationContext], Awaitable[Result]],
    ) -> Result:
        """Let a channel do something.

        Args:
            name: the channel's.
            emit: sees what it reports; its requests as `channel.request`.
            work: calls it with its context.

        Raises:
            TimeoutError: it took too long.
            Exception: what the channel raises.
        """

        def told(kind: str, data: dict[str, Any]) -> None:
            if kind == "source.request":
                rest = {key: value for key, value in data.items() if key != "source"}
                url = httpx.URL(str(data["url"]))
                host = f"{url.scheme}://{url.netloc.decode()}"  # the path of a webhook is its secret
                error = str(data["error"]).replace(str(data["url"]), host)
                kind, data = "channel.request", {"channel": name, **rest, "url": host, "error": error}
            emit(kind, data)

        deadline = asyncio.get_running_loop().time() + CALL_SECONDS
        pipeline = self._pipeline
        context = ConsultationContext(
            pipeline.project, told, deadline, pipeline.components.outside, f"escalation {name}"
        )
        limit = asyncio.timeout_at(deadline)
        try:
            async with limit:
                return await work(context)
        except TimeoutError:
            if not limit.expired():
                raise
            raise TimeoutError(f"took longer than {CALL_SECONDS:.0f} s") from None
        finally:
            await context.close()


def _safe(name: str) -> str:
    """A name as that of a file; people write names, and may write what is none."""
    return name if _NAME.fullmatch(name) and name.strip(".") else name.encode("utf-8", "replace").hex()[:200]


def _is_momentary(channel: Escalation) -> bool:
    return isinstance(channel, Ephemeral) and channel.momentary
