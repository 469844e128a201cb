"""The end of a program and of all that it started; it leads a group of processes of its own (`start_new_session=True`)."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable

__all__ = ["POLITE_SECONDS", "end_group", "has_ended", "kill_groups", "start_group"]

POLITE_SECONDS = 0.5
"""How long each step waits for the program: two of them end within the second that a cancelled call has."""
_POLL_SECONDS = 0.01
_running: set[int] = set()
"""The groups that were started here and not ended yet: those of the whole process, as signals are."""


async def start_group(*argv: str, **options: Any) -> Process:
    """Start a program as the leader of its own group, with pipes for its input and outputs; end it with `end_group`.

    On cancellation it ends the group: asyncio would end only the program, and leave its child processes running.

    Args:
        argv: the program and its arguments.
        options: more for `asyncio.create_subprocess_exec`: `cwd`, `env`, `limit`.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    starting = asyncio.ensure_future(_start(*argv, **options))
    cancelled = await _done(starting)
    if cancelled is not None:
        if not starting.cancelled() and starting.exception() is None:
            await end_group(starting.result())
        raise cancelled
    return starting.result()


async def _start(*argv: str, **options: Any) -> Process:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        **options,
    )
    _running.add(process.pid)
    return process


def kill_groups() -> None:
    """End at once whatever was started here and has not ended, with its group: nobody is left who would end it."""
    while _running:
        _signal(_running.pop(), signal.SIGKILL)


atexit.register(kill_groups)  # a program that embeds KR may end without closing it
os.register_at_fork(after_in_child=_running.clear)  # they are its parent's


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
        if not gone:
            _signal(group, signal.SIGKILL)
        _running.discard(group)
        try:
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
