"""Waiting for another caller's research of the same question, in this process or in another."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from kr_core.aio import to_its_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kr_core.research.results import Research
    from kr_core.research.single_flight import Flight, Landed


async def turn(
    flight: Flight,
    seconds: float,
    found: Callable[[], Research | None],
    handed: Callable[[Future[Landed]], Research | None],
) -> tuple[Research | None, float]:
    """Wait until this caller leads, or another one's answer serves, or the time is over.

    Args:
        flight: this caller's part.
        seconds: the longest wait.
        found: the answer that the other's research has put into the knowledge base.
        handed: the answer of a caller in this process, where the knowledge base does not have it.

    Returns:
        The answer, if one serves, and the seconds that were waited.
    """
    began = monotonic()
    answer: Research | None = None

    def left() -> float:
        return seconds - (monotonic() - began)

    while answer is None and not flight.leads and left() > 0:
        theirs = flight.enter()
        if flight.leads:
            answer = await to_its_end(found)
            continue
        await flight.wait(theirs, left())
        if theirs is not None and theirs.done():
            answer = await to_its_end(found) or handed(theirs)
    return answer, monotonic() - began
