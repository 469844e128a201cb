"""A question that is asked at once by several callers, under its own id: one asks, and the others wait for what it gets."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kr_core.pipeline.flight import Flight

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from kr_core.asking.depends import Key

__all__ = ["turn"]


@asynccontextmanager
async def turn(one: Key, state_folder: Path) -> AsyncIterator[bool]:
    """Be the only one, of this process and of all others, who asks a question; say whether others had to be waited for.

    Args:
        one: the question.
        state_folder: the project's `.kr/`; where it is not there, only this process is looked at.
    """
    flight = Flight(one, state_folder, None)
    waited = False
    try:
        while True:
            theirs = flight.enter()
            if flight.leads:
                break
            waited = True
            await flight.wait(theirs)
        yield waited
    finally:
        flight.leave()
