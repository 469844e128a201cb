"""Turns at a file that several processes write, so that nobody sleeps while it is free.

SQLite waits by trying again, after up to 100 ms (https://www.sqlite.org/c3ref/busy_timeout.html): with many processes that
wait for each event of theirs, the file lies idle for a third of the time. A turn is a courtesy: who does not get it soon goes
on without, and SQLite keeps the writers apart.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # Windows has no such locks, and mypy reads the module of this system

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["FairLock"]

_SHORTEST, _LONGEST = 0.0002, 0.01
"""Seconds between two looks, each time twice as many: a file that changes hands with each event is read anew by each."""
_PATIENCE = 0.25
"""Seconds after which whoever has the turn may be stopped, and not only slow."""


class FairLock:
    """The turns of all threads and processes at one file.

    Args:
        file: is locked, and never written; made if it is missing.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._process = 0

    def turn(self) -> AbstractContextManager[None]:
        """Have the turn, or have waited for it, until the block ends."""
        return _Turn(self)

    def take(self) -> bool | None:
        """Have the turn among processes, if it comes soon; None where not even that among this one's threads did."""
        if fcntl is None or not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            return self._locked(self._opened())
        except OSError:  # a file system without locks, no handles left: SQLite says what is wrong
            return False
        except BaseException:
            self._lock.release()
            raise

    def pass_on(self, taken: bool | None) -> None:
        """Let the next one have what `take` has returned."""
        if taken is None:
            return
        try:
            if taken and self._handle is not None:
                fcntl.flock(self._handle, fcntl.LOCK_UN)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Let go of the file; it is opened again where it is needed."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)

    def _opened(self) -> int:
        if (
            self._handle is None or self._process != os.getpid()
        ):  # a forked child would have its parent's turn
            self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
            self._process = os.getpid()
        return self._handle

    @staticmethod
    def _locked(handle: int) -> bool:
        pause, end = _SHORTEST, time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
            else:
                return True


class _Turn:
    """One turn. A class, since each event takes one, and a generator would take longer than the locks."""

    __slots__ = ("_taken", "_turns")

    def __init__(self, turns: FairLock) -> None:
        self._turns = turns

    def __enter__(self) -> None:
        self._taken = self._turns.take()

    def __exit__(self, *error: object) -> None:
        self._turns.pass_on(self._taken)
