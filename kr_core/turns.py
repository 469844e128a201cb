"""What one does at a time, of all processes of a machine or, where they share a journal that has leases, of all machines.

Without leases a file in the project's `.kr/` is locked, which costs some microseconds; the system lets go of it when its holder
is killed.
"""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from kr_core.files import try_lock
from kr_core.protocols import Leases

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kr_core.protocols import Journal

__all__ = ["Turns"]

_LOOK_SECONDS, _LONGEST_LOOK = 0.02, 0.5
"""Between two looks at a lock, and at most between two looks at a lease, which are requests to a server."""


class Turns:
    """The turns of one project.

    Args:
        journal: opens the journal.
        folder: the project's `.kr/`, which need not be there.
    """

    def __init__(self, journal: Callable[[], Journal], folder: Path) -> None:
        self._journal = journal
        self.folder = folder

    @cached_property
    def leases(self) -> Leases | None:
        """What keeps machines apart; None where the journal is this machine's alone."""
        journal = self._journal()
        return journal if isinstance(journal, Leases) else None

    def here(self, name: str) -> AbstractContextManager[bool]:
        """Hold the name of something that each machine has for itself if no other process of this one does, and say so.

        Raises:
            OSError: the folder cannot be made or written.
        """
        return try_lock(self.folder / f"{name}.lock")

    def hold(self, name: str) -> AbstractContextManager[bool]:
        """Hold a name if no one else does, and say so; never waits.

        Raises:
            OSError: there are no leases, and the folder cannot be made or written.
            StorageError: the journal cannot be used.
        """
        return self.here(name) if self.leases is None else self.leases.lease(name)

    @asynccontextmanager
    async def wait(self, name: str, seconds: float) -> AsyncIterator[bool]:
        """Hold a name; False where it could not be had in this time.

        Raises:
            StorageError: the journal cannot be used.
        """
        import asyncio  # which a hit does without

        loop = asyncio.get_running_loop()
        end, pause = loop.time() + seconds, _LOOK_SECONDS
        while True:
            async with self._held(name) as mine:
                if mine or loop.time() >= end:
                    yield mine
                    return
            await asyncio.sleep(pause)
            if self.leases is not None:
                pause = min(2 * pause, _LONGEST_LOOK)

    @asynccontextmanager
    async def _held(self, name: str) -> AsyncIterator[bool]:
        """`hold` in an event loop, which a request to a server does not hold up."""
        from kr_core.aio import shielded

        leases = self.leases if "leases" in self.__dict__ else await shielded(lambda: self.leases)
        if leases is None:
            with ExitStack() as stack:
                try:
                    mine = stack.enter_context(self.here(name))
                except OSError:  # there is no place for a file, so no other process works here either
                    mine = True
                yield mine
            return
        lease = leases.lease(name)
        mine = await shielded(lease.__enter__, lambda _mine: lease.__exit__(None, None, None))
        try:
            yield mine
        finally:
            await shielded(lambda: lease.__exit__(None, None, None))
