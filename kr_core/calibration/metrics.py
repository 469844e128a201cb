"""How well confidences hold: Brier score, calibration error, ranking of right before wrong, risk at each coverage.

Confidences are probabilities, 0-1; `right` says for each whether the answer turned out right.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bin", "auroc", "brier", "ece", "reliability", "risk_coverage"]


class Bin(NamedTuple):
    """Cases of like confidence."""

    cases: int
    confidence: float
    """Their mean confidence, 0-1."""
    accuracy: float
    """The share of them that was right, 0-1."""


def brier(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """The mean squared distance between confidence and truth; 0 is best (Brier, 1950).

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    return sum((chance - fact) ** 2 for chance, fact in zip(confidences, right, strict=True)) / len(right)


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
    return sum(one.cases * abs(one.confidence - one.accuracy) for one in found) / len(right)


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """The chance that a right answer has more confidence than a wrong one, ties half; None without both kinds.

    Raises:
        ValueError: there are no cases, or not one label for each.
    """
    _require(confidences, right)
    good = [chance for chance, fact in zip(confidences, right, strict=True) if fact]
    bad = [chance for chance, fact in zip(confidences, right, strict=True) if not fact]
    if not good or not bad:
        return None
    won = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    return won / (len(good) * len(bad))


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


def _require(confidences: Sequence[float], right: Sequence[bool]) -> None:
    if not confidences or len(confidences) != len(right):
        raise ValueError(f"{len(confidences)} confidences and {len(right)} labels: give one label for each")
