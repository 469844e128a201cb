"""Limits on what KR reads of one package and makes of it, in bytes, processor time and memory: a hostile package may be endless.

Limits on counts and bytes bound the costs that we know of. A budget bounds the rest: a second thread watches how much
processor time a piece of work takes, and stops it by an exception in its thread, in any loop of Python. It cannot stop one
call of a C function (a parse, a regular expression); the limits on the sizes of files bound those.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import time
from contextlib import suppress
from copy import copy
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import kr_core
import kr_plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from kr_core.toolkit import IndexedPassage

__all__ = ["MOST_BYTES", "BudgetSpent", "Cancelled", "ReadingBudget", "bounded"]

Result = TypeVar("Result")

_SECONDS = 20.0
"""Of processor time, for a package of any size."""
_SECONDS_PER_BYTE = 6 / 1_000_000
"""More for each byte of its sources; the slowest known packages take a sixth of it."""
_MOST_SECONDS = 40.0
_MOST_MEMORY = 600_000_000
"""Bytes by which the process may grow while KR reads a package; the largest known ones take a third."""
_STATUS = Path("/proc/self/statm")
_PAGE_BYTES = 4096 if sys.platform == "win32" else os.sysconf("SC_PAGE_SIZE")
_POLL_SECONDS = 0.1
_PATIENCE = 50
"""Looks at the clock for which work may stay inside code of others before it is stopped there."""
_LIBRARY = sysconfig.get_path("stdlib")
_OWN = tuple(str(Path(file).parent) for file in (kr_core.__file__, kr_plugins.__file__))
_SHOWN = 3
_AT_ONCE = 64
"""Passages that are made between two looks at the clock."""
MOST_BYTES = 100_000_000
"""Bytes of the sources of one package; the largest known packages have some 50 million."""
_MOST_TEXT = 300_000_000
"""Bytes of all passages of one package, about."""
_LONGEST = 100_000
"""Characters of a passage; KR reads each passage that it composes an answer from many times."""
_PER_PASSAGE = 2_000
"""About what else a passage takes in memory: its names, its places, its metadata."""


class Cancelled(Exception):  # noqa: N818  it is not an error
    """The consultation was given up."""


class BudgetSpent(BaseException):
    """A piece of work took more than its portion of the budget."""


class ReadingBudget:
    """What reading one package may cost. As a context manager it also stops work that never calls `check`.

    Args:
        cancelled: whether the consultation was given up.
        seconds: of processor time, for a package of any size.
        seconds_per_byte: how much more for each byte of it.
        memory: bytes by which the process may grow.
    """

    def __init__(
        self,
        cancelled: Callable[[], bool] = lambda: False,
        seconds: float = _SECONDS,
        seconds_per_byte: float = _SECONDS_PER_BYTE,
        memory: int = _MOST_MEMORY,
    ) -> None:
        self._cancelled = cancelled
        self._clock = _thread_clock()
        self.seconds = seconds
        self._seconds_per_byte = seconds_per_byte
        self._most = _MOST_SECONDS
        self.end = self._clock() + seconds
        """When it is spent, on its clock."""
        self._watch = _WorkLimit(self._clock, cancelled, memory)
        self.left_out: list[str] = []
        """What was not read because it takes too long."""

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.stop()

    def allow(self, size: int) -> None:
        """Allow more processor time for a package of this size, in bytes."""
        more = min(size * self._seconds_per_byte, max(0.0, self._most - self.seconds))
        self.seconds += more
        self.end += more

    def limit(self, seconds: float) -> None:
        """Allow no more than this from now on, also for a large package."""
        self._most = self.seconds = min(self.seconds, seconds)
        self.end = min(self.end, self._clock() + seconds)

    def half(self) -> ReadingBudget:
        """Return a budget of half of the rest for one stage of the work; the next gets what it does not spend."""
        stage, now = copy(self), self._clock()
        stage.seconds = max(0.0, self.end - now) / 2
        stage.end = now + stage.seconds
        return stage

    def check(self) -> None:
        """Raise an error if the work has to end.

        Raises:
            Cancelled: the consultation was given up.
            BudgetSpent: nothing is left.
        """
        if self._cancelled():
            raise Cancelled
        if self._clock() > self.end:
            raise BudgetSpent

    def portion(self, work: Callable[[], Result]) -> Result:
        """Do a piece of work with at most half of the rest, so that one costly piece leaves time for the others.

        Raises:
            Cancelled: the consultation was given up.
            BudgetSpent: the work was stopped.
        """
        self.check()
        now, watch = self._clock(), self._watch
        outer = watch.limit
        limit = now + (self.end - now) / 2
        watch.limit = limit if outer is None else min(limit, outer)
        try:
            result = work()
            watch.pause()  # an error that the watch has raised arrives here at the latest
            return result
        except SystemError:  # what Python makes of an error that arrives inside its parser
            if self._clock() > limit:
                raise BudgetSpent from None
            raise
        finally:
            watch.limit = outer  # no call before it, in which an error would arrive

    def up_to(self, place: str, items: Iterable[Result]) -> Iterator[Result]:
        """Yield items that are made one by one, for half of the time that is left; note the place if there are more.

        Raises:
            Cancelled: the consultation was given up.
        """
        iterator, stage = iter(items), self.half()
        going = True
        while going:
            made: list[Result] = []
            try:
                stage.portion(lambda: made.extend(islice(iterator, _AT_ONCE)))  # noqa: B023  called at once
                going = bool(made)
            except BudgetSpent:
                self.left_out.append(place)
                going = False
            yield from made

    def undisturbed(self, call: Callable[[int, int], None]) -> Callable[[int, int], None]:
        """The same function, in which nothing is stopped: it calls code that is not ours."""

        def called(done: int, total: int) -> None:
            outer = self._watch.pause()
            try:
                call(done, total)
            finally:
                self._watch.limit = outer

        return called

    def note(self, label: str) -> list[str]:
        """One note that says what was left out, why, and what to do; none if nothing was."""
        if not self.left_out:
            return []
        more = len(self.left_out) - _SHOWN
        named = ", ".join(self.left_out[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        return [
            f"{label}: left out {named}: takes more processor time or memory than reading a package may; read it yourself"
        ]


class _WorkLimit:
    """Stops the thread that made it once a piece of work takes too long."""

    def __init__(self, clock: Callable[[], float], cancelled: Callable[[], bool], memory: int) -> None:
        self.limit: float | None = None
        """The time on the clock at which the work has taken too long; None while nothing may be stopped."""
        self._clock = clock
        self._cancelled = cancelled
        self._memory = memory
        self._lock = threading.Lock()
        self._ended: threading.Event | None = None

    def start(self) -> None:
        """Begin to watch the calling thread."""
        self._ended = threading.Event()
        arguments = (threading.get_ident(), self._ended)
        threading.Thread(target=self._run, args=arguments, name="kr-reading-budget", daemon=True).start()

    def stop(self) -> None:
        """End the watch; it raises nothing from here on."""
        with suppress(BudgetSpent, Cancelled):
            self.pause()
        if self._ended is not None:
            self._ended.set()

    def pause(self) -> float | None:
        """Stop nothing from here on; returns the limit that held.

        Raises:
            Cancelled: the consultation was given up just before.
            BudgetSpent: the work was stopped just before.
        """
        with self._lock:  # as soon as this is free again, what the watch has raised is here
            limit, self.limit = self.limit, None
        return limit

    def _run(self, watched: int, ended: threading.Event) -> None:
        grown = _memory_in_use() + self._memory
        waited = 0
        while not ended.wait(_POLL_SECONDS):
            with self._lock:
                limit = self.limit
                if limit is None:
                    continue
                large = _memory_in_use() > grown
                if not (large or self._cancelled() or self._clock() > limit):
                    continue
                waited += 1
                if _is_in_foreign_code(watched) and waited % _PATIENCE:
                    continue
                _raise_in(watched, Cancelled if self._cancelled() else BudgetSpent)
                if large and not _STATUS.exists():  # the peak that is known there does not go down again
                    grown = _memory_in_use() + self._memory


def _is_in_foreign_code(thread: int) -> bool:
    """Whether a thread runs code of others, such as Python's parser or a callback: it may not expect an error there."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001  documented, and the only door to it
    file = frame.f_code.co_filename if frame is not None else ""
    if file.startswith(_OWN):
        return False
    return file.startswith(("<frozen", _LIBRARY)) or "site-packages" in file


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an error in another thread at its next step of Python code."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _thread_clock() -> Callable[[], float]:
    """The processor time of the calling thread, which other threads may read too; else of the whole process."""
    if sys.platform == "linux":
        clock = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: time.clock_gettime(clock)
    return time.process_time


def _memory_in_use() -> int:
    """The bytes that the process takes; elsewhere than on Linux the most that it has taken, 0 where nothing is known."""
    with suppress(OSError):
        return int(_STATUS.read_bytes().split()[1]) * _PAGE_BYTES
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def bounded(passages: Iterable[IndexedPassage], notes: list[str]) -> Iterator[IndexedPassage]:
    """Yield passages up to the limits, with notes if there are more, or longer ones."""
    left = _MOST_TEXT
    cut = 0
    for one in passages:
        is_long = max(map(len, _texts(one))) > _LONGEST
        passage = _shortened(one) if is_long else one
        cut += is_long
        left -= sum(map(len, _texts(passage))) + _PER_PASSAGE
        if left < 0:
            notes.append(f"more than {_MOST_TEXT // 1_000_000} MB of passages, the rest left out")
            break
        yield passage
    if cut:
        notes.append(
            f"longer than {_LONGEST // 1_000} kB, so that only their beginning was read: {cut:,} passages"
        )


def _texts(passage: IndexedPassage) -> tuple[str, ...]:
    return passage.text, passage.prose or "", passage.lead, passage.words, passage.title, passage.name


def _shortened(passage: IndexedPassage) -> IndexedPassage:
    """A passage up to the limit, in whole lines unless they are very long, with the code that is left in it."""
    end = passage.text.rfind("\n", _LONGEST // 2, _LONGEST)
    text = passage.text[: end if end > 0 else _LONGEST]
    return passage._replace(
        text=text,
        prose=None if passage.prose is None else passage.prose[:_LONGEST],
        lead=passage.lead[:_LONGEST],
        words=passage.words[:_LONGEST],
        title=passage.title[:_LONGEST],
        name=passage.name[:_LONGEST],
        code=tuple(block for block in passage.code if block in text),
    )
