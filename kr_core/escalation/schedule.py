"""What is due for a case at a time: who is to be shown it, told, reminded, and whether nobody has answered in time.

Pure: what was done for a case comes in, and what is to be done now goes out. No process sleeps until something is due; any
process finds it by the time, so that a restart changes nothing but the time.

Clocks are set. Where one was set back, what lies in the future by it is counted from now; where it was set forward, or nobody
looked for long, each thing is due once, not as often as it would have been.
"""

from __future__ import annotations

import datetime as dt
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.model.limits import Limits
    from kr_core.protocols import Notice

__all__ = [
    "KEPT_OPEN",
    "MAX_PAUSE_LENGTH",
    "WAITING",
    "CaseActions",
    "CaseSchedule",
    "Delivery",
    "DueActions",
    "PendingRequest",
    "due",
    "pause",
]

WAITING = ("open", "notified")
"""The states in which a case waits for a human."""
KEPT_OPEN = dt.timedelta(days=7)
"""How long sinks hear replies to a case that is decided, to refuse them with the reason."""
MAX_PAUSE_LENGTH = dt.timedelta(hours=1)
"""What failed is tried again after that at the latest, whatever was asked for."""
_FIRST_PAUSE, _MAX_DOUBLED = 30.0, 300.0


class Delivery(NamedTuple):
    """What a way to a human has of a case."""

    revision: int = 0
    """The last one that it has shown; 0 for none."""
    location: str | None = None
    """Where, as it said."""
    tried: int = 0
    """The last one that it was told to show: what is more than `revision` may be shown, or not."""
    owed: tuple[Notice, ...] = ()
    """What it has to say yet, in order."""
    faults: int = 0
    """How often it failed since it last did not."""
    again: dt.datetime | None = None
    """When it may be tried again."""


class PendingRequest(NamedTuple):
    """An agent that is to be asked again, with what a human has added."""

    by: str
    content: str
    revision: int
    faults: int = 0
    again: dt.datetime | None = None


class CaseActions(NamedTuple):
    """What was done for a case beside showing it."""

    since: dt.datetime | None = None
    """When its present revision was put to a human; None for when it was opened."""
    seen: dt.datetime | None = None
    """When a way to a human first showed the present revision."""
    reminded: dt.datetime | None = None
    reminders: int = 0
    """Of all revisions."""
    tiers: int = 0
    """How many tiers were asked about this revision."""
    timed_out: bool = False
    """Whether the time limit of this revision has passed."""
    decided: dt.datetime | None = None
    late: dt.datetime | None = None
    """When somebody replied last whose reply came after all was said: they are told so."""
    pending: PendingRequest | None = None
    settled: bool = False
    """Whether it is decided, and nobody needs to look at it any more."""
    sinks: Mapping[str, Delivery] = MappingProxyType({})
    heard: tuple[str, ...] = ()
    """The replies that were dealt with, as sink and external id."""
    told: Mapping[str, int] = MappingProxyType({})
    """How often somebody was told that a reply was refused, or how to write one."""

    def at(self, sink: str) -> Delivery:
        """What a sink has of the case."""
        return self.sinks.get(sink, Delivery())

    def with_sink(self, sink: str, state: Delivery) -> CaseActions:
        """The same with another state of a sink."""
        return self._replace(sinks={**self.sinks, sink: state})

    def not_after(self, now: dt.datetime) -> CaseActions:
        """The same, with now in place of times that lie in the future, since the clock was set back."""
        seen = None if self.seen is None else min(self.seen, now)
        reminded = None if self.reminded is None else min(self.reminded, now)
        return self._replace(seen=seen, reminded=reminded)

    def owing(self, notice: Notice, sinks: Iterable[str]) -> CaseActions:
        """The same, with something that sinks have to say; no reminder waits behind it, nor two of them."""
        care = self
        for name in sinks:
            state = care.at(name)
            left = tuple(one for one in state.owed if one.kind != "reminder" and one.id != notice.id)
            care = care.with_sink(name, state._replace(owed=(*left, notice)))
        return care


class CaseSchedule(NamedTuple):
    """A case as far as it decides what is due."""

    id: str
    status: str
    revision: int
    topic: str
    opened: dt.datetime
    has_answer: bool
    """Whether there is one tentative answer that could be used."""
    care: CaseActions

    @property
    def waits(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status in WAITING

    @property
    def since(self) -> dt.datetime:
        """When the present revision was put to a human."""
        return self.care.since or self.opened


class DueActions(NamedTuple):
    """What is to be done for a case now."""

    show: tuple[str, ...] = ()
    """Sinks that are to show it."""
    say: tuple[str, ...] = ()
    """Sinks that have something to say about it, and may."""
    behind: bool = False
    """Whether times of it lie in the future, since the clock was set back; they become now."""
    remind: bool = False
    ask: tuple[str, ...] = ()
    """Whom the reminder is meant for."""
    tiers: int = 0
    """How many tiers have been reached."""
    end: Literal["", "block", "use_answer"] = ""
    """What follows, where the time limit has passed just now."""
    ask_again: bool = False
    """Whether the agent is to be asked again."""
    settled: bool = False
    """Whether it is decided, and all is said: nobody needs to look at it any more."""
    next: dt.datetime | None = None
    """When something will be due by the time alone, if nothing changes."""


def pause(faults: int, seconds: float | None = None) -> dt.timedelta:
    """How long to leave alone what failed so many times; at least so long as it asked for, within bounds."""
    doubled = min(_FIRST_PAUSE * 2.0 ** min(faults - 1, 10), _MAX_DOUBLED)
    return min(dt.timedelta(seconds=max(doubled, seconds or 0.0)), MAX_PAUSE_LENGTH)


def held_back(again: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether something is left alone still; a time that is too far off is of a clock that was set back."""
    return again is not None and now < again <= now + MAX_PAUSE_LENGTH


def due(case: CaseSchedule, limits: Limits, sinks: Sequence[str], now: dt.datetime) -> DueActions:
    """What is due for a case.

    Args:
        case: as it is kept.
        limits: that hold for it.
        sinks: the ways to a human that there are, by name.
        now: with its time zone.
    """
    if not case.waits:
        return _decided(case, sinks, now)
    care = case.care
    times = [one for one in (case.since, care.seen, care.reminded) if one is not None]
    if any(one > now for one in times):
        return DueActions(behind=True, next=now)
    tiers = sorted(limits.tiers, key=lambda tier: tier.after)
    reached = [tier for tier in tiers if now - case.since >= tier.after]
    later = {name for tier in tiers[len(reached) :] for name in tier.escalations}
    later -= {name for tier in reached for name in tier.escalations}
    there = [name for name in sinks if name not in later or care.at(name).revision]
    show = [name for name in there if care.at(name).revision < case.revision]
    say = [name for name in there if care.at(name).owed]
    remind = _reminder_at(case, limits)
    newly = [tier for tier in reached[care.tiers :] if tier.ask and there]
    expired = limits.timeout is not None and now - case.since >= limits.timeout and care.pending is None
    uses = limits.on_timeout == "use_answer" and case.has_answer
    marks = [case.since + tier.after for tier in tiers[len(reached) :]]
    marks += [remind] if remind is not None else []
    if limits.timeout is not None and not (care.timed_out or care.pending):
        marks.append(case.since + limits.timeout)
    marks += [again for name in {*show, *say} if (again := care.at(name).again) is not None]
    marks += [care.pending.again] if care.pending and care.pending.again else []
    return DueActions(
        show=tuple(name for name in show if not held_back(care.at(name).again, now)),
        say=tuple(name for name in say if not held_back(care.at(name).again, now)),
        remind=bool(newly) or (remind is not None and remind <= now),
        ask=next((tier.ask for tier in reversed(reached) if tier.ask), ()),
        tiers=len(reached),
        end="" if not expired or (care.timed_out and not uses) else "use_answer" if uses else "block",
        ask_again=care.pending is not None and not held_back(care.pending.again, now),
        next=min((mark for mark in marks if mark > now), default=None),
    )


def _reminder_at(case: CaseSchedule, limits: Limits) -> dt.datetime | None:
    """When people are to be reminded; None where they are not, as long as nobody has seen it by a way that reminds."""
    seen = case.care.seen
    if limits.remind_every is None or seen is None:
        return None
    return max(seen, case.care.reminded or seen) + limits.remind_every


def _decided(case: CaseSchedule, sinks: Sequence[str], now: dt.datetime) -> DueActions:
    care = case.care
    show = [name for name in sinks if care.at(name).tried > care.at(name).revision]
    say = [name for name in sinks if care.at(name).owed]
    last = care.late or care.decided
    old = last is None or now - last >= KEPT_OPEN
    settled = old or not any(state.tried for state in care.sinks.values())
    marks = [again for name in {*show, *say} if (again := care.at(name).again) is not None and again > now]
    return DueActions(
        show=() if settled else tuple(name for name in show if not held_back(care.at(name).again, now)),
        say=() if settled else tuple(name for name in say if not held_back(care.at(name).again, now)),
        settled=settled,
        next=None if settled else min(marks, default=None),
    )
