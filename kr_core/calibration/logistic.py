"""Logistic regression on a few named features: fitted by Newton's method, applied without any library.

The penalty is half the sum of the squared weights, times `ridge`, without the intercept (Hastie, Tibshirani and
Friedman, The Elements of Statistical Learning, 4.4). Labels are smoothed as Platt does, so that no fit is sure of all it
saw (Platt, Probabilistic Outputs for Support Vector Machines, 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LogisticModel", "fit_logistic"]

_ROUNDS = 50
_CLOSE = 1e-9
_HALVINGS = 20


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
        return _sigmoid(
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
    design = [[1.0, *(row.get(name, 0.0) for name in names)] for row in rows]
    right = sum(labels)
    high, low = (right + 1) / (right + 2), 1 / (len(labels) - right + 2)
    targets = [high if label else low for label in labels]
    weights = [0.0] * (len(names) + 1)
    loss = _loss(design, targets, weights, ridge)
    for _round in range(_ROUNDS):
        step = _newton_step(design, targets, weights, ridge)
        share = 1.0
        for _halving in range(_HALVINGS):
            tried = [weight + share * change for weight, change in zip(weights, step, strict=True)]
            tried_loss = _loss(design, targets, tried, ridge)
            if tried_loss <= loss:
                break
            share /= 2
        else:
            break
        gained, weights, loss = loss - tried_loss, tried, tried_loss
        if gained < _CLOSE:
            break
    return LogisticModel(weights[0], dict(zip(names, weights[1:], strict=True)))


def _newton_step(
    design: Sequence[Sequence[float]], targets: Sequence[float], weights: Sequence[float], ridge: float
) -> list[float]:
    size = len(weights)
    penalties = [0.0] + [ridge] * (size - 1)
    gradient = [-penalty * weight for penalty, weight in zip(penalties, weights, strict=True)]
    curvature = [[penalties[row] if row == column else 0.0 for column in range(size)] for row in range(size)]
    for values, target in zip(design, targets, strict=True):
        chance = _sigmoid(sum(weight * value for weight, value in zip(weights, values, strict=True)))
        spread = max(chance * (1 - chance), _CLOSE)
        for row in range(size):
            gradient[row] += (target - chance) * values[row]
            for column in range(size):
                curvature[row][column] += spread * values[row] * values[column]
    return _solved(curvature, gradient)


def _loss(
    design: Sequence[Sequence[float]], targets: Sequence[float], weights: Sequence[float], ridge: float
) -> float:
    from math import log1p

    loss = ridge * sum(weight * weight for weight in weights[1:]) / 2
    for values, target in zip(design, targets, strict=True):
        odds = sum(weight * value for weight, value in zip(weights, values, strict=True))
        loss += max(odds, 0.0) + log1p(exp(-abs(odds))) - target * odds
    return loss


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a system with a symmetric, positive definite matrix, by Gauss elimination with pivots."""
    size = len(right)
    rows = [[*matrix[number], right[number]] for number in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda number: abs(rows[number][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for number in range(column + 1, size):
            factor = rows[number][column] / rows[column][column]
            rows[number] = [
                value - factor * above for value, above in zip(rows[number], rows[column], strict=True)
            ]
    solution = [0.0] * size
    for number in reversed(range(size)):
        known = sum(rows[number][column] * solution[column] for column in range(number + 1, size))
        solution[number] = (rows[number][size] - known) / rows[number][number]
    return solution


def _sigmoid(odds: float) -> float:
    if odds >= 0:
        return 1 / (1 + exp(-odds))
    grown = exp(odds)
    return grown / (1 + grown)
