"""What a caller gets: results made of what was found, written and stored; pure.

The status of a run, by the first rule that applies (R15); pure.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  a NamedTuple's field: `typing.get_type_hints` needs it
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import KRError
from kr_core.model import SKELETON_MARK, STALE_MARK, Citation, Fault, Outcome, ResearchResult, Results
from kr_core.research import lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Draft, ResearchRequest, Score, SourceConsulted, Status, WrittenBy
    from kr_core.protocols import WriteResult
    from kr_core.research.lookup import LookupResult
    from kr_core.research.sources import ChainResult


_MAX_WHEN_STALE = 30
"""The score of a stale report that stands in, at most; out of 100."""


class CompletedResearch(NamedTuple):
    """A result, the report's text behind it, and the files that it depends on."""

    result: ResearchResult
    report: str = ""
    depends_on: tuple[Path, ...] = ()


def refused(
    story_key: str, session_id: str, faults: Sequence[Fault], budget_remaining: int
) -> CompletedResearch:
    """The answer to a request that is none, or where research is disabled."""
    result = ResearchResult(
        status="failure",
        story_key=story_key,
        session_id=session_id,
        results=Results(budget_remaining=budget_remaining),
        errors=tuple(faults),
    )
    return CompletedResearch(result)


def hit(request: ResearchRequest, answer: Results, faults: Sequence[Fault]) -> ResearchResult:
    """The result of a cache hit."""
    return ResearchResult(
        status="cache-hit",
        story_key=request.story_key,
        session_id=request.session_id,
        results=answer,
        errors=tuple(faults),
    )


def of_chain(
    request: ResearchRequest,
    chain: ChainResult,
    answer: Results,
    faults: Sequence[Fault],
    *,
    content: bool,
    needs_intervention: bool,
) -> ResearchResult:
    """The result after sources were asked; `content` says whether any of them gave some."""
    return ResearchResult(
        status=status_of(chain, content=content, write_failed=bool(faults) and content),
        story_key=request.story_key,
        session_id=request.session_id,
        results=answer,
        errors=tuple(faults),
        needs_intervention=needs_intervention,
    )


def fresh(
    found: LookupResult,
    chain: ChainResult,
    draft: Draft,
    score: Score,
    kept: WriteResult | None,
    *,
    notes: Sequence[str],
    budget_remaining: int,
    index_count: int,
    report: str,
    written_by: WrittenBy | None = None,
) -> Results:
    """The body of the result of new research; the report's text where it could not be kept."""
    from kr_core.research.report import summary_text

    return Results(
        cache_entry_id=kept.entry.id if kept and kept.entry else None,
        report_path=kept.path if kept else None,
        confidence=score.level,
        sources_consulted=_lines(chain),
        budget_remaining=budget_remaining,
        degradation_notes=_once(notes),
        index_updated=kept is not None,
        index_count=index_count,
        lru_evicted=kept.evicted if kept else 0,
        summary=summary_text(draft),
        score=score.score,
        reasons=score.reasons,
        match=found.match,
        citations=draft.citations,
        written_by=written_by,
        report=None if kept else report,
    )


def stored(found: LookupResult, budget_remaining: int) -> Results:
    """The body that a stored report gives."""
    assert found.matched is not None, "a report was found"
    evidence = found.evidence
    score = evidence.get("score")
    return Results(
        cache_entry_id=found.matched.entry.id,
        report_path=found.matched.entry.path,
        confidence=lookup.confidence_of(found.report, evidence),
        budget_remaining=budget_remaining,
        summary=_stored_summary(found),
        score=score if isinstance(score, int) else None,
        reasons=_texts(evidence.get("reasons")),
        match=found.match,
        citations=_citations(evidence.get("citations")),
    )


def stale(
    found: LookupResult, chain: ChainResult, *, notes: Sequence[str], budget_remaining: int, index_count: int
) -> tuple[Results, str]:
    """The body and the text where the kept report stands in for an answer; it is marked, unless it was to be refreshed only."""
    base = stored(found, budget_remaining)
    if found.state == "hit":
        consulted = {
            "sources_consulted": _lines(chain),
            "degradation_notes": _once(notes),
            "index_count": index_count,
        }
        return base.model_copy(update=consulted), found.report
    answer = base.model_copy(
        update={
            "confidence": "low",
            "score": min(base.score or 0, _MAX_WHEN_STALE),
            "reasons": ("a stale report", *base.reasons),
            "summary": f"{STALE_MARK}\n\n{base.summary}",
            "sources_consulted": _lines(chain),
            "degradation_notes": _once(notes),
            "index_count": index_count,
        }
    )
    return answer, f"{STALE_MARK}\n\n{found.report}"


def skeleton(
    found: LookupResult,
    chain: ChainResult,
    score: Score,
    kept: WriteResult | None,
    *,
    notes: Sequence[str],
    budget_remaining: int,
    index_count: int,
    report: str,
) -> Results:
    """The body where there is nothing at all."""
    return Results(
        report_path=kept.path if kept else None,
        confidence=score.level,
        sources_consulted=_lines(chain),
        budget_remaining=budget_remaining,
        degradation_notes=_once(notes),
        index_count=index_count,
        summary=SKELETON_MARK,
        score=score.score,
        reasons=score.reasons,
        match=found.match,
        report=None if kept else report,
    )


def write_fault(error: BaseException) -> Fault:
    """What to say of a write that failed."""
    said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
    return Fault(type="write_error", message=said)


def _lines(chain: ChainResult) -> tuple[SourceConsulted, ...]:
    return tuple(entry.line for entry in chain.consulted)


def _once(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


def _stored_summary(found: LookupResult) -> str:
    """The answer as it was written, for a report of any template; what a person has changed in its Summary counts."""
    summary = found.evidence.get("answer")
    if not isinstance(summary, str) or not summary:
        return lookup.summary_of(found.report)
    is_changed = summary not in found.report and lookup.has_summary(found.report)
    return lookup.summary_of(found.report) if is_changed else summary


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _citations(value: Any) -> tuple[Citation, ...]:
    from pydantic import ValidationError

    found = []
    for item in value if isinstance(value, list) else ():
        try:
            found.append(
                Citation.model_validate({key: item[key] for key in Citation.model_fields if key in item})
            )
        except (ValidationError, TypeError):
            continue  # evidence that somebody edited; `kr verify` tells
    return tuple(found)


def status_of(chain: ChainResult, *, content: bool, write_failed: bool) -> Status:
    """The status after the chain was walked.

    Args:
        chain: what became of the sources.
        content: whether any source gave content.
        write_failed: whether the report or its entry could not be kept.
    """
    outcomes = {entry.finding.outcome for entry in chain.consulted if entry.finding is not None}
    if chain.budget_cut:
        return "budget-exhausted"
    if not content:
        return "degraded"
    if chain.run_timeout or Outcome.timeout in outcomes:
        return "timeout"
    if write_failed or outcomes - {Outcome.ok}:
        return "partial"
    return "success"
