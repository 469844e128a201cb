"""Puts answers of research below `escalate_below` to a human; the caller gets the answer at once, with a note."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

from kr_core.agents.exchange import key, told
from kr_core.agents.question_dispatch import AgentDispatcher, decide
from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.escalation import transitions
from kr_core.escalation.case import ResearchSubject
from kr_core.escalation.case_repository import CaseUpdater, with_report
from kr_core.escalation.manager import EscalationManager
from kr_core.escalation.worker import EscalationWorker
from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.wording import wording
from kr_core.model import STALE_MARK, ResearchRequest
from kr_core.model.questions import Answer, Question
from kr_core.model.routing import HUMAN, Route
from kr_core.research.decision_origin import NOT_RECORDED, is_recorded
from kr_core.research.single_flight import turn
from kr_core.review import is_unproven, score_of, worth_of

if TYPE_CHECKING:
    from kr_core.escalation.case import Case
    from kr_core.model import ResearchQuery, Results
    from kr_core.model.questions import Calibration
    from kr_core.research import CompletedResearch, Pipeline
    from kr_core.research.request_form import InvalidRequest

__all__ = ["ASKED", "ResearchReview"]

ASKED = "asked a human: "
"""Begins the note on an answer that waits for a human; the case's id follows."""
FEATURE = "research"
"""The feature of these questions in the record."""
_AGENT = "research"
"""Whose the tentative answer is, where no agent wrote it."""
_MAX_TOPIC_LENGTH = 100


class ResearchReview:
    """Puts doubtful answers of research to a human: each answer to a question once, however often it is asked.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._updater = CaseUpdater(pipeline)

    async def reviewed(
        self, request: ResearchRequest | InvalidRequest, answer: CompletedResearch
    ) -> CompletedResearch:
        """A doubtful answer, with a note: which human was asked, or what one decided about it before.

        Raises:
            ConfigError: a channel is wrongly configured.
            StorageError: the journal cannot be used.
        """
        result = answer.result
        if not isinstance(request, ResearchRequest):
            return answer
        if await shielded(lambda: self._is_reviewed(result.results)):
            return answer
        question = _question(request.query, result.results)
        async with turn(key(question), self._pipeline.components.turns):
            case = await shielded(lambda: self._updater.cases.latest_of(*key(question)))
            notes = _known(case, result.results)
            if notes and case is not None and case.status == "resolved":
                answer = await shielded(partial(self._decided, request, answer, case))
                result = answer.result
            notes = notes or await self._put(question, request.query, result.results)
        body = result.results.model_copy(
            update={"degradation_notes": (*result.results.degradation_notes, *notes)}
        )
        return answer._replace(result=result.model_copy(update={"results": body}))

    def _is_reviewed(self, results: Results) -> bool:
        """Whether the record has the decision of a human that the knowledge base names."""
        if results.cache_entry_id is None:
            return False
        store = self._pipeline.store
        try:
            entry = next((one for one in store.entries() if one.path == results.report_path), None)
            stored = None if entry is None else store.read(entry)
        except Exception:  # a store is a plugin, and the journal knows as well
            return False
        return stored is not None and is_recorded(self._pipeline.components, stored[1], _content(results))

    def _decided(self, request: ResearchRequest, answer: CompletedResearch, case: Case) -> CompletedResearch:
        """The answer as a human has decided it, which takes the place of the same one of the sources again."""
        try:
            changed, events = with_report(self._pipeline.components, case)
        except Exception:  # a store is a plugin; the answer of the sources stands
            return answer
        self._updater.keep(changed._replace(version=case.version + 1), events)
        return self._pipeline.recall(request.model_copy(update={"refresh": False})) or answer

    async def _put(self, question: Question, query: ResearchQuery, results: Results) -> list[str]:
        threshold = self._pipeline.config.settings.knowledge_research.escalate_below
        assert threshold is not None, "the answer is below it"
        route = Route(
            target=HUMAN,
            reason="the answer of research is below `escalate_below`",
            threshold=threshold,
            threshold_reason="knowledge_research.escalate_below",
        )
        dispatcher = AgentDispatcher(self._pipeline)
        manager = EscalationManager(self._updater, EscalationWorker(self._updater))
        try:
            exchange = dispatcher.begin(question, route=route)
        except ConfigError as error:
            return [f"no human was asked: {error}"]
        worth, known = await shielded(lambda: worth_of(self._pipeline, score_of(results)))
        answer = _answer(question, results, worth, known)
        verdict = decide(worth, threshold, always_escalate=False)
        if verdict.accepted and is_unproven(results):
            verdict = verdict.model_copy(update={"accepted": False, "reason": NOT_RECORDED})
        if answer is not None:
            exchange.say("answer.received", **told(answer))
        exchange.gated(verdict, answer)
        reason = verdict.reason if answer is not None else "no source has an answer"
        query = query.model_copy(update={"question": exchange.question.text})
        report = results.report_path if results.cache_entry_id is not None else None
        case = await manager.open(exchange, answer, reason, threshold, subject=ResearchSubject(query, report))
        dispatcher.finish(exchange, "escalated" if case else "failed", answer, threshold, case)
        await exchange.settled()
        return [*([f"{ASKED}{case.id}"] if case else []), *exchange.notes]


def _question(query: ResearchQuery, results: Results) -> Question:
    """The question as people get it; the same words about the same version are the same question."""
    words = "\0".join(
        [fold_name(query.framework), query.framework_version, *wording(query.question, query.framework)]
    )
    kept = results.report_path if results.cache_entry_id is not None else None
    library = f"Library: {query.framework} {query.framework_version}"
    return Question(
        id=hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16],
        feature_id=FEATURE,
        topic=f"research/{fold_name(query.framework)}"[:_MAX_TOPIC_LENGTH],
        text=query.question,
        context=f"{library}\n\nReport: {kept}" if kept else library,
    )


def _known(case: Case | None, results: Results) -> list[str]:
    """What became of the same answer when it was put to a human before; empty if it never was."""
    if case is None:
        return []
    if case.waits:
        return [f"{ASKED}{case.request.id}"]
    before = case.request.answer.content if case.request.answer else ""
    if before != transitions.clean_text(_content(results)) or case.resolution is None:
        return []
    if case.status == "resolved":
        return [
            f"the sources say the same as before {case.request.id} was decided: {transitions.ending(case)}"
        ]
    return [f"not asked again: {transitions.ending(case)}"]


def _content(results: Results) -> str:
    """The answer; empty where nothing was found."""
    if results.cache_entry_id is None and not results.citations:
        return ""
    return results.summary.removeprefix(STALE_MARK).strip()


def _answer(question: Question, results: Results, worth: int, known: Calibration | None) -> Answer | None:
    """The answer of research as a human gets it; None where nothing was found."""
    content = transitions.clean_text(_content(results))
    if not content:
        return None
    written = results.written_by
    return Answer(
        question_id=question.id,
        content=content,
        confidence=worth,
        raw_confidence=score_of(results),
        calibration=known,
        uncertainty_reasons=results.reasons,
        agent=_AGENT if written is None else written.agent,
        model="" if written is None else written.model,
    )
