"""How sure a report is: what the project's scorer says of its passages, or how likely the facts of a survey are about its question.

The scorer judges passages as those of an answer, apart from the weights of signals. The likeliness is a small logistic model,
fitted on surveys that others wrote; `tests/quality/fit_survey_relevance.py` fits the weights and says how well they hold on
questions that were left out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kr_core.expedition.survey_plan import short_name
from kr_core.model import Citation, Claim, Draft, Finding, Outcome, Score
from kr_core.research.report import score_of
from kr_core.text import STOP_WORDS, root_of, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import ResearchQuery, SurveyPlan
    from kr_core.model.expedition import Axiom
    from kr_core.plugin_calls import PluginCalls
    from kr_core.protocols import Scorer

__all__ = ["confidence_of_report", "confidence_of_survey", "is_about", "told", "traits_of"]

_WEIGHTS = (0.77, 6.1, 0.65, 0.46, 0.41)
_CONSTANT = -0.25
_HIGH, _MEDIUM = 80, 50
_UNOFFICIAL = (_MEDIUM - 1) / 100
"""What a fact counts at most that no official documentation says."""


def traits_of(plan: SurveyPlan, one: PoolEntry, axiom: Axiom) -> tuple[float, ...]:
    """What is known of a fact.

    The share of the subject's words that it says with its heading, whether these are two at least, whether the heading has one,
    whether it is of one of a kind, and whether it warns or tells a change.

    Args:
        plan: what the survey asks for.
        one: its passage.
        axiom: the fact.
    """
    asked = {root_of(word) for word in words(plan.about) if word not in STOP_WORDS}
    said = {root_of(word) for word in words(axiom.statement)}
    named = {root_of(word) for word in words(short_name(axiom.signals[0].title))}
    total = len(asked) or 1
    held = len(asked & (said | named))
    return (
        held / total,
        float(held > 1),
        float(bool(asked & named)),
        float(bool(one.family)),
        float(axiom.category in {"safety", "history"}),
    )


def confidence_of_survey(plan: SurveyPlan, facts: Sequence[tuple[PoolEntry, Axiom]]) -> Score:
    """How sure it is that some facts, of which there is one at least, are about the question: the mean of what the model says of each.

    A fact that no official documentation says counts as `low` at most, and with one in the first place nothing is `high`.
    """
    most = [1.0 if any(signal.official for signal in axiom.signals) else _UNOFFICIAL for _one, axiom in facts]
    counted = [min(_probability(plan, *fact), share) for fact, share in zip(facts, most, strict=True)]
    limit = 100 if most[0] == 1 else _HIGH - 1
    score = min(round(100 * sum(counted) / len(counted)), limit)
    return Score(score=score, level="high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low")


def is_about(plan: SurveyPlan, one: PoolEntry, axiom: Axiom) -> bool:
    """Whether a fact is likely about the question; who says it does not count."""
    return round(100 * _probability(plan, one, axiom)) >= _MEDIUM


def _probability(plan: SurveyPlan, one: PoolEntry, axiom: Axiom) -> float:
    traits = traits_of(plan, one, axiom)
    worth = sum(weight * trait for weight, trait in zip(_WEIGHTS, traits, strict=True)) + _CONSTANT
    return 1 / (1 + math.exp(-worth))


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
