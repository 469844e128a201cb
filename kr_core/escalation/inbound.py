"""What people have written by the channels is applied, asked for or brought by a service's call: each reply once."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from kr_core.aio import shielded
from kr_core.errors import ConfigError, RequestError, StorageError
from kr_core.escalation import transitions
from kr_core.escalation.channels import MAX_SAID_LENGTH, left_alone
from kr_core.escalation.sanitize import harmless_line
from kr_core.escalation.schedule import held_back
from kr_core.escalation.upkeep_summary import RunProgress
from kr_core.model import Outcome
from kr_core.model.questions import HumanResponse
from kr_core.protocols import HumanReply, OpenCase, PollResult, Receiver, UnparsedReply, Verifier

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.escalation.case import Case
    from kr_core.escalation.case_repository import CaseUpdater
    from kr_core.escalation.channels import ChannelBackoff, Channels
    from kr_core.model.event import Event
    from kr_core.protocols import Escalation

    Heed = Literal["all", "more", "none"]
    """What a channel has told: all that was written, so much that there may be more, or nothing that counts as all."""

__all__ = ["ReplyIntake"]

_IN_A_CHANGE = 100
"""Replies to one case that are applied in one transaction."""
_RECEIVE_SECONDS = 8.0
"""A service that calls waits for an answer for ten seconds or so."""


class ReplyIntake:
    """Hears what people have written.

    Args:
        updater: keeps the cases.
        channels: the channels.
        backoff: knows which of them are left alone.
        now: the time.
        observe: is told what a channel reports that is about no case.
    """

    def __init__(
        self,
        updater: CaseUpdater,
        channels: Channels,
        backoff: ChannelBackoff,
        now: Callable[[], dt.datetime],
        observe: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._updater = updater
        self._channels = channels
        self._backoff = backoff
        self._now = now
        self._observe = observe

    async def poll(self, name: str, channel: Escalation, done: RunProgress) -> Heed:
        """Apply what people have written by a channel; how much of it that is."""
        async with self._channels.turn(name) as mine:
            if not mine:
                done.note(f"escalation {name}: it is busy, and does the rest a little later")
                return "none"
            kept = await shielded(lambda: self._backoff.state(name))
            if held_back(kept.again, self._now()):
                done.note_pause(name, left_alone(kept))
                return "none"
            shown = await shielded(lambda: self._shown(name))
            if not shown:
                return "all"
            try:
                heard = await self._channels.call(
                    name, self._observe, partial(channel.poll, shown, kept.mark)
                )
                replies = _checked(heard)
            except StorageError:
                raise
            except Exception as error:
                await shielded(partial(self._backoff.failed, name, error, done))
                return "none"
            await shielded(lambda: self._apply(name, replies, done))
            if heard.mark != kept.mark or kept.faults:
                await shielded(
                    lambda: self._backoff.save(name, kept._replace(mark=heard.mark, faults=0, again=None))
                )
            if heard.complete:
                return "all"
            return "none" if heard.mark == kept.mark else "more"

    async def receive(self, name: str, headers: Mapping[str, str], body: bytes) -> int:
        """Apply what a service tells that calls by itself; how many replies were new.

        Raises:
            ConfigError: there is no such channel, or it accepts no webhooks.
            RequestError: the call is not the service's, cannot be understood, or cannot be heard now.
        """
        channel = self._channels.configured()[0].get(name)
        if not isinstance(channel, Receiver):
            raise ConfigError(
                f"no channel called `{name}` receives calls",
                where="escalations",
                hint="see `kr plugins list`",
            )
        if isinstance(channel, Verifier):
            # Anybody may call; nobody waits, and no case is read, for a call that is not the service's.
            channel.verify(headers, body)
        done = RunProgress()
        async with self._channels.turn(name, _RECEIVE_SECONDS) as mine:
            if not mine:
                raise RequestError(Outcome.unavailable, "another process works with it", where=name)
            shown = await shielded(lambda: self._shown(name))
            try:
                heard = await self._channels.call(
                    name, self._observe, partial(channel.receive, shown, headers, body)
                )
            except TimeoutError as error:
                raise RequestError(Outcome.timeout, str(error), where=name) from error
            replies = _checked(heard)
            await shielded(lambda: self._apply(name, replies, done))
        return done.counts.get("applied", 0) + done.counts.get("refused", 0)

    def _shown(self, name: str) -> list[OpenCase]:
        found = []
        for one in self._updater.cases.standing():
            state = one.care.at(name)
            if state.revision:
                found.append(OpenCase(one.id, state.revision, state.location or "", one.waits))
        return found

    def _apply(self, name: str, replies: Sequence[HumanReply | UnparsedReply], done: RunProgress) -> None:
        """Apply replies, those to one case that follow each other in one transaction."""
        for escalation_id, group in groupby(replies, key=lambda reply: reply.escalation_id):
            several = list(group)
            for first in range(0, len(several), _IN_A_CHANGE):
                self._apply_to(name, escalation_id, several[first : first + _IN_A_CHANGE], done)

    def _apply_to(
        self, name: str, escalation_id: str, replies: Sequence[HumanReply | UnparsedReply], done: RunProgress
    ) -> None:
        counts: dict[str, int] = {}
        strange = False

        def apply(case: Case) -> tuple[Case, list[Event]] | None:
            nonlocal strange
            counts.clear()
            strange = not case.care.at(name).tried
            if strange:  # whoever may answer there has not seen it
                return None
            events: list[Event] = []
            now = case
            for reply in replies:
                if isinstance(reply, UnparsedReply):
                    said = transitions.note_unparsed(now, reply, name)
                    if said is not None:
                        now, events = said[0], [*events, *said[1]]
                    continue
                written = transitions.ReplyOrigin(name, reply.external_id)
                taken = transitions.apply_reply(now, transitions.clean(reply.response), written)
                if taken is not None:
                    now, events = taken[0], [*events, *taken[1]]
                    what = "refused" if taken[2] else "applied"
                    counts[what] = counts.get(what, 0) + 1
            return None if now is case else (now, events)

        try:
            self._updater.change(escalation_id, apply)
        except ConfigError:
            strange = True
        if strange:
            self._turn_away(name, escalation_id, replies, done)
        for what, number in counts.items():
            done.count(what, number)

    def _turn_away(
        self, name: str, escalation_id: str, replies: Sequence[HumanReply | UnparsedReply], done: RunProgress
    ) -> None:
        """Tell those who have replied to a case that a channel has never shown that there is none."""
        done.note(f"escalation {name}: it has shown no case `{escalation_id}`")
        said = f"there is no {harmless_line(escalation_id, MAX_SAID_LENGTH)} here"
        for reply in replies:
            if isinstance(reply, HumanReply) and reply.beside not in {"", escalation_id}:
                told = UnparsedReply(reply.beside, reply.response.by, "help", said, reply.external_id)
                self._apply_to(name, reply.beside, [told], done)


def _checked(heard: Any) -> Sequence[HumanReply | UnparsedReply]:
    if not isinstance(heard, PollResult):
        raise TypeError(f"it returned {type(heard).__name__} instead of kr_core.plugin.PollResult")
    if not isinstance(heard.mark, str):
        raise TypeError(f"its mark is {type(heard.mark).__name__} instead of a text")
    if not isinstance(heard.complete, bool):
        raise TypeError(f"`complete` is {type(heard.complete).__name__} instead of true or false")
    for reply in heard.replies:
        if not isinstance(reply, UnparsedReply) and not (
            isinstance(reply, HumanReply) and isinstance(reply.response, HumanResponse)
        ):
            raise TypeError(f"it brought {type(reply).__name__} instead of kr_core.plugin.HumanReply")
    return heard.replies
