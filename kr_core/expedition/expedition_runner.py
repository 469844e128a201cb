"""An expedition from its first cycle to its answer, as updates that come while it runs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kr_core.aio import shielded
from kr_core.expedition import answer
from kr_core.expedition.checkpoints import Checkpoints
from kr_core.expedition.convergence import CycleVerdict, decide
from kr_core.expedition.cycle import CycleRunner
from kr_core.expedition.expedition_state import ExpeditionPlan, ExpeditionState
from kr_core.expedition.facts.axiom_store import AxiomStore, found_before, gone
from kr_core.expedition.facts.corroboration import is_of_project, where
from kr_core.expedition.llm import LLMAnalyst
from kr_core.expedition.passage_pool import PassagePool
from kr_core.expedition.report_confidence import confidence_of_report, confidence_of_survey, told
from kr_core.expedition.search import SourceSearches, engines_of, query_of
from kr_core.expedition.survey_plan import compared_with
from kr_core.model.expedition import (
    Axiom,
    Converging,
    Finished,
    Noted,
    Spent,
    Started,
    Synthesised,
)
from kr_core.question.packages import subjects_of
from kr_core.research.budget import RunBudget
from kr_core.research.stage_runner import StageRunner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from kr_core.model import Event, Score
    from kr_core.model.expedition import CycleReport, Ending, ExpeditionUpdate
    from kr_core.research.container import Container

__all__ = ["expedition"]

STORY = "0-0"
_TOLD_GONE = 3


async def expedition(
    plan: ExpeditionPlan,
    components: Container,
    observers: tuple[Callable[[Event], object], ...] = (),
    *,
    resumed: bool = False,
) -> AsyncGenerator[ExpeditionUpdate, None]:
    """Run an expedition to its end; what its journal has of it is not done again.

    Args:
        plan: what is asked and may be spent.
        components: the pipeline's.
        observers: called with every event at once.
        resumed: whether it goes on after a kill.

    Raises:
        ConfigError: a source or the agent is wrongly configured.
        StorageError: the journal cannot be used.
    """
    run = StageRunner(components.journal, observers)
    steps = Checkpoints(components.journal, plan.run)
    store = AxiomStore(components.journal, components.config.state_folder, components.project)
    budget = RunBudget(components.journal, plan.run, STORY, plan.max_calls, None)
    run.emit("expedition.started", {"expedition": plan.id, "query": plan.query, "resumed": resumed})
    state = await _begun(plan, components, steps, store)
    engines, notes = await engines_of(components)
    if plan.max_calls == 0:
        engines = [engine for engine in engines if not engine.external]
    state.asks = bool(engines)
    mind = None if plan.agent is None else LLMAnalyst(components, plan, run.emit)
    yield Started(
        id=plan.id, query=plan.query, sources=tuple(engine.link.name for engine in engines),
        max_cycles=plan.max_cycles, max_calls=plan.max_calls, max_tokens=plan.max_tokens if mind else 0,
        agent=plan.agent, known=len(state.recalled), resumed=resumed,
    )  # fmt: skip
    for note in [*_no_longer(state.gone), *notes]:
        yield _noted(state, note)
    paid = any(engine.external for engine in engines)
    sources = SourceSearches(engines, components, budget, run.emit)
    cycle = CycleRunner(state, steps, sources, components, store, mind)
    number, attempt = 1, 1
    reason: Ending | None = None
    while reason is None:
        run.emit("cycle.started", {"expedition": plan.id, "cycle": number, "attempt": attempt})
        ran = cycle.run(number, attempt)
        try:
            async for update in ran:
                yield update
        finally:
            await ran.aclose()  # a caller that goes away stops the searches
        report = state.history[-1]
        # Kept: a cycle that is done already was decided on with what was left then.
        left = await steps.do(f"cycle {number}.{attempt} left", partial(shielded, lambda: budget.remaining))
        spent = (left == 0 and paid) or (mind is not None and mind.spent_up)
        verdict = _verdict(state, cut=cycle.cut, spent=spent)
        run.emit(
            "cycle.finished",
            {"expedition": plan.id, **report.model_dump(mode="json"), "decision": verdict.decision},
        )
        yield Converging(
            report=report, previous=verdict.previous, decision=verdict.decision, rule=verdict.rule
        )
        yield Spent(
            tokens=state.tokens,
            tokens_left=mind.left if mind else 0,
            calls=plan.max_calls - left,
            calls_left=left,
        )
        if report.down:
            yield _noted(state, _told_down(report, repeats=verdict.decision == "repeat"))
        reason = verdict.rule
        number, attempt = (number, 2) if verdict.decision == "repeat" else (number + 1, 1)
    written = await steps.do("synthesis", lambda: _written(state, components, mind))
    if mind is not None:
        mind.account(written, state)
        for note in mind.take_notes():
            yield _noted(state, note)
    yield Synthesised(agent=written["agent"], cited=tuple(written["cited"]), dropped=written["dropped"])
    finished = Finished.model_validate(
        await steps.do("end", lambda: _end(state, reason, written, plan.max_calls - left))
    )
    run.emit(
        "expedition.finished",
        {"expedition": plan.id, "reason": reason, "cycles": finished.cycles, "axioms": len(finished.axioms)},
    )
    await run.settled()
    yield finished


def _noted(state: ExpeditionState, note: str) -> Noted:
    """Add a note to the expedition's."""
    state.notes.append(note)
    return Noted(text=note)


def _verdict(state: ExpeditionState, *, cut: bool, spent: bool) -> CycleVerdict:
    """What follows the last cycle, where the budget has left a search undone or is spent too."""
    verdict = decide(state.history, state.plan.max_cycles)
    if (cut and verdict.rule != "maximum_cycles") or (spent and verdict.rule is None):
        return verdict._replace(decision="stop", rule="budget_exhausted")
    return verdict


async def _begun(
    plan: ExpeditionPlan, components: Container, steps: Checkpoints, store: AxiomStore
) -> ExpeditionState:
    async def begin() -> dict[str, Any]:
        every = await shielded(lambda: _remembered(plan.query, components, store))
        recalled = [axiom for axiom in every if not gone(axiom)]
        named, subjects = await shielded(lambda: subjects_of(plan.query, components.project))
        subjects += [
            one for one in compared_with(plan.query, subjects) if components.project.distribution(one)
        ]
        return {
            "recalled": [axiom.model_dump(mode="json") for axiom in recalled],
            "gone": [f"{axiom.id} ({where(axiom.signals[0])})" for axiom in every if gone(axiom)],
            "named": named,
            "subjects": subjects,
        }

    kept = await steps.do("begin", begin)
    state = ExpeditionState.begin(
        plan, [Axiom.model_validate(one) for one in kept["recalled"]], kept["named"], kept["subjects"]
    )
    state.gone = tuple(kept.get("gone", ()))
    return state


def _remembered(query: str, components: Container, store: AxiomStore) -> list[Axiom]:
    """What is known of a question: what was found for it before, and what says of it what a passage must say to be read."""
    before = [axiom for name in found_before(components.journal, query) if (axiom := store.get(name))]
    found = {axiom.id: axiom for axiom in store.standing(before)}
    pool = PassagePool(query)
    for axiom in store.recalled(query):
        places = " . ".join(f"{one.title} . {pool.owner(one.source)}" for one in axiom.signals)
        if pool.about_it(f"{places} . {axiom.statement}", axiom.signals[0].source):
            found.setdefault(axiom.id, axiom)
    return list(found.values())


def _no_longer(gone: Sequence[str]) -> list[str]:
    """The note on known axioms that may not be used."""
    if not gone:
        return []
    more = f" and {len(gone) - _TOLD_GONE} more" if len(gone) > _TOLD_GONE else ""
    told = f"{', '.join(gone[:_TOLD_GONE])}{more}"
    return [f"not used, since their documents say them no longer or they were withdrawn: {told}"]


async def _written(state: ExpeditionState, components: Container, mind: LLMAnalyst | None) -> dict[str, Any]:
    """The answer, by the agent or by rule."""
    came = {} if mind is None else await mind.write(state)
    lines = came.get("lines") or ()
    by = [axiom for name in came.get("cited", ()) if (axiom := state.known.get(name)) is not None]
    made = answer.answer_of(state, lines, by)
    head = [f"Note: {note}" for note in _remarks(state, made)]
    if made.answers:
        score = await shielded(lambda: _scored(state, components, made))
        head.insert(0, f"**{told(score)}**")
    made = made._replace(text=answer.with_head(made.text, head))
    agent = state.plan.agent if lines else None
    kept = {"answer": made.text, "answered": made.answers, "cited": list(made.cited), "agent": agent}
    return {
        **kept,
        "dropped": came.get("dropped", 0),
        "tokens": came.get("tokens"),
        "notes": came.get("notes", []),
    }


def _remarks(state: ExpeditionState, made: answer.ParsedAnswer) -> list[str]:
    """What the sources noted on texts that only the project's authors vouch for, where the report cites any."""
    cited = [axiom for name in made.cited if (axiom := state.known.get(name)) is not None]
    texts = {signal.sha256 for axiom in cited for signal in axiom.signals if is_of_project(signal)}
    sources = dict.fromkeys(one.source for one in state.pool if one.passage.sha256 in texts)
    return [note for source in sources for note in state.remarks.get(source, ())]


def _scored(state: ExpeditionState, components: Container, made: answer.ParsedAnswer) -> Score:
    """How sure the report is: of a survey how much of it is about the question, else what the project's scorer says of what it cites first."""
    entries = {(one.passage.sha256, one.passage.url): one for one in reversed(list(state.pool))}
    cited = [axiom for name in made.cited if (axiom := state.known.get(name)) is not None]
    facts = [
        (one, axiom)
        for axiom in cited
        if (one := entries.get((axiom.signals[0].sha256, axiom.signals[0].source))) is not None
    ]
    facts.sort(key=lambda fact: (not fact[0].passage.pinned, -fact[0].passage.coverage))
    surveyed = [fact for fact in facts if fact[0].surveyed]
    if surveyed and state.plan.agent is None:
        return confidence_of_survey(state.survey, surveyed)
    query = query_of(state.plan.query, state.named or next(iter(state.subjects), ""), components.project)
    return confidence_of_report(components.scorer, query, facts, answers=made.answers)


async def _end(state: ExpeditionState, reason: Ending, written: dict[str, Any], calls: int) -> dict[str, Any]:
    names = dict.fromkeys(
        [*state.found, *written["cited"]]
    )  # what is cited of earlier ones is traced here too
    found = [axiom for name in names if (axiom := state.known.get(name)) is not None]
    return Finished(
        id=state.plan.id,
        query=state.plan.query,
        reason=reason,
        cycles=state.cycles,
        tokens=state.tokens.total,
        calls=calls,
        axioms=tuple(found),
        sources=tuple(state.documents),
        answer=written["answer"],
        answered=written.get("answered", True),
        notes=tuple(dict.fromkeys(state.notes)),
        written_by=written["agent"],
    ).model_dump(mode="json")


def _told_down(report: CycleReport, *, repeats: bool) -> str:
    who = ", ".join(report.down)
    if repeats:
        return f"cycle {report.cycle}: {who} down; the cycle is repeated once"
    still = "still " if report.attempt == 2 else ""
    return f"cycle {report.cycle}: {who} {still}down; the cycle says nothing about convergence"
