"""How well confidences hold: Brier score, calibration error, ranking of right before wrong, risk at each coverage.

Confidences are 0-100; `right` says for each whether the answer turned out right. Scores and shares are 0-1.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Bin",
    "BrierParts",
    "aurc",
    "auroc",
    "brier",
    "brier_parts",
    "ece",
    "reliability",
    "risk_coverage",
]


class Bin(NamedTuple):
    """Cases of like confidence."""

    cases: int
    confidence: float
    """Their mean confidence, 0-100."""
    accuracy: float
    """The share of them that was right, 0-1."""


class BrierParts(NamedTuple):
    """What a Brier score is made of: `reliability - resolution + uncertainty`, for cases of equal confidence."""

    reliability: float
    """How far confidences are from what they turn out to be worth; 0 is best."""
    resolution: float
    """How much they tell the cases apart; more is better."""
    uncertainty: float
    """What there is to tell: the variance of being right."""


def brier(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """The mean squared distance between confidence and truth; 0 is best (Brier, 1950).

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    return sum((one / 100 - fact) ** 2 for one, fact in zip(confidences, right, strict=True)) / len(right)


def brier_parts(confidences: Sequence[float], right: Sequence[bool]) -> BrierParts:
    """The Brier score taken apart (Murphy, A new vector partition of the probability score, 1973).

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    share = sum(right) / len(right)
    off = told = 0.0
    for one, equal in groupby(sorted(zip(confidences, right, strict=True)), key=lambda case: case[0]):
        facts = [fact for _same, fact in equal]
        accuracy = sum(facts) / len(facts)
        off += len(facts) * (one / 100 - accuracy) ** 2
        told += len(facts) * (accuracy - share) ** 2
    return BrierParts(off / len(right), told / len(right), share * (1 - share))


def reliability(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[Bin]:
    """Cases in order of confidence, in bins of about the same count; equal confidences share a bin.

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    cases = sorted(zip(confidences, right, strict=True))
    wanted = max(1, len(cases) // bins)
    found: list[list[tuple[float, bool]]] = [[]]
    for _chance, equal in groupby(cases, key=lambda case: case[0]):
        if len(found[-1]) >= wanted:
            found.append([])
        found[-1] += equal
    return [
        Bin(
            len(one),
            sum(chance for chance, _fact in one) / len(one),
            sum(fact for _chance, fact in one) / len(one),
        )
        for one in found
    ]


def ece(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error with bins of equal count (Nixon et al., 2019); 0 is best.

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    found = reliability(confidences, right, bins)
    return sum(one.cases * abs(one.confidence / 100 - one.accuracy) for one in found) / len(right)


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """The chance that a right answer has more confidence than a wrong one, ties half; None without both kinds.

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    won = good = bad = 0.0
    for _same, equal in groupby(sorted(zip(confidences, right, strict=True)), key=lambda case: case[0]):
        facts = [fact for _confidence, fact in equal]
        rights = sum(facts)
        wrongs = len(facts) - rights
        won += rights * (bad + wrongs / 2)
        good, bad = good + rights, bad + wrongs
    return won / (good * bad) if good and bad else None


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> list[tuple[float, float]]:
    """For each confidence as the limit: (share of cases from it on, share of these that was wrong), the surest first.

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    cases = sorted(zip(confidences, right, strict=True), reverse=True)
    curve: list[tuple[float, float]] = []
    taken = wrong = 0
    for _chance, equal in groupby(cases, key=lambda case: case[0]):
        for _same, fact in equal:
            taken += 1
            wrong += not fact
        curve.append((taken / len(cases), wrong / taken))
    return curve


def aurc(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """The area under the risk-coverage curve: the mean share of wrong answers over all coverages; 0 is best.

    Between the limits the risk is that of the next one (Geifman, Uziel and El-Yaniv, Bias-reduced uncertainty estimation
    for deep neural classifiers, 2019).

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    area = covered = 0.0
    for coverage, risk in risk_coverage(confidences, right):
        area += (coverage - covered) * risk
        covered = coverage
    return area


def _require(confidences: Sequence[float], right: Sequence[bool]) -> None:
    if not confidences or len(confidences) != len(right):
        raise ValueError(f"{len(confidences)} confidences and {len(right)} labels: give one label for each")
