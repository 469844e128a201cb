"""What expeditions find, each fact with its sources, and what they say on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kr_core.model.base import Value
from kr_core.text import normalised

SignalType = Literal["DOCUMENT", "CODE", "USER", "WEB", "INFERENCE", "SESSION"]
Category = Literal["specifications", "procedures", "compatibility", "diagnostics", "history", "safety"]
AxiomStatus = Literal["valid", "disputed", "superseded"]
Ending = Literal[
    "maximum_cycles",
    "axiom_diminishing_returns",
    "source_exhaustion",
    "zero_findings",
    "budget_exhausted",
]
"""The rule that ended an expedition."""

WEIGHTS: dict[SignalType, float] = {
    "DOCUMENT": 0.95,
    "CODE": 0.90,
    "USER": 0.80,
    "WEB": 0.70,
    "INFERENCE": 0.60,
    "SESSION": 0.50,
}
"""How much one signal of a kind is worth, as the chance that what it says is so."""
MAX_CYCLES = 10


def _now() -> datetime:
    return datetime.now(UTC)


def _in_utc(when: datetime) -> datetime:
    """A moment; one without a time zone is in UTC."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def id_of(statement: str) -> str:
    """The id of a statement: the same for the same words."""
    return f"A-{hashlib.sha256(normalised(statement).encode()).hexdigest()[:8]}"


class Signal(Value):
    """The origin of a fact."""

    type: SignalType
    source: str = Field(min_length=1)
    """A URL, a file, or a description."""
    weight: float = Field(ge=0.0, le=1.0)
    timestamp: datetime = Field(default_factory=_now)
    """When KR read the text, or a person stated the fact."""
    locator: str = ""
    """Where in the source: a heading, or a file and line."""
    title: str = ""
    quote: str = ""
    """The supporting words, verbatim from the passage."""
    version: str | None = None
    """The version that the source describes."""
    dated: date | None = None
    """The date of the source, as it states it."""
    sha256: str = ""
    """The passage's fingerprint; empty for a person's statement."""
    found_by: str = ""
    """The KR source that found it."""
    official: bool = False
    """Whether the text is the authority on its subject: official documentation, or what a person states."""

    _in_utc = field_validator("timestamp")(_in_utc)


class Axiom(Value):
    """A fact and the signals that support it; there is at least one."""

    id: str = ""
    """`A-` and eight digits, derived from the statement where it is left out."""
    statement: str = Field(min_length=1)
    category: Category
    confidence: float = Field(ge=0.0, le=1.0)
    """`1 - prod(1 - weight)` over independent signals."""
    signals: tuple[Signal, ...] = Field(min_length=1)
    created_at: datetime = Field(default_factory=_now)
    status: AxiomStatus = "valid"
    conflicts: tuple[str, ...] = ()
    """Ids of axioms that contradict it."""
    superseded_by: str | None = None

    _in_utc = field_validator("created_at")(_in_utc)

    @model_validator(mode="before")
    @classmethod
    def _with_id(cls, values: Any) -> Any:
        if (
            not isinstance(values, Mapping)
            or values.get("id")
            or not isinstance(values.get("statement"), str)
        ):
            return values
        return {**values, "id": id_of(values["statement"])}


class SubQuery(Value):
    """What is searched for in a cycle."""

    text: str
    why: str = ""
    """What it was made of: the question, a part of it, or what earlier passages speak of."""
    survey: bool = False
    """Whether all that there is of a thing is wanted, and not one passage."""
    subject: str = ""
    """The one subject that it asks about; what does not name it is passed over."""
    private: bool = False
    """Whether it may hold words of what lies in the project alone; only sources that may be sent code are asked it outside."""


class Tokens(Value):
    """What language models were sent and what they wrote."""

    input: int = 0
    output: int = 0
    cost_usd: float = 0.0

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output


class CycleReport(Value):
    """What one run through a cycle came to; `attempt` 2 repeats a cycle in which engines were down."""

    cycle: int
    attempt: int = 1
    new_axioms: int = 0
    merged: int = 0
    new_sources: int = 0
    down: tuple[str, ...] = ()
    """Sources that could not look though they were expected to; with any, the cycle says nothing about convergence."""


class Started(Value):
    """An expedition begins, or goes on."""

    type: Literal["started"] = "started"
    id: str
    query: str
    sources: tuple[str, ...]
    max_cycles: int
    max_calls: int
    max_tokens: int
    agent: str | None = None
    known: int = 0
    """Axioms of earlier expeditions that are about the question."""
    resumed: bool = False


class CycleStarted(Value):
    """A cycle begins; the second attempt repeats one in which engines were down."""

    type: Literal["cycle_started"] = "cycle_started"
    cycle: int
    attempt: int


class SubQueries(Value):
    """What is searched for in this cycle."""

    type: Literal["sub_queries"] = "sub_queries"
    cycle: int
    queries: tuple[SubQuery, ...]


class SourceHit(Value):
    """A source has been asked: its outcome, and how many passages it gave."""

    type: Literal["source_hit"] = "source_hit"
    cycle: int
    source: str
    query: str
    outcome: str
    passages: int
    reason: str = ""


class AxiomFound(Value):
    """A fact that was not known."""

    type: Literal["axiom_found"] = "axiom_found"
    cycle: int
    axiom: Axiom


class AxiomMerged(Value):
    """A fact that was known has one more signal."""

    type: Literal["axiom_merged"] = "axiom_merged"
    cycle: int
    axiom: Axiom
    before: float
    """Its confidence without the signal."""


class ConflictFound(Value):
    """Two axioms say otherwise of the same; KR keeps both."""

    type: Literal["conflict_found"] = "conflict_found"
    cycle: int
    first: str
    second: str


class Converging(Value):
    """What a cycle has brought, and what follows."""

    type: Literal["convergence"] = "convergence"
    report: CycleReport
    previous: CycleReport | None = None
    """The cycle that it was compared with."""
    decision: Literal["continue", "repeat", "stop"]
    rule: Ending | None = None


class Spent(Value):
    """What was spent so far, and what is left."""

    type: Literal["tokens"] = "tokens"
    tokens: Tokens
    tokens_left: int
    calls: int
    calls_left: int


class Noted(Value):
    """What a person should know."""

    type: Literal["note"] = "note"
    text: str


class Synthesised(Value):
    """The answer is written; by an agent, or by rule where `agent` is None."""

    type: Literal["synthesis"] = "synthesis"
    agent: str | None = None
    cited: tuple[str, ...] = ()
    """The ids of the axioms that it rests on."""
    dropped: int = 0
    """Sentences of a language model that their axioms do not bear out."""


class Finished(Value):
    """The end: which rule it was, and what was found."""

    type: Literal["finished"] = "finished"
    id: str
    query: str
    reason: Ending
    cycles: int
    tokens: int
    calls: int
    axioms: tuple[Axiom, ...]
    """What it has found or confirmed, and what its answer cites of earlier expeditions."""
    sources: tuple[str, ...]
    """Every document that was read, in the order in which they were found: addresses, and files of packages."""
    answer: str
    answered: bool = True
    """Whether the answer says what was asked; otherwise it has the nearest that was found, or nothing."""
    notes: tuple[str, ...] = ()
    written_by: str | None = None


ExpeditionUpdate = Annotated[
    Started
    | CycleStarted
    | SubQueries
    | SourceHit
    | AxiomFound
    | AxiomMerged
    | ConflictFound
    | Converging
    | Spent
    | Noted
    | Synthesised
    | Finished,
    Field(discriminator="type"),
]
"""An update of a running expedition; the last one is `Finished`."""
