"""Calls that leave the machine, counted for one story in one session; exact across processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.protocols import Counters


class RunBudget:
    """What one run may spend.

    Args:
        journal: keeps the count that all processes of the story share.
        session_id: with `story_key`, whose budget it is.
        story_key: with `session_id`, whose budget it is.
        limit: calls that the story may take in this session.
        override: calls that this run may take; a larger one raises the story's limit.
    """

    def __init__(
        self, journal: Counters, session_id: str, story_key: str, limit: int, override: int | None
    ) -> None:
        self._journal = journal
        self._session_id = session_id
        self._story_key = story_key
        self._limit = max(limit, override or 0)
        self._run_limit = override or self._limit
        self._run_spent = 0

    def take(self, grant: str) -> bool:
        """Take one call if one is left; a grant that was already given is not charged again."""
        if self._run_spent >= self._run_limit:
            return False
        if not self._journal.spend(self._session_id, self._story_key, grant, self._limit):
            return False
        self._run_spent += 1
        return True

    def give_back(self, grant: str) -> None:
        """Give the budget back a call that was never sent."""
        self._journal.refund(grant)
        self._run_spent -= 1

    @property
    def remaining(self) -> int:
        """Calls that this run could still take."""
        shared = self._limit - self._journal.spent(self._session_id, self._story_key)
        return max(0, min(shared, self._run_limit - self._run_spent))
