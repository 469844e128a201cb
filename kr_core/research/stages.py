"""The stages of research: look up, route, consult, compose, score, render, keep.

Each reads what the run knows and adds its own result. `run.py` calls them, `stage_runner.py` puts their events on record.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING

from kr_core.knowledge.ids import report_path
from kr_core.model import QUOTE_DROPPED, SKELETON_MARK, Fault
from kr_core.research import entry_lookup as knowledge

if TYPE_CHECKING:
    from asyncio import Semaphore
    from collections.abc import Callable, Sequence

    from kr_core.model import Draft, Finding, Score
    from kr_core.model.events.runs import (
        ComposeFinished,
        ConsultFinished,
        KeepFinished,
        LookupFinished,
        ScoreFinished,
    )
    from kr_core.protocols import WriteResult
    from kr_core.research.entry_lookup import LookupResult
    from kr_core.research.report import RenderedReport
    from kr_core.research.sources import ChainResult, SourceChain
    from kr_core.research.state import RunState
    from kr_core.research.synthesis import EarlierAnswer

_UNANSWERED = "unanswered"
"""In the state folder: reports of questions that have no answer."""


def lookup(state: RunState, lookup_result: LookupResult | None = None) -> None:
    """Look for the answer in the knowledge base, unless a look-up right before has just done so."""
    state.lookup = state.runner.stage("lookup", lambda: lookup_result or look_up(state), _lookup_data)
    if state.lookup.is_outdated or state.lookup.is_expired:
        from kr_core.research.maintenance import mark_outdated

        state.notes += mark_outdated(state.components, state.query, state.lookup)


def route(state: RunState) -> None:
    """Choose the sources to ask, and find what readers rejected as an answer."""
    from kr_core.research.rejection import rejections_of

    state.rejections = rejections_of(state.components.store, state.query)
    state.notes += state.rejections.notes
    state.budget_spent = state.budget.remaining == 0
    state.slots = state.runner.stage(
        "route",
        lambda: state.components.chain(state.query),
        lambda slots: {"sources": [slot.name for slot in slots]},
    )


async def consult(state: RunState) -> None:
    """Ask the sources; then have the configured agent, if any, write from what they found."""
    from kr_core.research.sources import nothing_asked

    components, research = state.components, state.settings.knowledge_research
    state.notes += _persona_notes(state)
    gate = components.gate(spent=state.budget_spent)
    if state.seconds_left <= 0 or not await _pass_gate(state, gate):
        state.chain = nothing_asked(state.slots)
        return
    began = monotonic()
    runner = state.runner
    try:
        state.chain = await runner.wait_for_stage("consult", lambda: _source_chain(state).go(), _consult_data)
    finally:
        gate.release()
    if research.agent is not None and state.findings:
        from kr_core.research.synthesis import synthesise

        left = state.seconds_left - (monotonic() - began)
        earlier = _earlier_answer(state)
        state.synthesis = await synthesise(
            components, state.query, state.findings, left, runner.emit, earlier
        )


def compose(state: RunState) -> None:
    """Put the answer together from the passages, each claim with its citation."""
    from kr_core.research import report

    synthesis, project = state.synthesis, state.components.project
    state.notes += report.version_notes(state.query, state.findings, state.lookup, project)
    state.notes += [note for note in synthesis.notes if note not in state.notes] if synthesis else ()
    state.draft = state.runner.stage(
        "compose",
        lambda: report.draft_of(state.query, state.findings, synthesis.prose if synthesis else None),
        _compose_data,
    )
    state.written_by = synthesis.written(state.draft, state.notes) if synthesis else None


def score(state: RunState) -> None:
    """Say how sure the answer is; one that is not sure is composed so that it reads as such."""
    from kr_core.research import report

    state.score, notes = state.runner.stage(
        "score",
        lambda: report.score_of(state.components.scorer, state.query, state.findings, state.draft),
        _score_data,
    )
    state.score = state.rejections.capped(state.score)
    state.notes += notes
    state.draft = report.told_with_doubt(state.query, state.findings, state.draft, state.score)
    state.notes += [f"{QUOTE_DROPPED}{dropped}" for dropped in state.draft.dropped]


def render(state: RunState) -> None:
    """Make the text of the report; without any passage, that of a skeleton."""
    from kr_core.net.reasons import short
    from kr_core.research import report

    components, mark = state.components, None if state.findings else SKELETON_MARK

    def made() -> RenderedReport:
        ready = report.report_of(
            state.query, state.findings, state.draft, state.score, components.today(), mark, state.notes
        )
        if mark is None:
            before = ready
            ready = components.hooks.report_ready(before, state.hook_faults)
            state.notes += [short(note) for note in ready.notes if note not in before.notes]
        return report.rendered(components.renderer, ready)

    state.rendered = state.runner.stage("render", made, lambda rendered: {"characters": len(rendered.text)})
    state.notes += state.rendered.notes


def keep(state: RunState) -> None:
    """Write the report into the knowledge base, and commit it where that is configured."""
    from kr_core.git.autocommit import commit_report

    assert state.rendered is not None, "it was rendered"
    written = _write_report(state) if state.findings else _write_skeleton(state)

    def attempt() -> tuple[WriteResult | None, list[Fault]]:
        try:
            return written(), []
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the answer stands; its text goes into the result
            return None, [write_fault(error)]

    state.write, state.faults = state.runner.stage("keep", attempt, _keep_data)
    if state.write is not None:
        match = state.lookup.match if state.lookup.replaces else None
        state.notes += commit_report(
            state.components.config,
            state.write,
            state.rendered.report,
            replaced=match.warning if match else None,
        )


def stand_in(state: RunState) -> None:
    """Have an earlier report serve, since no source gave anything; where it is stale its file and its entry say so."""
    if not state.lookup.is_outdated:
        return
    from kr_core.git.autocommit import commit_changes
    from kr_core.research.maintenance import mark_stand_in

    notes, files = mark_stand_in(state.components, state.query, state.lookup)
    query = state.query
    subject = f"{query.framework} - {query.topic} is stale"
    state.notes += [*notes, *commit_changes(state.components.config, files, subject)]


STAGES = (lookup, route, consult, compose, score, render, keep)
"""All of research, in order; only `consult` waits for the outside. `kr_core.model.STAGE_NAMES` are their names in events."""


# -- parts of stages -------------------------------------------------------------------------------------


def look_up(state: RunState) -> LookupResult:
    return knowledge.look_up(state.components, state.query)


def _earlier_answer(state: RunState) -> EarlierAnswer | None:
    """The stale answer that this research replaces, for the agent that writes the new one."""
    from kr_core.research.synthesis import EarlierAnswer

    found = state.lookup
    if not (found.is_outdated and found.replaces and found.match and found.match.warning):
        return None
    return EarlierAnswer(knowledge.summary_of(found.report), found.match.warning)


def _persona_notes(state: RunState) -> list[str]:
    """A note where the configured persona cannot be loaded: it is looked for on every miss, also where no agent writes."""
    config = state.components.config
    if config.settings.role_mapping.knowledge_researcher_persona is None:
        return []
    from kr_core.agents.personas import researcher
    from kr_core.config.template_trust import template_folders

    return researcher(template_folders(config.root, config.environ), config)[1]


async def _pass_gate(state: RunState, gate: Semaphore) -> bool:
    """Wait to be one of the questions that ask sources at once; False where the limit of the run passed meanwhile."""
    import asyncio

    began = monotonic()
    try:
        async with asyncio.timeout(state.seconds_left):
            await gate.acquire()
    except TimeoutError:
        return False
    state.seconds_left -= monotonic() - began
    return True


def _source_chain(state: RunState) -> SourceChain:
    from kr_core.research.sources import ChainRules, SourceChain

    limit = state.request.timeout_seconds or state.settings.knowledge_research.timeout_seconds
    is_renewal = state.request.refresh or state.lookup.is_outdated
    rules = ChainRules(
        lambda findings: _is_sufficient(state, findings),
        call_seconds=None if limit is None else float(limit),
        run_seconds=state.seconds_left,
        uses_cache=not is_renewal,
        fallback=state.components.fallback(),
        retries=state.settings.defaults.agent_timeout_action == "retry_once",
    )
    runner = state.runner
    return SourceChain(
        state.slots, state.query, state.components, state.budget, runner.emit, state.grants, rules
    )


def _is_sufficient(state: RunState, findings: Sequence[tuple[str, Finding]]) -> bool:
    from kr_core.research.report import is_sufficient

    wanted = state.settings.knowledge_research.sufficient_at
    findings = state.rejections.without(list(findings))
    return is_sufficient(state.query, findings, wanted, lambda: state.components.scorer)


def _write_report(state: RunState) -> Callable[[], WriteResult]:
    """How to write the report and its entry; entries that it overtakes are marked before."""
    from kr_core.evidence.verification import title_of
    from kr_core.research.human_review import reviewed_by
    from kr_core.research.maintenance import mark_overtaken, within_limits
    from kr_core.research.passages import ranked
    from kr_core.research.report import evidence_of

    components, query, rendered, chain = state.components, state.query, state.rendered, state.chain
    assert rendered is not None, "it was rendered"
    assert chain is not None, "sources were asked"
    findings = [finding for _name, finding in state.findings]
    state.notes += mark_overtaken(components.store, components.project, query, findings)
    if state.lookup.replaces and (case := reviewed_by(state.lookup.evidence)):
        state.notes.append(f"new research replaced what a human had decided ({case})")
    is_weak = state.score is not None and state.score.level == "low"
    entry = knowledge.entry_to_write(
        state.lookup,
        query,
        rendered.report.query.framework_version,
        components.today(),
        "stale" if is_weak else "fresh",
    )
    evidence = evidence_of(rendered.report, query, entry.path, ranked(findings))
    evidence["title"] = title_of(rendered.text)  # a project's own template has its own
    if is_weak and chain.failed:
        evidence["incomplete"] = True  # a bad hour is not kept, not even for a day
    return lambda: within_limits(
        components.store.write(rendered.text, evidence, entry), components, state.notes
    )


def _write_skeleton(state: RunState) -> Callable[[], WriteResult]:
    """How to write a report without an answer: into KR's state folder, so that knowledge base and git stay clean."""
    from kr_core.errors import StorageError
    from kr_core.files import make_state_folder, write_atomically
    from kr_core.protocols import WriteResult

    components, rendered, query = state.components, state.rendered, state.query
    assert rendered is not None, "it was rendered"
    top = components.config.state_folder
    file = (
        top / _UNANSWERED / PurePosixPath(report_path(query.framework, query.topic)).relative_to("frameworks")
    )

    def written() -> WriteResult:
        if components.config.temporary_state is not None:
            raise StorageError("nothing can be kept in this project", where=str(components.config.root))
        make_state_folder(top)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, rendered.text)
        count = 0
        with suppress(Exception):  # the answer is that there is none, whatever the store says
            count = len(components.store.entries())
        return WriteResult(None, file.relative_to(components.config.root).as_posix(), count)

    return written


def write_fault(error: BaseException) -> Fault:
    """What to say of a write that failed."""
    return Fault(type="write_error", message=knowledge.describe(error))


# -- what `<stage>.finished` says ------------------------------------------------------------------------


def _lookup_data(found: LookupResult) -> LookupFinished:
    """How the knowledge base was found."""
    entry = found.matched.entry.id if found.matched else None
    return {"state": found.state, "entry": entry, "warnings": list(found.warnings)}


def _consult_data(chain: ChainResult) -> ConsultFinished:
    """How the chain ended."""
    return {
        "sufficient": chain.sufficient,
        "budget_cut": chain.budget_cut,
        "run_timeout": chain.run_timeout,
    }


def _compose_data(draft: Draft) -> ComposeFinished:
    """What of the answer is cited, and what was dropped since it was not found."""
    return {
        "citations": len(draft.citations),
        "dropped": len(draft.dropped),
        "unsupported": list(draft.unsupported),
    }


def _score_data(scored: tuple[Score, list[str]]) -> ScoreFinished:
    """How sure the scorer is."""
    score = scored[0]
    return {"score": score.score, "level": score.level, "reasons": list(score.reasons)}


def _keep_data(outcome: tuple[WriteResult | None, list[Fault]]) -> KeepFinished:
    """Where the report lies."""
    kept, faults = outcome
    return {
        "path": kept.path if kept else None,
        "entry": kept.entry.id if kept and kept.entry else None,
        "evicted": kept.evicted if kept else 0,
        "error": faults[0].message if faults else None,
    }
