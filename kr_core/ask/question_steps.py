"""Questions that a program sends step by step: send, status, submit an answer, escalate."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from kr_core.agents import question_dependencies
from kr_core.agents.exchange import shortened, submitted, told
from kr_core.aio import consume_exception
from kr_core.config.plugin_names import DEFAULT_ESCALATIONS
from kr_core.errors import ConfigError
from kr_core.model.questions import AcceptedOrEscalate, AgentHandle, AgentStatus
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.agents.consensus import Consensus
    from kr_core.agents.exchange import Exchange
    from kr_core.agents.question_dispatch import AgentDispatcher
    from kr_core.ask.workflow import ExchangeStarter
    from kr_core.config import Config
    from kr_core.escalation.manager import EscalationManager
    from kr_core.model.questions import AgentState, Answer, EscalationRequest, Question

__all__ = ["JobTracker", "QuestionJob", "QuestionJobs"]


class QuestionJobs:
    """Does each step when a program calls for it.

    Args:
        config: the project's.
        starter: begins exchanges.
        dispatcher: asks agents.
        manager: keeps the cases.
    """

    def __init__(
        self,
        config: Config,
        starter: ExchangeStarter,
        dispatcher: AgentDispatcher,
        manager: EscalationManager,
    ) -> None:
        self._config = config
        self._starter = starter
        self._dispatcher = dispatcher
        self._manager = manager
        self._sent = JobTracker()

    async def send(self, question: Question) -> AgentHandle:
        """Send a question to its agents; see `AsyncKnowledgeRouterService.route_question`.

        Raises:
            ConfigError: it names a target that there is not, is under way already, or depends on a question without an answer.
        """
        sent = self._sent.of(question)
        if sent is not None and not sent.task.done():
            raise ConfigError(
                f"`{question.id}` is under way already",
                where="question",
                hint="give each question its own id",
            )
        known, held = await self._starter.before((question,))
        for (_, one), result in held.items():
            assert result.escalation is not None, "it waits for a human"
            raise ConfigError(
                f"`{question.id}` depends on `{one}`, which waits for a human as {result.escalation.id}",
                where="question",
                hint="send it when that is answered",
            )
        question_dependencies.check((question,), known)
        exchange = await self._starter.begin(
            question_dependencies.told_of(question, known) if question.depends_on else question
        )
        task = asyncio.ensure_future(self._dispatcher.consult_all(exchange))
        self._sent.add(QuestionJob(exchange, task))
        assert exchange.route is not None, "it was routed when it began"
        return AgentHandle(
            exchange_id=exchange.id, question_id=question.id, agent=exchange.route.agent, route=exchange.route
        )

    def status(self, handle: AgentHandle) -> AgentStatus:
        """How far a question is that was sent.

        Raises:
            ConfigError: none of this handle was.
        """
        return self._sent.by_handle(handle).status(handle)

    async def submit(self, answer: Answer) -> AcceptedOrEscalate:
        """Accept an answer to a question under way, or put it to a human; see `AsyncKnowledgeRouterService.submit_answer`.

        Raises:
            ConfigError: no question of this id is under way, it has its answer, or the agent of this one is none.
        """
        under_way = self._sent.to_answer(answer.question_id)
        own = self._own(under_way, answer)
        under_way.ended = True  # from here on nobody else may submit one
        try:
            exchange = under_way.exchange
            await under_way.stop()
            answer = answer if own else _received(exchange, answer)
            verdict = self._dispatcher.judge(exchange, answer, asked=own)
            request = None
            if not verdict.accepted:
                request = await self._manager.open(exchange, answer, verdict.reason, verdict.threshold)
            status = "accepted" if verdict.accepted else "escalated" if request else "failed"
            self._dispatcher.finish(exchange, status, answer, verdict.threshold, request)
            under_way.settle(answer, put=request is not None)
            await exchange.settled()
        except BaseException:
            under_way.ended = False
            raise
        return AcceptedOrEscalate(verdict=verdict, answer=shortened(answer, exchange.id), escalation=request)

    async def escalate(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Escalate a question to a human, with a tentative answer if there is one.

        Raises:
            ConfigError: there is no channel to a human, another question waits for one under the id of this, or the answer's
                agent is none.
        """
        waiting = await self._manager.waiting_for(question)
        if waiting is not None:
            return waiting
        under_way = self._sent.of(question)
        if under_way is not None and under_way.ended:
            under_way = None  # its exchange has its end; this is another one
        own = answer is not None and self._own(under_way, answer)
        exchange = under_way.exchange if under_way else await self._starter.begin(question)
        assert exchange.route is not None, "it was routed when it began"
        threshold, reason = exchange.route.threshold, "asked for"
        if answer is not None:
            answer = answer if own else _received(exchange, answer)
            verdict = self._dispatcher.judge(exchange, answer, asked=own)
            threshold = verdict.threshold
            reason = reason if verdict.accepted else verdict.reason
        weighed = under_way.weighed if under_way and answer is None else None
        alternatives = () if weighed is None else weighed.alternatives
        if under_way is not None:
            under_way.ended = True
            await under_way.stop()
        request = await self._manager.open(exchange, answer, reason, threshold, alternatives)
        if request is None:
            self._dispatcher.finish(exchange, "failed", answer, threshold)
            await exchange.settled()
            raise ConfigError(
                "there is no channel to a human",
                where=self._config.origin(("escalations",)),
                hint=f"name one, such as `escalations: [{DEFAULT_ESCALATIONS[0]}]`",
            )
        self._dispatcher.finish(exchange, "escalated", answer, threshold, request)
        if under_way is not None:
            under_way.settle(answer, put=True)
        await exchange.settled()
        return request

    def _own(self, under_way: QuestionJob | None, answer: Answer) -> bool:
        """Whether an answer that a program hands in is that of the agents that were asked.

        Raises:
            ConfigError: it is not, and names nobody who answers.
        """
        weighed = None if under_way is None else under_way.weighed
        if weighed is not None and answer in {weighed.answer, *weighed.alternatives}:
            return True
        self._dispatcher.check_answerer(answer.agent)
        return False

    async def end(self) -> None:
        """End what is under way; that is on the record."""
        running = self._sent.running()
        for one in running:
            one.task.cancel()
        if running:
            await asyncio.wait([one.task for one in running])
        for one in self._sent.cancelled():  # also by whoever cancels all tasks of a loop
            one.ended = True
            one.exchange.given_up(asyncio.CancelledError())


def _received(exchange: Exchange, answer: Answer) -> Answer:
    """An answer that a program hands in, and that is not the asked agents' own; on the record."""
    answer = submitted(answer)
    exchange.say("answer.received", **told(answer))
    return answer


_MAX_KEPT = 10_000
"""So many questions that were sent are known by their handles; of more, those that ended first are forgotten."""


@dataclass
class QuestionJob:
    """A question that was sent to its agents."""

    exchange: Exchange
    task: asyncio.Task[Consensus]
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
    def weighed(self) -> Consensus | None:
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
                said = "" if self.weighed is None else self.weighed.message
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


class JobTracker:
    """The questions that were sent; each is known by its id within its feature."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], QuestionJob] = {}

    def add(self, under_way: QuestionJob) -> None:
        """Know a question from now on."""
        question = under_way.exchange.question
        key = (question.feature_id, question.id)
        self._sent.pop(key, None)  # the latest is the last one
        self._sent[key] = under_way

        def finished(task: asyncio.Task[Consensus]) -> None:
            under_way.finished = dt.datetime.now(dt.UTC)
            consume_exception(task)

        under_way.task.add_done_callback(finished)
        more = len(self._sent) - _MAX_KEPT
        if more > 0:
            for one in list(islice((key for key, sent in self._sent.items() if sent.task.done()), more)):
                del self._sent[one]

    def of(self, question: Question) -> QuestionJob | None:
        """What was sent of a question; None where nothing was."""
        return self._sent.get((question.feature_id, question.id))

    def by_handle(self, handle: AgentHandle) -> QuestionJob:
        """What a handle stands for.

        Raises:
            ConfigError: nothing that is still known.
        """
        found = self._of_id(handle.question_id)
        return next((one for one in found if one.exchange.id == handle.exchange_id), None) or _none(
            handle.question_id
        )

    def to_answer(self, question_id: str) -> QuestionJob:
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
                hint="send it again with route_question",
            )
        if len(waiting) > 1:
            features = sorted(one.exchange.question.feature_id for one in waiting)
            raise ConfigError(
                f"`{question_id}` is under way for several features: {', '.join(features)}",
                where="question_id",
                hint="give each question its own id",
            )
        return waiting[0]

    def _of_id(self, question_id: str) -> list[QuestionJob]:
        return [sent for (_feature, name), sent in self._sent.items() if name == question_id]

    def running(self) -> list[QuestionJob]:
        """Those whose agents are at work."""
        return [one for one in self._sent.values() if not one.task.done()]

    def cancelled(self) -> list[QuestionJob]:
        """Those whose agents were stopped, and whose exchange has no end on the record."""
        return [one for one in self._sent.values() if one.task.cancelled() and not one.ended]


def _none(question_id: str) -> QuestionJob:
    raise ConfigError(
        f"no question `{question_id}` is under way",
        where="question_id",
        hint="send it with route_question",
    )
