"""The same question, asked by several callers at once, is researched by one of them (R16).

A question to agents has its turns by the same means (`turn`).

Within a process the others wait for the first and are handed its answer; across processes they wait for its lock, a
byte of `.kr/flights` that the system gives back when its holder is killed, or its lease where machines share a journal, and then
find its report in the knowledge base. Where there is neither, only the process is looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.matching import wants_exact
from kr_core.knowledge.wording import wording
from kr_core.text import content_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager

    from kr_core.model import ResearchRequest
    from kr_core.protocols import Leases
    from kr_core.research.results import CompletedResearch
    from kr_core.turns import Turns

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows, where only the process is looked at
    fcntl = None  # type: ignore[assignment]  # where the system has no such module

_FILE = "flights"
_SHORTEST_PAUSE, _MAX_PAUSE_LENGTH = 0.005, 0.1
"""Seconds between two looks at what another process has locked."""
_MAX_SHARED_PAUSE_LENGTH = 0.5
"""The same where each look is a request to a server."""

Place = tuple[str, int]
"""A state folder and the byte that stands for a question."""


class FlightResult(NamedTuple):
    """What became of a flight: the answer, and whose; None where it came to none."""

    owner: object
    answer: CompletedResearch | None


class _Folder:
    """The flights of one state folder in this process, on one open file.

    The locks are the process's, and closing any descriptor of the file would drop them all: so there is only one, which
    is open while anything flies.
    """

    def __init__(self) -> None:
        self.flights: dict[int, Future[FlightResult]] = {}
        self.handle: int | None = None


_folders: dict[str, _Folder] = {}
_guard = threading.Lock()


def _forget() -> None:
    """In a child process nobody flies: its parent's threads and locks are not its own."""
    global _guard  # noqa: PLW0603  a thread of the parent may hold it for ever
    _guard = threading.Lock()
    _folders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class SingleFlight:
    """One caller's part in it: it leads, or waits for the one that does.

    Args:
        request: what is asked: of research, or a question by feature and id.
        turns: the project's.
        owner: whose answers may be handed over as they are.
    """

    def __init__(self, request: ResearchRequest | tuple[str, str], turns: Turns, owner: object) -> None:
        self._request = request
        self._turns = turns
        self._lease: AbstractContextManager[bool] | None = None
        self._owner = owner
        self._mine: Future[FlightResult] | None = None
        self._locked = False
        self._pause = _SHORTEST_PAUSE

    @cached_property
    def _place(self) -> Place:  # a hit flies nowhere, and does not pay for it
        return os.path.realpath(self._turns.folder), _byte_of(self._request)

    @property
    def leads(self) -> bool:
        """Whether it is this caller's turn, in this process and among all."""
        return self._locked

    def enter(self) -> Future[FlightResult] | None:
        """Take the lead if nobody has it; never waits for it.

        Raises:
            StorageError: the journal that machines share cannot be used.

        Returns:
            What to wait for where another caller of this process leads, else None: then this caller leads (`leads`), or
            will when another process ends; ask again a little later.
        """
        folder, byte = self._place
        with _guard:
            here = _folders.setdefault(folder, _Folder())
            if self._mine is None:
                if (theirs := here.flights.get(byte)) is not None:
                    return theirs
                self._mine = here.flights[byte] = Future()
                self._mine.set_running_or_notify_cancel()  # who gives up waiting cancels nobody's but its own wait
            if not self._locked and self._turns.leases is None:
                self._locked = _lock(here, folder, byte)
        if not self._locked and self._turns.leases is not None:
            self._locked = self._take_lease(self._turns.leases)
        return None

    async def enter_shielded(self) -> Future[FlightResult] | None:
        """The same without holding up the event loop, where a server has to be asked."""
        from kr_core.aio import shielded

        return self.enter() if self._turns.leases is None else await shielded(self.enter)

    def _take_lease(self, leases: Leases) -> bool:
        lease = leases.lease(f"flights/{self._place[1]}")
        if lease.__enter__():
            self._lease = lease
            return True
        lease.__exit__(None, None, None)
        return False

    async def wait(self, theirs: Future[FlightResult] | None, seconds: float | None = None) -> None:
        """Wait until the lead may be this caller's: ask again then (`enter`).

        Args:
            theirs: what another caller of this process leads, as `enter` gave it.
            seconds: the longest wait; without, until it has landed.
        """
        import asyncio  # a hit waits for nobody, and does without it

        if theirs is not None:
            waiting = asyncio.wrap_future(theirs)
            await asyncio.wait({waiting}, timeout=seconds)
            waiting.cancel()
        else:  # another process has the lock, and the system tells nobody when it is free
            await asyncio.sleep(self._pause if seconds is None else min(self._pause, max(seconds, 0)))
            longest = _MAX_PAUSE_LENGTH if self._turns.leases is None else _MAX_SHARED_PAUSE_LENGTH
            self._pause = min(2 * self._pause, longest)

    async def take_turn(
        self,
        seconds: float,
        look_up: Callable[[], CompletedResearch | None],
        answer_of: Callable[[Future[FlightResult]], CompletedResearch | None],
    ) -> tuple[CompletedResearch | None, float]:
        """Wait until this caller leads, or another one's answer serves, or the time is over.

        Args:
            seconds: the longest wait.
            look_up: gives the answer that the other's research has put into the knowledge base.
            answer_of: gives the answer of a caller in this process, where the knowledge base does not have it.

        Returns:
            The answer, if one serves, and the seconds that were waited.
        """
        from kr_core.aio import shielded

        began = monotonic()
        answer: CompletedResearch | None = None

        def left() -> float:
            return seconds - (monotonic() - began)

        while answer is None and not self.leads and left() > 0:
            theirs = await self.enter_shielded()
            if self.leads:
                answer = await shielded(look_up)
                continue
            await self.wait(theirs, left())
            if theirs is not None and theirs.done():
                answer = await shielded(look_up) or answer_of(theirs)
        return answer, monotonic() - began

    def leave(self, answer: CompletedResearch | None = None) -> None:
        """Let others have the lead, and hand them the answer; what was not entered is left without effect."""
        if self._mine is None:
            return
        folder, byte = self._place
        if self._lease is not None:
            lease, self._lease = self._lease, None
            lease.__exit__(None, None, None)
        with _guard:
            here = _folders.get(folder)
            if here is None or here.flights.get(byte) is not self._mine:  # in a child process
                return
            del here.flights[byte]
            _unlock(here, byte)
            if not here.flights:
                del _folders[folder]
        landed, self._mine, self._locked = self._mine, None, False
        landed.set_result(FlightResult(self._owner, answer))

    def answer_of(self, landed: FlightResult) -> CompletedResearch | None:
        """The answer of another caller, if it was asked of the same pipeline."""
        return landed.answer if landed.owner is self._owner else None


def _byte_of(request: ResearchRequest | tuple[str, str]) -> int:
    """The byte that stands for all requests that ask the same: framework, version, content words, and whether anew."""
    same = ["question", *request] if isinstance(request, tuple) else _same(request)
    digest = hashlib.sha256(json.dumps(same).encode()).digest()
    return int.from_bytes(digest[:7], "big")


def _same(request: ResearchRequest) -> list[object]:
    query = request.query
    return [
        fold_name(query.framework),
        query.framework_version,
        sorted(content_words(query.topic)),
        wording(query.question, query.framework)
        if wants_exact(query)
        else sorted(content_words(query.question)),
        request.refresh,
    ]


@asynccontextmanager
async def turn(one: tuple[str, str], turns: Turns) -> AsyncIterator[bool]:
    """Be the only one, of this process and of all others, who asks a question; say whether others had to be waited for.

    Args:
        one: the question, by feature and id.
        turns: the project's; where nothing keeps processes apart, only this one is looked at.
    """
    from kr_core.aio import shielded

    flight = SingleFlight(one, turns, None)
    waited = False
    try:
        while True:
            theirs = await flight.enter_shielded()
            if flight.leads:
                break
            waited = True
            await flight.wait(theirs)
        yield waited
    finally:
        if turns.leases is None:
            flight.leave()
        else:
            await shielded(flight.leave)


def _lock(here: _Folder, folder: str, byte: int) -> bool:
    """Lock the byte if no other process has it; True too where processes cannot exclude each other."""
    if fcntl is None:
        return True
    if here.handle is None:
        try:
            path = os.path.join(folder, _FILE)  # noqa: PTH118  a path object costs as much as the rest
            here.handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return True  # no state folder, or one that cannot be written
    try:
        fcntl.lockf(here.handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True  # a file system without locks
    return True


def _unlock(here: _Folder, byte: int) -> None:
    if here.handle is None or fcntl is None:
        return
    if here.flights:
        fcntl.lockf(here.handle, fcntl.LOCK_UN, 1, byte)
    else:
        os.close(here.handle)  # which unlocks
        here.handle = None
