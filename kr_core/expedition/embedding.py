"""One call for programs that hold on to no pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.expedition.expeditions import Expeditions
from kr_core.model.expedition import MOST_CYCLES
from kr_core.pipeline import Pipeline
from kr_core.pipeline.running import to_its_end

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from kr_core.model.expedition import ExpeditionUpdate

__all__ = ["run_expedition"]


async def run_expedition(
    query: str,
    max_cycles: int = MOST_CYCLES,
    *,
    config: str | Path | Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> AsyncGenerator[ExpeditionUpdate, None]:
    """Research a question in cycles, in the project of a folder; the last update is `Finished`.

        async for update in kr_core.run_expedition("Which features of httpx need HTTP/2?"):
            print(update.type)

    Args:
        query: what is to be found out.
        max_cycles: 2 to 10.
        config: as for `Pipeline.open`.
        folder: where the project is; the working folder if not given.
        options: max_calls, max_tokens, agent, as for `Expeditions.run_expedition`.

    Raises:
        ConfigError: an argument or the configuration is wrong.
        StorageError: the journal cannot be used.
    """
    pipeline = await to_its_end(lambda: Pipeline.open(config, folder=folder))
    updates = Expeditions(pipeline).run_expedition(query, max_cycles, **options)
    try:
        async for update in updates:
            yield update
    finally:
        await updates.aclose()
        await to_its_end(pipeline.close)
