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
from kr_core.toolkit import (
    COVERED,
    FULLY,
    LogisticModel,
    answered,
    content_words,
    gap,
    parse_question,
    stem,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.plugin import Draft, Finding, Level, Passage, ResearchQuery

HIGH, MEDIUM = 80, 50
WEIGHTS = Path(__file__).with_name("evidence.json")
_FITTED_ON = "pkg:"
"""The addresses of packages, whose documentation the model was fitted on."""
_LIKELY, _SURE = 0.55, 0.86
_LITTLE = 0.3
"""A passage that the question does not name and that covers less of it is never `medium`."""
_NO_LIMIT = 100
_MAX_WORDS = 40
"""A longer question is a story with a question in it."""


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
        limit, reasons = _limit(query, findings, draft)
        value = min(value, limit)
        return Score(score=value, level=_level(value), reasons=(*_reasons(known, findings), *reasons))


def features(query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> dict[str, float]:
    """What the model knows of an answer; each value is between 0 and 1."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if not shown:
        return {}
    found = answered(findings)
    first = shown[0]
    question, said = parse_question(query.question), _said(query, draft)
    known: dict[str, float] = {
        "coverage": found.coverage,
        "squared coverage": found.coverage**2,
        "pinned": first.pinned,
        "npm": first.url.startswith("pkg:npm"),
        "direct": draft.direct,
        "example": bool(draft.summary_code),
        "documented": _is_documented(first),
        "missing words": min(1.0, len(found.missing) / 3),
        "unresolved name": any(finding.unresolved for _source, finding in findings),
        "lead": _lead(shown),
        "said": said,
        "said all": said**3,
        "both": question.kind == "difference" and sum(passage.pinned for passage in shown) > 1,
        "parameter first": first.kind == "parameter" and not first.pinned,
        "deprecated": first.deprecated is not None,
        "message": first.what == "message" and first.pinned,
        "message advises": first.what == "message"
        and first.pinned
        and len(shown) > 1
        and shown[1].lead != "",
        "long question": min(1.0, len(query.question.split()) / _MAX_WORDS),
        f"kind {question.kind}": 1.0,
        f"passage {first.kind}": 1.0,
        f"pinned {question.kind}": first.pinned,
    }
    return {name: float(value) for name, value in known.items() if value}


def _by_coverage(coverage: float, *, code: bool) -> int:
    """The score of what a service or a folder of documents says, on which no model was fitted; `high` needs code."""
    if coverage < COVERED:
        return round((MEDIUM - 1) * coverage / COVERED)
    if coverage < FULLY or not code:
        return round(MEDIUM + (HIGH - 1 - MEDIUM) * min(1.0, (coverage - COVERED) / (1 - COVERED) * 2))
    return round(HIGH + (100 - HIGH) * (coverage - FULLY) / (1 - FULLY))


def as_score(probability: float) -> int:
    """The score of a probability: `medium` begins at 0.55 and `high` at 0.86, so that of all `high` answers nine in ten are right."""
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


def _is_documented(passage: Passage) -> bool:
    return len(passage.lead.split()) >= 3 or not passage.symbol


def _said(query: ResearchQuery, draft: Draft) -> float:
    """The share of the question's telling words, the library's name aside, that the answer says."""
    asked = {stem(word) for word in content_words(query.question) if word not in query.framework.lower()}
    told = " ".join(claim.text for claim in draft.summary)
    said = {stem(word) for word in words(told)}
    return len(asked & said) / (len(asked) or 1)


def _lead(shown: Sequence[Passage]) -> float:
    """How far the first passage is ahead of the second, by coverage."""
    second = shown[1].coverage if len(shown) > 1 else 0.0
    return min(1.0, max(0.0, shown[0].coverage - second))


def _limit(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> tuple[int, list[str]]:
    """The most that the score may be, and why."""
    told = [*_of_source(query, findings, draft), *_of_names(findings, draft)]
    first = next((passage for _source, finding in findings for passage in finding.passages), None)
    if first is not None:
        told += _of_first(first, parse_question(query.question).kind)
    return min(limit for limit, _reason in told), [reason for _limit, reason in told if reason]


def _of_source(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> Iterator[tuple[int, str]]:
    """Who says it, and of which version."""
    agreement = _agreement(draft, findings)
    if draft.citations[0].official:
        yield _NO_LIMIT, "official documentation"
    elif agreement > 1:
        yield HIGH - 1, f"not official documentation, but {agreement} independent places agree"
    else:
        yield MEDIUM - 1, "not official documentation"
    read = next((finding.version for _source, finding in findings if finding.version), None)
    difference = gap(read, query.framework_version) if read else None
    if difference:
        limit = HIGH - 1 if difference == "minor" else MEDIUM - 1
        yield limit, f"read in {read}, asked about {query.framework_version}"
    elif read:
        yield _NO_LIMIT, f"read in the version in use, {read}"


def _of_names(findings: Sequence[tuple[str, Finding]], draft: Draft) -> Iterator[tuple[int, str]]:
    """What the question names that was not found."""
    unresolved = [name.name for _source, finding in findings for name in finding.unresolved]
    if unresolved:
        yield MEDIUM - 1, f"the documentation does not have {', '.join(unresolved[:3])}"
    if draft.not_found:
        yield MEDIUM - 1, f"nothing was found named {', '.join(draft.not_found)}"


def _of_first(first: Passage, kind: str) -> Iterator[tuple[int, str]]:
    """What the first passage is."""
    if first.parameter and not first.lead and kind not in {"default", "options"}:
        yield MEDIUM - 1, f"the documentation does not say what {first.parameter} means"
    if first.what == "message":
        yield HIGH - 1, "the source says when it is raised, and may not say how to mend it"
    if kind == "how_to" and first.parameter and not first.pinned:
        yield HIGH - 1, f"the question does not name {first.parameter}"
    if not first.pinned and first.coverage < _LITTLE:
        yield MEDIUM - 1, ""


def _reasons(known: Mapping[str, float], findings: Sequence[tuple[str, Finding]]) -> list[str]:
    found = answered(findings)
    share = round(100 * found.coverage)
    reasons = ["the question names what is cited"] if known.get("pinned") else []
    reasons.append(f"the first passage holds {share} % of what was asked, weighted by rarity")
    if found.missing:
        reasons.append(f"nothing was found about: {', '.join(found.missing[:5])}")
    reasons.append("a code example from the documentation" if known.get("example") else "no code example")
    return reasons


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
