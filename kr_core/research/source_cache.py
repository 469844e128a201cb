"""Answers of sources kept for a day, so that neither a crash nor a second run pays twice (K11), nor asks in vain (R20)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from kr_core.model import Finding, Outcome

if TYPE_CHECKING:
    from kr_core.model import ResearchQuery
    from kr_core.net.resources import SharedResources

KEPT_SECONDS = 86_400.0
_KEPT = frozenset({Outcome.ok, Outcome.empty})
"""An answer, and that there is none; a failure is neither."""


class SourceCache:
    """The answers of one configured source.

    Args:
        outside: where they are remembered.
        identity: what makes the source the one it is: plugin, its version, its settings.
        sent: the query as it leaves the machine.
    """

    def __init__(self, outside: SharedResources, identity: str, sent: ResearchQuery) -> None:
        self._outside = outside
        self._identity = identity
        self._sent = sent

    async def get(self, query: ResearchQuery) -> Finding | None:
        """What the source answered to this query within a day; None if it was not asked."""
        kept = await self._outside.memory.get(self._key(query))
        try:
            return None if kept is None else Finding.model_validate(kept)
        except ValidationError:  # of another version of KR
            return None

    async def keep(self, query: ResearchQuery, finding: Finding) -> None:
        """Keep an answer, or that there was none; anything else is not kept."""
        if finding.outcome in _KEPT:
            await self._outside.memory.set(self._key(query), finding.model_dump(mode="json"), KEPT_SECONDS)

    def _key(self, query: ResearchQuery) -> str:
        # The question too: coverage is measured by it, and two questions may leave as the same words.
        # How the query came about is no part of it.
        sent = self._sent.model_dump(mode="json", exclude={"inferred", "version_from"})
        told = [self._identity, query.question, sent]
        asked = json.dumps(told, sort_keys=True)
        return f"answer {hashlib.sha256(asked.encode()).hexdigest()}"
