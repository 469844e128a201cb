"""The end of a program and of all that it started; it leads a session of its own (`start_new_session=True`).

On Linux another process (`kr_core.supervisor`) starts it, and ends what has left that session, too. It holds the end of a
pipe of which KR has the other one, the lifeline: when KR ends, even by SIGKILL, it ends them.
"""

from __future__ import annotations

import asyncio
import atexit
import marshal
import os
import re
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Coroutine, Mapping, Sequence

__all__ = [
    "POLITE_SECONDS", "Confined", "Order", "Supervision", "end_group", "has_ended", "kill_groups", "order_of",
    "start_group", "start_order",
]  # fmt: skip

POLITE_SECONDS = 0.5
"""How long each step waits for the program: two of them end within the second that a cancelled call has."""
_POLL_SECONDS = 0.01
_LAST_SECONDS = 12.0
"""How long a supervisor may take to end what does not end itself: longer than it tries; a hundredth of it where the machine is not busy."""
_KEPT = ("PATH", "LD_LIBRARY_PATH")
"""What the interpreter that watches over a program may need to start."""
_PYTHON = re.compile(r"(?:python|pypy)[\w.-]*", re.IGNORECASE)
_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))


class _Lifeline:
    """A pipe that a supervisor watches: when this end is closed everywhere, all that it has started ends at once."""

    def __init__(self, end: int) -> None:
        self._ends = [end]

    def cut(self) -> None:
        while self._ends:
            os.close(self._ends.pop())


_starting: set[Supervision] = set()
"""Those whose program may not run yet."""
_running: dict[int, _Lifeline | None] = {}
"""The groups that were started here and not ended yet: those of the whole process, as signals are."""


class Confined(TypedDict):
    """What an agent of a task may do."""

    folder: str
    """Where it runs."""
    file_bytes: int
    """The largest file that it may write."""
    landlock: dict[str, list[str]] | None
    """The paths that are `readable` and `writable`."""


class Order(TypedDict):
    """What a supervisor runs."""

    argv: list[bytes]
    environment: dict[bytes, bytes]
    grace: float
    """Seconds for what is left when the program ends, or is to end."""
    as_signal: bool
    """Whether it ends by the signal that has ended the program; otherwise with 128 and its number."""
    confined: Confined | None


class Supervision:
    """The supervisor of an order, as far as the one who starts it holds it."""

    def __init__(self, order: Order) -> None:
        """Open what it takes over.

        Raises:
            OSError: there are too many open files.
        """
        with ExitStack() as opened:

            def ends() -> tuple[int, int]:
                pipe = os.pipe()
                for end in pipe:
                    opened.callback(os.close, end)
                return pipe

            watched, lifeline = ends()
            self.report, reported = ends()
            given = _file_with(marshal.dumps({**order}))
            opened.pop_all()
        self.lifeline = _Lifeline(lifeline)
        self.inherited: tuple[int, ...] = (given, watched, reported)
        _starting.add(self)
        self.argv = (sys.executable, "-I", "-S", _SUPERVISOR, *map(str, self.inherited))
        self.environment = {name: os.environ[name] for name in _KEPT if name in os.environ}

    def hand_over(self) -> None:
        """Close what it has taken over, or will not."""
        for file in self.inherited:
            os.close(file)
        self.inherited = ()

    def reported(self) -> None:
        """Close its report."""
        if self in _starting:
            _starting.remove(self)
            os.close(self.report)

    def close(self) -> None:
        """Close everything; it ends at once, with all that it has started."""
        self.hand_over()
        self.reported()
        self.lifeline.cut()


def _file_with(data: bytes) -> int:
    if sys.platform == "linux":
        file = os.memfd_create("order")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file


async def start_group(*argv: str, **options: Any) -> Process:
    """Start a program as the leader of its own group, with pipes for its input and outputs; end it with `end_group`.

    On cancellation it ends the group: asyncio would end only the program, and leave its child processes running. On Linux the
    process that it returns watches over the program, and ends with its return code, and with all that it has started.

    Args:
        argv: the program and its arguments.
        options: more for `asyncio.create_subprocess_exec`: `cwd`, `env`, `limit`.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    if not _has_supervisor():
        return await _ended_if_cancelled(_started(argv, None, **options))
    environment = options.pop("env", None)
    order = order_of(argv, os.environ if environment is None else environment)
    return await start_order(order, **options)


async def start_order(order: Order, **options: Any) -> Process:
    """Start a supervisor with what it is to run, like `start_group`; the environment is that of the order.

    Raises:
        OSError, ValueError: its program cannot be started.
    """
    return await _ended_if_cancelled(_start_supervised(order, options))


def order_of(argv: Sequence[str], environment: Mapping[str, str], confined: Confined | None = None) -> Order:
    """What a supervisor is to run.

    Args:
        argv: the program and its arguments.
        environment: its environment, whole.
        confined: for an agent of a task, which gets no time to end.
    """
    return {
        "argv": [os.fsencode(word) for word in argv],
        "environment": {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
        "grace": POLITE_SECONDS if confined is None else 0.0,
        "as_signal": confined is None,
        "confined": confined,
    }


async def _ended_if_cancelled(start: Coroutine[Any, Any, Process]) -> Process:
    starting = asyncio.ensure_future(start)
    cancelled = await _done(starting)
    if cancelled is not None:
        if not starting.cancelled() and starting.exception() is None:
            await end_group(starting.result())
        raise cancelled
    return starting.result()


async def _started(argv: Sequence[str], lifeline: _Lifeline | None, **options: Any) -> Process:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, **options
    )
    _running[process.pid] = lifeline
    return process


async def _start_supervised(order: Order, options: dict[str, Any]) -> Process:
    from kr_core.supervisor import STARTED  # with ctypes, which most commands do not need

    held = Supervision(order)
    try:
        process = await _started(
            held.argv, held.lifeline, env=held.environment, pass_fds=held.inherited, **options
        )
        held.hand_over()
        said = await _all_of(held.report)
        held.reported()
    except BaseException:
        held.close()
        raise
    if said == STARTED:
        return process
    await end_group(process)
    program = os.fsdecode(order["argv"][0])
    if STARTED not in said:
        raise OSError(f"what watches over it does not start: {sys.executable} {_SUPERVISOR}")
    code, _space, fault = said.replace(STARTED, b"").decode("utf-8", "replace").partition(" ")
    raise OSError(int(code), os.strerror(int(code)), program) if int(code) else ValueError(fault)


async def _all_of(pipe: int) -> bytes:
    """What comes from a pipe until its end."""
    loop = asyncio.get_running_loop()
    there, said = asyncio.Event(), b""
    os.set_blocking(pipe, False)
    loop.add_reader(pipe, there.set)
    try:
        while True:
            await there.wait()
            there.clear()
            with suppress(BlockingIOError):
                if not (some := os.read(pipe, 4096)):
                    return said
                said += some
    finally:
        loop.remove_reader(pipe)


def _has_supervisor() -> bool:
    """Whether there is one: a program that brings its own Python would start itself."""
    is_python = _PYTHON.fullmatch(Path(sys.executable or "").name) is not None
    return sys.platform == "linux" and is_python and not getattr(sys, "frozen", False)


def kill_groups() -> None:
    """End at once whatever was started here and has not ended, with its group: nobody is left who would end it."""
    for group, lifeline in [*_running.items()]:
        if lifeline is None:
            _running.pop(group, None)
            _signal(group, signal.SIGKILL)
        else:
            lifeline.cut()


def _forget() -> None:
    """Hold nothing in a process that was forked: the programs are its parent's."""
    for held in [*_starting]:
        held.close()
    for lifeline in filter(None, _running.values()):
        lifeline.cut()
    _running.clear()


atexit.register(kill_groups)  # a program that embeds KR may end without closing it
os.register_at_fork(after_in_child=_forget)


async def end_group(process: Process, *, polite: bool = False, seconds: float = POLITE_SECONDS) -> None:
    """End a program and its process group, and wait for that even if cancelled, so that nothing is left.

    Args:
        process: the leader of its group. Its standard input is closed first.
        polite: first wait for it to end by itself, because its work is done; then terminate it, then kill it.
        seconds: how long each step waits.
    """
    ending = asyncio.ensure_future(_end(process, polite=polite, seconds=seconds))
    cancelled = await _done(ending)
    if cancelled is not None:
        raise cancelled
    await ending


async def _done(task: asyncio.Future[Any]) -> asyncio.CancelledError | None:
    """Wait for a task however often this is cancelled; returns the first time that it was."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    return cancelled


async def has_ended(process: Process) -> bool:
    """Whether it ended within the time of one step; `Process.wait` would wait for all that hold its pipes, too."""
    return await _within(lambda: process.returncode is not None)


async def _end(process: Process, *, polite: bool, seconds: float) -> None:
    group, gone = process.pid, False
    try:
        if process.stdin is not None:
            process.stdin.close()
        gone = polite and await _is_gone(process, group, seconds)
        if not gone:
            gone = not _terminated(group) or await _is_gone(process, group, seconds)
    finally:
        lifeline = _running.pop(group, None)
        try:
            if lifeline is not None:
                lifeline.cut()
                gone = gone or await _within(lambda: process.returncode is not None, _LAST_SECONDS)
            if not gone:
                _signal(group, signal.SIGKILL)
            await has_ended(process)
        finally:
            # What left its group may hold its pipes open.
            process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001  nothing public lets go of them


async def _is_gone(process: Process, group: int, seconds: float) -> bool:
    """Whether nothing of the group is left, within the time of one step."""
    return await _within(lambda: process.returncode is not None and not _signal(group, 0), seconds)


async def _within(happened: Callable[[], bool], seconds: float = POLITE_SECONDS) -> bool:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not happened():
        if loop.time() >= end:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _terminated(group: int) -> bool:
    """Terminate a group, what is stopped in it as well; whether there is one."""
    return _signal(group, signal.SIGTERM) and _signal(group, signal.SIGCONT)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there is one. The leader's id is the group's, also once it is gone."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # some of it is another user's now
        return True
    return True
