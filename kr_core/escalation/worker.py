"""What is due for the cases of a project is done: they are shown, replies are heard, people are told and reminded.

Any process does it, as often as it likes, and several at once: each step is found from what is kept, one process at a time works
with one way to a human, and each change names the version that it changes. Whatever is interrupted is found again.

What is due for cases is done again and again while a process lives: every minute, when it is due, and when it is woken.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import suppress
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any

from kr_core.agents.question_dispatch import together
from kr_core.aio import shielded
from kr_core.errors import RequestError, StorageError
from kr_core.escalation import transitions
from kr_core.escalation.channels import ChannelBackoff, Channels, is_whole, left_alone, said_of
from kr_core.escalation.deadlines import Deadlines
from kr_core.escalation.inbound import ReplyIntake
from kr_core.escalation.schedule import Delivery, pause
from kr_core.escalation.upkeep_summary import RunProgress
from kr_core.model.event import Event
from kr_core.protocols import CaseView, Notice
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.escalation.case import Case
    from kr_core.escalation.case_repository import CaseUpdater
    from kr_core.protocols import Escalation

__all__ = ["AgentQueue", "EscalationWorker"]


_AT_A_TIME = 100
"""Calls of one channel before replies are heard again."""
_MAX_POLLS = 10
"""Of one channel, one after the other, that has more to tell than one call brings; the next look goes on."""
_TELL_SECONDS = 3.0
"""Whoever has replied waits so long for others to be told."""
_NO_CASE = {"exchange_id": "", "parent_id": None, "feature_id": "", "question_id": "", "escalation_id": ""}
"""What an event about no case has in place of it."""


class AgentQueue:
    """The cases whose agent is to be asked again: the worker puts them in, and `kr_core.ask` asks.

    A case is in it once. What it has to be asked with is in the case itself, so a queue that is lost costs only a look.
    """

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._filled = asyncio.Event()

    def put(self, escalation_id: str) -> None:
        """Ask the agent of a case; in the event loop's thread."""
        self._ids[escalation_id] = None
        self._filled.set()

    def take(self) -> list[str]:
        """All cases in the queue, oldest first; it is empty then."""
        ids, self._ids = list(self._ids), {}
        self._filled.clear()
        return ids

    async def filled(self) -> None:
        """Wait until there is a case."""
        await self._filled.wait()


class EscalationWorker:
    """Does what is due for the cases of a project.

    Args:
        updater: keeps them.
    """

    def __init__(self, updater: CaseUpdater) -> None:
        self.agents = AgentQueue()
        self._updater = updater
        self._pipeline = updater.pipeline
        self._now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)

    def now(self) -> dt.datetime:
        """The time, as everything about cases counts it."""
        return self._now()

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self._pipeline)

    @cached_property
    def _backoff(self) -> ChannelBackoff:
        return ChannelBackoff(lambda: self._pipeline.journal, self.now)

    @cached_property
    def _deadlines(self) -> Deadlines:
        return Deadlines(self._updater, self._backoff, self.now)

    @cached_property
    def _intake(self) -> ReplyIntake:
        return ReplyIntake(self._updater, self._channels, self._backoff, self.now, self._observe)

    # -- all that is due ------------------------------------------------------------------------------------

    async def run_once(self, done: RunProgress) -> None:
        """Do all that is due now, and put the agents that are to be asked again into the queue: they may take minutes.

        Raises:
            ConfigError: a channel is wrongly configured.
            StorageError: the journal cannot be used.
        """
        await self._delivered(done)
        standing = await shielded(self._updater.cases.standing)
        now = self._now()
        for one in standing:
            if one.owes_report and (note := await shielded(partial(self._updater.update_report, one.id))):
                done.note(note)
            if one.care.pending and self._deadlines.due(one, (), now).ask_again:
                self.agents.put(one.id)

    async def _delivered(self, done: RunProgress) -> None:
        channels, _, notes = self._channels.configured()
        for note in notes:
            done.note(note)
        deaf: set[str] = set()
        for polls in count(1):
            asked = [name for name in channels if name not in deaf]
            came = await together([self._intake.poll(name, channels[name], done) for name in asked])
            heard = dict(zip(asked, came, strict=True))
            deaf |= {name for name, told in heard.items() if told == "none"}
            behind = {name for name, told in heard.items() if told == "more"}
            look = partial(self._deadlines.apply_all, list(channels), deaf | behind, done)
            due_by = await shielded(look)
            more = await together(
                [self._work(name, channels[name], due_by.get(name, []), done) for name in channels]
            )
            if any(more) or (behind and polls < _MAX_POLLS):
                continue
            if due_by:  # what was done now is due again at another time
                await shielded(look)
            if behind:
                done.next = self._now()
            return

    async def receive(self, name: str, headers: Mapping[str, str], body: bytes) -> int:
        """Apply what a service tells that calls by itself; how many replies were new.

        Raises:
            ConfigError: there is no such channel, or it accepts no webhooks.
            RequestError: the call is not the service's, cannot be understood, or cannot be heard now.
        """
        return await self._intake.receive(name, headers, body)

    # -- what is shown and said -----------------------------------------------------------------------------

    async def _work(
        self, name: str, channel: Escalation, escalation_ids: Sequence[str], done: RunProgress
    ) -> bool:
        """Show and say what is due by a channel, as far as it goes; whether there may be more."""
        if not escalation_ids:
            return False
        for escalation_id in escalation_ids[:_AT_A_TIME]:
            if not await self.attend(name, channel, escalation_id, done):
                return False
        return len(escalation_ids) > _AT_A_TIME

    async def attend(self, name: str, channel: Escalation, escalation_id: str, done: RunProgress) -> bool:
        """Show a case by a channel if that is due, and say what is owed; whether the channel can go on with other cases."""
        async with self._channels.turn(name) as mine:
            if not mine:
                done.note(f"escalation {name}: it is busy, and does the rest a little later")
                return False
            kept = await shielded(lambda: self._backoff.state(name))
            if kept.held_back(self._now()):
                done.note_pause(name, left_alone(kept))
                return False
            case = await shielded(lambda: self._updater.cases.get(escalation_id))
            found = self._deadlines.due(case.standing, [name], self._now())
            if name in found.show:
                going_on, case = await self._show(name, channel, case, done)
                if not going_on or case.care.at(name).revision < case.request.revision:
                    return going_on
            for notice in case.care.at(name).owed if not found.settled else ():
                if not await self._say(name, channel, case, notice, done):
                    return False
            if kept.show_faults:
                await shielded(
                    lambda: self._backoff.save(name, kept._replace(show_faults=0, show_again=None))
                )
            return True

    async def _show(self, name: str, channel: Escalation, case: Case, done: RunProgress) -> tuple[bool, Case]:
        revision = case.request.revision

        def tried(kept: Case) -> tuple[Case, list[Event]] | None:
            state = kept.care.at(name)
            return (
                None if state.tried == revision else (_with(kept, name, state._replace(tried=revision)), [])
            )

        def shown(place: str, kept: Case) -> tuple[Case, list[Event]]:
            state = kept.care.at(name)._replace(revision=revision, location=place, faults=0, again=None)
            changed = _with(kept, name, state)
            if kept.waits and kept.request.revision == revision:
                changed = changed._replace(
                    status="notified", care=changed.care._replace(seen=changed.care.seen or self._now())
                )
            return changed, [self._shown_event(case, name, place, None)]

        def nobody(kept: Case) -> tuple[Case, list[Event]]:
            state = kept.care.at(name)
            return _with(kept, name, state._replace(tried=state.revision)), []

        case = await self._changed(case, tried)
        place = case.care.at(name).location
        try:
            came = await self._channels.call(
                name, self._emitter(case), partial(channel.open, self._case(case, place))
            )
            if came is not None and not (isinstance(came, str) and came.strip()):
                raise TypeError(f"`open` returned {type(came).__name__} instead of where the case stands")
        except StorageError:
            raise
        except Exception as error:
            return await shielded(partial(self._failed_with, name, case, error, done)), case
        if came is None:  # nobody is there, for no case
            return False, await self._changed(case, nobody)
        done.count("shown")
        return True, await self._changed(case, partial(shown, printable(came)))

    async def _say(
        self, name: str, channel: Escalation, case: Case, notice: Notice, done: RunProgress
    ) -> bool:
        def said(kept: Case) -> tuple[Case, list[Event]]:
            state = kept.care.at(name)
            left = tuple(one for one in state.owed if one.id != notice.id)
            event = self._told_event(case, name, notice, None)
            return _with(kept, name, state._replace(owed=left, faults=0, again=None)), [event]

        place = case.care.at(name).location
        try:
            await self._channels.call(
                name, self._emitter(case), partial(channel.acknowledge, self._case(case, place), notice)
            )
        except StorageError:
            raise
        except Exception as error:
            return await shielded(partial(self._failed_with, name, case, error, done, notice))
        done.count("told")
        await self._changed(case, said)
        return True

    def _case(self, case: Case, place: str | None) -> CaseView:
        return self._updater.shown(case.request)._replace(location=place)

    async def _changed(self, case: Case, change: Callable[[Case], tuple[Case, list[Event]] | None]) -> Case:
        return await shielded(lambda: self._updater.change(case.request.id, change, case))

    # -- one case at once -----------------------------------------------------------------------------------

    async def present(self, escalation_id: str) -> list[str]:
        """Show a case that was just put, by every channel whose turn it is; notes of those that could not."""
        channels, passing, notes = self._channels.configured()
        done = RunProgress()
        await together(
            [self._pass_by(name, channel, escalation_id, done) for name, channel in passing.items()]
        )
        await together(
            [self.attend(name, channel, escalation_id, done) for name, channel in channels.items()]
        )
        return [*notes, *done.notes]

    async def _pass_by(self, name: str, channel: Escalation, escalation_id: str, done: RunProgress) -> None:
        """Show a case to whoever sits here."""
        case = await shielded(lambda: self._updater.cases.get(escalation_id))
        if name not in self._deadlines.due(case.standing, [name], self._now()).show:
            return  # a later tier's
        place, fault = None, None
        try:
            place = await self._channels.call(
                name, self._emitter(case), partial(channel.open, self._case(case, None))
            )
        except Exception as error:
            fault = said_of(error)
            done.note(f"escalation {name}: {fault}")
        revision = case.request.revision

        def change(kept: Case) -> tuple[Case, list[Event]]:
            changed = kept
            if place is not None and kept.waits and kept.request.revision == revision:
                changed = changed._replace(status="notified")
            return changed, [self._shown_event(case, name, place, fault)]

        await self._changed(case, change)

    async def tell(self, escalation_id: str) -> None:
        """Let all channels say at once what they owe about a case; what cannot be said within some seconds is said later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_TELL_SECONDS):
                await self._tell(escalation_id)

    async def _tell(self, escalation_id: str) -> None:
        channels, passing, _ = self._channels.configured()
        case = await shielded(lambda: self._updater.cases.get(escalation_id))
        if not case.waits:
            await self._tell_here(case, passing)
        owing = [name for name in channels if case.care.at(name).owed]
        await together([self.attend(name, channels[name], escalation_id, RunProgress()) for name in owing])

    async def _tell_here(self, case: Case, passing: Mapping[str, Escalation]) -> None:
        """Tell whoever sits here that a case is decided."""
        notice = Notice(f"{case.request.id}-ended", "ended", transitions.ending(case))
        for name, channel in passing.items():
            try:
                await self._channels.call(
                    name, self._observe, partial(channel.acknowledge, self._case(case, None), notice)
                )
            except Exception:  # noqa: S112  the answer stands; who sits here sees that the case is decided
                continue

    # -- faults ---------------------------------------------------------------------------------------------

    def _failed_with(
        self, name: str, case: Case, error: Exception, done: RunProgress, notice: Notice | None = None
    ) -> bool:
        """Note that a channel failed with a case; whether it can go on with others."""
        told = said_of(error)
        note = f"{case.request.id} by escalation {name}: {told}" if notice else f"escalation {name}: {told}"
        whole = is_whole(error)
        if whole:
            self._backoff.failed(name, error, done, showing=True)
        else:
            done.note(note)
        asked = error.seconds if isinstance(error, RequestError) else None

        def change(kept: Case) -> tuple[Case, list[Event]]:
            state = kept.care.at(name)
            faults = state.faults + 1
            changed = _with(
                kept, name, state._replace(faults=faults, again=self._now() + pause(faults, asked))
            )
            if state.faults:
                return changed, []  # the first one is on record; there may be thousands
            if notice is None:
                return changed, [self._shown_event(case, name, None, told)]
            return changed, [self._told_event(case, name, notice, told)]

        self._updater.change(case.request.id, change)
        return not whole

    # -- what is said of it ---------------------------------------------------------------------------------

    def _emitter(self, case: Case) -> Callable[[str, dict[str, Any]], None]:
        """What a channel reports about a case goes on the record."""
        request = case.request

        def emit(kind: str, data: dict[str, Any]) -> None:
            event = transitions.event(case, kind, escalation_id=request.id, **data)
            self._pipeline.journal.append([event])
            self._updater.observed([event])

        return emit

    def _observe(self, kind: str, data: dict[str, Any]) -> None:
        """What a channel reports when it is asked for replies, every minute, only observers see."""
        self._updater.observed([Event(kind, "", {**_NO_CASE, **data})])

    @staticmethod
    def _shown_event(case: Case, name: str, place: str | None, error: str | None) -> Event:
        about = {"escalation_id": case.request.id, "revision": case.request.revision}
        return transitions.event(case, "escalation.shown", **about, channel=name, location=place, error=error)

    @staticmethod
    def _told_event(case: Case, name: str, notice: Notice, error: str | None) -> Event:
        about = {
            "escalation_id": case.request.id,
            "channel": name,
            "kind": notice.kind,
            "message": notice.message,
        }
        return transitions.event(case, "escalation.told", **about, error=error)


def _with(case: Case, name: str, state: Delivery) -> Case:
    return case._replace(care=case.care.with_channel(name, state))
