"""Logistic regression on a few named features.

The penalty is half the sum of the squared weights, times `ridge`, without the intercept. Labels are smoothed as Platt
does, so that no fit is sure of all it saw (Platt, Probabilistic Outputs for Support Vector Machines, 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kr_core.calibration.newton import Row, fit_values, sigmoid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LogisticModel", "fit_logistic"]


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A fitted model.

    Args:
        intercept: the log-odds where every feature is 0.
        weights: what one unit of each feature adds to the log-odds.
    """

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0-1; a feature that the model does not know counts nothing, one that is missing is 0."""
        return sigmoid(
            self.intercept + sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        )


def fit_logistic(
    rows: Sequence[Mapping[str, float]], labels: Sequence[bool], *, ridge: float = 1.0
) -> LogisticModel:
    """Fit a model.

    Args:
        rows: the features of each case; about 0-1 each, since one penalty serves all.
        labels: whether each case turned out right.
        ridge: the strength of the penalty; more than 0.

    Raises:
        ValueError: there are no cases, as many labels as rows are missing, or `ridge` is not positive.
    """
    if not rows or len(rows) != len(labels):
        raise ValueError(f"{len(rows)} cases and {len(labels)} labels: give one label for each case")
    if ridge <= 0:
        raise ValueError(f"ridge is {ridge}: it must be more than 0")
    names = sorted({name for row in rows for name in row})
    right = sum(labels)
    high, low = (right + 1) / (right + 2), 1 / (len(labels) - right + 2)
    cases = [
        Row(
            ((0, 1.0), *((place, row.get(name, 0.0)) for place, name in enumerate(names, 1))),
            1.0,
            high if label else low,
        )
        for row, label in zip(rows, labels, strict=True)
    ]
    size = len(names) + 1
    values = fit_values(cases, starts=[0.0] * size, precisions=[0.0] + [ridge] * (size - 1)).values
    return LogisticModel(values[0], dict(zip(names, values[1:], strict=True)))
