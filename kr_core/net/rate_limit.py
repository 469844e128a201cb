"""Rate limits: how many requests a source may send in how many seconds, exactly, over all questions at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.protocols import Rate


class RateLimiter:
    """Hands out turns so that in no span of `rate.seconds` there are more than `rate.calls` of them.

    Turns are given in the order in which they are asked for. It serves any number of event loops.

    Args:
        rate: calls and seconds.
        now: seconds on a clock that never goes back.
    """

    def __init__(self, rate: Rate, now: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._now = now
        self._lock = threading.Lock()
        self._turns: deque[float] = deque(maxlen=rate.calls)

    def take(self, longest: float) -> float | None:
        """The seconds to wait for a turn, which is then the caller's; None if that is more than `longest`."""
        with self._lock:
            now = self._now()
            full = len(self._turns) == self._rate.calls
            turn = max(now, self._turns[0] + self._rate.seconds) if full else now
            if turn - now > longest:
                return None
            self._turns.append(turn)
            return turn - now

    async def turn(self, longest: float) -> bool:
        """Wait for a turn; False, at once, if it would come too late."""
        wait = self.take(longest)
        if wait is None:
            return False
        await asyncio.sleep(wait)
        return True


class RateLimiters:
    """The limits of one pipeline, by source."""

    def __init__(self) -> None:
        self._of: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()

    def of(self, source: str, rate: Rate | None) -> RateLimiter | None:
        """The limit of a source; None where it has none."""
        if rate is None:
            return None
        with self._lock:
            return self._of.setdefault(source, RateLimiter(rate))
