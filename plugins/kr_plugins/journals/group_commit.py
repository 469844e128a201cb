"""Things that are committed together: many share one disk sync, and none waits for company.

Who waits for a group commits it, and those before it, in its own thread: two changes of thread would cost more than the commit.
What nobody waits for yet, or only an event loop, a thread commits: the one at once that a loop waits for, the other some
milliseconds later, so that the thread does not take turns with the one that adds, thing by thing. To wake it takes longer
than to add a thing: while things come in, it looks by itself.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["GroupCommit"]

OPEN_SECONDS = 0.01
"""How long a group that no one waits for is open to more."""
LINGER = 25
"""How often the thread looks again before it has to be woken."""
MOST = 1000
"""Things in one group, except those that are added last; bounds how long other processes wait for their turn."""

Item = TypeVar("Item")


class _CommitGroup(Future[None], Generic[Item]):
    """Resolves when its things are durable; who waits for it, or wants to be told, has them committed at once."""

    def __init__(self, commit: Callable[[_CommitGroup[Any]], None], wake: threading.Event) -> None:
        super().__init__()
        self.items: list[Item] = []
        self.hurries = False
        self._commit = commit
        self._wake = wake
        self.set_running_or_notify_cancel()

    def done(self) -> bool:
        """Whether it is resolved; without a lock, since nothing comes after that, and it is asked for each event."""
        return self._state == "FINISHED"

    def hurry(self) -> None:
        """Have it committed at once."""
        self.hurries = True
        self._wake.set()

    def result(self, timeout: float | None = None) -> None:
        if self._state != "FINISHED":
            self._ask(timeout)
        if self._state != "FINISHED" or self._exception is not None:
            super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._ask(timeout)
        return super().exception(timeout)

    def add_done_callback(self, fn: Callable[[Future[None]], object]) -> None:
        self.hurry()
        super().add_done_callback(fn)

    def _ask(self, timeout: float | None) -> None:
        if timeout is not None:  # a commit may take longer
            self.hurry()
        elif not self.done():
            self._commit(self)


class GroupCommit(Generic[Item]):
    """Collects things and has them committed, in their order, group by group.

    Args:
        commit: makes the things of a group durable, all or none; what it raises goes to those who wait. It is called by one
            thread at a time, and once more for a group whose commit an interruption has ended.
    """

    def __init__(self, commit: Callable[[list[Item]], None]) -> None:
        self._commit = commit
        self._waiting: deque[_CommitGroup[Item]] = deque()
        self._open: _CommitGroup[Item] | None = None
        self._newest: _CommitGroup[Item] | None = None
        self._wake = threading.Event()  # one for all groups: it takes long to make
        self._lock = threading.Lock()
        self._turn = threading.RLock()  # a callback may wait for another group
        self._writer: threading.Thread | None = None
        self._closed = False
        self._committing = False
        self._asleep = False

    def add(self, items: Sequence[Item]) -> Future[None] | None:
        """Add things, and return the future of their group; None where it is closed."""
        with self._lock:  # nothing may be added behind the end
            if self._closed:
                return None
            group = self._open
            if group is None:
                group = self._open = self._newest = _CommitGroup(self._through, self._wake)
                self._waiting.append(group)
                if self._writer is None:
                    self._start_writer()
                elif self._asleep:
                    self._wake.set()
            group.items += items
            if len(group.items) >= MOST:
                self._open = None
                group.hurry()
        return group

    def close(self) -> None:
        """Wait until everything that was added is durable; a second time does nothing."""
        with self._lock:
            self._closed = True
            self._wake.set()
        if self._writer is not None:
            self._writer.join()
            atexit.unregister(self._wait_at_exit)

    def _start_writer(self) -> None:
        self._writer = threading.Thread(target=self._write, name="kr-journal", daemon=True)
        self._writer.start()
        atexit.register(self._wait_at_exit, os.getpid())

    def _wait_at_exit(self, process: int) -> None:
        """What nobody waits for is kept also where nobody closes; a forked child has no writer to wait for."""
        if self._newest is not None and os.getpid() == process:
            self._newest.exception()

    def _write(self) -> None:
        """Commit group by group what nobody else has committed, until all is closed."""
        looks = 0
        while (group := self._oldest()) is not None or not self._closed:
            self._wake.clear()  # before looking at why it may have been set
            if group is None:
                looks += 1
                self._rest(None if looks > LINGER else OPEN_SECONDS)
                continue
            looks = 0
            while not group.done():
                self._wake.clear()
                if not group.hurries and not self._closed:
                    self._wake.wait(OPEN_SECONDS)
                    if self._committing and not group.hurries:
                        continue  # who commits would have to wait for this thread the next time
                self._through(group)

    def _oldest(self) -> _CommitGroup[Item] | None:
        """The first group that is not committed."""
        with self._lock:
            while self._waiting and self._waiting[0].done():
                self._waiting.popleft()
            return self._waiting[0] if self._waiting else None

    def _rest(self, seconds: float | None) -> None:
        """Wait for so long, or until woken; where something came meanwhile, not at all."""
        with self._lock:
            if self._waiting or self._closed:
                return
            self._asleep = seconds is None
        self._wake.wait(seconds)
        self._asleep = False

    def _through(self, wanted: _CommitGroup[Item]) -> None:
        """Commit groups in their order until one is done; a group leaves its place only after that."""
        with self._turn:
            self._committing = True
            try:
                while not wanted.done():
                    with self._lock:
                        group = self._waiting[0]
                        if group.done():
                            self._waiting.popleft()
                            continue
                        if group is self._open:
                            self._open = None
                    try:
                        self._commit(group.items)
                    except Exception as error:  # whatever it is, those who wait must hear of it
                        group.set_exception(error)
                    else:
                        group.set_result(None)
                    group.items = []  # whoever keeps the future does not keep them
            finally:
                self._committing = False
