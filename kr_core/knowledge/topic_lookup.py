"""KR's own look-up: the entry on the same topic, while it is fresh; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.knowledge.matching import best, wants_exact
from kr_core.knowledge.staleness import FreshnessLimits, judge
from kr_core.knowledge.topic_index import TopicIndex
from kr_core.knowledge.wording import same_question
from kr_core.project.version_gaps import gap
from kr_core.protocols.lookup import LookupDecision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from kr_core.model import Entry, ResearchQuery
    from kr_core.protocols.lookup import EntryMatch, KeptReport, LookupRules


class TopicLookup:
    """Finds the entry on the same topic, and serves its report while it is fresh: KR's own rules, for a class of your own.

    An inferred query gets no hit from an entry of other words, or of the same ones in another order: that may answer another
    question. A weak answer is a hit on the day of its research only. Neither is a hit for a request with names that it does not say.
    """

    def find(self, query: ResearchQuery, entries: Sequence[Entry], rules: LookupRules) -> EntryMatch | None:
        """The entry that matches the query best, or None."""
        if isinstance(entries, TopicIndex):
            return entries.best(query, fuzzy=rules.fuzzy, tiers=rules.tiers)
        return best(entries, query, fuzzy=rules.fuzzy, tiers=rules.tiers)

    def judge(
        self, query: ResearchQuery, match: EntryMatch, report: KeptReport, rules: LookupRules
    ) -> LookupDecision:
        """A hit while it is fresh and for the version in use; a miss where it is archived, or due to be."""
        limits = FreshnessLimits(
            rules.cache_ttl_days, rules.archive_after_days, rules.max_age_days, rules.version_match
        )
        fresh = judge(match.entry, report.researched, query.framework_version, rules.today, limits)
        reasons = (*fresh.reasons, *([match.warning] if match.warning else []))
        if wants_exact(query) and fresh.state != "expired":
            differs = match.exact and not _asks_the_same(query, report.evidence)
            if differs or (fresh.state == "fresh" and not match.exact):
                return LookupDecision("stale", reasons, near=True)
        if fresh.state == "fresh":
            return LookupDecision("stale" if _names_more(query, report) else "hit", reasons)
        exact = match.exact or not wants_exact(query)
        if (
            exact
            and _is_weak_of_today(match.entry, report, query.framework_version, rules)
            and not _names_more(query, report)
        ):
            return LookupDecision("hit")
        return LookupDecision("miss" if fresh.state == "expired" else "stale", reasons)


def _asks_the_same(query: ResearchQuery, evidence: Mapping[str, Any]) -> bool:
    """Whether the kept answer is to the question asked; what is kept of another origin has its topic alone."""
    kept = evidence.get("question")
    return not isinstance(kept, str) or same_question(query.question, kept, query.framework)


def _names_more(query: ResearchQuery, report: KeptReport) -> bool:
    """Whether the asker expects a name that the kept answer was not looked up with and does not say: it may find more, or be wrong."""
    kept = report.evidence.get("names")
    further = set(query.names).difference(kept if isinstance(kept, list) else ())
    return any(name.rpartition(".")[2] not in report.text for name in further)


def _is_weak_of_today(entry: Entry, report: KeptReport, version: str, rules: LookupRules) -> bool:
    """Whether an answer is stale only because it is weak, and no source would say more on the same day."""
    weak = entry.status == "stale" and report.evidence.get("level") == "low"
    researched = str(report.researched or report.evidence.get("research_date"))
    if not weak or report.evidence.get("incomplete") or researched != rules.today.isoformat():
        return False
    return not gap(entry.framework_version, version, mode=rules.version_match)
