"""An expedition asked for by a client: begun, or gone on with where an earlier call was cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.expedition.service import Expeditions
from kr_core.model.expedition import Finished

if TYPE_CHECKING:
    from kr_core.research import Pipeline
    from kr_core.server.mcp import tool_arguments

__all__ = ["researched"]


async def researched(pipeline: Pipeline, given: tool_arguments.ExpeditionArguments) -> Finished:
    """What an expedition has found; a cancelled call ends its searches, and what they have found is kept.

    Raises:
        ConfigError: neither or both of a question and an id are given, or there is no such expedition.
    """
    expeditions = Expeditions(pipeline)
    if (given.question is None) == (given.expedition_id is None):
        raise ConfigError(
            "give either", where="question, expedition_id", hint="a question begins a new expedition"
        )
    if given.expedition_id is not None:
        name = given.expedition_id
        kept = await shielded(lambda: expeditions.get(name))
        if kept.finished is not None:
            return kept.finished
        updates = expeditions.resume(name)
    else:
        updates = expeditions.run_expedition(
            given.question or "", given.max_cycles, max_calls=given.max_calls
        )
    try:
        async for update in updates:
            if isinstance(update, Finished):
                return update
    finally:
        await updates.aclose()
    raise AssertionError("the last update is the result")
