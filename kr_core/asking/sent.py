"""Questions that a program has sent step by step: what is under way, and how far it is."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError
from kr_core.model.questions import AgentStatus
from kr_core.pipeline.running import heard
from kr_core.printable import printable

if TYPE_CHECKING:
    from kr_core.asking.exchange import Exchange
    from kr_core.asking.several import Weighed
    from kr_core.model.questions import AgentHandle, AgentState, Answer, Question

__all__ = ["Sent", "UnderWay"]

_MOST_KEPT = 10_000
"""So many questions that were sent are known by their handles; of more, those that ended first are forgotten."""


@dataclass
class UnderWay:
    """A question that was sent to its agents."""

    exchange: Exchange
    task: asyncio.Task[Weighed]
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    finished: dt.datetime | None = None
    ended: bool = False
    """Whether its exchange has its end on the record: an answer was submitted, or it was put to a human."""
    given: Answer | None = None
    """What was submitted while the agents were at work."""
    put: bool = False
    """Whether it was put to a human while they were at work."""

    async def stop(self) -> None:
        """End its agents, for whose answer nobody waits any more; those that have answered are left as they are."""
        if not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})

    def settle(self, answer: Answer | None, *, put: bool) -> None:
        """Keep how it was settled, where that was not by its agents."""
        if self.task.cancelled():
            self.given, self.put = answer, put

    @property
    def weighed(self) -> Weighed | None:
        """What came of it; None while nothing did, or where it failed."""
        done = self.task.done() and not self.task.cancelled() and self.task.exception() is None
        return self.task.result() if done else None

    def status(self, handle: AgentHandle) -> AgentStatus:
        """How far it is."""
        state: AgentState = "running"
        answer, error = None, ""
        if handle.agent is None or (self.put and self.given is None):
            state = "waiting_for_human"
        elif self.given is not None:
            state, answer = "succeeded", self.given
        elif self.task.done():
            raised = None if self.task.cancelled() else self.task.exception()
            answer = None if self.weighed is None else self.weighed.answer
            if answer is None:
                said = "" if self.weighed is None else self.weighed.said
                failed = self.exchange.notes[-1] if self.exchange.outcomes else "cancelled"
                error = str(raised or said or failed)
            timed_out = not raised and self.exchange.outcomes[-1:] == ["timeout"]
            state = "succeeded" if answer else "timed_out" if timed_out else "failed"
        return AgentStatus(
            state=state,
            agent=handle.agent,
            started=self.started,
            finished=None if handle.agent is None else self.finished,
            answer=answer,
            error=printable(error),
        )


class Sent:
    """The questions that were sent; each is known by its id within its feature."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], UnderWay] = {}
        self._features: dict[str, set[str]] = {}

    def add(self, under_way: UnderWay) -> None:
        """Know a question from now on."""
        question = under_way.exchange.question
        key = (question.feature_id, question.id)
        self._sent.pop(key, None)  # the latest is the last one
        self._sent[key] = under_way
        self._features.setdefault(question.id, set()).add(question.feature_id)

        def finished(task: asyncio.Task[Weighed]) -> None:
            under_way.finished = dt.datetime.now(dt.UTC)
            heard(task)

        under_way.task.add_done_callback(finished)
        more = len(self._sent) - _MOST_KEPT
        if more > 0:
            for one in list(islice((key for key, sent in self._sent.items() if sent.task.done()), more)):
                self._forget(one)

    def _forget(self, key: tuple[str, str]) -> None:
        del self._sent[key]
        feature_id, question_id = key
        self._features[question_id].discard(feature_id)
        if not self._features[question_id]:
            del self._features[question_id]

    def of(self, question: Question) -> UnderWay | None:
        """What was sent of a question; None where nothing was."""
        return self._sent.get((question.feature_id, question.id))

    def by_handle(self, handle: AgentHandle) -> UnderWay:
        """What a handle stands for.

        Raises:
            ConfigError: nothing that is still known.
        """
        found = self._of_id(handle.question_id)
        return next((one for one in found if one.exchange.id == handle.exchange_id), None) or _none(
            handle.question_id
        )

    def to_answer(self, question_id: str) -> UnderWay:
        """The question that waits for an answer under an id.

        Raises:
            ConfigError: none of this id was sent, it has its answer, or several features have one.
        """
        found = self._of_id(question_id) or [_none(question_id)]
        waiting = [one for one in found if not one.ended]
        if not waiting:
            raise ConfigError(
                f"`{question_id}` has been answered, or put to a human, already",
                where="question_id",
                todo="send it again with route_question",
            )
        if len(waiting) > 1:
            features = sorted(one.exchange.question.feature_id for one in waiting)
            raise ConfigError(
                f"`{question_id}` is under way for several features: {', '.join(features)}",
                where="question_id",
                todo="give each question its own id",
            )
        return waiting[0]

    def _of_id(self, question_id: str) -> list[UnderWay]:
        return [
            self._sent[feature_id, question_id] for feature_id in sorted(self._features.get(question_id, ()))
        ]

    def running(self) -> list[UnderWay]:
        """Those whose agents are at work."""
        return [one for one in self._sent.values() if not one.task.done()]


def _none(question_id: str) -> UnderWay:
    raise ConfigError(
        f"no question `{question_id}` is under way",
        where="question_id",
        todo="send it with route_question",
    )
