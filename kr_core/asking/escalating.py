"""Questions put to a human, and what comes back: the cases in the journal, and the sinks that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.asking import replying
from kr_core.asking.answering import shortened
from kr_core.errors import ConfigError
from kr_core.escalation.cases import Cases, KeptCase
from kr_core.escalation.showing import shown
from kr_core.model.questions import AskResult, EscalationRequest
from kr_core.pipeline.running import to_its_end
from kr_core.printable import printable
from kr_core.templating import search_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.asking.exchange import Exchange
    from kr_core.model import Event
    from kr_core.model.questions import Answer, HumanResponse
    from kr_core.pipeline.pipeline import Pipeline
    from kr_core.protocols import Case

__all__ = ["Escalating"]


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
        """Put a question to a human; None where the configuration has no way to one."""
        if not self._components.config.settings.escalations:
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
            agent=route.agent if answer is None else answer.agent,
            threshold=threshold,
            reason=reason,
            notes=tuple(exchange.notes),
        )
        case = KeptCase(request, route, "open", 1)
        kept = self.cases.keep(case, [_opening(exchange, request)])
        assert kept, "its id is new"
        return case

    async def _show(self, exchange: Exchange, case: KeptCase) -> EscalationRequest:
        """Show a case by every sink; where none can, it waits in the inbox."""
        request = case.request
        sinks, notes = self._components.escalations()
        exchange.notes += notes
        places: list[str] = []
        for name, sink in sinks.items():
            place, fault = None, None
            try:
                place = await sink.open(self.shown(request))
            except Exception as error:
                fault = printable(f"{type(error).__name__}: {error}")
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

    def shown(self, request: EscalationRequest) -> Case:
        """A case as people read it."""
        return shown(request, self._folders)

    async def waiting_for(self, question_id: str) -> EscalationRequest | None:
        """The case in which a question waits for a human, if it does."""
        waiting = await to_its_end(self.cases.waiting)
        return next((case.request for case in waiting if case.request.question.id == question_id), None)

    # -- replies --------------------------------------------------------------------------------------------

    async def accepted_reply(self, escalation_id: str, response: HumanResponse) -> KeptCase:
        """Apply a reply, or for `add_context` put it on the record; the case as it is then.

        Raises:
            ConfigError: it cannot be applied; that is on the record, too.
        """
        return await to_its_end(lambda: self._reply(escalation_id, response))

    def _reply(self, escalation_id: str, response: HumanResponse) -> KeptCase:
        while True:
            case = self.cases.get(escalation_id)
            refused = replying.refusal(case, response)
            if refused:
                self._components.journal.append([replying.replied(case, response, refused)]).result()
                raise ConfigError(refused, where=case.request.id)
            said = [replying.replied(case, response)]
            if response.action == "add_context":
                changed = case._replace(version=case.version + 1)
            else:
                answer = replying.final_answer(case, response)
                changed = replying.resolved(case, response, answer)
                said += replying.concluded(case, answer)
            if self.cases.keep(changed, said):
                return changed

    async def resolved_by_agent(self, case: KeptCase, answer: Answer, response: HumanResponse) -> None:
        """End a case whose agent, asked again with what the human added, was sure enough."""

        def resolve() -> None:
            current = self.cases.get(case.request.id)
            if current.waits and not self.cases.keep(replying.resolved(current, response, answer)):
                resolve()

        await to_its_end(resolve)

    async def revised(
        self, exchange: Exchange, case: KeptCase, answer: Answer | None, reason: str
    ) -> EscalationRequest:
        """Put a case to the human again, with the agent's new answer; a new revision of it."""

        def revise() -> KeptCase:
            while True:
                current = self.cases.get(case.request.id)
                if not current.waits:
                    return current
                request = current.request.model_copy(
                    update={
                        "revision": current.request.revision + 1,
                        "exchange_id": exchange.id,
                        "parent_id": exchange.parent_id,
                        "question": exchange.question,
                        "answer": current.request.answer
                        if answer is None
                        else shortened(answer, exchange.id),
                        "reason": reason,
                        "notes": tuple(exchange.notes),
                    }
                )
                changed = current._replace(request=request, status="open", version=current.version + 1)
                if self.cases.keep(changed, [_opening(exchange, request)]):
                    return changed

        changed = await to_its_end(revise)
        return await self._show(exchange, changed) if changed.waits else changed.request

    def result_of(self, case: KeptCase) -> AskResult:
        """The result of a question that a human has decided, or that waits for one."""
        request = case.request
        return AskResult(
            exchange_id=request.exchange_id,
            question_id=request.question.id,
            status="escalated" if case.waits else "answered",
            route=case.route,
            answer=request.answer if case.answer is None else case.answer,
            threshold=request.threshold,
            escalation=request,
            notes=request.notes,
        )


def _opening(exchange: Exchange, request: EscalationRequest) -> Event:
    return exchange.event(
        "escalation.opened",
        escalation_id=request.id,
        revision=request.revision,
        reason=request.reason,
        agent=request.agent,
    )
