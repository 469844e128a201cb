"""Questions put to a human, and what comes back: the cases in the journal, and the channels that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.agents.exchange import end_of, key, shortened
from kr_core.aio import shielded
from kr_core.config.plugin_names import DEFAULT_ESCALATIONS
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation import transitions
from kr_core.escalation.case import Case, ChatTurn, ResearchSubject
from kr_core.escalation.sanitize import harmless_line
from kr_core.model.questions import AskResult, EscalationRequest
from kr_core.net.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kr_core.agents.exchange import Exchange, Key
    from kr_core.escalation.case_repository import CaseUpdater
    from kr_core.escalation.worker import EscalationWorker
    from kr_core.model import Event
    from kr_core.model.questions import Answer, HumanResponse, Question
    from kr_core.model.routing import Route

__all__ = ["EscalationManager", "undecided"]

_ASKERS = {"baron", "pm", "project manager"}
"""Names and roles of an agent that asks questions."""
_SHOWN = 100
"""Characters of a question in a message."""
_SHOWN_ANSWER = 300
"""Characters of an earlier answer in a note."""


class EscalationManager:
    """Puts questions to a human, and applies what the human replies.

    Args:
        updater: keeps the cases.
        worker: shows them, and tells people what became of them.
    """

    def __init__(self, updater: CaseUpdater, worker: EscalationWorker) -> None:
        self._updater = updater
        self._worker = worker
        self._components = updater.pipeline.components

    async def open(
        self,
        exchange: Exchange,
        answer: Answer | None,
        reason: str,
        threshold: int,
        alternatives: Sequence[Answer] = (),
        subject: ResearchSubject | None = None,
        reserve: Callable[[Case], None] | None = None,
    ) -> EscalationRequest | None:
        """Put a question to a human; None where the configuration has no way to one, with a note that says so.

        Args:
            exchange: the question's.
            answer: the tentative one; None if there is none.
            reason: why it is put to a human.
            threshold: the confidence that the answer needs.
            alternatives: answers that do not agree.
            subject: of research, whose report the decision changes.
            reserve: called with the case first; raises where there may be none.
        """
        channels, _ = self._components.escalations()
        if not (channels or self._components.config.settings.escalations):
            exchange.notes.append(
                f"{reason}, and there is no channel to a human: name one in the configuration, such as "
                f"`escalations: [{DEFAULT_ESCALATIONS[0]}]`"
            )
            return None
        about = {} if subject is None else subject._asdict()
        request = self._request(exchange, answer, reason, threshold, alternatives)
        case, older = await shielded(
            lambda: self._opened(exchange, request.model_copy(update=about), reserve)
        )
        await self._components.hooks.case_opened(case.request, exchange.notes)
        exchange.notes += await self._worker.present(case.request.id)
        for one in older:
            await self._worker.tell(one)
        return case.request

    async def supersede_waiting(self, exchange: Exchange) -> None:
        """End the cases in which a question waits that was asked anew, and has its answer."""
        for one in await shielded(lambda: self._superseded(exchange.question, exchange.id)):
            await self._worker.tell(one)

    def _request(
        self,
        exchange: Exchange,
        answer: Answer | None,
        reason: str,
        threshold: int,
        alternatives: Sequence[Answer],
    ) -> EscalationRequest:
        route = exchange.route
        assert route is not None, "it was routed when it began"
        agent = self._agent(route, answer)
        return EscalationRequest(
            id="",
            exchange_id=exchange.id,
            parent_id=exchange.parent_id,
            question=exchange.question,
            answer=None if answer is None else shortened(answer, exchange.id),
            alternatives=tuple(shortened(one, exchange.id) for one in alternatives),
            outside=tuple(shortened(one, exchange.id) for one in exchange.outside),
            agent=agent,
            talk_with=agent or self._talker(answer),
            threshold=threshold,
            reason=reason,
        )

    def _opened(
        self, exchange: Exchange, request: EscalationRequest, reserve: Callable[[Case], None] | None
    ) -> tuple[Case, list[str]]:
        """The new case, and those that it ended: a question waits in one case at most."""
        route = exchange.route
        assert route is not None, "it was routed when it began"
        alike = self._updater.cases.decided_alike(exchange.question)
        exchange.notes += [] if alike is None else [_decided_before(alike)]
        update = {"id": self._updater.cases.new_id(), "notes": tuple(exchange.notes)}
        request = request.model_copy(update=update)
        case = Case(request, route, "open", 1)
        if reserve is not None:
            reserve(case)
        if not self.keep_new(case) and reserve is None:
            raise StorageError(
                f"case {request.id} is there already: the journal's counters were set back",
                where="the journal",
                hint="ask again; `kr log --verify` tells what else is wrong",
            )
        return case, self._superseded(exchange.question)

    def keep_new(self, case: Case) -> bool:
        """Keep a new case, on the record; False where it is there already."""
        opening = transitions.event(case, "escalation.opened", **_opening(case.request))
        kept = self._updater.cases.open(case, [opening])
        if kept:
            self._updater.observed([opening])
        return kept

    def take_over(self, case: Case) -> AskResult:
        """Open a case that a worker has decided on, if it did not, and end its exchange, which may have died in between.

        Raises:
            StorageError: the journal cannot be used.
        """
        self.keep_new(case)
        request, answer = case.request, case.request.answer
        data = {
            "status": "escalated",
            "agent": None if answer is None else answer.agent,
            "confidence": None if answer is None else answer.confidence,
            "escalation_id": request.id,
            "seconds": None,
        }
        ended = transitions.event(case, "exchange.finished", **data)._replace(id=end_of(request.exchange_id))
        self._updater.pipeline.journal.append([ended]).result()
        return self.result_of(self._updater.cases.get(request.id))

    def _superseded(self, question: Question, answered_in: str | None = None) -> list[str]:
        """End the cases of a question, but for the newest, which may be that of another process; the ids of those ended.

        Args:
            question: as it is on the record.
            answered_in: the exchange in which it has its answer, so that the newest case ends, too.
        """
        cases, ended = self._updater.cases, list[str]()
        while True:  # a case that somebody has just changed is read anew
            waiting = [
                case
                for case in cases.waiting_of([key(question)])
                if case.request.question.text == question.text
            ]
            older = waiting if answered_in else waiting[:-1]
            if not older:
                return ended
            successor = answered_in or waiting[-1].request.exchange_id
            ended += [case.request.id for case in older if cases.supersede(case, successor)]

    def _talker(self, answer: Answer | None) -> str | None:
        """Whom a human can talk with where no agent can be asked again: who wrote the answer, who asks, or the first agent."""
        agents = self._components.table().agents
        configured = [name for name in self._components.configured_agents() if name in agents]
        wrote = [name for name in configured if answer is not None and name == answer.agent]
        asks = [name for name in configured if {name, agents[name].role.casefold()} & _ASKERS]
        return next(iter((*wrote, *asks, *configured)), None)

    def _agent(self, route: Route, answer: Answer | None) -> str | None:
        """Who can be asked again: no one where only a human may answer, nor a program that has handed in an answer."""
        known = answer is not None and answer.agent in self._components.table().agents
        return answer.agent if route.agent is not None and answer is not None and known else route.agent

    async def was_put(self, question: Question) -> bool:
        """Whether a question was ever put to a human."""
        return await shielded(lambda: self._updater.cases.has(*key(question)))

    async def waiting_for(self, question: Question) -> EscalationRequest | None:
        """The case in which a question waits for a human, if it does.

        Raises:
            ConfigError: the one of its id and feature that waits is another question.
        """
        found = await self.waiting_of([question])
        return found[0].request if found else None

    async def waiting_of(self, questions: Sequence[Question], others: Iterable[Key] = ()) -> list[Case]:
        """The cases in which questions wait for a human, oldest first.

        Args:
            questions: about to be asked.
            others: further ones, by feature and id.

        Raises:
            ConfigError: one that waits under the feature and id of a question is another question.
        """
        texts = {key(question): redacted(question.text) for question in questions}
        waiting = await shielded(lambda: self._updater.cases.waiting_of({*texts, *others}))
        for case in waiting:
            request, known = case.request, case.request.question
            if texts.get(key(known), known.text) != known.text:
                raise ConfigError(
                    f"`{known.id}` waits for a human as {request.id}, and is another question:"
                    f" {' '.join(known.text.split())[:_SHOWN]}",
                    where="question",
                    hint="give each question its own id",
                )
        return waiting

    # -- replies --------------------------------------------------------------------------------------------

    async def accepted_reply(self, escalation_id: str, response: HumanResponse) -> Case:
        """Apply a reply, or for `add_context` put it on the record; the case as it is then.

        Raises:
            ConfigError: it cannot be applied; that is on the record, too.
        """
        response = transitions.clean(response)
        refused: list[str] = []

        def take(case: Case) -> tuple[Case, list[Event]] | None:
            refused.clear()
            taken = transitions.apply_reply(case, response)
            assert taken is not None, "what has no id was never dealt with before"
            refused.append(taken[2])
            return taken[:2]

        case = await shielded(lambda: self._updater.change(escalation_id, take))
        if refused[0]:
            raise ConfigError(refused[0], where=case.request.id)
        if not case.waits:
            await self._worker.tell(escalation_id)
        return case

    # -- talk -----------------------------------------------------------------------------------------------

    async def spoken(self, escalation_id: str, response: HumanResponse) -> Case:
        """Put a human's turn in the talk about a case on the record; the case goes on waiting.

        Raises:
            ConfigError: the case does not wait, or there is nobody to talk with; that is on the record, too.
        """
        response = transitions.clean(response)

        refused: list[str] = []

        def speak(case: Case) -> tuple[Case, list[Event]]:
            refused[:] = [transitions.refusal(case, response)]
            told = transitions.replied(case, response, refused[0])
            if refused[0]:
                return case, [told]
            turn = ChatTurn(by=response.by, text=response.content, exchange_id=_latest(case))
            return case._replace(turns=(*case.turns, turn)), [told]

        case = await shielded(lambda: self._updater.change(escalation_id, speak))
        if refused[0]:
            raise ConfigError(refused[0], where=case.request.id)
        return case

    async def heard(self, escalation_id: str, exchange: Exchange, answer: Answer) -> Case:
        """Keep an agent's turn; the case as it is then, which somebody may have decided meanwhile."""
        turn = ChatTurn(
            by=answer.agent,
            text=answer.content,
            answer=shortened(answer, exchange.id),
            exchange_id=exchange.id,
        )

        def hear(case: Case) -> tuple[Case, list[Event]] | None:
            return (case._replace(turns=(*case.turns, turn)), []) if case.waits else None

        return await shielded(lambda: self._updater.change(escalation_id, hear))

    # -- asked again ----------------------------------------------------------------------------------------

    async def resolved_by_agent(self, asked: Case, answer: Answer, response: HumanResponse) -> Case:
        """End a case whose agent, asked again with what the human added, was sure enough.

        Args:
            asked: the case as the agent knew it.
            answer: the agent's.
            response: what the human added.

        Returns:
            The case as it is then: it waits on where more was added meanwhile, which the agent has not seen; and somebody may
            have decided it.
        """
        mine: list[bool] = []

        def resolve(case: Case) -> tuple[Case, list[Event]] | None:
            mine[:] = [case.waits and _knows(asked, case) and not _done_since(asked, case)]
            return (transitions.resolved(case, response, answer), []) if mine[0] else None

        case = await shielded(lambda: self._updater.change(asked.request.id, resolve))
        if mine[0]:
            await self._worker.tell(asked.request.id)
        return case

    async def revised(
        self,
        exchange: Exchange,
        asked: Case,
        reason: str,
        answer: Answer | None,
        alternatives: Sequence[Answer] = (),
    ) -> Case:
        """Put a case to the human again, with the agent's new answer; a new revision of it.

        Args:
            exchange: in which the agent was asked again.
            asked: the case as the agent knew it.
            reason: why it waits again.
            answer: the new answer; the one before stays where there is none.
            alternatives: new answers that do not agree.

        Returns:
            The case as it is then; somebody may have decided it meanwhile, or have asked the agent with the same.
        """

        def revise(case: Case) -> tuple[Case, list[Event]] | None:
            if not case.waits or _done_since(asked, case):
                return None
            came: dict[str, object] = {}
            if answer is not None or alternatives:
                came["answer"] = None if answer is None else shortened(answer, exchange.id)
                came["alternatives"] = tuple(shortened(one, exchange.id) for one in alternatives)
            if came or exchange.outside:
                came["outside"] = tuple(shortened(one, exchange.id) for one in exchange.outside)
            request = case.request.model_copy(
                update={
                    "revision": case.request.revision + 1,
                    "exchange_id": exchange.id,
                    "parent_id": exchange.parent_id,
                    "reason": reason,
                    "notes": tuple(exchange.notes),
                    **came,
                }
            )
            changed = transitions.put_again(case, request)
            if _knows(asked, case):
                changed = changed._replace(care=changed.care._replace(pending=None))
            return changed, [exchange.event("escalation.opened", **_opening(request))]

        changed = await shielded(lambda: self._updater.change(asked.request.id, revise))
        if changed.waits:
            exchange.notes += await self._worker.present(changed.request.id)
        return changed

    def result_of(self, case: Case) -> AskResult:
        """The result of a question that a human has decided, or that waits for one."""
        request = case.request
        by_agent = case.resolution is not None and case.resolution.action == "add_context"
        return AskResult(
            exchange_id=request.exchange_id,
            question_id=request.question.id,
            status="escalated"
            if case.waits
            else "expired"
            if case.status == "expired"
            else "accepted"
            if by_agent
            else "answered"
            if case.resolution and case.status != "withdrawn"
            else "failed",
            route=case.route,
            answer=request.answer if case.answer is None and case.status != "withdrawn" else case.answer,
            threshold=request.threshold,
            escalation=request,
            notes=(*(() if case.decided_by_person else request.notes), *undecided(case), *_of_report(case)),
        )


def _knows(asked: Case, case: Case) -> bool:
    """Whether an agent that was asked about a case has seen all that was added to it."""
    return asked.request.question.context == case.request.question.context


def _done_since(asked: Case, case: Case) -> bool:
    """Whether somebody else has asked the agent with all that was added, and put what came of it to a human."""
    return case.care.pending is None and asked.request.revision != case.request.revision


def _decided_before(case: Case) -> str:
    """What a person decided of the same question before: to be read, and decided again."""
    resolution = case.resolution
    assert resolution is not None, "a person has decided it"
    assert case.answer is not None, "a person has decided it"
    when = f"{resolution.time.astimezone():%Y-%m-%d}"
    said = f"{harmless_line(resolution.by)} answered it on {when} ({resolution.action})"
    return f"{case.request.id} was the same question; {said}: {harmless_line(case.answer.content, _SHOWN_ANSWER)}"


def undecided(case: Case) -> list[str]:
    """Why a case waits no longer that no one has decided; empty for all others."""
    ended = not case.waits and case.resolution is None
    if case.status == "withdrawn":
        return [transitions.ending(case)]
    return [f"{case.request.id} is {case.status}: it was asked anew"] if ended else []


def _of_report(case: Case) -> list[str]:
    """What the decision did to the report of a research answer."""
    if case.owes_report:
        return [f"{case.request.id}: its report is not written yet; `kr inbox poll` tries again"]
    return [case.care.report] if case.care.report else []


def _latest(case: Case) -> str:
    """The exchange that a talk about a case follows: the one before it in the talk, or the one that put the case."""
    spoken = [turn.exchange_id for turn in case.turns if turn.answer is not None]
    return spoken[-1] if spoken else case.request.exchange_id


def _opening(request: EscalationRequest) -> dict[str, Any]:
    return {
        "escalation_id": request.id,
        "revision": request.revision,
        "reason": request.reason,
        "agent": request.agent,
    }
