"""Requests and results of research, in the shapes that other programs depend on."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from kr_core.model.base import OneLine, Value
from kr_core.model.evidence import Citation, Level

Status = Literal["success", "partial", "cache-hit", "degraded", "budget-exhausted", "timeout", "failure"]
SourceStatus = Literal["success", "unavailable", "timeout", "skipped"]
MatchTier = Literal["full", "topic", "tags"]
Egress = Literal["names", "question", "code"]
"""What may leave the machine: framework, version, topic and tags; also the question, without code; all of it."""


SurveyKind = Literal["options", "comparison", "together", "changes", "limits", "workings"]


class SurveyPlan(Value):
    """What a survey asks for."""

    kind: SurveyKind
    """Which there are of a thing, how some differ, how they work together, what changed, what is dangerous or not possible, or how a
    thing works.
    """
    about: str
    """The words that name its subject, without those that only ask."""
    versions: tuple[str, ...] = ()
    """The version numbers that it names, in order."""


class ResearchQuery(Value):
    """The question, and the framework and version it is about.

    `inferred` names the fields that KR took from the question.
    """

    framework: str
    framework_version: str
    topic: str
    tags: tuple[str, ...]
    question: str
    inferred: frozenset[str] = frozenset()
    version_from: str | None = None
    names: tuple[str, ...] = ()
    """Names that the asker expects in the answer; each is looked up in the installed version."""
    survey: SurveyPlan | None = None
    """What is wanted is all that there is of a thing, and not the one passage that answers. A source that has no overview of its
    material answers `question` as ever.
    """


class ResearchRequest(Value):
    """A validated request; `notes` list values that a default replaced."""

    story_key: str
    session_id: str
    query: ResearchQuery
    max_calls: int | None = None
    timeout_seconds: int | None = None
    max_tokens: int | None = None
    priority: str | None = None
    refresh: bool = False
    notes: tuple[str, ...] = ()


class SourceConsulted(Value):
    """One line of `sources_consulted`."""

    source: OneLine
    status: SourceStatus
    url: OneLine | None = None
    outcome: OneLine | None = None


class Match(Value):
    """How an entry of the knowledge base was found, and what became of it."""

    tier: MatchTier
    overlap: float
    entry_version: OneLine
    version: OneLine
    stale: bool = False
    warning: OneLine | None = None
    question: OneLine | None = None
    """The question that the entry answers, as it was asked; null if the entry does not say."""

    @property
    def told(self) -> str:
        """The decision in one line: `topic tier, overlap 0.83, entry 2.1, you run 2.5: stale`."""
        entry = self.entry_version or "without a version"
        state = "stale" if self.stale else "fresh"
        return f"{self.tier} tier, overlap {self.overlap:.2f}, entry {entry}, you run {self.version}: {state}"


class Fault(Value):
    """One of a result's `errors`."""

    type: str
    message: str
    field: str | None = None


class WrittenBy(Value):
    """The agent that wrote Summary and Details, and what that cost; `dropped` sentences had no support in the passages."""

    agent: str
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    dropped: int = 0

    @property
    def told(self) -> str:
        """Who wrote, and the cost, in one line: `duc (opus-5), 2,310 + 240 tokens, $0.0121`."""
        model = f" ({self.model})" if self.model else ""
        tokens = (
            ""
            if self.input_tokens is None and self.output_tokens is None
            else f", {self.input_tokens or 0:,} + {self.output_tokens or 0:,} tokens"
        )
        cost = "" if self.cost_usd is None else f", ${self.cost_usd:.4f}"
        return f"{self.agent}{model}{tokens}{cost}"


class ResultPassage(Value):
    """A passage for an agent to read, verbatim; a long one is a run of its lines."""

    n: int
    """From 1; the best first."""
    symbol: OneLine | None = None
    kind: OneLine = "page"
    text: str
    locator: OneLine = ""
    url: OneLine
    version: OneLine | None = None
    tokens: int
    """About how many tokens the text has."""
    deprecated: OneLine | None = None
    """What the source says of its deprecation, in its own words."""


class Results(Value):
    """The body of a result; all its keys are always there."""

    cache_hit: bool = False
    cache_entry_id: str | None = None
    report_path: str | None = None
    """Relative to the knowledge base; of a question without an answer relative to the project, below `.kr/`."""
    confidence: Level | None = None
    sources_consulted: tuple[SourceConsulted, ...] = ()
    budget_remaining: int = 0
    degradation_notes: tuple[str, ...] = ()
    index_updated: bool = False
    index_count: int = 0
    lru_evicted: int = 0
    summary: str = ""
    score: int | None = None
    reasons: tuple[str, ...] = ()
    match: Match | None = None
    citations: tuple[Citation, ...] = ()
    passages: tuple[ResultPassage, ...] = ()
    """What the answer rests on, within `max_tokens`."""
    report: str | None = None
    """The report's text where it could not be stored; null otherwise."""
    written_by: WrittenBy | None = None
    """The agent that wrote Summary and Details; null where they are made by rule, and for what was kept."""


class ResearchResult(Value):
    """The result of every research run."""

    status: Status
    story_key: str
    mode: Literal["research"] = "research"
    session_id: str
    results: Results = Field(default_factory=Results)
    errors: tuple[Fault, ...] = ()
    needs_intervention: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values in the order of the published schema."""
        return self.model_dump(mode="json")


DISABLED = Fault(
    type="disabled",
    field="knowledge_research.enabled",
    message="Knowledge research disabled in config",
)
"""What stands in the errors of every result where research is disabled (R3)."""
