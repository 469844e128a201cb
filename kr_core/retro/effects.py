"""What came of recommendations that were accepted: escalations predicted and seen, and findings that are back."""

from __future__ import annotations

import datetime as dt
from math import sqrt
from typing import TYPE_CHECKING, Any

from kr_core.model.retro_report import ChangeOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.model.retro_report import Recommendation
    from kr_core.protocols import DocumentStore
    from kr_core.retro.logged_questions import AnswerRound, AskedQuestion

__all__ = ["KIND", "outcomes", "wanted", "written"]

KIND = "recommendation"
"""Of the journal's documents about recommendations; their statuses are `writing`, `accepted` and `reverted`."""
_FEWEST = 10
"""Answers from which on a prediction can have failed."""
_NEAR = 0.1
_NINETY_PERCENT = 1.645
_ROUNDED = 4


def outcomes(
    journal: DocumentStore,
    feature: str,
    questions: Sequence[AskedQuestion],
    advised: Callable[[Sequence[AskedQuestion]], Sequence[Recommendation]],
) -> tuple[ChangeOutcome, ...]:
    """What came of each accepted recommendation of the feature, or of others, in the feature's answers since then.

    Args:
        journal: the record.
        feature: the feature that is looked back on.
        questions: of the feature.
        advised: what a retrospective of questions recommends.
    """
    found = []
    for kept in journal.documents(KIND, "accepted"):
        since = dt.datetime.fromisoformat(kept.data["accepted"])
        later = [one for one in questions if any(_is_after(answer, since) for answer in one.rounds)]
        if later or kept.data["feature"] == feature:
            found.append(_outcome(kept.data, later, {one.id for one in advised(later)}))
    return tuple(found)


def written(journal: DocumentStore) -> frozenset[str]:
    """The entries whose answers an accepted recommendation has written into an agent's knowledge."""
    return frozenset(
        entry
        for kept in journal.documents(KIND, "accepted")
        if kept.data["change"] == "knowledge"
        for entry in kept.data["evidence"]
    )


def wanted(journal: DocumentStore) -> dict[tuple[str, int], int]:
    """What answers must be worth where a recommendation has set a threshold, by agent and threshold.

    Such a threshold is the confidence from which on an answer is worth so much, and not itself what it must be worth.
    """
    kept = [one.data["about"] for one in journal.documents(KIND) if "wanted" in one.data["about"]]
    return {(about["agent"], about["threshold"]): about["wanted"] for about in kept}


def _outcome(of: dict[str, Any], later: Sequence[AskedQuestion], again: set[str]) -> ChangeOutcome:
    since = dt.datetime.fromisoformat(of["accepted"])
    about, expected = of["about"], of["predicted"] or {}
    rounds = [
        one
        for question in later
        for one in question.rounds
        if _is_after(one, since)
        and one.agent == about.get("agent", one.agent)
        and one.topic == about.get("topic", one.topic)
    ]
    seen = sum(not one.accepted for one in rounds) / len(rounds) if rounds else None
    predicted = expected["escalations"] / expected["answers"] if expected.get("answers") else None
    return ChangeOutcome(
        id=of["id"],
        feature=of["feature"],
        change=of["change"],
        files=tuple(one["path"] for one in of["files"]),
        accepted=of["accepted"],
        answers=len(rounds),
        predicted=None if predicted is None else round(predicted, _ROUNDED),
        seen=None if seen is None else round(seen, _ROUNDED),
        held=_held(predicted, seen, len(rounds)),
        again=of["id"] in again,
    )


def _held(predicted: float | None, seen: float | None, answers: int) -> bool | None:
    """Whether the two shares differ by no more than a tenth, or than chance makes them."""
    if predicted is None or seen is None or answers < _FEWEST:
        return None
    error = sqrt(predicted * (1 - predicted) / answers)
    return abs(seen - predicted) <= max(_NEAR * predicted, _NINETY_PERCENT * error, 1 / answers)


def _is_after(one: AnswerRound, since: dt.datetime) -> bool:
    return one.time is not None and one.time > since
