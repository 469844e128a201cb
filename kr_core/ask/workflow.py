"""Takes a question all the way: route, ask, gate, then accept or put to a human.

Of several callers that ask at once under one id, one asks and the others wait for its result.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from kr_core.agents import question_dependencies
from kr_core.agents.exchange import key
from kr_core.agents.question_dispatch import AGENT_UNAVAILABLE, together
from kr_core.aio import shielded
from kr_core.model.questions import AskResult
from kr_core.net.redaction import redacted
from kr_core.research.single_flight import turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from kr_core.agents.exchange import Exchange, Key
    from kr_core.agents.question_dependencies import PriorAnswer
    from kr_core.agents.question_dispatch import AgentDispatcher
    from kr_core.escalation.case import Case
    from kr_core.escalation.manager import EscalationManager
    from kr_core.model.event import Event
    from kr_core.model.questions import Question
    from kr_core.model.routing import Route
    from kr_core.research.pipeline import Pipeline
    from kr_core.turns import Turns

__all__ = ["AskWorkflow", "Claim", "ExchangeStarter"]


class Claim(Protocol):
    """A worker's claim to a question: it keeps a decision only if no other worker has claimed the question since."""

    def end(self, events: tuple[Event, ...]) -> Future[None]:
        """Keep how the exchange has ended; the future raises StorageError where another worker has taken over."""

    def reserve(self, case: Case) -> None:
        """Keep that the question is to wait in this case, which comes after.

        Raises:
            StorageError: another worker has taken over.
        """


class AskWorkflow:
    """Takes questions all the way.

    Args:
        starter: begins their exchanges.
        dispatcher: asks agents.
        manager: keeps the cases.
        turns: by which one sees what others ask.
    """

    def __init__(
        self,
        starter: ExchangeStarter,
        dispatcher: AgentDispatcher,
        manager: EscalationManager,
        turns: Turns,
    ) -> None:
        self._turns = turns
        self._starter = starter
        self._dispatcher = dispatcher
        self._manager = manager
        self._claims: dict[Key, Claim] = {}

    async def resume(self, question: Question, claim: Claim) -> AskResult:
        """Ask a question that may have been asked before, by a worker that died since; what came of it then counts.

        Args:
            question: with its id.
            claim: the worker's; it keeps a decision only if no other one has taken over.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written, or another worker has taken over.
        """
        async with turn(key(question), self._turns):
            waiting = await self._manager.waiting_of([question])
            if waiting:
                return self._manager.result_of(waiting[-1])
            known = await self._starter.answered(question)
            if known is not None:
                return known.result(question.id)
            self._claims[key(question)] = claim
            try:
                return (await self.ask_all((question,)))[0]
            finally:
                del self._claims[key(question)]

    async def ask(self, question: Question) -> AskResult:
        """Ask a question; see `AsyncKnowledgeRouterService.ask`.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written.
        """
        if "id" in question.model_fields_set:
            found = await self._earlier(question)  # which opens the journal, and so makes the state folder
            if found is not None:
                return found
            if question.suggested_target is None:
                async with turn(key(question), self._turns) as waited:
                    found = await self._earlier(question, asked_meanwhile=waited)
                    return found or (await self.ask_all((question,)))[0]
        elif not question.depends_on:
            return await self._asked(question)
        return (await self.ask_all((question,)))[0]

    async def ask_all(self, questions: Sequence[Question]) -> list[AskResult]:
        """Ask questions at the same time; see `AsyncKnowledgeRouterService.ask_all`.

        Raises:
            ConfigError: a question or the configuration is wrong; where ids are not unique, or dependencies cannot be met,
                nothing was asked.
            StorageError: the journal cannot be written.
        """
        known, held = await self._starter.before(questions)
        question_dependencies.check(questions, {*known, *held})
        for question in questions:
            self._dispatcher.check(question)
        asked = {key(question): question for question in questions}
        results: dict[Key, asyncio.Future[AskResult]] = {
            one: asyncio.get_running_loop().create_future() for one in asked
        }

        async def one(question: Question) -> AskResult:
            others = [(question.feature_id, other) for other in question.depends_on]
            came = {other: await results[other] for other in others if other in results}
            waited = [came.get(other) or held[other] for other in others if other in came or other in held]
            blocking = [result for result in waited if result.status not in question_dependencies.FINAL]
            if blocking:
                result = await self._held_up(question, blocking)
            else:
                now = {
                    other: question_dependencies.PriorAnswer(asked[other].text, result.answer)
                    for other, result in came.items()
                    if result.answer is not None
                }
                told = question_dependencies.told_of(question, {**known, **now}) if others else question
                result = await self._asked(told)
            results[key(question)].set_result(result)
            return result

        return await together([one(question) for question in questions])

    async def _earlier(self, question: Question, *, asked_meanwhile: bool = False) -> AskResult | None:
        """What a question has come to under its id: it waits for a human, or has a human's answer.

        None where it is to be asked: also where its caller says whom.

        Args:
            question: about to be asked.
            asked_meanwhile: somebody else was asking it, so that an agent's answer serves as well.

        Raises:
            ConfigError: another question waits under its id.
        """
        waiting = await self._manager.waiting_of([question])
        if question.suggested_target is not None:
            return None
        if waiting:
            held = self._manager.result_of(waiting[-1])
            note = f"not asked again: it waits for a human as {waiting[-1].request.id}"
            return held.model_copy(update={"notes": (*held.notes, note)})
        if not (asked_meanwhile or await self._manager.was_put(question)):
            return None
        known = await self._starter.answered(question)
        if known is None or not (asked_meanwhile or known.answer.validated_by):
            return None
        by = "a human has answered it" if known.answer.validated_by else "it was asked at the same time"
        return known.result(question.id).model_copy(update={"notes": (f"not asked again: {by}",)})

    async def _asked(self, question: Question) -> AskResult:
        exchange = await self._starter.begin(question)
        try:
            return await self._answered(exchange)
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def _answered(self, exchange: Exchange) -> AskResult:
        route = exchange.route
        assert route is not None, "it was routed when it began"
        weighed = await self._dispatcher.consult_all(exchange)
        claim = self._claims.get(key(exchange.question))
        if claim is not None:
            exchange.keep = claim.end
        answer = weighed.answer
        if answer is not None:
            verdict = self._dispatcher.judge(exchange, answer)
            if verdict.accepted:
                result = self._dispatcher.finish(exchange, "accepted", answer, verdict.threshold)
                await exchange.settled()
                await self._manager.supersede_waiting(exchange)
                return await self._dispatcher.hooks.answer_accepted(result, exchange.question)
            reason, threshold = verdict.reason, verdict.threshold
        elif weighed.alternatives:
            reason, threshold = weighed.message, route.threshold
        else:
            reason, threshold = AGENT_UNAVAILABLE if route.agent else route.reason, route.threshold
        reserve = None if claim is None else claim.reserve
        request = await self._manager.open(
            exchange, answer, reason, threshold, weighed.alternatives, reserve=reserve
        )
        if request is not None:
            exchange.keep = None  # the case is the decision
        status = "failed" if request is None else "escalated"
        result = self._dispatcher.finish(exchange, status, answer, threshold, request)
        await exchange.settled()
        return result

    async def _held_up(self, question: Question, blocking: Sequence[AskResult]) -> AskResult:
        """The result of a question that cannot be asked, since others have no answer yet; on the record, once."""
        failed = any(result.status == "failed" for result in blocking)
        first = next((result.escalation for result in blocking if result.escalation is not None), None)
        notes = [_blocked_by(result) for result in blocking]
        request = None if first is None or failed else first.model_copy(update={"reason": notes[-1]})
        before = None if request is None else await self._starter.put_off(question, request.id)
        if before is not None:
            exchange_id, route = before
            return AskResult(
                exchange_id=exchange_id,
                question_id=question.id,
                status="escalated",
                route=route,
                threshold=route.threshold,
                escalation=request,
                notes=tuple(notes),
            )
        exchange = await self._starter.begin(question)
        exchange.notes += notes
        assert exchange.route is not None, "it was routed when it began"
        status = "failed" if request is None else "escalated"
        held = self._dispatcher.finish(exchange, status, None, exchange.route.threshold, request)
        await exchange.settled()
        return held


def _blocked_by(result: AskResult) -> str:
    """Why a question is not asked that depends on another one."""
    waits = "" if result.escalation is None else f", which waits for a human as {result.escalation.id}"
    return f"not asked: it depends on `{result.question_id}`{waits or ', which failed'}"


class ExchangeStarter:
    """Begins exchanges in an event loop.

    Args:
        pipeline: the project's.
        dispatcher: opens them.
        manager: knows which questions wait for a human.
    """

    def __init__(self, pipeline: Pipeline, dispatcher: AgentDispatcher, manager: EscalationManager) -> None:
        self._pipeline = pipeline
        self._dispatcher = dispatcher
        self._manager = manager
        self._ready = False

    async def begin(self, question: Question) -> Exchange:
        """An exchange about a question, on the record and routed.

        Raises:
            ConfigError: the question is too long, or names a target that there is not; nothing is on the record.
        """
        if not self._ready:  # the first one opens the journal, which is a file
            await shielded(lambda: self._pipeline.journal)
            self._ready = True
        return self._dispatcher.begin(question)

    async def answered(self, question: Question) -> PriorAnswer | None:
        """The latest answer that a question has under its id; None where there is none, or it is another question's."""
        one = key(question)
        known = (await shielded(lambda: question_dependencies.answered(self._pipeline.journal, [one]))).get(
            one
        )
        return known if known and known.route and known.text == redacted(question.text) else None

    async def put_off(self, question: Question, escalation_id: str) -> tuple[str, Route] | None:
        """The exchange in which a question under its own id was put off because of a case already, and its route."""
        if "id" not in question.model_fields_set:
            return None
        return await shielded(
            lambda: question_dependencies.put_off(self._pipeline.journal, question, escalation_id)
        )

    async def before(
        self, questions: Sequence[Question]
    ) -> tuple[dict[Key, PriorAnswer], dict[Key, AskResult]]:
        """What questions depend on that are not among them: those answered before, and those that wait for a human.

        Raises:
            ConfigError: another question waits for a human under the id of one.
        """
        wanted = question_dependencies.missing(questions)
        known: dict[Key, PriorAnswer] = {}
        if wanted:
            known = await shielded(lambda: question_dependencies.answered(self._pipeline.journal, wanted))
        named = [question for question in questions if "id" in question.model_fields_set]
        left = wanted - known.keys()
        waiting = await self._manager.waiting_of(named, left) if named or left else []
        held = {key(case.request.question): self._manager.result_of(case) for case in waiting}
        return known, {one: result for one, result in held.items() if one in left}
