"""Questions put to a human, and what comes back: the cases in the journal, and the sinks that show them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kr_core.asking import replying
from kr_core.asking import sinks as calling
from kr_core.asking.answering import shortened
from kr_core.asking.depends import key
from kr_core.errors import ConfigError
from kr_core.escalation.cases import Cases, KeptCase, Turn
from kr_core.escalation.harmless import harmless_line
from kr_core.escalation.showing import shown
from kr_core.model.questions import AskResult, EscalationRequest
from kr_core.net.egress import redacted
from kr_core.pipeline.running import to_its_end
from kr_core.printable import printable
from kr_core.protocols import Notice
from kr_core.templating import search_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.asking.depends import Key
    from kr_core.asking.exchange import Exchange
    from kr_core.model import Event
    from kr_core.model.questions import Answer, HumanResponse, Question
    from kr_core.model.routing import Route
    from kr_core.pipeline.pipeline import Pipeline
    from kr_core.protocols import Case, Escalation

__all__ = ["Escalating", "undecided"]

_SHOWN = 100
"""Characters of a question in a message."""


class Escalating:
    """Puts questions to a human, and applies what the human replies.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._components = pipeline.components
        self._folders = search_folders(pipeline.config.root)

    @property
    def cases(self) -> Cases:
        """The cases of the project."""
        return Cases(self._components.journal)

    async def open(
        self,
        exchange: Exchange,
        answer: Answer | None,
        reason: str,
        threshold: int,
        alternatives: Sequence[Answer] = (),
    ) -> EscalationRequest | None:
        """Put a question to a human; None where the configuration has no way to one, with a note that says so."""
        sinks, _ = self._components.escalations()
        if not (sinks or self._components.config.settings.escalations):
            exchange.notes.append(
                f"{reason}, and there is no way to a human: name one in the configuration, such as `escalations: [stdout]`"
            )
            return None
        return await self._show(
            exchange,
            await to_its_end(lambda: self._opened(exchange, answer, reason, threshold, alternatives)),
        )

    def _opened(
        self,
        exchange: Exchange,
        answer: Answer | None,
        reason: str,
        threshold: int,
        alternatives: Sequence[Answer],
    ) -> KeptCase:
        route = exchange.route
        assert route is not None, "it was routed when it began"
        request = EscalationRequest(
            id=self.cases.new_id(),
            exchange_id=exchange.id,
            parent_id=exchange.parent_id,
            question=exchange.question,
            answer=None if answer is None else shortened(answer, exchange.id),
            alternatives=tuple(shortened(one, exchange.id) for one in alternatives),
            agent=self._agent(route, answer),
            threshold=threshold,
            reason=reason,
            notes=tuple(exchange.notes),
        )
        case = KeptCase(request, route, "open", 1)
        kept = self._kept(case, [_opening(exchange, request)])
        assert kept, "its id is new"
        return case

    def _agent(self, route: Route, answer: Answer | None) -> str | None:
        """Who can be asked again: nobody where only a human may answer, nor a program that has handed in an answer."""
        known = answer is not None and answer.agent in self._components.table().agents
        return answer.agent if route.agent is not None and answer is not None and known else route.agent

    async def _show(self, exchange: Exchange, case: KeptCase) -> EscalationRequest:
        """Show a case by every sink; where none can, it waits in the inbox."""
        request = case.request
        sinks, notes = self._components.escalations()
        exchange.notes += notes
        places: list[str] = []
        for name, sink in sinks.items():
            place, fault = await self._shown_by(name, sink, exchange, request)
            if fault is not None:
                exchange.notes.append(f"escalation {name}: {fault}")
            exchange.say(
                "escalation.shown",
                escalation_id=request.id,
                revision=request.revision,
                sink=name,
                place=place,
                error=fault,
            )
            places += [] if place is None else [place]
        if places:
            notified = case._replace(status="notified", version=case.version + 1)
            await to_its_end(
                lambda: self.cases.keep(notified)
            )  # a reply that came meanwhile has gone further
        return request

    async def _shown_by(
        self, name: str, sink: Escalation, exchange: Exchange, request: EscalationRequest
    ) -> tuple[str | None, str | None]:
        """Where a sink has shown a case, and why it could not."""
        case = self.shown(request)
        try:
            return await calling.call(self._pipeline, name, exchange.emit, partial(sink.open, case)), None
        except Exception as error:
            return None, _told(error)

    def shown(self, request: EscalationRequest) -> Case:
        """A case as people read it."""
        return shown(request, self._folders)

    async def waiting_for(self, question: Question) -> EscalationRequest | None:
        """The case in which a question waits for a human, if it does.

        Raises:
            ConfigError: the one of its id and feature that waits is another question.
        """
        found = await self.waiting_of([question])
        return found[0].request if found else None

    async def waiting_of(self, questions: Sequence[Question], others: Iterable[Key] = ()) -> list[KeptCase]:
        """The cases in which questions wait for a human, oldest first.

        Args:
            questions: about to be asked.
            others: further ones, by feature and id.

        Raises:
            ConfigError: one that waits under the feature and id of a question is another question.
        """
        texts = {key(question): redacted(question.text) for question in questions}
        waiting = await to_its_end(lambda: self.cases.waiting_of({*texts, *others}))
        for case in waiting:
            request, known = case.request, case.request.question
            if texts.get(key(known), known.text) != known.text:
                raise ConfigError(
                    f"`{known.id}` waits for a human as {request.id}, and is another question:"
                    f" {' '.join(known.text.split())[:_SHOWN]}",
                    where="question",
                    todo="give each question its own id",
                )
        return waiting

    # -- replies --------------------------------------------------------------------------------------------

    async def accepted_reply(self, escalation_id: str, response: HumanResponse) -> KeptCase:
        """Apply a reply, or for `add_context` put it on the record; the case as it is then.

        Raises:
            ConfigError: it cannot be applied; that is on the record, too.
        """
        response = replying.clean(response)
        case = await to_its_end(lambda: self._reply(escalation_id, response))
        if not case.waits:
            await self._acknowledge(case)
        return case

    def _reply(self, escalation_id: str, response: HumanResponse) -> KeptCase:
        while True:
            case = self.cases.get(escalation_id)
            self._check(case, response)
            said = [replying.replied(case, response)]
            if response.action == "add_context":
                question = replying.with_context(case.request.question, response.content)
                request = case.request.model_copy(update={"question": question})
                changed = case._replace(request=request, version=case.version + 1)
            else:
                answer = replying.final_answer(case, response)
                changed = replying.resolved(case, response, answer)
                said += replying.concluded(case, answer)
            if self._kept(changed, said):
                return changed

    def _check(self, case: KeptCase, response: HumanResponse) -> None:
        """Refuse a reply that cannot be applied; on the record.

        Raises:
            ConfigError: it cannot, with the reason.
        """
        refused = replying.refusal(case, response)
        if refused:
            event = replying.replied(case, response, refused)
            self._components.journal.append([event]).result()
            self._observed([event])
            raise ConfigError(refused, where=case.request.id)

    async def _acknowledge(self, case: KeptCase) -> None:
        """Tell all sinks that a case is decided; one that cannot say so is no reason to fail."""
        resolution = case.resolution
        assert resolution is not None, "it is decided"
        by = harmless_line(resolution.by)
        said = f"{case.request.id} is answered, by {by} ({resolution.action.removeprefix('add_')})"
        notice = Notice(f"{case.request.id}@{case.version}", "ended", said)
        shown = self.shown(case.request)
        sinks, _ = self._components.escalations()
        for name, sink in sinks.items():
            try:
                await calling.call(
                    self._pipeline,
                    name,
                    lambda _kind, _data: None,
                    partial(sink.acknowledge, shown, notice),
                )
            except Exception:  # noqa: S112  the answer stands; who looks into the sink sees the case, and is refused there
                continue

    # -- talk -----------------------------------------------------------------------------------------------

    async def spoken(self, escalation_id: str, response: HumanResponse) -> KeptCase:
        """Put a human's turn in the talk about a case on the record; the case goes on waiting.

        Raises:
            ConfigError: the case does not wait, or there is nobody to talk with; that is on the record, too.
        """
        response = replying.clean(response)

        def speak() -> KeptCase:
            while True:
                case = self.cases.get(escalation_id)
                self._check(case, response)
                turn = Turn(by=response.by, text=response.content, exchange_id=_latest(case))
                changed = case._replace(turns=(*case.turns, turn), version=case.version + 1)
                if self._kept(changed, [replying.replied(case, response)]):
                    return changed

        return await to_its_end(speak)

    async def heard(self, escalation_id: str, exchange: Exchange, answer: Answer) -> KeptCase:
        """Keep an agent's turn; the case as it is then, which somebody may have decided meanwhile."""
        turn = Turn(
            by=answer.agent,
            text=answer.content,
            answer=shortened(answer, exchange.id),
            exchange_id=exchange.id,
        )

        def hear() -> KeptCase:
            while True:
                case = self.cases.get(escalation_id)
                changed = case._replace(turns=(*case.turns, turn), version=case.version + 1)
                if not case.waits or self._kept(changed):
                    return changed if case.waits else case

        return await to_its_end(hear)

    # -- asked again ----------------------------------------------------------------------------------------

    async def resolved_by_agent(self, asked: KeptCase, answer: Answer, response: HumanResponse) -> KeptCase:
        """End a case whose agent, asked again with what the human added, was sure enough.

        Args:
            asked: the case as the agent knew it.
            answer: the agent's.
            response: what the human added.

        Returns:
            The case as it is then: it waits on where more was added meanwhile, which the agent has not seen; and somebody may
            have decided it.
        """
        known = asked.request.question.context

        def resolve() -> tuple[KeptCase, bool]:
            while True:
                case = self.cases.get(asked.request.id)
                if not case.waits or case.request.question.context != known:
                    return case, False
                changed = replying.resolved(case, response, answer)
                if self._kept(changed):
                    return changed, True

        case, mine = await to_its_end(resolve)
        if mine:
            await self._acknowledge(case)
        return case

    async def revised(
        self,
        exchange: Exchange,
        escalation_id: str,
        reason: str,
        answer: Answer | None,
        alternatives: Sequence[Answer] = (),
    ) -> KeptCase:
        """Put a case to the human again, with the agent's new answer; a new revision of it.

        Args:
            exchange: in which the agent was asked again.
            escalation_id: the case.
            reason: why it waits again.
            answer: the new answer; the one before stays where there is none.
            alternatives: new answers that do not agree.

        Returns:
            The case as it is then; somebody may have decided it meanwhile.
        """

        def revise() -> KeptCase:
            while True:
                case = self.cases.get(escalation_id)
                if not case.waits:
                    return case
                came: dict[str, object] = {}
                if answer is not None or alternatives:
                    came["answer"] = None if answer is None else shortened(answer, exchange.id)
                    came["alternatives"] = tuple(shortened(one, exchange.id) for one in alternatives)
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
                changed = case._replace(request=request, status="open", version=case.version + 1)
                if self._kept(changed, [_opening(exchange, request)]):
                    return changed

        changed = await to_its_end(revise)
        if changed.waits:
            await self._show(exchange, changed)
        return changed

    def result_of(self, case: KeptCase) -> AskResult:
        """The result of a question that a human has decided, or that waits for one."""
        request = case.request
        by_agent = case.resolution is not None and case.resolution.action == "add_context"
        return AskResult(
            exchange_id=request.exchange_id,
            question_id=request.question.id,
            status="escalated"
            if case.waits
            else "accepted"
            if by_agent
            else "answered"
            if case.resolution
            else "failed",
            route=case.route,
            answer=request.answer if case.answer is None else case.answer,
            threshold=request.threshold,
            escalation=request,
            notes=(*request.notes, *undecided(case)),
        )

    # -- the record -----------------------------------------------------------------------------------------

    def _kept(self, case: KeptCase, events: Sequence[Event] = ()) -> bool:
        """Keep a case with what is said of it; False where somebody was first."""
        kept = self.cases.keep(case, events)
        if kept:
            self._observed(events)
        return kept

    def _observed(self, events: Sequence[Event]) -> None:
        """Show observers what was kept together with a case, and so did not go by them."""
        for event in events:
            for observer in self._pipeline.observers:
                try:
                    observer(event)
                except Exception:  # noqa: S112  an observer only watches; nobody else would want to know
                    continue


def undecided(case: KeptCase) -> list[str]:
    """Why a case waits no longer that nobody has decided; empty for all others."""
    ended = not case.waits and case.resolution is None
    return [f"{case.request.id} is {case.status}: it was asked anew"] if ended else []


def _told(error: Exception) -> str:
    return printable(f"{type(error).__name__}: {error}")


def _latest(case: KeptCase) -> str:
    """The exchange that a talk about a case follows: the one before it in the talk, or the one that put the case."""
    spoken = [turn.exchange_id for turn in case.turns if turn.answer is not None]
    return spoken[-1] if spoken else case.request.exchange_id


def _opening(exchange: Exchange, request: EscalationRequest) -> Event:
    return exchange.event(
        "escalation.opened",
        escalation_id=request.id,
        revision=request.revision,
        reason=request.reason,
        agent=request.agent,
    )
