"""What spot checks of accepted answers say about all of them: which to check, an estimate, and a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.calibration.calibrator import Calibrator

__all__ = ["Accepted", "Estimate", "audit_probability", "certified_accuracy", "estimate_accuracy"]

_ALL_OF_THE_FIRST = 20
_OFTEN_UNTIL = 100
_OFTEN, _SELDOM = 0.3, 0.1
_NINETY_PERCENT = 1.645
"""Standard errors on each side that hold 90 % of a normal distribution."""
_PRIOR_RIGHT, _PRIOR_WRONG = 9.0, 1.0
"""The mixture that the certificate is sharpest for: answers that are right nine times in ten."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An answer that the gate let pass.

    Args:
        confidence: that was stated, 0-100.
        correct: what the spot check said, 0-1; None where no person checked it.
        topic: of the question.
    """

    confidence: float
    correct: float | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many of the accepted answers are right.

    Args:
        accuracy: the share, 0-1.
        low: the lower end of its 90 % interval.
        high: the upper end.
        audited: answers that were checked.
        accepted: answers in all.
    """

    accuracy: float
    low: float
    high: float
    audited: int
    accepted: int


def audit_probability(accepted: int, *, overturned: bool = False) -> float:
    """The probability with which to put an accepted answer to a human: all at first, then fewer.

    It must not depend on the answer itself, or the estimate below is wrong.

    Args:
        accepted: answers of this agent that were accepted before.
        overturned: an audit of this topic has found a wrong answer; such topics are checked twice as often.
    """
    if accepted < _ALL_OF_THE_FIRST:
        return 1.0
    return (_OFTEN if accepted < _OFTEN_UNTIL else _SELDOM) * (2 if overturned else 1)


def estimate_accuracy(answers: Sequence[Accepted], calibrator: Calibrator) -> Estimate | None:
    """The accuracy of accepted answers, from those that were checked and what the map says of the others.

    It is the mean of what the map predicts, corrected by how far it was off where a person looked (the difference
    estimator: Saerndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, chapter 6). Answers that were checked
    count alike: that one was drawn for a check does not depend on it, only on how many came before.

    Args:
        answers: all that were accepted.
        calibrator: fitted on the verdicts of the same agent.

    Returns: None where fewer than two were checked.
    """
    checked = [one for one in answers if one.correct is not None]
    if len(checked) < 2:
        return None
    predicted = [calibrator.mapped(one.confidence, one.topic) / 100 for one in answers]
    off = [(one.correct or 0.0) - calibrator.mapped(one.confidence, one.topic) / 100 for one in checked]
    count = len(checked)
    accuracy = min(max(sum(predicted) / len(predicted) + sum(off) / count, 0.0), 1.0)
    variance = (sum(one * one for one in off) + 0.25) / (count - 1)
    unseen = 1 - count / len(answers)
    reach = _NINETY_PERCENT * sqrt(variance / count * unseen)
    return Estimate(accuracy, max(accuracy - reach, 0.0), min(accuracy + reach, 1.0), count, len(answers))


def certified_accuracy(correct: Sequence[bool], confidence: float = 0.9) -> float:
    """The accuracy that checks prove, 0-1: the true one is below it with a probability of at most `1 - confidence`.

    This holds whenever you look, and however often, because the bound is of all moments at once: a mixture
    martingale against each accuracy below it has grown to `1 / (1 - confidence)` (Robbins, Statistical methods related to
    the law of the iterated logarithm, 1970; Howard et al., Time-uniform, nonparametric, nonasymptotic confidence
    sequences, 2021). It supposes an agent that stays as it is, and checks that were not chosen by the answer.

    Args:
        correct: the verdict of each check.
        confidence: of the certificate, above 0 and below 1.

    Raises:
        ValueError: the confidence is out of its range.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"the certificate's confidence is {confidence}: it must be above 0 and below 1")
    right = sum(correct)
    wrong = len(correct) - right
    if not right:
        return 0.0
    needed = -log(1 - confidence)
    mixture = _log_beta(_PRIOR_RIGHT + right, _PRIOR_WRONG + wrong) - _log_beta(_PRIOR_RIGHT, _PRIOR_WRONG)
    low, high = 0.0, right / len(correct)
    for _halving in range(60):
        middle = (low + high) / 2
        likelihood = right * log(middle) + (wrong * log(1 - middle) if wrong else 0.0)
        low, high = (middle, high) if mixture - likelihood >= needed else (low, middle)
    return low


def _log_beta(one: float, other: float) -> float:
    return lgamma(one) + lgamma(other) - lgamma(one + other)
