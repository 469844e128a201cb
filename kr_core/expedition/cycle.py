"""One run through a cycle: expand, search, read, extract, merge; each part a step that is done once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.aio import GRACE_SECONDS, shielded
from kr_core.config.plugin_names import DEFAULT_EMBEDDER
from kr_core.expedition import query_expansion
from kr_core.expedition.checkpoints import kept_of, step_of
from kr_core.expedition.facts import extraction, survey_facts
from kr_core.expedition.facts.comparison import alike
from kr_core.expedition.search import Search
from kr_core.expedition.survey_plan import OF_SUBJECT, names_subject
from kr_core.model import Finding, Outcome
from kr_core.model.expedition import (
    Axiom,
    AxiomFound,
    AxiomMerged,
    ConflictFound,
    CycleReport,
    CycleStarted,
    Noted,
    SourceHit,
    SubQueries,
    SubQuery,
)
from kr_core.net.reasons import short
from kr_core.project.environments import OWN_LABEL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from kr_core.expedition.checkpoints import Checkpoints
    from kr_core.expedition.expedition_state import ExpeditionState
    from kr_core.expedition.facts.axiom_store import AxiomStore
    from kr_core.expedition.llm import LLMAnalyst
    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.expedition.search import SourceSearches
    from kr_core.model.expedition import ExpeditionUpdate
    from kr_core.research.container import Container

__all__ = ["CycleRunner"]

_READ = 15
"""Passages that are read in a cycle."""
_MATTERS = 0.2
"""What a passage must matter to be read."""


class _SearchResult(NamedTuple):
    """A search, and what came of it."""

    search: Search
    finding: Finding
    notes: tuple[str, ...]


class _Merged(NamedTuple):
    """What axioms of a cycle have changed of what is known."""

    updates: list[ExpeditionUpdate]
    changed: list[Axiom]

    def count(self, kind: type[AxiomFound | AxiomMerged]) -> int:
        return sum(isinstance(update, kind) for update in self.updates)


class CycleRunner:
    """Runs cycles of one expedition.

    Args:
        state: what is known; each cycle adds to it.
        steps: what was done before.
        sources: the sources, and the budget of calls.
        components: the pipeline's.
        store: stores the axioms after each cycle.
        mind: the language model's part; None where rules do it alone.
    """

    def __init__(
        self,
        state: ExpeditionState,
        steps: Checkpoints,
        sources: SourceSearches,
        components: Container,
        store: AxiomStore,
        mind: LLMAnalyst | None,
    ) -> None:
        self._state = state
        self._steps = steps
        self._sources = sources
        self._components = components
        self._store = store
        self._mind = mind
        self._failed: list[Search] = []
        self._missed: list[Search] = []
        """Searches of cycles that were given up, to be made when their engines are back."""
        self._queries: list[SubQuery] = []
        self._looked: set[str] = set()
        """Texts that some source could look for in this cycle."""
        self._told: set[tuple[str, str]] = set()
        """Sources and how they failed, as was noted."""
        self.cut = False
        """Whether the budget left a search undone."""

    async def run(self, number: int, attempt: int) -> AsyncGenerator[ExpeditionUpdate, None]:
        """Run a cycle; the second attempt asks again those searches that failed.

        Raises:
            ConfigError: a source is wrongly configured.
            StorageError: the journal cannot be used.
        """
        state, name = self._state, f"{number}.{attempt}"
        yield CycleStarted(cycle=number, attempt=attempt)
        if attempt == 1:
            await self._expand(name)
            for note in self._mind_notes():
                yield note
        yield SubQueries(cycle=number, queries=tuple(self._queries))
        planned = await self._planned(name)
        found: dict[int, _SearchResult] = {}
        searching_all = self._search_all(name, planned)
        try:
            async for place, finding, notes in searching_all:
                wanted = planned[place]
                found[place] = _SearchResult(wanted, finding, notes)
                yield SourceHit(
                    cycle=number, source=wanted.source, query=wanted.text, outcome=finding.outcome.value,
                    passages=len(finding.passages), reason=finding.reason,
                )  # fmt: skip
        finally:
            await searching_all.aclose()
        searched = [found[place] for place in sorted(found)]  # whoever answered first, it comes to the same
        for note in self._gather(number, searched):
            yield note
        read = self._worth_reading()
        documents = state.take_in(read)
        axioms = await self._extracted(name, read)
        for note in [*self._mind_notes(), *self._noted(extraction.instructing(read))]:
            yield note
        await self._recalled(name, axioms)
        for note in await self._compared(name, axioms):
            yield note
        merged = self._merge(number, axioms)
        report = self._report(number, attempt, merged, documents, searched)
        await self._keep(report, merged.changed)
        for update in merged.updates:  # what is told is kept: whoever ends it now finds it again
            yield update

    async def _expand(self, name: str) -> None:
        """Set the queries of a cycle."""
        kept = await self._steps.do(f"{name} expand", self._expanded)
        if self._mind is not None:
            self._mind.account(kept, self._state)
        self._queries = [SubQuery.model_validate(one) for one in kept["queries"]]
        self._state.asked += [query.text for query in self._queries]
        self._failed, self._looked = [], set()

    def _gather(self, number: int, searched: Sequence[_SearchResult]) -> list[Noted]:
        """Take the passages of searches into the pool, note which of them failed; what a person should know of them."""
        told: list[Noted] = []
        self._failed = []
        for search, finding, notes in searched:
            told += self._noted(self._worth_noting(search, finding, notes))
            if finding.outcome in {Outcome.ok, Outcome.empty}:
                self._looked.add(search.text)
            else:
                self._failed.append(search)
            if finding.outcome is Outcome.ok:
                self._take_in(search, finding, number)
        return told

    def _take_in(self, search: Search, finding: Finding, number: int) -> None:
        """Take the passages of one finding into the pool; of what is asked about one subject those that name it."""
        state = self._state
        family_of: dict[str, str] = {}
        for family in finding.families:
            name = family.name
            if (
                state.families.get(name, family).titles != family.titles
            ):  # another library has one that is called so
                name = f"{name} of {search.framework}"
            state.families.setdefault(name, family.model_copy(update={"name": name}))
            family_of |= dict.fromkeys(family.titles, name)
        subject = next((one.subject for one in self._queries if one.text == search.text), "")
        passages = finding.passages
        if subject:  # what it says of the subject is not what it says of the question
            passages = tuple(
                one.model_copy(update={"pinned": False, "coverage": min(one.coverage, OF_SUBJECT)})
                for one in passages
                if names_subject(one, subject)
            )
        if not all(one.official for one in passages):
            state.remarks.setdefault(search.source, {}).update(dict.fromkeys(map(short, finding.notes)))
        for passage in passages:
            state.pool.add(
                search.source, passage, number,
                surveyed=finding.overview or (bool(subject) and passage.symbol is not None),
                family=family_of.get(passage.title, ""),
            )  # fmt: skip

    def _merge(self, number: int, axioms: Sequence[Axiom]) -> _Merged:
        """Add axioms to what is known."""
        state = self._state
        updates: list[ExpeditionUpdate] = []
        touched: dict[str, None] = {}
        for axiom in axioms:
            joined = state.known.join(axiom)
            state.found[joined.axiom.id] = None
            if not joined.changed:
                continue
            touched |= dict.fromkeys([joined.axiom.id, *joined.conflicts])
            if joined.new:
                updates.append(AxiomFound(cycle=number, axiom=joined.axiom))
            else:
                updates.append(AxiomMerged(cycle=number, axiom=joined.axiom, before=joined.before))
            updates += [
                ConflictFound(cycle=number, first=joined.axiom.id, second=other) for other in joined.conflicts
            ]
        return _Merged(updates, [one for key in touched if (one := state.known.get(key)) is not None])

    def _report(
        self, number: int, attempt: int, merged: _Merged, documents: int, searched: Sequence[_SearchResult]
    ) -> CycleReport:
        """What a cycle has brought, with its first attempt where this is the second; what was down counts as not asked."""
        state = self._state
        outcomes = [(search.source, finding.outcome.value) for search, finding, _notes in searched]
        down = state.health.down(outcomes, again=attempt == 2)
        if attempt == 2 or not down:
            self._give_up()
        earlier = state.history[-1] if attempt == 2 else CycleReport(cycle=number)
        return CycleReport(
            cycle=number,
            attempt=attempt,
            new_axioms=merged.count(AxiomFound) + earlier.new_axioms,
            merged=merged.count(AxiomMerged) + earlier.merged,
            new_sources=documents + earlier.new_sources,
            down=down,
        )

    async def _keep(self, report: CycleReport, changed: list[Axiom]) -> None:
        state = self._state
        passages = state.passages_of(changed)

        async def keep() -> dict[str, Any]:
            await shielded(lambda: self._store.keep(changed, passages))
            return kept_of(report, tuple(state.found))

        await self._steps.do(step_of(report.cycle, report.attempt), keep)
        state.history.append(report)

    def _worth_noting(self, wanted: Search, finding: Finding, notes: Sequence[str]) -> list[str]:
        """What a person should know of a search: why a source failed, once, and whose environment was read."""
        if finding.outcome not in {Outcome.ok, Outcome.empty}:
            failed = (wanted.source, finding.outcome.value)
            if failed in self._told:
                return []
            self._told.add(failed)
        nothing = f"{wanted.source}: {Outcome.empty.value}: "  # other searches find something
        told = [note for note in notes if not note.startswith(nothing)]
        if finding.outcome is Outcome.ok and finding.version_from == OWN_LABEL:
            told.append(f"{wanted.framework} is not installed in this project; read from {OWN_LABEL}")
        return told

    def _give_up(self) -> None:
        """Remember what could not be looked for; a query that no source could look for counts as not asked."""
        self._missed = [one for one in self._failed if self._state.health.expects(one.source)]
        failed = {one.text for one in self._failed} - self._looked
        self._state.asked = [text for text in self._state.asked if text not in failed]

    async def _expanded(self) -> dict[str, Any]:
        state = self._state
        came: dict[str, Any] = {} if self._mind is None else await self._mind.expand(state)
        if came.get("queries") is not None:
            return came
        query = state.plan.query
        if not state.asked:
            by_rule = query_expansion.first_queries(query)
        elif state.subjects_found and state.survey.kind != "changes":
            by_rule = query_expansion.about_subjects(state.subjects_found, state.asked)
        else:
            by_rule = query_expansion.expand(query, state.pool, state.asked)
        return {**came, "queries": [one.model_dump() for one in by_rule]}

    async def _planned(self, name: str) -> list[Search]:
        again = self._failed

        async def planning() -> dict[str, Any]:
            def work() -> tuple[list[Search], bool]:
                if again:
                    return self._sources.affordable(again)
                wanted = self._sources.wanted(self._queries, self._state.subjects, self._state.named)
                return self._sources.affordable([*self._missed, *wanted])

            planned, cut = await shielded(work)
            return {"searches": [list(one) for one in planned], "cut": cut}

        kept = await self._steps.do(f"{name} plan", planning)
        self.cut = self.cut or bool(kept["cut"])
        return [Search(*one) for one in kept["searches"]]

    async def _search_all(
        self, name: str, planned: Sequence[Search]
    ) -> AsyncGenerator[tuple[int, Finding, tuple[str, ...]], None]:
        """All searches at once; each comes as it ends."""

        async def one(place: int) -> tuple[int, Finding, tuple[str, ...]]:
            kept = await self._steps.do(
                f"{name} search {place}", lambda: self._searched(name, place, planned[place])
            )
            return place, Finding.model_validate(kept["finding"]), tuple(kept["notes"])

        tasks = [asyncio.ensure_future(one(place)) for place in range(len(planned))]
        try:
            for task in asyncio.as_completed(tasks):
                yield await task
        finally:
            for left in tasks:
                left.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=GRACE_SECONDS * 2)

    async def _searched(self, name: str, place: int, wanted: Search) -> dict[str, Any]:
        run = f"{self._state.plan.run}:{name}:{place}"
        finding, notes = await self._sources.search(wanted, run, self._state.subjects)
        return {"finding": finding.model_dump(mode="json"), "notes": list(notes)}

    async def _recalled(self, name: str, axioms: list[Axiom]) -> None:
        """Learn what earlier expeditions have found that may say the same as these, or otherwise, on any question."""
        state = self._state

        async def recall() -> dict[str, Any]:
            near = await shielded(lambda: self._store.near(axioms)) if axioms else []
            fresh = [one for one in near if state.known.get(one.id) is None]
            return {"axioms": [one.model_dump(mode="json") for one in fresh]}

        kept = await self._steps.do(f"{name} recall", recall)
        state.known.learn(Axiom.model_validate(one) for one in kept["axioms"])

    async def _compared(self, name: str, axioms: list[Axiom]) -> list[Noted]:
        """Learn which statements mean the same in other words, where there is an embedder."""
        state = self._state
        if self._components.config.settings.embedder in (
            None,
            DEFAULT_EMBEDDER,
        ):  # the table knows no statements
            return []

        async def compare() -> dict[str, Any]:
            return await shielded(lambda: alike(self._components.embedder, axioms, tuple(state.known)))

        kept = await self._steps.do(f"{name} alike", compare)
        state.alike.update(frozenset(pair) for pair in kept["pairs"])
        fresh = [note for note in kept["notes"] if note not in state.notes]
        state.notes += fresh
        return [Noted(text=note) for note in fresh]

    def _worth_reading(self) -> list[PoolEntry]:
        """The passages that matter most and were not read yet."""
        state = self._state
        ranked = [(worth, one) for worth, one in state.pool.ranked() if one.number not in state.read]
        surveyed = [one for one in state.pool if one.surveyed and one.number not in state.read]
        others = [(worth, one) for worth, one in ranked if not one.surveyed]
        return [*surveyed, *(one for worth, one in others[:_READ] if worth >= _MATTERS)]

    async def _extracted(self, name: str, read: list[PoolEntry]) -> list[Axiom]:
        state = self._state
        if self._mind is None:
            return [
                *survey_facts.extracted(state.survey, [one for one in read if one.surveyed]),
                *extraction.extracted(
                    state.plan.query, state.pool, [one for one in read if not one.surveyed]
                ),
            ]
        return await self._mind.extract(state, self._steps, name, read)

    def _mind_notes(self) -> list[Noted]:
        return [] if self._mind is None else self._noted(self._mind.take_notes())

    def _noted(self, notes: Sequence[str]) -> list[Noted]:
        fresh = [note for note in dict.fromkeys(notes) if note not in self._state.notes]
        self._state.notes += fresh
        return [Noted(text=note) for note in fresh]
