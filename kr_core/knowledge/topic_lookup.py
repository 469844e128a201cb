"""KR's own look-up: the entry on the same topic, while it is fresh; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.knowledge.matching import best, wants_exact
from kr_core.knowledge.staleness import FreshnessLimits, judge
from kr_core.knowledge.topic_index import TopicIndex
from kr_core.protocols.lookup import LookupDecision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Entry, ResearchQuery
    from kr_core.protocols.lookup import EntryMatch, KeptReport, LookupRules


class TopicLookup:
    """Finds the entry on the same topic, and serves its report while it is fresh: KR's own rules, for a class of your own.

    An inferred query gets no hit from an entry of other content words: that may answer another question.
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
        if fresh.state == "fresh" and wants_exact(query) and not match.exact:
            return LookupDecision("stale", reasons, near=True)
        if fresh.state == "fresh":
            return LookupDecision("hit", reasons)
        return LookupDecision("miss" if fresh.state == "expired" else "stale", reasons)
