"""A human and an agent about one case: the agent is asked again with what the human adds, or talked with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kr_core.agents import prompts
from kr_core.agents.question_dispatch import AGENT_UNAVAILABLE, together
from kr_core.aio import shielded
from kr_core.config.template_trust import template_folders
from kr_core.errors import KRError, StorageError
from kr_core.escalation import transitions
from kr_core.escalation.manager import undecided
from kr_core.escalation.schedule import pause
from kr_core.model.questions import HumanResponse

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from kr_core.agents.exchange import Exchange
    from kr_core.agents.question_dispatch import AgentDispatcher
    from kr_core.escalation.case import Case
    from kr_core.escalation.case_repository import CaseUpdater
    from kr_core.escalation.manager import EscalationManager
    from kr_core.escalation.schedule import PendingRequest
    from kr_core.escalation.upkeep_summary import RunProgress
    from kr_core.escalation.worker import EscalationWorker
    from kr_core.model.event import Event
    from kr_core.model.questions import AskResult, Question
    from kr_core.model.routing import Route

__all__ = ["CaseChat"]

_STATUSES = {"add_context": "accepted", "timeout": "expired"}
"""The results of what is decided without a human's answer."""


class CaseChat:
    """Goes on with a case by way of its agent; each time in an exchange of its own, linked to the one before.

    Whatever interrupts it, the case goes on waiting as it was, and what the human said is on the record.

    Args:
        dispatcher: asks agents.
        manager: applies replies.
        updater: changes cases.
        worker: has the queue of agents that are to be asked again, and the time.
    """

    def __init__(
        self,
        dispatcher: AgentDispatcher,
        manager: EscalationManager,
        updater: CaseUpdater,
        worker: EscalationWorker,
    ) -> None:
        self._config = updater.pipeline.config
        self._turns = updater.pipeline.components.turns
        self._folders = template_folders(self._config.root, self._config.environ)
        self._dispatcher = dispatcher
        self._manager = manager
        self._updater = updater
        self._worker = worker

    # -- asked again ----------------------------------------------------------------------------------------

    async def add_context(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Apply a reply that adds context, and ask the agent with it, unless it is being asked about the case already.

        Raises:
            ConfigError: the reply cannot be applied; that is on the record.
        """
        case = await shielded(lambda: self._updater.cases.get(escalation_id))
        async with self._only_one(case.request.id) as mine:  # a process that is killed lets go of it
            case = await self._manager.accepted_reply(escalation_id, response)
            if mine:
                try:
                    return await self.ask_again(case, response)
                finally:
                    self._worker.agents.put(case.request.id)  # more may have been added meanwhile
        result = self._manager.result_of(case)
        later = f"{case.request.agent} is being asked about {case.request.id} just now; it is told this next"
        return result.model_copy(update={"notes": (*result.notes, later)})

    async def serve(self, escalation_ids: Sequence[str], done: RunProgress) -> int:
        """Ask the agents of some cases, as the queue has them, at the same time; how many were asked."""
        return sum(await together([self._served(one, done) for one in escalation_ids]))

    async def _served(self, escalation_id: str, done: RunProgress) -> int:
        async with self._only_one(escalation_id) as mine:
            if not mine:
                return 0  # another caller asks
            case = await shielded(lambda: self._updater.cases.get(escalation_id))
            pending = case.care.pending
            if not case.waits or pending is None:
                return 0
            response = HumanResponse(action="add_context", content=pending.content, by=pending.by)
            try:
                await self.ask_again(case, response)
            except StorageError:
                raise
            except KRError as error:
                done.note(f"{escalation_id}: {error}")
                postponed = partial(_postponed, pending, self._worker.now())
                await shielded(lambda: self._updater.change(escalation_id, postponed, case))
                return 0
            done.count("asked_again")
            return 1

    def _only_one(self, escalation_id: str) -> AbstractAsyncContextManager[bool]:
        """Be the only one, of all processes, that asks the agent of a case; False where another one does."""
        return self._turns.wait(f"asking/{escalation_id}", 0.0)

    async def ask_again(self, case: Case, response: HumanResponse) -> AskResult:
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
        exchange = await self._begun(
            case, request.question, request.exchange_id, "asked again", request.agent
        )
        try:
            return await self._gated(exchange, case, response)
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def _gated(self, exchange: Exchange, asked: Case, response: HumanResponse) -> AskResult:
        threshold = asked.request.threshold
        weighed = await self._dispatcher.consult_all(exchange)
        answer = weighed.answer
        verdict = None if answer is None else self._dispatcher.judge(exchange, answer)
        if verdict is not None:
            threshold = verdict.threshold
        if answer is not None and verdict is not None and verdict.accepted:
            case = await self._manager.resolved_by_agent(asked, answer, response)
            if case.waits:
                reason = f"context was added meanwhile that {answer.agent} has not seen"
                case = await self._manager.revised(exchange, asked, reason, answer)
        else:
            reason = (
                verdict.reason if verdict else weighed.message if weighed.alternatives else AGENT_UNAVAILABLE
            )
            case = await self._manager.revised(exchange, asked, reason, answer, weighed.alternatives)
        return await self._finished(exchange, case, threshold)

    async def chat(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Say something to the agent of a case; the case goes on waiting until the human ends the talk.

        Returns:
            What the agent says to it (`escalated`), or what somebody else has decided meanwhile; without an answer where the
            agent gave none, and the notes say why.

        Raises:
            ConfigError: the case does not wait, or there is nobody to talk with.
        """
        case = await self._manager.spoken(escalation_id, response)
        *before, said = case.turns
        question = case.request.question.model_copy(update={"text": said.text, "context": "", "choices": ()})
        exchange = await self._begun(case, question, said.exchange_id, "talked about", case.request.partner)
        turns = [(f"The human ({turn.by})" if turn.answer is None else turn.by, turn.text) for turn in before]
        prompt = prompts.chat(self._folders, case.request, turns, said.text)
        try:
            answer = await self._dispatcher.consult(exchange, prompt=prompt)
            if answer is not None:
                case = await self._manager.heard(escalation_id, exchange, answer)
            if not case.waits:
                return await self._finished(exchange, case, case.request.threshold)
            result = self._dispatcher.finish(
                exchange, "escalated", answer, case.request.threshold, case.request
            )
            await exchange.settled()
            return result
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def _begun(
        self, case: Case, question: Question, parent_id: str, why: str, agent: str | None
    ) -> Exchange:
        route = _to(case, f"{why} as {case.request.id}@{case.request.revision}", agent)
        return await shielded(lambda: self._dispatcher.begin(question, parent_id, route))

    async def _finished(self, exchange: Exchange, case: Case, threshold: int) -> AskResult:
        """The result of an exchange that went on with a case, which somebody else may have decided meanwhile."""
        status, answer, resolution = "escalated", case.request.answer, case.resolution
        if case.status == "withdrawn":
            status, answer = "failed", None
            exchange.notes += undecided(case)
        elif resolution is not None:
            status = _STATUSES.get(resolution.action, "answered")
            answer = case.answer
            if status == "answered":
                exchange.notes.append(f"{case.request.id} was answered meanwhile by {resolution.by}")
        elif not case.waits:
            status, answer = "failed", None
            exchange.notes += undecided(case)
        result = self._dispatcher.finish(exchange, status, answer, threshold, case.request)
        await exchange.settled()
        return result


def _postponed(before: PendingRequest, now: dt.datetime, case: Case) -> tuple[Case, list[Event]] | None:
    """The case whose agent failed, and is asked again later."""
    if case.care.pending != before:
        return None
    faults = before.faults + 1
    later = before._replace(faults=faults, again=now + pause(faults))
    return case._replace(care=case.care._replace(pending=later)), []


def _to(case: Case, reason: str, agent: str | None) -> Route:
    """The way to the agent of a case: the same one, also where it was a fallback."""
    same = agent == case.route.agent
    return case.route.model_copy(
        update={"agent": agent, "also": case.route.also if same else (), "reason": reason}
    )
