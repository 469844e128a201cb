"""The scorer `evidence` says how likely it is that a reader who knows the library would act on the answer.

The probability comes from a logistic model on a few features of the answer. `tests/quality/fit_confidence.py` fits it on the
question sets of `tests/quality`, and `docs/quality.md` says how well it holds.
"""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import kr_core
from kr_core.plugin import Provider, Score
from kr_core.toolkit import COVERED, FULLY, LogisticModel, answered
from kr_plugins.scorers.evidence.answer_features import features
from kr_plugins.scorers.evidence.score_limits import HIGH, MEDIUM, NO_LIMIT, limit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.plugin import Draft, Finding, Level, ResearchQuery

WEIGHTS = Path(__file__).with_name("weights.json")
_FITTED_ON = "pkg:"
"""The addresses of packages, whose documentation the model was fitted on."""
_LIKELY, _SURE = 0.62, 0.88
_SHOWN = 30
_STATED = 90
"""What metadata says is read, not found."""


class Evidence:
    """Scores by the fitted probability; what it could not learn from its questions are limits.

    An answer for another minor version is never `high`. An answer for another major version, one to a question with a name
    that the library does not have, and one that a single unofficial text gives are never `medium`.
    """

    def score(self, query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> Score:
        """Score a draft; pure."""
        if not draft.citations:
            return Score(score=0, level="low", reasons=("no quote could be verified",))
        known = features(query, findings, draft)
        if draft.citations[0].url.startswith(_FITTED_ON):
            value = as_score(_model().probability(known))
        else:
            value = _by_coverage(answered(findings).coverage, code=bool(draft.summary_code))
        if _is_stated(findings):
            value, limit, reasons = (
                _STATED if draft.direct else MEDIUM - 1,
                NO_LIMIT,
                ["the metadata of the package says so"],
            )
        else:
            limit, reasons = limit_of(query, findings, draft)
        value = min(max(value, _least(findings, draft)), limit)
        return Score(score=value, level=_level(value), reasons=(*_reasons(known, findings), *reasons))


def _is_stated(findings: Sequence[tuple[str, Finding]]) -> bool:
    """Whether the answer is a field of the package's metadata, which needs no judgement."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    return bool(shown) and shown[0].what == "requirements"


def _least(findings: Sequence[tuple[str, Finding]], draft: Draft) -> int:
    """The least score of a setting, on which no model was fitted: the code that reads it is shown."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if not shown or shown[0].what != "setting":
        return 0
    return MEDIUM if shown[0].pinned and draft.direct else _SHOWN


def _by_coverage(coverage: float, *, code: bool) -> int:
    """The score of what a service or a folder of documents says, on which no model was fitted; `high` needs code."""
    if coverage < COVERED:
        return round((MEDIUM - 1) * coverage / COVERED)
    if coverage < FULLY or not code:
        return round(MEDIUM + (HIGH - 1 - MEDIUM) * min(1.0, (coverage - COVERED) / (1 - COVERED) * 2))
    return round(HIGH + (100 - HIGH) * (coverage - FULLY) / (1 - FULLY))


def as_score(probability: float) -> int:
    """The score of a probability: `medium` begins at 0.62 and `high` at 0.88, so that of all `high` answers nine in ten are right."""
    steps = ((0.0, 0), (_LIKELY, MEDIUM), (_SURE, HIGH), (1.0, 100))
    for (low, start), (high, end) in itertools.pairwise(steps):
        if probability < high:
            return int(start + (end - start) * (probability - low) / (high - low))
    return 100


@functools.cache
def _model() -> LogisticModel:
    kept: Mapping[str, object] = json.loads(WEIGHTS.read_text("utf-8"))
    weights, intercept = kept["weights"], kept["intercept"]
    assert isinstance(weights, dict)
    assert isinstance(intercept, float)
    return LogisticModel(intercept, weights)


def _reasons(known: Mapping[str, float], findings: Sequence[tuple[str, Finding]]) -> list[str]:
    found = answered(findings)
    share = round(100 * found.coverage)
    reasons = ["the question names what is cited"] if known.get("pinned") else []
    if known.get("expected"):
        reasons = ["the names of the request lead to the citation"]
    reasons.append(f"the first passage holds {share} % of what was asked, weighted by rarity")
    if found.missing:
        reasons.append(f"nothing was found about: {', '.join(found.missing[:5])}")
    reasons.append("a code example" if known.get("example") else "no code example")
    return reasons


def _level(value: int) -> Level:
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"


@kr_core.hookimpl
def kr_scorer() -> Provider[kr_core.plugin.Scorer]:
    """Provide the scorer; it has no settings."""
    return Provider(lambda _settings, _setup: Evidence())
