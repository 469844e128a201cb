"""One run of an agent's program: fed, listened to, and ended in time with all that it has started."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kr_core.net.redaction import redacted
from kr_core.processes import POLITE_SECONDS, end_group, start_order
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from asyncio import StreamReader
    from asyncio.subprocess import Process
    from pathlib import Path

    from kr_core.processes import Order

__all__ = ["OUTPUT_BYTES", "EndedAgent", "run_agent"]

OUTPUT_BYTES = 64 * 1024
"""Of what it prints; KR keeps the end of it."""
_STEP = 65_536
_LOOK_SECONDS = 0.25
_POLL_SECONDS = 0.01
_END_SECONDS = 12.0
"""How long what watches over an agent may take to end all that it has started; it gives up a little before."""
_WORKTREE_BYTES = 2 * 2**30
"""How much a worktree may grow."""
_FREE_BYTES = 128 * 2**20
"""How much of the disk must stay free."""
_FILES = 500_000
"""How many files it may make."""


class EndedAgent(NamedTuple):
    """How an agent's program ended."""

    code: int | None
    """Its exit code, 128 and more by a signal; None if KR ended it."""
    reason: str
    """Empty if it ended with code 0."""
    output: str
    """The end of what it printed, without secrets, fit to be shown."""
    timed_out: bool = False


async def run_agent(order: Order, stdin: str, folder: Path, seconds: float) -> EndedAgent:
    """Run an agent to its end; cancelled, it ends the agent and everything that it started first.

    Args:
        order: what the supervisor runs.
        stdin: its standard input, whole.
        folder: its worktree.
        seconds: its time limit.
    """
    try:
        process = await start_order(order, cwd=folder.parent)
    except (OSError, ValueError) as error:
        return EndedAgent(None, f"cannot be started: {error}", "")
    output = bytearray()
    listening = asyncio.ensure_future(_converse(process, stdin, output))
    try:
        fault, timed_out = await _watch(process, folder, seconds)
    finally:
        # Killed too early, it would leave running what it has not ended yet.
        await end_group(process, seconds=_END_SECONDS if process.returncode is None else POLITE_SECONDS)
        listening.cancel()
        await asyncio.wait({listening})
    text = printable(redacted(bytes(output).decode("utf-8", "replace")))
    if fault:
        return EndedAgent(None, fault, text, timed_out)
    code = process.returncode
    assert code is not None, "it has ended"
    return EndedAgent(code, _reason(code, text), text)


async def _watch(process: Process, folder: Path, seconds: float) -> tuple[str, bool]:
    """Wait for its end; returns why it must be ended before, and whether its time was over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    free, nodes = _free(folder)
    while process.returncode is None:
        left = end - loop.time()
        if left <= 0:
            return f"timeout after {seconds:g} s", True
        await _within(process, min(left, _LOOK_SECONDS))
        now, left_nodes = _free(folder)
        if now < _FREE_BYTES < free:
            return f"it left less than {_FREE_BYTES // 2**20} MB of the disk free", False
        if free - now > _WORKTREE_BYTES or nodes - left_nodes > _FILES:  # it, or another program
            size, files = await asyncio.to_thread(_filled, folder)
            if size > _WORKTREE_BYTES:
                return f"it wrote more than {_WORKTREE_BYTES // 2**30} GB", False
            if files > _FILES:
                return f"it made more than {_FILES:,} files", False
    return "", False


async def _within(process: Process, seconds: float) -> None:
    """Wait for its end, at most so long; `Process.wait` would wait for all that hold its pipes, too."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while process.returncode is None and loop.time() < end:  # noqa: ASYNC110  no event tells of it
        await asyncio.sleep(_POLL_SECONDS)


def _free(folder: Path) -> tuple[int, int]:
    """Bytes and files that the disk still takes."""
    try:
        status = os.statvfs(folder.parent)
    except OSError:
        return 0, 0
    return status.f_bavail * status.f_frsize, status.f_favail


def _filled(folder: Path) -> tuple[int, int]:
    """Bytes on the disk and number of all files of a folder, as far as their paths are not too long to be looked at."""
    total = files = 0
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # it is gone; the others of its folder count all the same
                    continue
                total += status.st_blocks * 512
                files += 1
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(entry.path)
    return total, files


async def _converse(process: Process, stdin: str, output: bytearray) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    await asyncio.gather(_write(process, stdin), _read(process.stdout, output), _read(process.stderr, output))


async def _write(process: Process, stdin: str) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # it does not want to know
        process.stdin.write(stdin.encode("utf-8", "replace"))
        await process.stdin.drain()
    process.stdin.close()


async def _read(stream: StreamReader, output: bytearray) -> None:
    while chunk := await stream.read(_STEP):
        output += chunk
        del output[:-OUTPUT_BYTES]


def _reason(code: int, output: str) -> str:
    if code == 0:
        return ""
    if code < 0:
        return (
            f"what watches over it was ended by signal {-code}; something that it has started may still run"
        )
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    how = f"exit code {code}" if 0 < code < 128 else f"ended by signal {code - 128}"
    return f"{how}: {last[:300]}".removesuffix(": ")
