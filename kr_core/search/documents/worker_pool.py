"""Files read by other processes, where there are many: what they say is in the order in which they were asked for.

A reader is another Python that runs `serve`. It takes jobs from its standard input and writes what became of them to its
standard output; it ends when nobody is there any more who asks, however that came. A thread of its own talks with it, asks for
some files and takes what they say before it asks for more: so neither of the two can wait for the other.

A file as it goes into the index: read, divided, its words taken, its passages compressed; without the index itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.files import read_start
from kr_core.search.documents.encoding import packed
from kr_core.search.documents.loaders import SkippedFile, kind_of, limit_of, read
from kr_core.search.documents.pdf import PdfTime
from kr_core.search.documents.sqlite_index import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.search.documents.encoding import PackedBlock

__all__ = ["PreparedFile", "ReadJob", "prepared", "processors", "read_all", "serve"]


class ReadJob(NamedTuple):
    """A file that is to be read."""

    root: str
    """The folder or file that is indexed."""
    path: str
    """The file, absolute."""
    name: str
    """Below the root; empty where the root is the file."""
    size: int
    changed: int
    """Nanoseconds."""
    hash: bytes = b""
    """SHA-256 of what the index has of it."""


class PreparedFile(NamedTuple):
    """What became of a file."""

    outcome: Literal["left", "same", "read"]
    """It cannot be read now, and what the index has of it stays; it has the same content; it was read."""
    faults: tuple[str, ...]
    """What to say of it."""
    hash: bytes = b""
    title: str = ""
    note: str = ""
    blocks: tuple[PackedBlock, ...] = ()


def prepared(job: ReadJob, pdf_time: PdfTime | None = None) -> PreparedFile:
    """Read a file, unless its content is known.

    Args:
        job: the file.
        pdf_time: what it shares with the files that are read with it.
    """
    most = limit_of(kind_of(job.path) or "plain")
    try:
        # One that grows meanwhile is read again the next time; what it is now is not what was looked at.
        data = read_start(Path(job.path), min(job.size, most))
    except OSError as error:
        return PreparedFile("left", (f"{job.path}: cannot be read: {error.strerror}",))
    faults = []
    if len(data) == most < job.size:
        faults.append(f"{job.path}: larger than {len(data) // 1_000_000} MB; what lies beyond is not read")
    digest = hashlib.sha256(data).digest()
    if digest == job.hash:
        return PreparedFile("same", tuple(faults), digest)
    try:
        reading = read(job.path, data, pdf_time)
        blocks = tuple(packed(job.root, job.name, reading.title, reading.pieces))
    except SkippedFile as passed:
        faults.append(f"{job.path}: {passed}")
        if passed.for_now:
            return PreparedFile("left", tuple(faults))
        return PreparedFile("read", tuple(faults), digest, note=str(passed))
    if reading.note:
        faults.append(f"{job.path}: {reading.note}")
    return PreparedFile("read", tuple(faults), digest, reading.title, reading.note, blocks)


_ALONE = 4_000_000
"""Bytes that are read before other processes are started, which takes a tenth of a second."""
_OPENED = 8_000
"""Bytes that could be read while a file is opened, about."""
_MOST = 4
"""Readers; what is left to do here, writing, takes a fourth of the whole."""
_TOGETHER = 250_000
"""Bytes of files that are asked for at once: processes that talk of each small file do little else."""
_AHEAD = 3
"""Times that each reader may be asked before the first answer is taken."""
_HELD = 25_000_000
"""Bytes of files that may be ahead; a larger file is read while no other is."""
_HELLO_SECONDS = 20.0
"""How long a reader may take to start; what takes longer is no reader."""
_PDEATHSIG = 1
"""The signal that Linux sends when the thread that has started this process ends (prctl(2))."""
_START = "import sys; sys.path[:] = {path!r}; from kr_core.search.documents.worker_pool import serve; serve()"


def processors() -> int:
    """How many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_all(jobs: Iterable[ReadJob], processes: int) -> Iterator[tuple[ReadJob, PreparedFile]]:
    """What became of files, in order.

    Args:
        jobs: the files; some are taken ahead.
        processes: how many other processes may read; with fewer than two, this one reads.
    """
    coming = iter(jobs)
    alone, pdf_time = _ALONE, PdfTime()
    for job in coming:
        yield job, prepared(job, pdf_time)
        alone -= job.size + _OPENED
        if alone <= 0 and processes > 1 and _may_start():
            break
    else:
        return
    readers = _Readers(min(processes, _MOST), pdf_time)
    try:
        yield from readers.read(_groups(coming))
    finally:
        readers.close()


def _may_start() -> bool:
    """Whether there is a Python to start: a program that brings its own would start itself."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _groups(jobs: Iterable[ReadJob]) -> Iterator[tuple[list[ReadJob], int]]:
    """Some files, and their bytes."""
    some: list[ReadJob] = []
    size = 0
    for job in jobs:
        some.append(job)
        size += job.size + _OPENED
        if size >= _TOGETHER:
            yield some, size
            some, size = [], 0
    if some:
        yield some, size


class _ReadBatch(NamedTuple):
    """Files that are asked for together, and what is read of them; None where they are to be read here."""

    jobs: list[ReadJob]
    size: int
    read: Future[list[PreparedFile] | None]

    def taken(self, pdf_time: PdfTime) -> Iterator[tuple[ReadJob, PreparedFile]]:
        found = self.read.result()
        for number, job in enumerate(self.jobs):
            yield job, prepared(job, pdf_time) if found is None else found[number]


class _Readers:
    """Readers, and as many threads that talk with them."""

    def __init__(self, count: int, pdf_time: PdfTime) -> None:
        self._pdf_time = pdf_time
        self._all = [_ReaderProcess() for _ in range(count)]
        self._free: SimpleQueue[_ReaderProcess] = SimpleQueue()
        for reader in self._all:
            self._free.put(reader)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="kr-reader")

    def read(self, groups: Iterable[tuple[list[ReadJob], int]]) -> Iterator[tuple[ReadJob, PreparedFile]]:
        waiting: deque[_ReadBatch] = deque()
        held = 0
        for jobs, size in groups:
            while waiting and (held + size > _HELD or len(waiting) >= _AHEAD * len(self._all)):
                held -= waiting[0].size
                yield from waiting.popleft().taken(self._pdf_time)
            waiting.append(_ReadBatch(jobs, size, self._threads.submit(self._read, jobs)))
            held += size
        while waiting:
            yield from waiting.popleft().taken(self._pdf_time)

    def _read(self, jobs: list[ReadJob]) -> list[PreparedFile] | None:
        reader = self._free.get()
        try:
            return reader.read(jobs)
        finally:
            self._free.put(reader)

    def close(self) -> None:
        """End the readers, whatever they are at; they hold nothing that could be lost."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for reader in self._all:
            reader.end()
        self._threads.shutdown()


class _ReaderProcess:
    """Another process that reads, for one thread at a time. Where it cannot be started, or ends, None is read."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def read(self, jobs: list[ReadJob]) -> list[PreparedFile] | None:
        try:
            process = self._process or self._started()
            if self._ended or process.stdin is None or process.stdout is None:
                return None
            pickle.dump(jobs, process.stdin)
            process.stdin.flush()
            found: list[PreparedFile] = pickle.load(process.stdout)  # noqa: S301  of a process that was started here
        except Exception:  # whatever became of it: the files are read here, and say what is wrong with them
            self.end()
            return None
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100  an empty one is the working folder
        process = self._process = subprocess.Popen(  # noqa: S603  KR itself, found where this one was
            [sys.executable, "-I", "-c", _START.format(path=path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if self._ended or not _says_hello(process):
            self.end()
        return process

    def end(self) -> None:
        """End it for good, from any thread; who waits for what it reads goes on with None."""
        self._ended = True  # before it is looked for: one that is just being started sees this
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):  # its thread may be at it
                    pipe.close()


def _says_hello(process: subprocess.Popen[bytes]) -> bool:
    """Whether it is the same KR: another one would put other words into the index, which could not be taken out."""
    if process.stdout is None:
        return False
    late = threading.Timer(_HELLO_SECONDS, process.kill)
    late.daemon = True
    late.start()
    try:
        return bool(pickle.load(process.stdout) == _who())  # noqa: S301  of a process that was started here
    except Exception:  # it may be any program
        return False
    finally:
        late.cancel()


def _who() -> tuple[str, str]:
    return __file__, FORMAT


def serve() -> None:
    """Read what is asked for on standard input, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted too, and ends this process
    _end_with_parent()
    jobs, results = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what a parser prints is no answer
    pdf_time = PdfTime()
    with suppress(BrokenPipeError, EOFError):
        pickle.dump(_who(), results)
        while True:
            results.flush()
            some = pickle.load(jobs)  # noqa: S301  of the process that started this one
            pickle.dump([prepared(job, pdf_time) for job in some], results)


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended, also within a file: one file may take a minute."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if hasattr(select, "poll"):
        threading.Thread(target=_end_with_input, name="kr-parent", daemon=True).start()


def _end_with_input() -> None:
    """End this process when the other end of its standard input is closed, which it may not read for long."""
    poll = select.poll()
    poll.register(0, 0)  # its end shows all the same
    poll.poll()
    os._exit(1)
