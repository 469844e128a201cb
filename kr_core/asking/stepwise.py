"""The way of a question in steps, for a program that goes them by itself: sent, answered, accepted or put to a human."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kr_core.asking import depends
from kr_core.asking.answering import shortened, submitted
from kr_core.asking.exchange import told
from kr_core.asking.sent import Sent, UnderWay
from kr_core.errors import ConfigError
from kr_core.model.questions import AcceptedOrEscalate, AgentHandle

if TYPE_CHECKING:
    from kr_core.asking.answering import Asking
    from kr_core.asking.beginning import Beginning
    from kr_core.asking.escalating import Escalating
    from kr_core.asking.exchange import Exchange
    from kr_core.config import Config
    from kr_core.model.questions import AgentStatus, Answer, EscalationRequest, Question

__all__ = ["Stepwise"]


class Stepwise:
    """Goes the steps that a program calls for.

    Args:
        config: the project's.
        beginning: begins exchanges.
        asking: asks agents.
        escalating: keeps the cases.
    """

    def __init__(self, config: Config, beginning: Beginning, asking: Asking, escalating: Escalating) -> None:
        self._config = config
        self._beginning = beginning
        self._asking = asking
        self._escalating = escalating
        self._sent = Sent()

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
                todo="give each question its own id",
            )
        known, held = await self._beginning.before((question,))
        for (_, one), result in held.items():
            assert result.escalation is not None, "it waits for a human"
            raise ConfigError(
                f"`{question.id}` depends on `{one}`, which waits for a human as {result.escalation.id}",
                where="question",
                todo="send it when that is answered",
            )
        depends.check((question,), known)
        exchange = await self._beginning.begun(
            depends.told_of(question, known) if question.depends_on else question
        )
        task = asyncio.ensure_future(self._asking.consult_all(exchange))
        self._sent.add(UnderWay(exchange, task))
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
            verdict = self._asking.judge(exchange, answer, asked=own)
            request = None
            if not verdict.accepted:
                request = await self._escalating.open(exchange, answer, verdict.reason, verdict.threshold)
            status = "accepted" if verdict.accepted else "escalated" if request else "failed"
            self._asking.finish(exchange, status, answer, verdict.threshold, request)
            under_way.settle(answer, put=request is not None)
            await exchange.settled()
        except BaseException:
            under_way.ended = False
            raise
        return AcceptedOrEscalate(verdict=verdict, answer=shortened(answer, exchange.id), escalation=request)

    async def escalate(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Put a question, with a tentative answer if there is one, to a human.

        Raises:
            ConfigError: there is no way to a human, another question waits for one under the id of this, or the answer's
                agent is none.
        """
        waiting = await self._escalating.waiting_for(question)
        if waiting is not None:
            return waiting
        under_way = self._sent.of(question)
        if under_way is not None and under_way.ended:
            under_way = None  # its exchange has its end; this is another one
        own = answer is not None and self._own(under_way, answer)
        exchange = under_way.exchange if under_way else await self._beginning.begun(question)
        assert exchange.route is not None, "it was routed when it began"
        threshold, reason = exchange.route.threshold, "asked for"
        if answer is not None:
            answer = answer if own else _received(exchange, answer)
            verdict = self._asking.judge(exchange, answer, asked=own)
            threshold = verdict.threshold
            reason = reason if verdict.accepted else verdict.reason
        weighed = under_way.weighed if under_way and answer is None else None
        alternatives = () if weighed is None else weighed.alternatives
        if under_way is not None:
            under_way.ended = True
            await under_way.stop()
        request = await self._escalating.open(exchange, answer, reason, threshold, alternatives)
        if request is None:
            self._asking.finish(exchange, "failed", answer, threshold)
            await exchange.settled()
            raise ConfigError(
                "there is no way to a human",
                where=self._config.origin(("escalations",)),
                todo="name one, such as `escalations: [stdout]`",
            )
        self._asking.finish(exchange, "escalated", answer, threshold, request)
        if under_way is not None:
            under_way.settle(answer, put=True)
        await exchange.settled()
        return request

    def _own(self, under_way: UnderWay | None, answer: Answer) -> bool:
        """Whether an answer that a program hands in is that of the agents that were asked.

        Raises:
            ConfigError: it is not, and names nobody who answers.
        """
        weighed = None if under_way is None else under_way.weighed
        if weighed is not None and answer in {weighed.answer, *weighed.alternatives}:
            return True
        self._asking.check_answerer(answer.agent)
        return False

    async def end(self) -> None:
        """End what is under way; that is on the record."""
        running = self._sent.running()
        for one in running:
            one.task.cancel()
        if running:
            await asyncio.wait([one.task for one in running])
        for one in running:
            if one.task.cancelled() and not one.ended:
                one.exchange.given_up(asyncio.CancelledError())


def _received(exchange: Exchange, answer: Answer) -> Answer:
    """An answer that a program hands in, and that is not the asked agents' own; on the record."""
    answer = submitted(answer)
    exchange.say("answer.received", **told(answer))
    return answer
