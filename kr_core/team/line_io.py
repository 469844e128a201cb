"""Lines off a descriptor and onto one, with bounds: a line that is too long is not kept, and nobody waits for a slow reader."""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_LINE_LENGTH = 1 << 20
"""Bytes of a message; a hundred queries of usual length take a tenth of it."""
_CHUNK = 1 << 16


class OverlongLine(NamedTuple):
    """A line that was passed over; so many bytes."""

    size: int


def lines(
    descriptor: int, wake: int, patience: Callable[[], float | None] = lambda: None
) -> Iterator[bytes | OverlongLine | None]:
    """The lines off a descriptor, without their ends (LF or CRLF), as they come; also a last one without an end.

    Args:
        descriptor: read until its end.
        wake: another one; once something can be read of it, the lines are at their end too.
        patience: says how many seconds the next line may take, each time that one is waited for; then None comes in its place,
            once for each time. None: as long as it takes.

    Raises:
        OSError: it cannot be read.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        seconds = patience()
        ready = select.select([descriptor, wake], [], [], seconds)[0]
        if wake in ready:
            break
        if not ready or seconds == 0:  # also where what comes never ends a line
            yield None
        if not ready:
            continue
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            yield _line(parts, end, size + len(end))
            parts, size = [], 0
        size += len(rest)
        if size > MAX_LINE_LENGTH:
            parts = []
        elif rest:
            parts.append(rest)
    if size:
        yield _line(parts, b"", size)


def _line(parts: list[bytes], end: bytes, size: int) -> bytes | OverlongLine:
    return OverlongLine(size) if size > MAX_LINE_LENGTH else b"".join([*parts, end]).removesuffix(b"\r")


class LineWriter:
    """Writes lines to a descriptor from a thread of its own, in order.

    Args:
        descriptor: written with `os.write`, which waits where nobody reads.
        most: bytes that may wait before `full`.
        changed: called from the thread where room was made, or the other side has gone.
    """

    def __init__(self, descriptor: int, most: int, changed: Callable[[], object] = lambda: None) -> None:
        self._descriptor = descriptor
        self._most = most
        self._changed = changed
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._state = threading.Condition()
        self._thread = threading.Thread(target=self._write, name="kr-outlet", daemon=True)
        self.gone = False
        """Whether nobody can read what is written."""
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether so much waits that no more should be made."""
        return self._size > self._most and not self.gone

    @property
    def waiting(self) -> int:
        """Lines that nobody has read."""
        return 0 if self.gone else len(self._lines)

    def put(self, line: str) -> None:
        """Write a line when its turn comes; never waits."""
        # a lone surrogate becomes the escape that JSON has for it
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        with self._state:
            if not self.gone:
                self._lines.append(data)
                self._size += len(data)
                self._state.notify()

    def close(self, seconds: float) -> None:
        """Wait until all is written, or so many seconds are over."""
        with self._state:
            self._ended = True
            self._state.notify()
        self._thread.join(seconds)

    def _write(self) -> None:
        while True:
            with self._state:
                while not self._lines and not self._ended:
                    self._state.wait()
                if not self._lines:
                    return
                data = self._lines[0]
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                self._give_up()
                return
            with self._state:
                was_full = self.full
                self._lines.popleft()
                self._size -= len(data)
            if was_full and not self.full:
                self._changed()

    def _give_up(self) -> None:
        with self._state:
            self.gone = True
            self._lines.clear()
            self._size = 0
        self._changed()
