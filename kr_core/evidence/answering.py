"""Whether passages answer a question: shared by sufficiency, scoring and the opening of the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Finding

ABOUT = 0.45
"""From this share of the question (weighted by rarity) on, a passage is about it; chosen on the tuning half."""
PARTLY = 0.25
"""Below this nothing was found that is about the question."""
_FOLLOWING = 0.5
"""What the second and third passage add counts half."""


class Answered(NamedTuple):
    """How much of a question the passages cover, and what they leave out."""

    coverage: float
    missing: tuple[str, ...]


def answered(findings: Sequence[tuple[str, Finding]]) -> Answered:
    """How much of the question the best finding covers: its first passage, and in part what the next two add."""
    best = Answered(0.0, ())
    for _source, finding in findings:
        if not finding.passages:
            continue
        first = finding.passages[0]
        others = [passage.coverage for passage in finding.passages[1:3]]
        more = max(0.0, max(others, default=0.0) - first.coverage)
        found = Answered(min(1.0, first.coverage + _FOLLOWING * more), finding.missing)
        best = max(best, found, key=lambda one: one.coverage)
    return best
