"""Programs that answer: started without a shell, fed on standard input, and ended with all that they started."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Outcome, RequestError
from kr_core.toolkit import end_group, start_group

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["ProgramResult", "run_program"]

MAX_BYTES = 8 * 2**20
"""Of what a program writes; an answer is a page or two."""
_STEP = 65_536
_TAIL = 4000
"""Bytes of its standard error output that are kept."""
_LOOK_SECONDS = 0.2
"""Between looks whether a program has ended, while its pipes are open."""
_POLL_SECONDS = 0.01


class ProgramResult(NamedTuple):
    """What a program wrote, and how it ended."""

    code: int
    """Its return code; below 0 the signal that ended it."""
    out: bytes
    message: str
    """The last line of its standard error output, which tells people what went wrong."""


async def run_program(
    argv: Sequence[str], given: str, *, folder: Path, environ: Mapping[str, str]
) -> ProgramResult:
    """Run a program to its end; cancelled, it ends the program and its whole group first.

    Args:
        argv: the program and its arguments.
        given: its standard input, whole; then that is closed.
        folder: where it runs.
        environ: its environment, whole.

    Raises:
        RequestError: it cannot be started, or writes more than 8 MB.
    """
    try:
        process = await start_group(*argv, cwd=folder, env=environ)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RequestError(
            Outcome.unavailable,
            f"cannot be started: {said}",
            where=argv[0],
            hint="see that it runs in a terminal",
        ) from error
    try:
        out, errors = await _spoken_with(process, given)
    finally:
        await end_group(process)
    assert process.returncode is not None, "it is at its end"
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return ProgramResult(process.returncode, out, lines[-1].strip() if lines else "")


async def _spoken_with(process: Process, given: str) -> tuple[bytes, bytes]:
    """What it writes to its standard output and error output, once it has ended."""
    out, errors = bytearray(), bytearray()
    speaking = asyncio.ensure_future(
        asyncio.gather(_write(process, given), _read(process, out), _hear(process, errors))
    )
    speaking.add_done_callback(_heard)
    try:
        while process.returncode is None or not speaking.done():
            gone = process.returncode is not None
            await asyncio.wait({speaking}, timeout=_LOOK_SECONDS)
            if speaking.done():
                await speaking
                await asyncio.sleep(_POLL_SECONDS if process.returncode is None else 0)
            elif gone:  # what it left running holds its pipes, and may do so for ever
                break
    finally:
        speaking.cancel()
        await asyncio.wait({speaking})
    return bytes(out), bytes(errors)


def _heard(speaking: asyncio.Future[Any]) -> None:
    """Take notice of how it ended: it was raised, or nobody waits any more, not even for its end where that was cancelled, too."""
    if not speaking.cancelled():
        speaking.exception()


async def _write(process: Process, given: str) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # it needs no more: its answer tells whether it had read enough
        process.stdin.write(given.encode())
        await process.stdin.drain()
    process.stdin.close()


async def _read(process: Process, out: bytearray) -> None:
    assert process.stdout is not None
    while chunk := await process.stdout.read(_STEP):
        out += chunk
        if len(out) > MAX_BYTES:
            raise RequestError(Outcome.bad_answer, f"it wrote more than {MAX_BYTES / 2**20:g} MB")


async def _hear(process: Process, errors: bytearray) -> None:
    assert process.stderr is not None
    while chunk := await process.stderr.read(_STEP):
        errors += chunk
        del errors[:-_TAIL]
