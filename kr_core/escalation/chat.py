"""A human and an agent about one question: the agent asked again with what the human adds, or talked with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.agents import prompts
from kr_core.agents.dispatch import AGENT_UNAVAILABLE
from kr_core.aio import shielded
from kr_core.escalation import transitions
from kr_core.escalation.manager import undecided
from kr_core.templates import search_folders

if TYPE_CHECKING:
    from kr_core.agents.dispatch import AgentDispatcher
    from kr_core.agents.exchange import Exchange
    from kr_core.escalation.case import Case
    from kr_core.escalation.manager import EscalationManager
    from kr_core.model.questions import AskResult, HumanResponse, Question
    from kr_core.model.routing import Route
    from kr_core.research.pipeline import Pipeline

__all__ = ["CaseChat"]

_STATUSES = {"add_context": "accepted", "timeout": "expired"}
"""The results of what is decided without a human's answer."""


class CaseChat:
    """Goes on with a case by way of its agent; each time in an exchange of its own, linked to the one before.

    Whatever interrupts it, the case goes on waiting as it was, and what the human said is on the record.

    Args:
        pipeline: the project's.
        asking: asks agents.
        escalating: keeps the cases.
    """

    def __init__(self, pipeline: Pipeline, asking: AgentDispatcher, escalating: EscalationManager) -> None:
        self._folders = search_folders(pipeline.config.root)
        self._asking = asking
        self._escalating = escalating

    async def asked_again(self, case: Case, response: HumanResponse) -> AskResult:
        """Ask the same agent once more, with what the human added.

        Args:
            case: as it was when the reply was accepted, with what was added.
            response: the reply.

        Returns:
            `accepted` where the agent is sure enough now, `escalated` where the case waits again, and what somebody else has
            decided meanwhile.

        Raises:
            ConfigError: the agent's plugin is wrongly configured, or not trusted.
        """
        response = transitions.clean(response)
        request = case.request
        exchange = await self._begun(case, request.question, request.exchange_id, "asked again")
        try:
            return await self._gated(exchange, case, response)
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def _gated(self, exchange: Exchange, asked: Case, response: HumanResponse) -> AskResult:
        threshold = asked.request.threshold
        weighed = await self._asking.consult_all(exchange)
        answer = weighed.answer
        verdict = None if answer is None else self._asking.judge(exchange, answer)
        if verdict is not None:
            threshold = verdict.threshold
        if answer is not None and verdict is not None and verdict.accepted:
            case = await self._escalating.resolved_by_agent(asked, answer, response)
            if case.waits:
                reason = f"context was added meanwhile that {answer.agent} has not seen"
                case = await self._escalating.revised(exchange, asked, reason, answer)
        else:
            reason = (
                verdict.reason if verdict else weighed.message if weighed.alternatives else AGENT_UNAVAILABLE
            )
            case = await self._escalating.revised(exchange, asked, reason, answer, weighed.alternatives)
        return await self._finished(exchange, case, threshold)

    async def chat(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Say something to the agent of a case; the case goes on waiting until the human ends the talk.

        Returns:
            What the agent says to it (`escalated`), or what somebody else has decided meanwhile; without an answer where the
            agent gave none, and the notes say why.

        Raises:
            ConfigError: the case does not wait, or there is nobody to talk with.
        """
        case = await self._escalating.spoken(escalation_id, response)
        *before, said = case.turns
        question = case.request.question.model_copy(update={"text": said.text, "context": "", "choices": ()})
        exchange = await self._begun(case, question, said.exchange_id, "talked about")
        turns = [(f"The human ({turn.by})" if turn.answer is None else turn.by, turn.text) for turn in before]
        prompt = prompts.chat(self._folders, case.request, turns, said.text)
        try:
            answer = await self._asking.consult(exchange, prompt=prompt)
            if answer is not None:
                case = await self._escalating.heard(escalation_id, exchange, answer)
            if not case.waits:
                return await self._finished(exchange, case, case.request.threshold)
            result = self._asking.finish(exchange, "escalated", answer, case.request.threshold, case.request)
            await exchange.settled()
            return result
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def _begun(self, case: Case, question: Question, parent_id: str, why: str) -> Exchange:
        route = _to(case, f"{why} as {case.request.id}@{case.request.revision}")
        return await shielded(lambda: self._asking.begin(question, parent_id, route))

    async def _finished(self, exchange: Exchange, case: Case, threshold: int) -> AskResult:
        """The result of an exchange that went on with a case, which somebody else may have decided meanwhile."""
        status, answer, resolution = "escalated", case.request.answer, case.resolution
        if resolution is not None:
            status = _STATUSES.get(resolution.action, "answered")
            answer = case.answer
            if status == "answered":
                exchange.notes.append(f"{case.request.id} was answered meanwhile by {resolution.by}")
        elif not case.waits:
            status, answer = "failed", None
            exchange.notes += undecided(case)
        result = self._asking.finish(exchange, status, answer, threshold, case.request)
        await exchange.settled()
        return result


def _to(case: Case, reason: str) -> Route:
    """The way to the agent of a case: the same one, also where it was a fallback."""
    same = case.request.agent == case.route.agent
    return case.route.model_copy(
        update={"agent": case.request.agent, "also": case.route.also if same else (), "reason": reason}
    )
