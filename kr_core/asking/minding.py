"""What is due for cases is done again and again while a process lives: every minute, when it is due, and when it is woken."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

from kr_core.asking.answering import together
from kr_core.errors import KRError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from kr_core.asking.tended import Tended
    from kr_core.asking.tending import AskAgain, Tending

__all__ = ["TEND_SECONDS", "Minding"]

TEND_SECONDS = 60.0
"""How often a process that lives long asks for replies."""
_SOON_SECONDS = 1.0


class Minding:
    """Minds the cases of a project: people's replies are not held up by agents, which may take minutes.

    Args:
        tending: does what is due.
        ask_again: asks the agent of a case again, with what a human has added.
    """

    def __init__(self, tending: Tending, ask_again: AskAgain) -> None:
        self._tending = tending
        self._ask_again = ask_again
        self._wake = asyncio.Event()
        self._added = asyncio.Event()

    def wake(self) -> None:
        """Look at once; in the event loop's thread."""
        self._wake.set()

    def ask(self) -> None:
        """See at once whether an agent has to be asked with what was added to a case; in the event loop's thread."""
        self._added.set()

    async def mind(self, tell: Callable[[str], object] | None, every_seconds: float) -> NoReturn:
        """Do what is due until cancelled.

        Args:
            tell: called with each note of what could not be done, once until it changes.
            every_seconds: how often people's replies are asked for.
        """
        noted: dict[str, tuple[str, ...]] = {}

        async def again(
            what: str, woken: asyncio.Event, once: Callable[[], Coroutine[Any, Any, Tended]]
        ) -> None:
            while True:
                woken.clear()
                wait = every_seconds
                try:
                    tended = await once()
                    notes = tended.notes
                    if tended.applied:
                        self._added.set()  # somebody may have added context
                    if tended.next is not None:
                        left = (tended.next - datetime.now(UTC)).total_seconds()
                        wait = min(max(left, _SOON_SECONDS), every_seconds)
                except KRError as error:  # it may be mended while this process lives
                    notes = (str(error),)
                if tell is not None and notes != noted.get(what, ()):
                    for note in notes:
                        tell(note)
                noted[what] = notes
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), wait)

        await together(
            [
                again("look", self._wake, self._tending.look),
                again("ask", self._added, lambda: self._tending.ask_agents(self._ask_again)),
            ]
        )
        raise AssertionError  # it does not return
