"""Steps of one expedition in the journal: what was done once is not done again, however often the process is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.pipeline.running import to_its_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kr_core.protocols import Journal

__all__ = ["Steps"]


class Steps:
    """The kept steps of an expedition.

    Args:
        journal: where they are kept.
        run: the expedition's own name there.
    """

    def __init__(self, journal: Journal, run: str) -> None:
        self._journal = journal
        self._run = run

    async def do(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a step, as JSON has it: the kept one, or that of the work, which is kept before anybody sees it.

        Raises:
            StorageError: it could not be kept.
        """
        kept = await to_its_end(lambda: self._journal.step(self._run, key))
        if kept is not None:
            return kept["result"]
        result = await work()
        await to_its_end(lambda: self._journal.keep_step(self._run, key, {"result": result}))
        return result
