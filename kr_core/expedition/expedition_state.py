"""What an expedition knows while it runs; made again from the kept steps when it goes on after a kill."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kr_core.expedition.facts.axiom import id_of
from kr_core.expedition.facts.merge import KnownAxioms
from kr_core.expedition.passage_pool import PassagePool
from kr_core.expedition.search import SourceHealth
from kr_core.expedition.survey_plan import plan_of, without_libraries
from kr_core.model.expedition import MAX_CYCLES, Axiom, CycleReport, Tokens

if TYPE_CHECKING:
    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import Family, Passage, SurveyPlan

__all__ = ["ExpeditionPlan", "ExpeditionState"]

CALLS = 30
TOKENS = 200_000


@dataclass(frozen=True, slots=True)
class ExpeditionPlan:
    """What an expedition is asked and may spend."""

    id: str
    """`X` and its number in the project."""
    run: str
    """Its own name for steps and budget."""
    query: str
    max_cycles: int = MAX_CYCLES
    max_calls: int = CALLS
    """Searches that leave the machine."""
    max_tokens: int = TOKENS
    agent: str | None = None
    """The agent that expands, extracts and writes; None for rules alone."""


@dataclass(slots=True)
class ExpeditionState:
    """What is known so far."""

    plan: ExpeditionPlan
    pool: PassagePool
    known: KnownAxioms
    recalled: tuple[str, ...] = ()
    """Ids of axioms of earlier expeditions that are about the question."""
    named: str = ""
    """The library that the question names; empty where it names none."""
    subjects: tuple[str, ...] = ()
    """Libraries that the question may be about."""
    found: dict[str, None] = field(default_factory=dict)
    """Ids of axioms that this expedition has found or confirmed, in order."""
    documents: dict[str, None] = field(default_factory=dict)
    """Documents that were read, in order."""
    read: set[int] = field(default_factory=set)
    """Numbers of the passages that were read."""
    asked: list[str] = field(default_factory=list)
    history: list[CycleReport] = field(default_factory=list)
    alike: set[frozenset[str]] = field(default_factory=set)
    """Pairs of ids of axioms that mean the same by their vectors."""
    health: SourceHealth = field(default_factory=SourceHealth)
    tokens: Tokens = field(default_factory=Tokens)
    notes: list[str] = field(default_factory=list)
    remarks: dict[str, dict[str, None]] = field(default_factory=dict)
    """What each source noted on texts that are not official."""
    asks: bool = True
    """Whether there is a source that can be asked."""
    families: dict[str, Family] = field(default_factory=dict)
    """What the overviews of sources found to belong together, by name."""
    gone: tuple[str, ...] = ()
    """Axioms of earlier expeditions about it that count no longer: the id of each, and where it stood."""

    @classmethod
    def begin(
        cls, plan: ExpeditionPlan, recalled: list[Axiom], named: str, subjects: list[str]
    ) -> ExpeditionState:
        """The state before the first cycle."""
        pairs: set[frozenset[str]] = set()

        def likeness(one: str, other: str) -> float:
            return float(frozenset((id_of(one), id_of(other))) in pairs)

        pool = PassagePool(plan.query)
        known = KnownAxioms(recalled, likeness, pool.telling)
        return cls(
            plan,
            pool,
            known,
            tuple(axiom.id for axiom in recalled),
            named,
            tuple(subjects),
            alike=pairs,
        )

    def take_in(self, gathered: list[PoolEntry]) -> int:
        """Note that passages are read; how many documents are new."""
        before = len(self.documents)
        for one in gathered:
            self.read.add(one.number)
            self.documents[one.document] = None
        return len(self.documents) - before

    def spend(self, tokens: Tokens) -> None:
        """Count what a language model has cost."""
        self.tokens = Tokens(
            input=self.tokens.input + tokens.input,
            output=self.tokens.output + tokens.output,
            cost_usd=round(self.tokens.cost_usd + tokens.cost_usd, 6),
        )

    @property
    def survey(self) -> SurveyPlan:
        """What the question asks for, as a survey; what it names and nothing was found of is part of its subject."""
        read = [
            name for name in self.subjects if any(f"/{name}@" in one.passage.url.lower() for one in self.pool)
        ]
        return without_libraries(plan_of(self.plan.query), read)

    @property
    def subjects_found(self) -> list[str]:
        """The titles of the passages that are parts of an overview, what is one of a kind first."""
        of_families = [title for family in self.families.values() for title in family.titles]
        alone = [one.passage.title for one in self.pool if one.surveyed and not one.family]
        return list(dict.fromkeys([*of_families, *alone]))

    @property
    def cycles(self) -> int:
        """Cycles that have ended; repetitions do not count."""
        return self.history[-1].cycle if self.history else 0

    def passages_of(self, axioms: list[Axiom]) -> list[Passage]:
        """The passages that axioms were taken from."""
        wanted = {signal.sha256 for axiom in axioms for signal in axiom.signals if signal.sha256}
        return list(
            {one.passage.sha256: one.passage for one in self.pool if one.passage.sha256 in wanted}.values()
        )
