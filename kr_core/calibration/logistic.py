"""Logistic regression on a few named features, fitted by Newton's method without any library.

What is minimised is the log-loss plus half the precision of each value times its squared distance from where it starts:
the likeliest values under the priors (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 4.4). The penalty is half the sum of the squared weights, times `ridge`, without the intercept. Labels are smoothed as Platt
does, so that no fit is sure of all it saw (Platt, Probabilistic Outputs for Support Vector Machines, 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Fit", "LogisticModel", "Row", "fit_logistic", "fit_values", "sigmoid"]

_ROUNDS = 50
_HALVINGS = 30
_CLOSE = 1e-9


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


class Row(NamedTuple):
    """Cases that are alike."""

    entries: Sequence[tuple[int, float]]
    """Where the case is not 0: (number of the value, what it is multiplied with)."""
    weight: float = 1.0
    """How many cases these are."""
    right: float = 0.0
    """The part of `weight` that was right."""


class Fit(NamedTuple):
    """The likeliest values."""

    values: list[float]
    covariance: list[list[float]]
    """Of the values, as the curvature there has it."""

    def odds(self, row: Row) -> float:
        """The log-odds of being right."""
        return sum(entry * self.values[number] for number, entry in row.entries)

    def variance(self, row: Row) -> float:
        """The variance of these log-odds."""
        return sum(
            entry * other * self.covariance[number][across]
            for number, entry in row.entries
            for across, other in row.entries
        )


def fit_values(rows: Sequence[Row], *, starts: Sequence[float], precisions: Sequence[float]) -> Fit:
    """Fit the values.

    Args:
        rows: what is known.
        starts: what each value is thought to be before that.
        precisions: how surely, as 1 / variance; 0 where nothing is known.
    """
    values = list(starts)
    loss = _loss(rows, values, starts, precisions)
    for _round in range(_ROUNDS):
        gradient, curvature = _derivatives(rows, values, starts, precisions)
        covariance = _inverse(curvature)
        step = [
            sum(entry * slope for entry, slope in zip(line, gradient, strict=True)) for line in covariance
        ]
        share = 1.0
        for _halving in range(_HALVINGS):
            tried = [value - share * change for value, change in zip(values, step, strict=True)]
            tried_loss = _loss(rows, tried, starts, precisions)
            if tried_loss <= loss:
                break
            share /= 2
        else:
            break
        gained, values, loss = loss - tried_loss, tried, tried_loss
        if gained < _CLOSE:
            break
    return Fit(values, _inverse(_derivatives(rows, values, starts, precisions)[1]))


def sigmoid(odds: float) -> float:
    """The probability, 0-1, with these log-odds."""
    if odds >= 0:
        return 1 / (1 + exp(-odds))
    grown = exp(odds)
    return grown / (1 + grown)


def _derivatives(
    rows: Sequence[Row], values: Sequence[float], starts: Sequence[float], precisions: Sequence[float]
) -> tuple[list[float], list[list[float]]]:
    gradient = [
        precision * (value - start)
        for precision, value, start in zip(precisions, values, starts, strict=True)
    ]
    curvature = [
        [precision if number == across else 0.0 for across in range(len(values))]
        for number, precision in enumerate(precisions)
    ]
    for row in rows:
        chance = sigmoid(sum(entry * values[number] for number, entry in row.entries))
        excess = row.weight * chance - row.right
        spread = row.weight * max(chance * (1 - chance), _CLOSE)
        for number, entry in row.entries:
            gradient[number] += excess * entry
            for across, other in row.entries:
                curvature[number][across] += spread * entry * other
    return gradient, curvature


def _loss(
    rows: Sequence[Row], values: Sequence[float], starts: Sequence[float], precisions: Sequence[float]
) -> float:
    loss = sum(
        precision * (value - start) ** 2 / 2
        for precision, value, start in zip(precisions, values, starts, strict=True)
    )
    for row in rows:
        odds = sum(entry * values[number] for number, entry in row.entries)
        loss += row.weight * (max(odds, 0.0) + log1p(exp(-abs(odds)))) - row.right * odds
    return loss


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The inverse of a symmetric, positive definite matrix, by Gauss and Jordan's elimination with pivots."""
    size = len(matrix)
    rows = [
        [*line, *(float(number == across) for across in range(size))] for number, line in enumerate(matrix)
    ]
    for column in range(size):
        pivot = max(range(column, size), key=lambda number: abs(rows[number][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [value / scale for value in rows[column]]
        for number in range(size):
            factor = rows[number][column]
            if number != column and factor:
                rows[number] = [
                    value - factor * above for value, above in zip(rows[number], rows[column], strict=True)
                ]
    return [line[size:] for line in rows]
