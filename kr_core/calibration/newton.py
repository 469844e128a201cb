"""Logistic regression with a normal prior on each value, fitted by Newton's method without any library.

What is minimised is the log-loss plus half the precision of each value times its squared distance from where it starts:
the likeliest values under the priors (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 4.4).
"""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Fit", "Row", "fit_values", "sigmoid"]

_ROUNDS = 50
_HALVINGS = 30
_CLOSE = 1e-9


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
