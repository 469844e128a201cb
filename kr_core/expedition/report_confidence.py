"""How sure a report is: what the project's scorer says of its passages, as of those of an answer, apart from the weights of signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.model import Citation, Claim, Draft, Finding, Outcome
from kr_core.research.report import score_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import ResearchQuery, Score
    from kr_core.model.expedition import Axiom
    from kr_core.plugin_calls import PluginCalls
    from kr_core.protocols import Scorer

__all__ = ["confidence_of_report", "told"]

_MOST = 8
"""Passages that are judged."""


def confidence_of_report(
    scorer: PluginCalls[Scorer],
    query: ResearchQuery,
    facts: Sequence[tuple[PoolEntry, Axiom]],
    *,
    answers: bool,
) -> Score:
    """The score of some facts and the passages that hold them, those first that the report has first.

    Args:
        scorer: the project's.
        query: the question.
        facts: what the report says, each with its passage.
        answers: whether the report answers in the question's kind.
    """
    shown = {one.number: one for one, _axiom in facts}
    entries = list(shown.values())[:_MOST]
    by_source: dict[str, list[PoolEntry]] = {}
    for one in entries:
        by_source.setdefault(one.source, []).append(one)
    findings = [
        (source, Finding(outcome=Outcome.ok, passages=tuple(one.passage for one in found)))
        for source, found in by_source.items()
    ]
    citations = tuple(
        Citation(
            n=place, source=one.source, url=one.passage.url, locator=axiom.signals[0].locator, symbol=one.passage.symbol,
            version=one.passage.version, official=one.passage.official, quote=axiom.signals[0].quote,
        )
        for place, (one, axiom) in enumerate(facts[:_MOST], 1)
    )  # fmt: skip
    claims = tuple(
        Claim(text=axiom.statement, citations=(place,))
        for place, (_one, axiom) in enumerate(facts[:_MOST], 1)
    )
    return score_of(scorer, query, findings, Draft(summary=claims, citations=citations, direct=answers))[0]


def told(score: Score) -> str:
    """A score as a report shows it, like that of an answer of research."""
    return f"Confidence: {score.level} ({score.score}/100)"
