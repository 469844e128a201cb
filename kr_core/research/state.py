"""What one run knows, and the stages: each reads what the run knows and adds its own result."""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING

from kr_core.knowledge.ids import report_path
from kr_core.model import QUOTE_DROPPED, SKELETON_MARK, Draft, Fault
from kr_core.research import lookup as knowledge
from kr_core.research import stages
from kr_core.research.budget import RunBudget
from kr_core.research.stages import StageRunner

if TYPE_CHECKING:
    from asyncio import Semaphore
    from collections.abc import Callable, Sequence

    from kr_core.config.schema import Schema
    from kr_core.model import Event, Finding, ResearchQuery, ResearchRequest, Score, WrittenBy
    from kr_core.protocols import WriteResult
    from kr_core.research.container import Container, SourceSlot
    from kr_core.research.lookup import LookupResult
    from kr_core.research.report import RenderedReport
    from kr_core.research.sources import ChainResult, NamedFindings, SourceChain
    from kr_core.research.synthesis import Synthesis

_UNANSWERED = "unanswered"
"""In the state folder: reports of questions that have no answer."""


class RunState:
    """One request, what answers it, and what its stages have come to.

    Args:
        request: what is asked.
        components: what it is answered with.
        observers: called with every event at once.
    """

    def __init__(
        self,
        request: ResearchRequest,
        components: Container,
        observers: tuple[Callable[[Event], object], ...] = (),
    ) -> None:
        settings = components.config.settings
        self.request = request
        self.components = components
        self.runner = StageRunner(components.journal, observers)
        self.budget = RunBudget(
            components.journal,
            request.session_id,
            request.story_key,
            settings.knowledge_research.max_calls_per_story,
            request.max_calls,
        )
        self.seconds_left = float(settings.defaults.agent_timeout_seconds.knowledge_research)
        """How long the run may still take."""
        self.budget_spent = False
        """Whether no call was left when the run began to look for sources."""
        self.notes: list[str] = []
        # In the order of the stages:
        self.lookup: LookupResult = knowledge.NOTHING
        self.slots: tuple[SourceSlot, ...] = ()
        self.chain: ChainResult | None = None
        self.synthesis: Synthesis | None = None
        self.draft = Draft()
        self.written_by: WrittenBy | None = None
        self.score: Score | None = None
        self.rendered: RenderedReport | None = None
        self.write: WriteResult | None = None
        """What the store wrote; None where it wrote nothing."""
        self.faults: list[Fault] = []

    @property
    def query(self) -> ResearchQuery:
        """The question, with its framework and version."""
        return self.request.query

    @property
    def settings(self) -> Schema:
        """The settings of the project."""
        return self.components.config.settings

    @property
    def findings(self) -> NamedFindings:
        """What the sources found, by their names."""
        return self.chain.findings if self.chain else []


# -- the stages, each of which reads what the run knows and adds its own result --------------------------


def lookup(state: RunState, lookup_result: LookupResult | None = None) -> None:
    """Look for the answer in the knowledge base, unless a look-up right before has just done so."""
    state.lookup = state.runner.stage("lookup", lambda: lookup_result or look_up(state), stages.lookup)


def route(state: RunState) -> None:
    """Choose the sources to ask."""
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
    gate = components.gate(spent=state.budget_spent)
    if state.seconds_left <= 0 or not await _pass_gate(state, gate):
        state.chain = nothing_asked(state.slots)
        return
    began = monotonic()
    runner = state.runner
    try:
        state.chain = await runner.wait_for_stage("consult", lambda: _source_chain(state).go(), stages.chain)
    finally:
        gate.release()
    if research.agent is not None and state.findings:
        from kr_core.research.synthesis import synthesise

        left = state.seconds_left - (monotonic() - began)
        state.synthesis = await synthesise(components, state.query, state.findings, left, runner.emit)


def compose(state: RunState) -> None:
    """Put the answer together from the passages, each claim with its citation."""
    from kr_core.research import report

    synthesis, project = state.synthesis, state.components.project
    state.notes += report.version_notes(state.query, state.findings, state.lookup, project)
    state.notes += synthesis.notes if synthesis else ()
    state.draft = state.runner.stage(
        "compose",
        lambda: report.draft_of(state.query, state.findings, synthesis.prose if synthesis else None),
        stages.draft,
    )
    state.written_by = synthesis.written(state.draft, state.notes) if synthesis else None


def score(state: RunState) -> None:
    """Say how sure the answer is; one that is not sure is composed so that it reads as such."""
    from kr_core.research import report

    state.score, notes = state.runner.stage(
        "score",
        lambda: report.score_of(state.components.scorer, state.query, state.findings, state.draft),
        stages.score,
    )
    state.notes += notes
    state.draft = report.told_with_doubt(state.query, state.findings, state.draft, state.score)
    state.notes += [f"{QUOTE_DROPPED}{dropped}" for dropped in state.draft.dropped]


def render(state: RunState) -> None:
    """Make the text of the report; without any passage, that of a skeleton."""
    from kr_core.research import report

    components, mark = state.components, None if state.findings else SKELETON_MARK
    notes: list[str] = []

    def made() -> RenderedReport:
        ready = report.report_of(
            state.query, state.findings, state.draft, state.score, components.today(), mark, state.notes
        )
        if mark is None:
            ready = components.hooks.report_ready(ready, notes)
        return report.rendered(components.renderer, ready, notes)

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

    state.write, state.faults = state.runner.stage("keep", attempt, stages.kept)
    if state.write is not None:
        match = state.lookup.match if state.lookup.replaces else None
        state.notes += commit_report(
            state.components.config,
            state.write,
            state.rendered.report,
            replaced=match.warning if match else None,
        )


# -- parts of stages -------------------------------------------------------------------------------------


def look_up(state: RunState) -> LookupResult:
    return knowledge.look_up(state.components, state.query)


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
        state.slots, state.query, state.components, state.budget, runner.emit, runner.id, rules
    )


def _is_sufficient(state: RunState, findings: Sequence[tuple[str, Finding]]) -> bool:
    from kr_core.research.report import is_sufficient

    wanted = state.settings.knowledge_research.sufficient_at
    return is_sufficient(state.query, findings, wanted, lambda: state.components.scorer)


def _write_report(state: RunState) -> Callable[[], WriteResult]:
    """How to write the report and its entry; entries that it overtakes are marked before."""
    from kr_core.research.maintenance import mark_overtaken, within_limits
    from kr_core.research.passages import ranked
    from kr_core.research.report import evidence_of

    components, query, rendered, chain = state.components, state.query, state.rendered, state.chain
    assert rendered is not None, "it was rendered"
    assert chain is not None, "sources were asked"
    findings = [finding for _name, finding in state.findings]
    state.notes += mark_overtaken(components.store, components.project, query.framework, findings)
    is_weak = state.score is not None and state.score.level == "low"
    entry = knowledge.entry_to_write(
        state.lookup,
        query,
        rendered.report.query.framework_version,
        components.today(),
        "stale" if is_weak else "fresh",
    )
    evidence = evidence_of(rendered.report, query, entry.path, ranked(findings))
    if is_weak and chain.failed:
        evidence["incomplete"] = True  # a bad hour is not kept, not even for a day
    return lambda: within_limits(
        components.store.write(rendered.text, evidence, entry), components, state.notes
    )


def _write_skeleton(state: RunState) -> Callable[[], WriteResult]:
    """How to write a report without an answer: into KR's state folder, so that knowledge base and git stay clean."""
    from kr_core.files import make_state_folder, write_atomically
    from kr_core.protocols import WriteResult

    components, rendered, query = state.components, state.rendered, state.query
    assert rendered is not None, "it was rendered"
    top = components.config.state_folder
    file = (
        top / _UNANSWERED / PurePosixPath(report_path(query.framework, query.topic)).relative_to("frameworks")
    )

    def written() -> WriteResult:
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
