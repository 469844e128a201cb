"""When an expedition ends (E2): a pure function of what its cycles have brought.

Never before two cycles and never after ten. The hard limit is tested first. Then an expedition ends when a cycle's new axioms
are fewer than 0.3 times those of the cycle before, or its new sources fewer than 0.2 times, or after two cycles in a row
without a new axiom. A cycle in which engines were down is repeated once, and the repetition does not count; if they are
still down it is noted, counts towards the limit, and is compared with nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.model.expedition import MAX_CYCLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model.expedition import CycleReport, Ending

__all__ = ["MIN_CYCLES", "CycleVerdict", "decide"]

MIN_CYCLES = 2


class CycleVerdict(NamedTuple):
    """What follows a cycle."""

    decision: Literal["continue", "repeat", "stop"]
    rule: Ending | None = None
    """Which rule stops it."""
    previous: CycleReport | None = None
    """The cycle that the last one was compared with."""


def decide(history: Sequence[CycleReport], max_cycles: int = MAX_CYCLES) -> CycleVerdict:
    """What follows the last attempt of a history; never asks for more than `max_cycles` cycles of two attempts each.

    Args:
        history: every attempt at a cycle, in order, at least one.
        max_cycles: the hard limit, at most ten.
    """
    last = history[-1]
    if last.cycle >= min(max_cycles, MAX_CYCLES):
        return CycleVerdict("stop", "maximum_cycles", _before(history))
    if last.down:
        return CycleVerdict("repeat" if last.attempt == 1 else "continue")
    previous = _before(history)
    if last.cycle < MIN_CYCLES or previous is None:
        return CycleVerdict("continue", previous=previous)
    # in whole numbers: 0.3 has no exact form
    if 10 * last.new_axioms < 3 * previous.new_axioms:
        return CycleVerdict("stop", "axiom_diminishing_returns", previous)
    if 5 * last.new_sources < previous.new_sources:
        return CycleVerdict("stop", "source_exhaustion", previous)
    if last.new_axioms == previous.new_axioms == 0:
        return CycleVerdict("stop", "zero_findings", previous)
    return CycleVerdict("continue", previous=previous)


def _before(history: Sequence[CycleReport]) -> CycleReport | None:
    """The cycle before the last one in which the engines could look."""
    last = history[-1]
    judged = [report for report in history if report.cycle < last.cycle and not report.down]
    return judged[-1] if judged else None
