"""Turns at a file that several processes write, so that nobody sleeps while it is free.

SQLite waits by trying again, after up to 100 ms (https://www.sqlite.org/c3ref/busy_timeout.html): eight processes that wait for
each event of theirs write 190 events a second with its busy timeout alone, and 270 in turns. A turn is a courtesy: who does not
get it soon goes on without, and SQLite keeps the writers apart.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # Windows has no such locks, and mypy reads the module of this system

if TYPE_CHECKING:
    from collections.abc import Iterator
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

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have the turn, or have waited for it, until the block ends."""
        if fcntl is None or not self._lock.acquire(timeout=_PATIENCE):
            yield
            return
        try:
            handle = self._taken()
            try:
                yield
            finally:
                if handle is not None:
                    fcntl.flock(handle, fcntl.LOCK_UN)
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

    def _taken(self) -> int | None:
        """The locked file; None where it did not come free soon."""
        pause, end = _SHORTEST, time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                handle = self._opened()
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
            except OSError:  # a file system without locks, no handles left: SQLite says what is wrong
                return None
            else:
                return handle
        return None
