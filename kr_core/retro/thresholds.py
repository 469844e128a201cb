"""A threshold that lets pass what is worth it, and what would follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.calibration import Calibrator

__all__ = ["ThresholdProposal", "lowest", "propose"]

_STEP = 5
"""Thresholds are proposed in steps of this size."""


class ThresholdProposal(NamedTuple):
    """A threshold and what it would have come to over the same answers."""

    threshold: int
    answers: int
    escalations: int
    wrong_accepts: float

    @property
    def predicted(self) -> dict[str, float]:
        """What the next retrospective can check."""
        return {
            "answers": float(self.answers),
            "escalations": float(self.escalations),
            "wrong_accepts": round(self.wrong_accepts, 1),
        }


def propose(
    stated: Sequence[tuple[float, str | None]], calibrator: Calibrator, wanted: float
) -> ThresholdProposal | None:
    """The lowest threshold from which on an answer is worth enough, with its effect.

    Args:
        stated: the confidence and the topic of each answer of an agent.
        calibrator: what its confidence is worth.
        wanted: what an answer must be worth to be accepted, 0-100.

    Returns: None where the map is not known to be better than the confidence, or no answer is worth so much.
    """
    if calibrator.stage != "calibrated" or not stated:
        return None
    threshold = lowest(calibrator, wanted)
    if threshold is None:
        return None
    passing = [calibrator.mapped(one, topic) for one, topic in stated if one >= threshold]
    wrong = sum(1 - worth / 100 for worth in passing)
    return ThresholdProposal(threshold, len(stated), len(stated) - len(passing), wrong)


def lowest(calibrator: Calibrator, wanted: float) -> int | None:
    """The lowest threshold from which on an answer is worth enough; None where no answer is."""
    return next((one for one in range(_STEP, 100, _STEP) if calibrator.mapped(one) >= wanted), None)
