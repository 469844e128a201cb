"""Does what `schedule.py` says is due: reminders, time limits, and the times of a clock that was set back."""

from __future__ import annotations

import datetime as dt
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kr_core.escalation import transitions
from kr_core.escalation.channels import left_alone
from kr_core.escalation.schedule import DueActions, due
from kr_core.model.time_limits import duration_text
from kr_core.protocols import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kr_core.escalation.case import Case
    from kr_core.escalation.case_repository import CaseUpdater
    from kr_core.escalation.channels import ChannelBackoff
    from kr_core.escalation.schedule import CaseSchedule
    from kr_core.escalation.upkeep_summary import RunProgress
    from kr_core.model.event import Event
    from kr_core.model.time_limits import TimeLimits
    from kr_core.routing.table import Table

__all__ = ["Deadlines"]


class Deadlines:
    """Looks through the cases, and does what the time alone asks for.

    Args:
        updater: keeps the cases.
        backoff: knows which channels are left alone.
        now: the time.
    """

    def __init__(self, updater: CaseUpdater, backoff: ChannelBackoff, now: Callable[[], dt.datetime]) -> None:
        self._updater = updater
        self._backoff = backoff
        self._now = now
        self._by_topic: tuple[Table | None, dict[str, TimeLimits]] = (None, {})

    def apply_all(
        self, channels: Sequence[str], deaf: Collection[str], done: RunProgress
    ) -> dict[str, list[str]]:
        """Do what is due by the time alone, and find what channels are to do: the ids of the cases.

        Those come first that have failed least often, and of them the oldest.
        """
        now = self._now()
        due_by: dict[str, list[tuple[int, str]]] = {}
        times = self._backoff_times(channels, done)
        for one in self._updater.cases.standing():
            found = self._applied(one, channels, deaf, done)
            for name in {*found.show, *found.say}:
                due_by.setdefault(name, []).append((one.care.at(name).faults, one.id))
            times.append(found.next)
        done.next = min((time for time in times if time is not None and time > now), default=None)
        by_faults = itemgetter(0)  # so that one that fails each time keeps no other one waiting
        return {name: [one for _, one in sorted(found, key=by_faults)] for name, found in due_by.items()}

    def _backoff_times(self, channels: Sequence[str], done: RunProgress) -> list[dt.datetime | None]:
        """When channels that failed may be tried again; a note for each that is left alone now."""
        states = {name: self._backoff.state(name) for name in channels}
        for name, state in states.items():
            if state.held_back(self._now()):
                done.note_pause(name, left_alone(state))
        return [again for state in states.values() for again in (state.again, state.show_again)]

    def _applied(
        self, case: CaseSchedule, channels: Sequence[str], deaf: Collection[str], done: RunProgress
    ) -> DueActions:
        """What is due for a case, once what is due by the time alone is done.

        Its time limit waits while a channel that may have shown it cannot be asked: somebody may have replied there.
        """
        found = self.due(case, channels, self._now())
        unheard = any(case.care.at(name).tried for name in deaf)
        end = "" if found.end == "use_answer" and unheard else found.end
        if found.end and not end:
            done.note(f"time limits that have passed wait until {', '.join(sorted(deaf))} can be asked")
        if found.behind or found.remind or end or found.settled:
            return self._pass(case.id, channels, done, may_end=bool(end))
        return found

    def _pass(
        self, escalation_id: str, channels: Sequence[str], done: RunProgress, *, may_end: bool
    ) -> DueActions:
        """Do for one case what is due by the time, as it is kept now; what is due then."""
        counts: list[str] = []

        def change(case: Case) -> tuple[Case, list[Event]] | None:
            counts.clear()
            now = self._now()
            found = self.due(case.standing, channels, now)
            changed, care = case, case.care
            events: list[Event] = []
            if found.settled and not care.settled:
                changed = case._replace(care=care._replace(settled=True))
            elif found.behind:
                since = min(case.since, now)
                changed = case._replace(care=care.not_after(now)._replace(since=since))
            elif found.end == "use_answer" and may_end:
                limit = self.limits(case.request.question.topic).timeout
                assert limit is not None, "it has passed"
                counts.append("expired")
                changed, events = transitions.expired(case, duration_text(limit))
            else:
                if found.end == "block" and may_end:
                    counts.append("timed_out")
                    care = care._replace(timed_out=True)
                    about = {"escalation_id": case.request.id, "revision": case.request.revision}
                    events.append(transitions.event(case, "escalation.timed_out", **about, policy="block"))
                if found.remind:
                    counts.append("reminded")
                    care, told = self._reminded(case, care, found, channels, now)
                    events.append(told)
                changed = case if care is case.care else case._replace(care=care)
            return None if changed is case else (changed, events)

        changed = self._updater.change(escalation_id, change)
        for what in counts:
            done.count(what)
        return self.due(changed.standing, channels, self._now())

    def _reminded(
        self, case: Case, care: Any, found: DueActions, channels: Sequence[str], now: dt.datetime
    ) -> Any:
        limits = self.limits(case.request.question.topic)
        later = {name for tier in limits.tiers if now - case.since < tier.after for name in tier.escalations}
        newly = found.tiers > care.tiers
        to = [name for name in channels if care.at(name).revision or (newly and name not in later)]
        number = care.reminders + 1
        waits = duration_text(_rounded(now - case.since))
        said = f"{case.request.id}@{case.request.revision} waits for a reply, for {waits} now"
        notice = Notice(f"{case.request.id}-reminder-{number}", "reminder", said, "", found.ask)
        care = care.owing(notice, to)._replace(reminded=now, reminders=number, tiers=found.tiers)
        about = {"escalation_id": case.request.id, "revision": case.request.revision}
        return care, transitions.event(case, "escalation.reminded", **about, channels=to, ask=list(found.ask))

    def due(self, standing: CaseSchedule, channels: Sequence[str], now: dt.datetime) -> DueActions:
        """What is due for a case."""
        return due(standing, self.limits(standing.topic), channels, now)

    def limits(self, topic: str) -> TimeLimits:
        """The limits that hold for a topic."""
        components = self._updater.pipeline.components
        table = components.table()
        if self._by_topic[0] is not table:  # rules may change while a program runs
            self._by_topic = (table, {})
        known = self._by_topic[1]
        if topic not in known:
            known[topic] = components.config.settings.escalation.overridden(table.limits(topic))
        return known[topic]


def _rounded(length: dt.timedelta) -> dt.timedelta:
    """A length of time as people say it: in its largest unit alone."""
    seconds = max(1, int(length.total_seconds()))
    unit = next((size for size in (86_400, 3_600, 60) if seconds >= 2 * size), 1)
    return dt.timedelta(seconds=seconds // unit * unit)
