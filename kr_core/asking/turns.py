"""A question that is asked at once by several callers, under its own id: one asks, and the others wait for what it gets."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kr_core.pipeline.flight import Flight

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from kr_core.asking.depends import Key

__all__ = ["turn"]

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1
"""Seconds between two looks at what another process has locked."""


@asynccontextmanager
async def turn(one: Key, state_folder: Path) -> AsyncIterator[bool]:
    """Be the only one, of this process and of all others, who asks a question; say whether others had to be waited for.

    Args:
        one: the question.
        state_folder: the project's `.kr/`; where it is not there, only this process is looked at.
    """
    flight = Flight(one, state_folder, None)
    waited = False
    pause = _SHORTEST_PAUSE
    try:
        while True:
            theirs = flight.enter()
            if flight.leads:
                break
            waited = True
            if theirs is not None:
                await asyncio.wait({asyncio.wrap_future(theirs)})
            else:  # another process has the lock, and the system tells nobody when it is free
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        yield waited
    finally:
        flight.leave()
