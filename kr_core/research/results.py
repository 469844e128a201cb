"""What a caller gets: the result of a run and its status, made from what the run knows."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  a NamedTuple's field: `typing.get_type_hints` needs it
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.config.plugin_names import DEFAULT_CHAIN
from kr_core.model import SKELETON_MARK, STALE_MARK, Citation, Outcome, ResearchResult, Results
from kr_core.research import entry_lookup
from kr_core.research.entry_lookup import depends_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Fault, Status
    from kr_core.research.entry_lookup import LookupResult
    from kr_core.research.sources import ChainResult
    from kr_core.research.state import RunState


_EXHAUSTED = "Research budget exhausted for story {}, continuing with available context"


class CompletedResearch(NamedTuple):
    """A result, the text of its report, and the files that it depends on."""

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


def hit(state: RunState, index_count: int, faults: Sequence[Fault]) -> CompletedResearch:
    """The answer of a cache hit.

    Args:
        state: the run, after its look-up.
        index_count: how many entries the knowledge base has.
        faults: what went wrong when the use of the entry was written down.
    """
    matched = state.lookup.matched
    assert matched is not None, "it is a hit"
    notes = state.lookup.notes
    update: dict[str, Any] = {"cache_hit": True, "index_updated": not faults, "index_count": index_count}
    kept = _of_kept(state)
    update["degradation_notes"] = (*notes, *_decision_notes(state, kept))
    body = kept.model_copy(update=update)
    result = _result(state, "cache-hit", body, faults)
    # what a plugin's fault came to is not shown again without asking the plugin
    files = () if notes else depends_on(state.lookup, matched.entry.path, state.components)
    return CompletedResearch(result, state.lookup.report, files)


def given_to(state: RunState, answer: CompletedResearch) -> CompletedResearch:
    """Another caller's answer, for the story and session of this run."""
    body = answer.result.results.model_copy(update={"budget_remaining": state.budget.remaining})
    request = state.request
    update = {"story_key": request.story_key, "session_id": request.session_id, "results": body}
    return answer._replace(result=answer.result.model_copy(update=update))


def chain_notes(state: RunState) -> list[str]:
    """What a caller should know of the look-up and of the sources that were asked."""
    chain, components = _asked(state), state.components
    notes = [*state.request.notes, *state.lookup.warnings, *chain.notes]
    if chain.run_timeout:
        from kr_core.research.sources import run_timeout_note

        notes.append(run_timeout_note(components))
    if chain.budget_cut:
        notes.append(_EXHAUSTED.format(state.request.story_key))
    if state.findings:
        return notes
    first = DEFAULT_CHAIN[0]
    if components.default_chain and all(entry.name != first for entry in chain.consulted):
        notes.append(f"{first} was not asked: {state.query.framework} is not installed here")
    failed = [entry.failed for entry in chain.consulted if entry.finding is not None]
    if all(failed) and (failed or not chain.budget_cut):  # not one could look
        if not state.lookup.serves_when_stale:
            instead = "no cached content available"
        else:
            instead = "what was kept still holds" if state.lookup.state == "hit" else "using stale cache"
        notes.append(f"all_sources_unavailable: {instead}")
    return [*notes, *_expired_note(state.lookup)]


def _expired_note(found: LookupResult) -> list[str]:
    """The name of a report on the same topic that is too old to serve, where there is one."""
    matched = found.matched
    if found.state != "miss" or matched is None or matched.tier == "tags" or not matched.exact:
        return []
    why = (found.match and found.match.warning) or "the look-up does not serve it"
    name = matched.entry.id
    return [f"a kept report matches and is not used: {name}: {why}; `kr cache show {name}` shows it"]


def completed(state: RunState) -> CompletedResearch:
    """The answer after sources were asked: of the new report, of an earlier one, or of a skeleton."""
    chain, rendered = _asked(state), state.rendered
    if rendered is None:
        body, text = _stale(state)
    else:
        body, text = _fresh(state) if state.findings else _skeleton(state), rendered.text
    content = bool(state.findings)
    status = status_of(chain, content=content, write_failed=bool(state.faults) and content)
    action = state.settings.defaults.agent_timeout_action
    result = _result(
        state, status, body, state.faults, intervene=chain.run_timeout and action == "mark_needs_intervention"
    )
    entry = state.write.entry if state.write else None
    files = depends_on(state.lookup, entry.path, state.components) if entry else ()
    return CompletedResearch(result, text, files)


def _asked(state: RunState) -> ChainResult:
    assert state.chain is not None, "sources were asked"
    return state.chain


def _result(
    state: RunState, status: Status, body: Results, faults: Sequence[Fault], *, intervene: bool = False
) -> ResearchResult:
    return ResearchResult(
        status=status,
        story_key=state.request.story_key,
        session_id=state.request.session_id,
        results=body,
        errors=tuple(faults),
        needs_intervention=intervene,
    )


def _fresh(state: RunState) -> Results:
    """The body of the result of new research."""
    from kr_core.research.passages import ranked, result_passages
    from kr_core.research.report import summary_text

    write = state.write
    return _of_report(state).model_copy(
        update={
            "cache_entry_id": write.entry.id if write and write.entry else None,
            "index_updated": write is not None,
            "lru_evicted": write.evicted if write else 0,
            "summary": summary_text(state.draft),
            "citations": state.draft.citations,
            "passages": result_passages(
                ranked(finding for _name, finding in state.findings), state.query.question, _max_tokens(state)
            ),
            "written_by": state.written_by,
        }
    )


def _skeleton(state: RunState) -> Results:
    """The body where there is nothing at all."""
    return _of_report(state).model_copy(update={"summary": SKELETON_MARK})


def _of_report(state: RunState) -> Results:
    """What the results of a report and of a skeleton share; the report's text where it could not be kept."""
    write, rendered = state.write, state.rendered
    assert rendered is not None, "a report was rendered"
    score = rendered.report.score
    return Results(
        report_path=write.path if write else None,
        confidence=score.level,
        score=score.score,
        reasons=score.reasons,
        match=state.lookup.match,
        report=None if write else rendered.text,
        **_of_run(state),
    )


def _of_run(state: RunState) -> dict[str, Any]:
    """What every result after sources were asked says of the run."""
    return {
        "sources_consulted": tuple(entry.line for entry in _asked(state).consulted),
        "degradation_notes": tuple(
            dict.fromkeys((*state.notes, *_asked(state).hook_faults, *state.hook_faults))
        ),
        "budget_remaining": state.budget.remaining,
        "index_count": state.write.index_count if state.write else _index_count(state),
    }


def _index_count(state: RunState) -> int:
    try:
        return len(state.components.store.entries())
    except Exception:
        return 0


def stored(lookup_result: LookupResult, budget_remaining: int) -> Results:
    """The body that a stored report gives."""
    assert lookup_result.matched is not None, "a report was found"
    evidence = lookup_result.evidence
    return Results(
        cache_entry_id=lookup_result.matched.entry.id,
        report_path=lookup_result.matched.entry.path,
        confidence=entry_lookup.confidence_of(lookup_result.report, evidence),
        budget_remaining=budget_remaining,
        summary=_stored_summary(lookup_result),
        score=entry_lookup.score_of(evidence),
        reasons=_texts(evidence.get("reasons")),
        match=lookup_result.match,
        citations=_citations(evidence.get("citations")),
    )


def _stale(state: RunState) -> tuple[Results, str]:
    """The body and the text where an earlier report stands in; it is marked, unless it only was to be refreshed."""
    lookup_result = state.lookup
    kept, of_run = _of_kept(state), _of_run(state)
    of_run["degradation_notes"] += _decision_notes(state, kept)
    body = kept.model_copy(update=of_run)
    if lookup_result.state == "hit":
        return body, lookup_result.report
    from kr_core.research.maintenance import MAX_WHEN_STALE

    marked = body.model_copy(
        update={
            "confidence": "low",
            "score": min(body.score or 0, MAX_WHEN_STALE),
            "reasons": ("a stale report", *body.reasons),
            "summary": f"{STALE_MARK}\n\n{body.summary}",
        }
    )
    mark = f"{STALE_MARK}\n\n"
    return marked, mark + lookup_result.report.replace(mark, "")


def _decision_notes(state: RunState, kept: Results) -> tuple[str, ...]:
    """A note on a kept answer that tells of a human's decision, where the record has none."""
    from kr_core.research.decision_origin import decision_note

    note = decision_note(state.components, state.lookup.report, state.lookup.evidence, kept.summary)
    return (note,) if note else ()


def _of_kept(state: RunState) -> Results:
    """The body that the stored report gives to this run, with its passages."""
    from kr_core.research.passages import stored_passages

    passages = stored_passages(state.lookup.evidence, state.query.question, _max_tokens(state))
    return stored(state.lookup, state.budget.remaining).model_copy(update={"passages": passages})


def _max_tokens(state: RunState) -> int:
    return state.request.max_tokens or state.settings.knowledge_research.max_tokens


def _stored_summary(lookup_result: LookupResult) -> str:
    """The answer as it was written, for a report of any template; what a person has changed in its Summary counts."""
    summary = lookup_result.evidence.get("answer")
    if not isinstance(summary, str) or not summary:
        return entry_lookup.summary_of(lookup_result.report)
    is_changed = summary not in lookup_result.report and entry_lookup.has_summary(lookup_result.report)
    return entry_lookup.summary_of(lookup_result.report) if is_changed else summary


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _citations(value: Any) -> tuple[Citation, ...]:
    from pydantic import ValidationError

    citations = []
    for item in value if isinstance(value, list) else ():
        try:
            citations.append(
                Citation.model_validate({key: item[key] for key in Citation.model_fields if key in item})
            )
        except (ValidationError, TypeError):
            continue  # evidence that a person edited; `kr verify` reports it
    return tuple(citations)


def status_of(chain: ChainResult, *, content: bool, write_failed: bool) -> Status:
    """The status after the chain was walked, by the first rule that applies (R15).

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
