"""The gate: whether an answer is good enough to be built on."""

from __future__ import annotations

from kr_core.model.questions import Verdict

__all__ = ["NEVER", "decide"]

NEVER = 100
"""A threshold that no answer passes, whatever it says of itself."""


def decide(confidence: int, threshold: int, *, always_escalate: bool = False) -> Verdict:
    """Accept an answer from its threshold on; pure.

    Args:
        confidence: 0 to 100.
        threshold: 0 to 100; at 100 every answer goes to a human.
        always_escalate: the same for any threshold.
    """
    if always_escalate:
        accepted, reason = False, "its topic always goes to a human"
    elif threshold >= NEVER:
        accepted, reason = False, "the threshold of 100 puts every answer to a human"
    elif confidence >= threshold:
        accepted, reason = True, f"confidence {confidence} is at least {threshold}"
    else:
        accepted, reason = False, f"confidence {confidence} is below {threshold}"
    return Verdict(accepted=accepted, confidence=confidence, threshold=threshold, reason=reason)
