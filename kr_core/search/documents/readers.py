"""Files read by other processes, where there are many: what they say is in the order in which they were asked for.

A reader is this module run as a program. It takes jobs from its standard input and writes what became of them to its
standard output; it ends when nobody is there any more who asks, however that came.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from kr_core.search.documents.preparing import Job, Prepared, prepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["processors", "read_all"]

_ALONE = 4_000_000
"""Bytes that are read before other processes are started, which takes a tenth of a second."""
_OPENED = 8_000
"""Bytes that could be read while a file is opened, about."""
_MOST = 4
"""Readers; what is left to do here, writing, takes a fourth of the whole."""
_TOGETHER = 250_000
"""Bytes of files that are asked for at once: processes that talk of each small file do little else."""
_AHEAD = 3
"""Times that a reader may be asked before it is done."""


def processors() -> int:
    """How many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_all(jobs: Iterable[Job], processes: int) -> Iterator[tuple[Job, Prepared]]:
    """What became of files, in order.

    Args:
        jobs: the files; some are taken ahead.
        processes: how many other processes may read; with fewer than two, this one reads.
    """
    coming = iter(jobs)
    alone = _ALONE
    for job in coming:
        yield job, prepared(job)
        alone -= job.size + _OPENED
        if alone <= 0 and processes > 1:
            break
    readers: list[_Reader] = []
    waiting: deque[tuple[list[Job], _Reader]] = deque()
    try:
        for some in _groups(coming):
            readers = readers or [_Reader() for _ in range(min(processes, _MOST))]
            reader = min(readers, key=lambda one: one.asked)
            reader.give(some)
            waiting.append((some, reader))
            if len(waiting) == _AHEAD * len(readers):
                yield from _taken(waiting)
        while waiting:
            yield from _taken(waiting)
    finally:
        for reader in readers:
            reader.close()


def _groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    some: list[Job] = []
    size = 0
    for job in jobs:
        some.append(job)
        size += job.size + _OPENED
        if size >= _TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def _taken(waiting: deque[tuple[list[Job], _Reader]]) -> Iterator[tuple[Job, Prepared]]:
    some, reader = waiting.popleft()
    return zip(some, reader.take(some), strict=True)


class _Reader:
    """Another process that reads; where it cannot be started, or ends, its files are read here."""

    def __init__(self) -> None:
        self.asked = 0
        """How often it was given files that were not taken."""
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603  KR itself
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    def give(self, jobs: list[Job]) -> None:
        self.asked += 1
        if self._process is not None and self._process.stdin is not None:
            try:
                pickle.dump(jobs, self._process.stdin)
                self._process.stdin.flush()
            except OSError:
                self.close()

    def take(self, jobs: list[Job]) -> list[Prepared]:
        """What became of the oldest files that were given."""
        self.asked -= 1
        if self._process is not None and self._process.stdout is not None:
            try:
                taken: list[Prepared] = pickle.load(self._process.stdout)  # noqa: S301  of a process that was started here
                return taken
            except (
                Exception
            ):  # whatever became of that process: the files are read here, and say what is wrong with them
                self.close()
        return [prepared(job) for job in jobs]

    def close(self) -> None:
        """End the process; it holds nothing that could be lost."""
        if self._process is None:
            return
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()
        self._process = None


def _serve(jobs: BinaryIO, results: BinaryIO) -> None:
    while True:
        try:
            some = pickle.load(jobs)  # noqa: S301  of the process that started this one
        except EOFError:
            return
        pickle.dump([prepared(job) for job in some], results)
        results.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted too, and ends this process
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a parser prints is no answer
    with suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)
