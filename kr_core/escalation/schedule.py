"""Says what is due for a case at a time, as pure functions: who shows it, who says something, reminders, the time limit.

Any process can ask at any time, so a restart changes nothing. Where the clock was set back, later times count from now; where it
was set forward, each thing is due once.
"""

from __future__ import annotations

import datetime as dt
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.model.time_limits import EscalationTier, TimeLimits
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
    "time_of",
    "time_text",
]

WAITING = ("open", "notified")
"""The states in which a case waits for a human."""
KEPT_OPEN = dt.timedelta(days=7)
"""How long channels hear replies to a case that is decided, to refuse them with the reason."""
MAX_PAUSE_LENGTH = dt.timedelta(hours=1)
"""What failed is tried again after that at the latest, whatever was asked for."""
_FIRST_PAUSE, _MAX_DOUBLED = 30.0, 300.0


class Delivery(NamedTuple):
    """What a channel has of a case."""

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
    """When a channel first showed the present revision."""
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
    channels: Mapping[str, Delivery] = MappingProxyType({})
    heard: tuple[str, ...] = ()
    """The replies that were dealt with, as channel and external id."""
    told: Mapping[str, int] = MappingProxyType({})
    """How often somebody was told that a reply was refused, or how to write one."""
    report: str = ""
    """What the decision did to the report of a research answer; empty while nothing is done."""

    def at(self, channel: str) -> Delivery:
        """What a channel has of the case."""
        return self.channels.get(channel, Delivery())

    def with_channel(self, channel: str, state: Delivery) -> CaseActions:
        """The same with another state of a channel."""
        return self._replace(channels={**self.channels, channel: state})

    def not_after(self, now: dt.datetime) -> CaseActions:
        """The same, with now in place of times that lie in the future, since the clock was set back."""
        seen = None if self.seen is None else min(self.seen, now)
        reminded = None if self.reminded is None else min(self.reminded, now)
        return self._replace(seen=seen, reminded=reminded)

    def owing(self, notice: Notice, channels: Iterable[str]) -> CaseActions:
        """The same, with something that channels have to say; no reminder waits behind it, nor two of them."""
        care = self
        for name in channels:
            state = care.at(name)
            left = tuple(one for one in state.owed if one.kind != "reminder" and one.id != notice.id)
            care = care.with_channel(name, state._replace(owed=(*left, notice)))
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
    owes_report: bool = False
    """Whether a human has decided about a research answer, and its report does not say so yet."""

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
    """Channels that are to show it."""
    say: tuple[str, ...] = ()
    """Channels that have something to say about it, and may."""
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


class DeliveriesDue(NamedTuple):
    """What channels are to do for a case now."""

    show: tuple[str, ...] = ()
    """Channels that are to show it."""
    say: tuple[str, ...] = ()
    """Channels that have something to say about it, and may."""
    times: tuple[dt.datetime, ...] = ()
    """When those that failed may be tried again."""


class ReminderDue(NamedTuple):
    """Whether people are to be reminded of a case."""

    due: bool
    ask: tuple[str, ...]
    """Whom the reminder is meant for."""
    tiers: int
    """How many tiers the case has reached."""
    times: tuple[dt.datetime, ...]
    """When the next tier or reminder is due."""


def pause(faults: int, seconds: float | None = None) -> dt.timedelta:
    """How long to leave alone what failed so many times; at least so long as it asked for, within bounds."""
    doubled = min(_FIRST_PAUSE * 2.0 ** min(faults - 1, 10), _MAX_DOUBLED)
    return min(dt.timedelta(seconds=max(doubled, seconds or 0.0)), MAX_PAUSE_LENGTH)


def held_back(again: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether something is left alone still; a time that is too far off is of a clock that was set back."""
    return again is not None and now < again <= now + MAX_PAUSE_LENGTH


def due(case: CaseSchedule, limits: TimeLimits, channels: Sequence[str], now: dt.datetime) -> DueActions:
    """All that is due for a case, and when to look next.

    Args:
        case: as the journal has it.
        limits: that hold for it.
        channels: the configured ones, by name.
        now: with its time zone.
    """
    if clock_was_set_back(case, now):
        return DueActions(behind=True, next=now)
    deliveries = deliveries_due(case, limits, channels, now)
    if not case.waits:
        return DueActions(
            deliveries.show, deliveries.say, settled=is_settled(case, now), next=_next(deliveries.times, now)
        )
    reminder = reminders_due(case, limits, channels, now)
    timed_out, expired = timeout_due(case, limits, now), expiry_due(case, limits, now)
    pending = case.care.pending
    times = [*deliveries.times, *reminder.times, *_limit_times(case, limits)]
    times += [pending.again] if pending and pending.again else []
    return DueActions(
        show=deliveries.show,
        say=deliveries.say,
        remind=reminder.due,
        ask=reminder.ask,
        tiers=reminder.tiers,
        end="use_answer" if expired else "block" if timed_out else "",
        ask_again=pending is not None and not held_back(pending.again, now),
        next=_next(times, now),
    )


def deliveries_due(
    case: CaseSchedule, limits: TimeLimits, channels: Sequence[str], now: dt.datetime
) -> DeliveriesDue:
    """Which channels are to show a case or to say something about it.

    A decided case is shown only where it may have been shown already: there people have to see how it ended.
    """
    care = case.care
    if case.waits:
        channels = _channels_reached(case, limits, channels, now)
        show = [name for name in channels if care.at(name).revision < case.revision]
    elif is_settled(case, now):
        return DeliveriesDue()
    else:
        show = [name for name in channels if care.at(name).tried > care.at(name).revision]
    say = [name for name in channels if care.at(name).owed]
    return DeliveriesDue(
        show=tuple(name for name in show if not held_back(care.at(name).again, now)),
        say=tuple(name for name in say if not held_back(care.at(name).again, now)),
        times=tuple(again for name in {*show, *say} if (again := care.at(name).again) is not None),
    )


def reminders_due(
    case: CaseSchedule, limits: TimeLimits, channels: Sequence[str], now: dt.datetime
) -> ReminderDue:
    """Whether people are to be reminded of a case that waits: by the span between reminders, or by a tier just reached."""
    reached, ahead = _tiers(case, limits, now)
    at = _reminder_at(case, limits)
    newly = any(tier.ask for tier in reached[case.care.tiers :])
    return ReminderDue(
        due=(newly and bool(_channels_reached(case, limits, channels, now)))
        or (at is not None and at <= now),
        ask=next((tier.ask for tier in reversed(reached) if tier.ask), ()),
        tiers=len(reached),
        times=(*(case.since + tier.after for tier in ahead), *(() if at is None else (at,))),
    )


def timeout_due(case: CaseSchedule, limits: TimeLimits, now: dt.datetime) -> bool:
    """Whether the time limit of this revision has passed just now, and the case goes on waiting."""
    return _limit_passed(case, limits, now) and not _uses_answer(case, limits) and not case.care.timed_out


def expiry_due(case: CaseSchedule, limits: TimeLimits, now: dt.datetime) -> bool:
    """Whether the time limit has passed, and the case ends with the agent's answer."""
    return _limit_passed(case, limits, now) and _uses_answer(case, limits)


def clock_was_set_back(case: CaseSchedule, now: dt.datetime) -> bool:
    """Whether times of a case that waits lie in the future."""
    times = (case.since, case.care.seen, case.care.reminded)
    return case.waits and any(time is not None and time > now for time in times)


def is_settled(case: CaseSchedule, now: dt.datetime) -> bool:
    """Whether a decided case needs no more looks: it is old, or no channel was ever told to show it."""
    if case.owes_report:
        return False
    last = case.care.late or case.care.decided
    old = last is None or now - last >= KEPT_OPEN
    return old or not any(state.tried for state in case.care.channels.values())


def _next(times: Iterable[dt.datetime], now: dt.datetime) -> dt.datetime | None:
    return min((time for time in times if time > now), default=None)


def _tiers(
    case: CaseSchedule, limits: TimeLimits, now: dt.datetime
) -> tuple[list[EscalationTier], list[EscalationTier]]:
    """The tiers that a case has reached, and those ahead of it."""
    tiers = sorted(limits.tiers, key=lambda tier: tier.after)
    reached = [tier for tier in tiers if now - case.since >= tier.after]
    return reached, tiers[len(reached) :]


def _channels_reached(
    case: CaseSchedule, limits: TimeLimits, channels: Sequence[str], now: dt.datetime
) -> list[str]:
    """The channels that may show a case: those of no later tier, and those that have shown it."""
    reached, ahead = _tiers(case, limits, now)
    later = {name for tier in ahead for name in tier.escalations}
    later -= {name for tier in reached for name in tier.escalations}
    return [name for name in channels if name not in later or case.care.at(name).revision]


def _reminder_at(case: CaseSchedule, limits: TimeLimits) -> dt.datetime | None:
    """When to remind people; None as long as no channel that reminds has shown the case."""
    seen = case.care.seen
    if limits.remind_every is None or seen is None:
        return None
    return max(seen, case.care.reminded or seen) + limits.remind_every


def _limit_passed(case: CaseSchedule, limits: TimeLimits, now: dt.datetime) -> bool:
    """Whether the time limit is over; not while the agent is asked again: then a human has said something."""
    return limits.timeout is not None and now - case.since >= limits.timeout and case.care.pending is None


def _limit_times(case: CaseSchedule, limits: TimeLimits) -> list[dt.datetime]:
    if limits.timeout is None or case.care.timed_out or case.care.pending:
        return []
    return [case.since + limits.timeout]


def _uses_answer(case: CaseSchedule, limits: TimeLimits) -> bool:
    return limits.on_timeout == "use_answer" and case.has_answer


def time_text(moment: dt.datetime | None) -> str | None:
    """A time as JSON has it."""
    return None if moment is None else moment.isoformat()


def time_of(text: str | None) -> dt.datetime | None:
    """The time that a text of `time_text` means."""
    return None if text is None else dt.datetime.fromisoformat(text)
