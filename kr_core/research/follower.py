"""Waiting for another caller's research of the same question, in this process or in another."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from kr_core.aio import shielded

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kr_core.research.results import CompletedResearch
    from kr_core.research.single_flight import FlightResult, SingleFlight


async def turn(
    flight: SingleFlight,
    seconds: float,
    found: Callable[[], CompletedResearch | None],
    handed: Callable[[Future[FlightResult]], CompletedResearch | None],
) -> tuple[CompletedResearch | None, float]:
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
    answer: CompletedResearch | None = None

    def left() -> float:
        return seconds - (monotonic() - began)

    while answer is None and not flight.leads and left() > 0:
        theirs = flight.enter()
        if flight.leads:
            answer = await shielded(found)
            continue
        await flight.wait(theirs, left())
        if theirs is not None and theirs.done():
            answer = await shielded(found) or handed(theirs)
    return answer, monotonic() - began
