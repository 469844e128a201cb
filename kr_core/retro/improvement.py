"""Whether the same questions are answered better under another configuration, or in a later feature."""

from __future__ import annotations

from random import Random
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from kr_core.agents.consensus import agree
from kr_core.calibration import brier
from kr_core.model.base import Value
from kr_core.model.questions import Answer, Question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["FEWEST_VERDICTS", "Improvement", "Pair", "improvement", "pairs"]

FEWEST_VERDICTS = 10
"""Pairs with a verdict on both sides from which on accuracy and calibration are compared."""
_WANTED = 0.1
_SAMPLES = 2000
_CLOSE = 1e-9
_ROUNDED = 4
_DECIDED = {"correct", "choose", "chat"}


class Pair(NamedTuple):
    """A question, answered before and after."""

    question_id: str
    before: int
    """The confidence that was stated."""
    after: int
    right_before: bool | None
    right_after: bool | None
    """None where what people decided does not tell."""
    written: bool = False
    """Whether its answer has been written into an agent's knowledge."""


class Improvement(Value):
    """Confidence, accuracy and calibration before and after, over `n` pairs.

    Shares are 0-1, confidences 0-100. `gain` is by how much the mean confidence rose, in relation to what it was;
    `low` and `high` are its 90 % interval, by drawing pairs again and again. `met` is true if it rose by 10 %, the
    answers are no less often right and the calibration (Brier score) is no worse; None with too few verdicts.
    """

    n: int
    confidence_before: float | None = None
    confidence_after: float | None = None
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    judged: int = 0
    accuracy_before: float | None = None
    accuracy_after: float | None = None
    brier_before: float | None = None
    brier_after: float | None = None
    met: bool | None = None


def improvement(found: Sequence[Pair]) -> Improvement:
    """What came of the pairs, with an interval from 2,000 samples that are the same each time."""
    if not found or not any(one.before for one in found):
        return Improvement(n=len(found))
    drawn, samples = Random(0), []  # noqa: S311  statistics, not a secret
    for _sample in range(_SAMPLES):
        gain = _gain(drawn.choices(found, k=len(found)))
        if gain is not None:
            samples.append(gain)
    samples.sort()
    judged = [
        (one, one.right_before, one.right_after)
        for one in found
        if one.right_before is not None and one.right_after is not None
    ]
    gain = _gain(found)
    assert gain is not None, "one of them is not 0"
    values = {
        "n": len(found),
        "confidence_before": round(mean(one.before for one in found), 1),
        "confidence_after": round(mean(one.after for one in found), 1),
        "gain": round(gain, _ROUNDED),
        "low": round(samples[len(samples) // 20], _ROUNDED),
        "high": round(samples[-1 - len(samples) // 20], _ROUNDED),
        "judged": len(judged),
    }
    if not judged:
        return Improvement.model_validate(values)
    before = [was for _one, was, _is in judged]
    after = [is_now for _one, _was, is_now in judged]
    accuracies = mean(before), mean(after)
    scores = (
        brier([one.before for one, _, _ in judged], before),
        brier([one.after for one, _, _ in judged], after),
    )
    met = gain >= _WANTED and accuracies[1] >= accuracies[0] and scores[1] <= scores[0] + _CLOSE
    return Improvement.model_validate(
        {
            **values,
            "accuracy_before": round(accuracies[0], _ROUNDED),
            "accuracy_after": round(accuracies[1], _ROUNDED),
            "brier_before": round(scores[0], _ROUNDED),
            "brier_after": round(scores[1], _ROUNDED),
            "met": met if len(judged) >= FEWEST_VERDICTS else None,
        }
    )


def pairs(
    before: Sequence[AskedQuestion], after: Sequence[AskedQuestion], written: AbstractSet[str] = frozenset()
) -> list[Pair]:
    """The questions of the same words that an agent answered on both sides.

    Args:
        before: with what people decided about them.
        after: the same ones, asked again.
        written: entries whose answers are in an agent's knowledge by now.
    """
    again = {_words(one.text): one for one in after if one.rounds}
    found = []
    for one in before:
        other = again.get(_words(one.text))
        if one.rounds and other is not None:
            first, now = one.rounds[0], other.rounds[0]
            right = now.verdict if now.verdict is not None else _is_right(one, now.content)
            seen = bool(written & {given.entry_id for given in one.rounds})
            found.append(Pair(one.question_id, first.confidence, now.confidence, first.verdict, right, seen))
    return found


def _is_right(question: AskedQuestion, content: str) -> bool | None:
    """Whether an answer is what people decided: None where it says neither the same nor what they found wrong."""
    right = [one.content for one in question.replies if one.action in _DECIDED][-1:]
    right = right or [one.content for one in question.rounds if one.verdict]
    wrong = [one.content for one in question.rounds if one.verdict is False]
    if any(_alike(question, one, content) for one in right):
        return True
    if any(_alike(question, one, content) for one in wrong) or (right and question.data.get("choices")):
        return False
    return None


def _alike(question: AskedQuestion, one: str, other: str) -> bool:
    asked = Question(text=question.text or "?")
    return agree(asked, *(Answer(question_id=asked.id, content=content) for content in (one, other)))


def _gain(found: Sequence[Pair]) -> float | None:
    before = sum(one.before for one in found)
    return sum(one.after for one in found) / before - 1 if before else None


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
