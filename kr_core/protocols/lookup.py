"""What a look-up must offer, what it is given, and what its methods return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from kr_core.model import Entry, MatchTier, ResearchQuery

__all__ = ["EntryMatch", "KeptReport", "Lookup", "LookupDecision", "LookupRules"]


class LookupRules(NamedTuple):
    """What the configuration says of look-ups (`knowledge_research`), and the day of the look-up."""

    today: date
    fuzzy: bool = True
    """`cache_fuzzy_match`"""
    tiers: Sequence[MatchTier] = ("full", "topic", "tags")
    """`cache_match_tiers`"""
    cache_ttl_days: int = 30
    archive_after_days: int = 60
    max_age_days: int | None = 180
    version_match: Literal["auto", "major"] = "auto"


class EntryMatch(NamedTuple):
    """An entry that matches a query, and how."""

    entry: Entry
    tier: MatchTier
    overlap: float
    """The share of topic keywords, 0-1."""
    exact: bool
    """Whether the content words are the same ones. Only then does new research update an entry that was found for an inferred
    query, and only then does its report serve where no source answers."""

    @property
    def warning(self) -> str | None:
        """What a reader must know before trusting the match, or None."""
        return "matched by tags only; it may be about another topic" if self.tier == "tags" else None


class KeptReport(NamedTuple):
    """What the knowledge base has of a matched entry."""

    text: str
    evidence: Mapping[str, Any]
    """As `kr research` wrote it, `level` for one; empty where there is none."""
    researched: date | None
    """The day of the research, where the report says it."""


class LookupDecision(NamedTuple):
    """Whether a kept report answers, and why not."""

    state: Literal["hit", "stale", "miss"]
    """A `hit` is the answer; what is `stale` is the base of new research, and serves where no source answers."""
    reasons: tuple[str, ...] = ()
    """Short sentences for people: why it is not a hit, or what to know of a hit."""
    near: bool = False
    """Whether it is stale only because it may answer another question; remembered answers of services are then good enough."""


class Lookup(Protocol):
    """Says whether a kept report answers a query. Both methods are pure, and get the day from the rules."""

    def find(self, query: ResearchQuery, entries: Sequence[Entry], rules: LookupRules) -> EntryMatch | None:
        """The one of these entries that answers the query best, or None.

        Called again without the entry where its report cannot be read.
        """

    def judge(
        self, query: ResearchQuery, match: EntryMatch, report: KeptReport, rules: LookupRules
    ) -> LookupDecision:
        """Whether the report of the match is the answer. The entry has the version that its report names."""
