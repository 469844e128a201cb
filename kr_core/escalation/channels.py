"""The channels as they are called: one call at a time, with a way out of the machine and a time limit.

Channels that have failed are left alone for a while; what is kept of each of them says for how long.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import httpx

from kr_core.errors import RequestError
from kr_core.escalation.sanitize import harmless_line
from kr_core.escalation.schedule import held_back, pause, time_of, time_text
from kr_core.model import Outcome
from kr_core.net.redaction import redacted
from kr_core.net.source_context import ConsultationContext
from kr_core.plugin_calls import fault_line, place_outside
from kr_core.protocols import Document, Ephemeral

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncIterator, Awaitable, Callable

    from kr_core.escalation.upkeep_summary import RunProgress
    from kr_core.protocols import DocumentStore, Escalation, EscalationContext
    from kr_core.research.pipeline import Pipeline

__all__ = [
    "CALL_SECONDS",
    "MAX_SAID_LENGTH",
    "ChannelBackoff",
    "ChannelState",
    "Channels",
    "is_whole",
    "left_alone",
    "said_of",
]

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


_KIND = "channel"
_WHOLE = frozenset({Outcome.timeout, Outcome.limited, Outcome.unavailable, Outcome.blocked})
"""Outcomes that say something about the channel rather than about one case."""
MAX_SAID_LENGTH = 200
_PATH = re.compile(r"(://[^/\s'\"]+)/[^\s'\"]*")


class ChannelState(NamedTuple):
    """What is kept of a channel itself."""

    mark: str = ""
    faults: int = 0
    again: dt.datetime | None = None
    """When it may be asked for anything again."""
    show_faults: int = 0
    show_again: dt.datetime | None = None
    """When it may be told to show or say something again; people's replies are heard meanwhile."""
    version: int = 0
    why: str = ""
    """How it failed last."""

    def held_back(self, now: dt.datetime) -> bool:
        """Whether it is to show and say nothing yet."""
        return held_back(self.again, now) or held_back(self.show_again, now)


class ChannelBackoff:
    """Keeps what is known of each channel.

    Args:
        journal: where; a function, since the first look opens it.
        now: the time.
    """

    def __init__(self, journal: Callable[[], DocumentStore], now: Callable[[], dt.datetime]) -> None:
        self._journal = journal
        self._now = now

    def failed(self, name: str, error: Exception, done: RunProgress, *, showing: bool = False) -> None:
        """Leave a channel alone for a while; where it failed to show something it is heard all the same, unless it asked for rest."""
        why = said_of(error)
        done.note(f"escalation {name}: {why}")
        done.failed.add(name)
        kept = self.state(name)._replace(why=why)
        asked = error.seconds if isinstance(error, RequestError) else None
        if showing:
            faults = kept.show_faults + 1
            kept = kept._replace(show_faults=faults, show_again=self._now() + pause(faults, asked))
        if not showing or (isinstance(error, RequestError) and error.outcome == Outcome.limited):
            faults = kept.faults + 1
            kept = kept._replace(faults=faults, again=self._now() + pause(faults, asked))
        self.save(name, kept)

    def state(self, name: str) -> ChannelState:
        """What is kept of a channel."""
        document = self._journal().document(_KIND, name)
        if document is None:
            return ChannelState()
        data = document.data
        times = {key: time_of(data.get(key)) for key in ("again", "show_again")}
        return ChannelState(**{**data, **times}, version=document.version)

    def save(self, name: str, kept: ChannelState) -> None:
        """Keep what is known of a channel; where another process was quicker, what it has kept stands."""
        data = {**kept._asdict(), "again": time_text(kept.again), "show_again": time_text(kept.show_again)}
        del data["version"]
        self._journal().change(Document(_KIND, name, "", kept.version + 1, data))


def is_whole(error: Exception) -> bool:
    """Whether an error says something about the channel rather than about one case."""
    if isinstance(error, RequestError):
        return error.outcome in _WHOLE
    return isinstance(error, TimeoutError)


def left_alone(kept: ChannelState) -> str:
    """Until when a channel is left alone, and why, as people are told."""
    until = max(again for again in (kept.again, kept.show_again) if again is not None)
    why = f": {kept.why}" if kept.why else ""
    return f"it failed, and is left alone until {until:%H:%M:%S} UTC{why}"


def said_of(error: Exception) -> str:
    """A channel's error in one line, without what looks like a secret, with the line of the plugin."""
    if isinstance(error, RequestError):
        return harmless_line(redacted(str(error)), MAX_SAID_LENGTH)
    said = fault_line(error)  # as HTTP clients say it: with the path of a webhook, which is its secret
    return harmless_line(redacted(_PATH.sub(r"\1/...", said)), MAX_SAID_LENGTH) + place_outside(error)
