"""The scorer `evidence` rates how sure an answer is, from the cited passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kr_core
from kr_core.plugin import Provider, Score
from kr_core.toolkit import COVERED, FULLY, answered, gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import Draft, Finding, Level, ResearchQuery

HIGH, MEDIUM = 80, 50


class Evidence:
    """Scores by coverage of the question, kind of source, code example and version.

    `high` (80-100) asks for official documentation of the version in use that covers the question and shows code;
    `medium` (50-79) for official documentation that covers it, or for independent places that agree; all else is `low`.
    """

    def score(self, query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> Score:
        """Score a draft; pure."""
        if not draft.citations:
            return Score(score=0, level="low", reasons=("no quote could be verified",))
        found = answered(findings)
        share = round(100 * found.coverage)
        reasons = [f"the first passage holds {share} % of what was asked, weighted by rarity"]
        official = draft.citations[0].official
        agreement = _agreement(draft, findings)
        if official:
            reasons.append("official documentation")
        elif agreement > 1:
            reasons.append(f"not official documentation, but {agreement} independent places agree")
        else:
            reasons.append("not official documentation")
        cap = 100
        if found.missing:
            reasons.append(f"nothing was found about: {', '.join(found.missing[:5])}")
        if found.coverage < COVERED:
            cap = min(cap, MEDIUM - 1)
            reasons.append("too little of the question is covered")
        if not official:
            cap = min(cap, HIGH - 1 if agreement > 1 else MEDIUM - 1)
        if draft.summary_code:
            reasons.append("a code example from the documentation")
        else:
            cap = min(cap, HIGH - 1)
            reasons.append("no code example")
        read = next((finding.version for _source, finding in findings if finding.version), None)
        difference = gap(read, query.framework_version) if read else None
        if difference:
            cap = min(cap, HIGH - 1 if difference == "minor" else MEDIUM - 1)
            reasons.append(f"read in {read}, asked about {query.framework_version}")
        elif read:
            reasons.append(f"read in the version in use, {read}")
        backed = official or agreement > 1
        value = min(cap, self._value(found.coverage, code=bool(draft.summary_code), backed=backed))
        return Score(score=value, level=_level(value), reasons=tuple(reasons))

    @staticmethod
    def _value(coverage: float, *, code: bool, backed: bool) -> int:
        """0-100: up to 49 below `COVERED`, up to 79 below `FULLY` or without code, and from 80 above with code."""
        if coverage < COVERED or not backed:
            return round((MEDIUM - 1) * min(1.0, coverage / COVERED))
        if coverage < FULLY or not code:
            return round(MEDIUM + (HIGH - 1 - MEDIUM) * min(1.0, (coverage - COVERED) / (1 - COVERED) * 2))
        return round(HIGH + (100 - HIGH) * (coverage - FULLY) / (1 - FULLY))


def _agreement(draft: Draft, findings: Sequence[tuple[str, Finding]]) -> int:
    """In how many independent places stands what is cited first."""
    cited = draft.citations[0]
    places = [
        passage.agreement
        for source, finding in findings
        for passage in finding.passages
        if (source, passage.url) == (cited.source, cited.url) and passage.locate(cited.quote) == cited.locator
    ]
    return max(places, default=1)


def _level(value: int) -> Level:
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"


@kr_core.hookimpl
def kr_scorer() -> Provider[kr_core.plugin.Scorer]:
    """Provide the scorer; it has no settings."""
    return Provider(lambda _settings, _setup: Evidence())
