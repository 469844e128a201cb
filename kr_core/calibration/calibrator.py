"""What a confidence is worth, learned from verdicts: Platt scaling with a prior at identity, topics pooled.

The map adds up, in log-odds: `slope * odds(confidence) + intercept`, a bend at each of a few confidences, and a shift
for the topic. With no verdicts it changes nothing: slope 1 and the rest 0. Verdicts move it as far as they outweigh
these priors (Platt, Probabilistic Outputs for Support Vector Machines, 1999; Gelman and Hill, Data Analysis Using
Regression and Multilevel Models, 2007, chapter 12). More confidence is never mapped to less. The map is used only where
it would have predicted the verdicts better than the confidence itself, each verdict predicted from the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

from kr_core.calibration.logistic import Fit, Row, fit_values, sigmoid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MINIMUM_VERDICTS", "Calibrator", "Stage", "fit"]

MINIMUM_VERDICTS = 20

Stage: TypeAlias = Literal["raw", "shadow", "calibrated"]

_SLOPE_VARIANCE = 0.5
_INTERCEPT_VARIANCE = 1.0
_BEND_VARIANCE = 0.25
_TOPIC_VARIANCE = 0.25
_KNOTS = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
"""Where the map may bend: models state these again and again, and mean something else by each."""
_HEAVIEST = 10.0
"""What one verdict weighs at most: one that was drawn with a probability of 1 % must not decide for 100."""
_SURE_OF_GAIN = 1.28
"""Standard errors: the gain is real with a probability of 90 %."""
_CLIP = 0.01
"""A confidence of 100 counts as 99: its log-odds would be infinite."""
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A fitted map from confidence to the percentage that turned out right.

    Args:
        stage: `raw`, too few verdicts; `shadow`, there is a map, not known to be better; `calibrated`, it is better.
        verdicts: how many it was fitted on; one that counts less is a part of one.
        curve: the map in log-odds, ascending: (confidence, what it is worth); straight between and beyond.
        topics: what is added to it for a topic.
        gain: by how much the map's Brier score beats that of the confidence itself, each verdict left out in turn.
    """

    stage: Stage
    verdicts: int
    curve: Sequence[tuple[float, float]] = ((0.0, 0.0), (1.0, 1.0))
    topics: Mapping[str, float] = field(default_factory=dict)
    gain: float = 0.0

    def apply(self, confidence: float, topic: str | None = None) -> float:
        """The confidence to use, 0-100: the mapped one where the stage is `calibrated`, else the one given.

        Raises:
            ValueError: the confidence is not within 0-100.
        """
        if self.stage == "calibrated":
            return self.mapped(confidence, topic)
        _fraction(confidence)
        return confidence

    def mapped(self, confidence: float, topic: str | None = None) -> float:
        """What the map makes of it, 0-100, at every stage: to be shown beside the confidence itself.

        Raises:
            ValueError: the confidence is not within 0-100.
        """
        odds = _log_odds(_fraction(confidence))
        place = min(max(bisect_right(self.curve, (odds, inf)), 1), len(self.curve) - 1)
        (low, worth), (high, more) = self.curve[place - 1], self.curve[place]
        shift = self.topics.get(topic, 0.0) if topic is not None else 0.0
        return 100 * sigmoid(worth + (odds - low) / (high - low) * (more - worth) + shift)


def fit(
    confidence: Sequence[float],
    correct: Sequence[float],
    *,
    topic: Sequence[str | None] | None = None,
    probability: Sequence[float] | None = None,
    weight: Sequence[float] | None = None,
    minimum: int = MINIMUM_VERDICTS,
) -> Calibrator:
    """Fit a map on verdicts.

    Args:
        confidence: of each answer, 0-100.
        correct: whether it was right; a share, 0-1, where it was right in part.
        topic: of each answer.
        probability: with which each verdict was asked for, above 0 to 1; 1 where an answer was escalated.
        weight: what each verdict counts, above 0 to 1: less for one about an agent that has changed since.
        minimum: fewer verdicts leave the confidence as it is.

    Raises:
        ValueError: the lists differ in length, or a value is out of its range.
    """
    fractions = [_fraction(one) for one in confidence]
    topics = list(topic) if topic is not None else [None] * len(fractions)
    probabilities = list(probability) if probability is not None else [1.0] * len(fractions)
    counts = list(weight) if weight is not None else [1.0] * len(fractions)
    _require(fractions, correct, topics, probabilities, counts)
    verdicts = int(sum(counts) + _CLOSE)
    if verdicts < max(minimum, 1):
        return Calibrator("raw", verdicts)
    numbers = {name: number for number, name in enumerate(sorted({*topics} - {None}), 2 + len(_KNOTS))}
    rows = [
        Row(_entries(_log_odds(fraction), numbers.get(name)), drawn * count, drawn * count * right)
        for fraction, name, drawn, count, right in zip(
            fractions, topics, _weights(probabilities), counts, correct, strict=True
        )
    ]
    fitted = _fitted(rows, len(numbers))
    gain, error = _gain(fractions, rows, fitted)
    return Calibrator(
        "calibrated" if gain > _SURE_OF_GAIN * error else "shadow",
        verdicts,
        _curve(fitted),
        {name: fitted.values[number] for name, number in numbers.items()},
        gain,
    )


def _require(
    fractions: Sequence[float],
    correct: Sequence[float],
    topics: Sequence[str | None],
    probabilities: Sequence[float],
    counts: Sequence[float],
) -> None:
    if not len(fractions) == len(correct) == len(topics) == len(probabilities) == len(counts):
        raise ValueError(
            f"{len(fractions)} confidences, {len(correct)} verdicts, {len(topics)} topics, {len(probabilities)}"
            f" probabilities and {len(counts)} weights: give one of each for each answer"
        )
    for one in correct:
        if not 0 <= one <= 1:
            raise ValueError(f"a verdict is {one}: it must be within 0-1")
    for one in probabilities:
        if not 0 < one <= 1:
            raise ValueError(f"a probability is {one}: it must be above 0 and at most 1")
    for one in counts:
        if not 0 < one <= 1:
            raise ValueError(f"a weight is {one}: it must be above 0 and at most 1")


def _weights(probabilities: Sequence[float]) -> list[float]:
    """What each verdict counts for: how many answers it speaks for, bounded, and in all as many as there are."""
    drawn = [min(1 / one, _HEAVIEST) for one in probabilities]
    scale = sum(drawn) / sum(weight * weight for weight in drawn)
    return [weight * scale for weight in drawn]


def _fitted(rows: Sequence[Row], topics: int) -> Fit:
    """The likeliest map; where more confidence would mean less, confidence counts nothing."""
    starts = [1.0] + [0.0] * (1 + len(_KNOTS) + topics)
    precisions = [1 / _SLOPE_VARIANCE, 1 / _INTERCEPT_VARIANCE]
    precisions += [1 / _BEND_VARIANCE] * len(_KNOTS) + [1 / _TOPIC_VARIANCE] * topics
    sums: dict[tuple[tuple[int, float], ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        cell = sums[tuple(row.entries)]
        cell[0] += row.weight
        cell[1] += row.right
    alike = [Row(entries, weight, right) for entries, (weight, right) in sums.items()]
    found = fit_values(alike, starts=starts, precisions=precisions)
    if found.values[0] < 0:
        found = fit_values(alike, starts=[0.0, *starts[1:]], precisions=[1 / _CLOSE, *precisions[1:]])
    return found


def _curve(fitted: Fit) -> list[tuple[float, float]]:
    """The map at each knot, and a step further out on each side; neighbours that fall are given their mean."""
    odds = _KNOT_ODDS
    blocks: list[list[float]] = []
    for one in odds:
        blocks.append([fitted.odds(Row(_entries(one, None)))])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    worth = [_mean(block) for block in blocks for _one in block]
    slope = max(fitted.values[0], 0.0)
    return [(odds[0] - 1, worth[0] - slope), *zip(odds, worth, strict=True)]


def _gain(fractions: Sequence[float], rows: Sequence[Row], fitted: Fit) -> tuple[float, float]:
    """By how much the map beats the confidence itself on verdicts left out, and the standard error of that.

    What the fit without one verdict would say of it is read from the fit with it, as far as that verdict pulls (Rad and
    Maleki, A scalable estimate of the out-of-sample prediction error via approximate leave-one-out cross-validation,
    2020, equation 6). The bends count as they were fitted, before neighbours that fall are given their mean.
    """
    gains = []
    for fraction, row in zip(fractions, rows, strict=True):
        right, odds, pull = row.right / row.weight, fitted.odds(row), row.weight * fitted.variance(row)
        chance = sigmoid(odds)
        without = odds - pull * (right - chance) / max(1 - pull * chance * (1 - chance), _CLOSE)
        gains.append(row.weight * ((fraction - right) ** 2 - (sigmoid(without) - right) ** 2))
    mean = _mean(gains)
    return mean, sqrt(sum((one - mean) ** 2 for one in gains) / max(len(gains) - 1, 1) / len(gains))


def _entries(odds: float, topic: int | None) -> tuple[tuple[int, float], ...]:
    """What a case's log-odds are made of: slope, intercept, the bends at the knots beside it, its topic."""
    entries = [(0, odds), (1, 1.0), *_bends(odds)]
    return tuple(entries if topic is None else [*entries, (topic, 1.0)])


def _bends(odds: float) -> list[tuple[int, float]]:
    """The share of the knots on both sides, the nearer one's the larger."""
    place = bisect_right(_KNOT_ODDS, odds)
    if place in {0, len(_KNOT_ODDS)}:
        return [(2 if place == 0 else 1 + len(_KNOT_ODDS), 1.0)]
    share = (odds - _KNOT_ODDS[place - 1]) / (_KNOT_ODDS[place] - _KNOT_ODDS[place - 1])
    return [(1 + place, 1 - share), (2 + place, share)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _fraction(confidence: float) -> float:
    if not 0 <= confidence <= 100:
        raise ValueError(f"a confidence is {confidence}: it must be within 0-100")
    return confidence / 100


def _log_odds(fraction: float) -> float:
    kept = min(max(fraction, _CLIP), 1 - _CLIP)
    return log(kept / (1 - kept))


_KNOT_ODDS = tuple(_log_odds(knot) for knot in _KNOTS)
