"""Channels that have failed are left alone for a while; what is kept of each of them says for how long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import RequestError
from kr_core.escalation.sanitize import harmless_line
from kr_core.escalation.schedule import held_back, pause, time_of, time_text
from kr_core.model import Outcome
from kr_core.net.redaction import redacted
from kr_core.plugin_calls import fault_line, place_outside
from kr_core.protocols import Document

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from kr_core.escalation.upkeep_summary import RunProgress
    from kr_core.protocols import DocumentStore

__all__ = ["MAX_SAID_LENGTH", "ChannelBackoff", "ChannelState", "is_whole", "left_alone", "said_of"]

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
