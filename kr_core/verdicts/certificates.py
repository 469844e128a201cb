"""Certificates: how often accepted answers about a topic are right, proven by the humans who judged them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.calibration import certified_accuracy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_core.verdicts.judged import Judged, Subject

__all__ = ["USUAL_PERCENT", "Certificate", "certificate", "needed_verdicts"]

USUAL_PERCENT = 90
"""What a certificate is about where no rule asks for another share."""


class Certificate(NamedTuple):
    """What the verdicts prove about the accepted answers of one agent to one topic."""

    topic: str
    wanted: int
    """The percentage that it is asked for."""
    proven: int
    """The percentage that is right at least, with 90 % confidence."""
    verdicts: int

    @property
    def holds(self) -> bool:
        """Whether as much is proven as is asked for."""
        return self.proven >= self.wanted

    @property
    def text(self) -> str:
        """What it says, in a phrase."""
        about = f"topic {self.topic}" if self.topic else "questions without a topic"
        proven = f"at least {self.proven} % right, with 90 % confidence, n = {self.verdicts} audited"
        if self.holds:
            return f"in this project's {about} {proven}"
        needed = needed_verdicts(self.wanted)
        if self.verdicts < needed:
            return f"not enough verdicts ({self.verdicts} of {needed})"
        return f"not certified for {self.wanted} %: in this project's {about} {proven}"


def certificate(
    judged: Iterable[Judged], subject: Subject, topic: str, wanted: int | None = None
) -> Certificate:
    """The certificate of an agent for a topic.

    Only answers that met the threshold count, whichever way a human came to judge them; and only those of this very
    model and prompt, since a changed agent may be right less often.

    Args:
        judged: all verdicts of the project.
        subject: whose answers it is about.
        topic: of the questions.
        wanted: the percentage that a rule asks for.
    """
    folded = topic.casefold()
    right = [
        one.right
        for one in judged
        if one.probability is not None and one.subject == subject and one.topic.casefold() == folded
    ]
    proven = int(100 * certified_accuracy(right)) if right else 0
    return Certificate(topic, USUAL_PERCENT if wanted is None else wanted, proven, len(right))


@lru_cache
def needed_verdicts(wanted: int) -> int:
    """The fewest verdicts that can prove a percentage: all of them right."""
    count = 1
    while int(100 * certified_accuracy([True] * count)) < wanted:
        count += 1
    return count
