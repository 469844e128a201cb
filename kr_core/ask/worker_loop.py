"""Runs the escalation worker once or for ever, and asks the agents that it puts into its queue."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from kr_core.agents.question_dispatch import together
from kr_core.errors import KRError
from kr_core.escalation.upkeep_summary import RunProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.ask.chat import CaseChat
    from kr_core.escalation.upkeep_summary import RunSummary
    from kr_core.escalation.worker import EscalationWorker

__all__ = ["TEND_SECONDS", "WorkerLoop"]

TEND_SECONDS = 60.0
"""How often a process that lives long asks for replies."""
_SOON_SECONDS = 1.0


class WorkerLoop:
    """Looks after the cases of a project; agents, which may take minutes, hold up no reply.

    Args:
        worker: does what is due.
        chat: asks the agents of cases again.
    """

    def __init__(self, worker: EscalationWorker, chat: CaseChat) -> None:
        self._worker = worker
        self._chat = chat
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look at once; in the event loop's thread."""
        self._wake.set()

    async def run_once(self) -> RunSummary:
        """Do all that is due once, ask the agents again that are to be asked, and show what they say."""
        done = RunProgress()
        await self._worker.run_once(done)
        if await self._chat.serve(self._worker.agents.take(), done):
            await self._worker.run_once(done)
        return done.summary()

    async def run_forever(self, tell: Callable[[str], object] | None, every_seconds: float) -> NoReturn:
        """Do what is due until cancelled.

        Args:
            tell: called with a note about each failure, once until the note changes.
            every_seconds: how often to ask for people's replies.
        """
        await together([self._look(_Notes(tell), every_seconds), self._ask(_Notes(tell))])
        raise AssertionError  # it does not return

    async def _look(self, notes: _Notes, every_seconds: float) -> NoReturn:
        while True:
            self._wake.clear()
            wait, done = every_seconds, RunProgress()
            try:
                await self._worker.run_once(done)
                notes.tell(done.notes)
                if done.next is not None:
                    left = (done.next - dt.datetime.now(dt.UTC)).total_seconds()
                    wait = min(max(left, _SOON_SECONDS), every_seconds)
            except KRError as error:  # it may be mended while this process lives
                notes.tell([str(error)])
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait)

    async def _ask(self, notes: _Notes) -> NoReturn:
        while True:
            await self._worker.agents.filled()
            done = RunProgress()
            try:
                await self._chat.serve(self._worker.agents.take(), done)
                notes.tell(done.notes)
            except KRError as error:
                notes.tell([str(error)])


class _Notes:
    """Tells notes once until they change."""

    def __init__(self, tell: Callable[[str], object] | None) -> None:
        self._tell = tell or (lambda _note: None)
        self._told: list[str] = []

    def tell(self, notes: Sequence[str] | dict[str, None]) -> None:
        changed = list(notes) != self._told
        self._told = list(notes)
        for note in self._told if changed else ():
            self._tell(note)
