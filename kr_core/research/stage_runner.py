"""One run: its id, and the events before and after each of its stages.

A stage costs microseconds (`make bench`): no task, no thread, no validated model, no copy of the context.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from kr_core.model import Event, new_id
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future

    from kr_core.model.events.runs import StageFailed
    from kr_core.protocols import EventLog

Result = TypeVar("Result")

PROGRESS = frozenset({"index.progress"})
"""Kinds of events that only observers see: a thousand of them say nothing afterwards."""
_MAX_ERROR_LENGTH = 300
_WAITED: WeakKeyDictionary[Future[None], asyncio.Future[None]] = WeakKeyDictionary()
"""What event loops wait for, as long as it is not done."""


class StageRunner:
    """One run; safe to use from several threads.

    Args:
        journal: where events are kept.
        observers: called with each event at once; what they raise is ignored, since they only watch.
    """

    __slots__ = ("_journal", "_numbers", "_observers", "_pending", "id")

    def __init__(self, journal: EventLog, observers: tuple[Callable[[Event], object], ...] = ()) -> None:
        self.id = new_id()
        self._journal = journal
        self._observers = observers
        self._numbers: Iterator[int] = count(1)
        self._pending: list[Future[None]] = []

    def emit(
        self,
        kind: str,
        data: Mapping[str, object],
        keep: Callable[[tuple[Event, ...]], Future[None]] | None = None,
        event_id: str = "",
    ) -> None:
        """Say what happened; never waits and never raises.

        Args:
            kind: one of `kr_core.model.events.EVENTS`, whose type says what `data` holds, or a source's own.
            data: a dictionary of JSON values, the event's from now on.
            keep: makes it durable in place of the journal.
            event_id: of an event that goes on record once, whichever process emits it.
        """
        fields = (kind, self.id, data, event_id or f"{self.id}-{next(self._numbers)}", datetime.now(UTC))
        event = tuple.__new__(Event, fields)  # nothing is left to be filled in
        if kind not in PROGRESS:
            self._pending.append((keep or self._journal.append)((event,)))
        if self._observers:
            show(event, self._observers)

    def stage(
        self,
        name: str,
        work: Callable[[], Result],
        told: Callable[[Result], Mapping[str, object]] | None = None,
    ) -> Result:
        """Do a stage's work between its two events.

        Args:
            name: one of `kr_core.model.STAGE_NAMES`.
            work: what the stage does; what it raises is told and passes through.
            told: the data of `<name>.finished`, from the result.
        """
        self.emit(f"{name}.started", {})
        try:
            result = work()
        except BaseException as error:
            self._failed(name, error)
            raise
        self.emit(f"{name}.finished", {} if told is None else told(result))
        return result

    async def wait_for_stage(
        self,
        name: str,
        work: Callable[[], Awaitable[Result]],
        told: Callable[[Result], Mapping[str, object]] | None = None,
    ) -> Result:
        """The same for a stage that waits for the outside; a cancellation is told and passes through."""
        self.emit(f"{name}.started", {})
        try:
            result = await work()
        except BaseException as error:
            self._failed(name, error)
            raise
        self.emit(f"{name}.finished", {} if told is None else told(result))
        return result

    def settle(self) -> None:
        """Wait until everything said so far is durable.

        Raises:
            StorageError: it could not be made so.
        """
        pending, self._pending = self._pending, []
        for future in pending:
            future.result()

    async def settled(self) -> None:
        """The same inside an event loop, which goes on meanwhile.

        Raises:
            StorageError: it could not be made so.
        """
        import asyncio

        pending, self._pending = self._pending, []
        for future in reversed(pending):  # the last is done last, as a rule: then no other is waited for
            if not future.done():
                done = (
                    asyncio.get_running_loop().create_future()
                )  # whoever is cancelled cancels this one alone
                _waited(future).add_done_callback(partial(_tell, done))
                await done
        for future in pending:
            future.result()

    @property
    def failed(self) -> bool:
        """Whether something said is known by now not to have become durable; never waits."""
        for future in self._pending:  # noqa: SIM110  each repeated answer asks, and `any` takes twice as long
            if future.done() and future.exception() is not None:
                return True
        return False

    def _failed(self, name: str, error: BaseException) -> None:
        said = printable(f"{type(error).__name__}: {error}".removesuffix(": "))
        data: StageFailed = {"error": said[:_MAX_ERROR_LENGTH]}
        self.emit(f"{name}.failed", data)


def show(event: Event, observers: Iterable[Callable[[Event], object]]) -> None:
    """Show observers an event; what they raise is ignored, since they only watch."""
    for observer in observers:
        try:
            observer(event)
        except Exception:  # noqa: S112  an observer must not end a run, nor be heard in it
            continue


def _tell(waiting: asyncio.Future[None], _: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _waited(future: Future[None]) -> asyncio.Future[None]:
    """What the running loop waits for: one for all that wait for the same, since each would cost a call from another thread."""
    import asyncio

    from kr_core.aio import consume_exception

    waited = _WAITED.get(future)
    if waited is None or waited.get_loop() is not asyncio.get_running_loop():
        waited = _WAITED[future] = asyncio.wrap_future(future)
        waited.add_done_callback(consume_exception)
    return waited
