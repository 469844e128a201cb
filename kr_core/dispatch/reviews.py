"""A reviewer's words, posted where the feature branch is discussed; the log has them in any case."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kr_core.errors import KRError
from kr_core.escalation.channels import Channels
from kr_core.escalation.sanitize import harmless_line, quoted
from kr_core.protocols import Review, ReviewChannel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.dispatch.plan import PlannedTask
    from kr_core.research import Pipeline

__all__ = ["post_review", "review_of"]

_LONGEST = 50_000
"""Characters of what the reviewer printed."""


def review_of(planned: PlannedTask, feature: str, branch: str, attempt: str, output: str) -> Review:
    """What a reviewer printed, as people read it: as a quote, in which nothing acts."""
    heading = f"Review of {harmless_line(feature, 100)}: {harmless_line(planned.task.id, 100)} {harmless_line(planned.task.title, 300)}"
    return Review(attempt, branch.removeprefix("refs/heads/"), f"{heading}\n\n{quoted(output, _LONGEST)}")


async def post_review(
    pipeline: Pipeline, review: Review, emit: Callable[[str, dict[str, Any]], None]
) -> tuple[list[str], list[str]]:
    """Post a review by each channel that can; where it is now, and notes on those that failed."""
    calls = Channels(pipeline)
    try:
        channels, _passing, notes = calls.configured()
    except KRError as error:
        return [], [f"the review was not posted: {error}"]
    places = []
    for name, channel in channels.items():
        if not isinstance(channel, ReviewChannel):
            continue
        try:
            async with calls.turn(name) as ours:
                place = await calls.call(name, emit, partial(channel.review, review)) if ours else None
        except Exception as error:  # a channel is a plugin; the log has the review
            notes.append(f"{name}: the review was not posted: {error}")
            continue
        if place is not None:
            places.append(place)
    return places, notes
