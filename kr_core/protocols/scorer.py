"""What a scorer must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Draft, Finding, ResearchQuery, Score

__all__ = ["Scorer"]


class Scorer(Protocol):
    """Rates how sure an answer is."""

    def score(self, query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> Score:
        """Score the findings of the named sources and the draft made from them; pure."""
