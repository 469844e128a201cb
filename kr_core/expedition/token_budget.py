"""Tokens of an expedition: what was spent, and what must be left for the ending.

Before a model is asked, the most that this can cost is reckoned: the prompt and the longest reply, for each of its three
chances. A call that would eat into the reserve is not made, so that an expedition never runs out before its answer.
"""

from __future__ import annotations

__all__ = ["BYTES", "CHANCES", "TokenBudget", "bound"]

BYTES = 3
"""Of UTF-8 that are a token at the least, in English prose and code as in Chinese; models differ, this errs on the safe side."""
CHANCES = 3
"""The first try, the same once more, and the repair, which sends the bad reply too."""
_MAX_RESERVED = 36_000


def bound(size: int, reply: int) -> int:
    """The most tokens that a call takes.

    Args:
        size: bytes of its prompt.
        reply: tokens of the longest reply.
    """
    return CHANCES * (size // BYTES + 2 * reply)


class TokenBudget:
    """The tokens of one expedition.

    Args:
        limit: what it may spend.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0
        self.reserve = min(_MAX_RESERVED, limit // 2)
        """What the ending may take."""

    def affords(self, most: int, *, ending: bool = False) -> bool:
        """Whether a call that takes so many tokens at most may be made."""
        return self.spent + most + (0 if ending else self.reserve) <= self.limit

    @property
    def left(self) -> int:
        """What may still be spent, the reserve included."""
        return max(0, self.limit - self.spent)
