"""A program as an MCP server: one message a line over its standard input and output, and its end, with all it started.

The SDK's `stdio_client` keeps three bounds less: it reads lines of any length, does not say which program it has started
(a signal ends those as well), and may take four seconds to end one, longer than a cancelled call has.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kr_core.errors import RequestError
from kr_core.model import Outcome
from kr_core.net.body import too_long
from kr_core.processes import POLITE_SECONDS, end_group, has_ended, start_group

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from kr_core.model import Program

_MAX_NOISE = 100
"""This many lines that are not messages pass for greetings and the like."""
_TAIL = 4000
"""The last bytes of its standard error output, for the reason of a failure."""


class ProgramOutput:
    """What a program said beside its messages, and why nothing more comes from it."""

    def __init__(self) -> None:
        self.fault: RequestError | None = None
        """Why reading its messages was given up."""
        self.noise: list[str] = []
        """Lines of its standard output that are not messages."""
        self._errors = b""

    def add_errors(self, chunk: bytes) -> None:
        """Take a piece of its standard error output."""
        self._errors = (self._errors + chunk)[-_TAIL:]

    @property
    def last(self) -> str:
        """The last line that it said, of what is meant for people; empty where it said nothing."""
        lines = [line.strip() for line in self._errors.decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed([*self.noise[-1:], *lines]) if line.strip()), "")


@asynccontextmanager
async def running(
    program: Program, spoken: ProgramOutput, most: int, begun: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a program, yield the streams of its messages (a `Transport` of the SDK), and end it with its whole group.

    Args:
        program: what is started.
        spoken: takes what it says beside.
        most: bytes of its output that are read.
        begun: called when it runs.

    Raises:
        RequestError: it cannot be started.
    """
    process = await _started(program, most)
    begun()
    incoming_end, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, outgoing_end = anyio.create_memory_object_stream[Any](0)
    wanted = False
    try:
        async with incoming_end, incoming, outgoing, outgoing_end, anyio.create_task_group() as tasks:
            heard = anyio.Event()
            tasks.start_soon(_hear, process, spoken, heard)
            tasks.start_soon(_read, process, incoming_end, spoken, most, heard)
            tasks.start_soon(_write, process, outgoing_end)
            yield incoming, outgoing
            wanted = True
            tasks.cancel_scope.cancel()
    finally:
        await end_group(process, polite=wanted)


async def _started(program: Program, most: int) -> Process:
    try:
        return await start_group(
            *program.argv,
            env=get_default_environment() | dict(program.environment),
            cwd=program.folder,
            limit=most,
        )
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RequestError(
            Outcome.unavailable,
            f"cannot be started: {said}",
            hint="see that its `command` runs in a terminal",
        ) from error


async def _read(
    process: Process, into: MemoryObjectSendStream[Any], spoken: ProgramOutput, most: int, heard: anyio.Event
) -> None:
    """Hand its messages on, until it ends or says what cannot be borne."""
    assert process.stdout is not None
    read = 0
    async with into:
        try:
            while True:
                line = await process.stdout.readuntil(b"\n")
                read += len(line)
                if read > most:
                    raise asyncio.LimitOverrunError("", 0)
                if not line.strip():
                    continue
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:  # a greeting, a line of a log
                    spoken.noise.append(line[:_TAIL].decode("utf-8", "replace").strip())
                    if len(spoken.noise) > _MAX_NOISE:
                        raise RequestError(
                            Outcome.bad_answer, "what it prints on its standard output is not MCP"
                        ) from None
                    continue
                await into.send(SessionMessage(message))
        except asyncio.LimitOverrunError:
            spoken.fault = too_long(most)
        except RequestError as fault:
            spoken.fault = fault
        except asyncio.IncompleteReadError:
            with anyio.move_on_after(POLITE_SECONDS):  # what it said last tells why it ended
                await heard.wait()
            await has_ended(process)
            code = process.returncode
            ended = "" if code is None else f" with exit code {code}" if code >= 0 else f" by signal {-code}"
            spoken.fault = RequestError(Outcome.unavailable, f"it ended{ended} before it answered")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # nobody listens any more


async def _write(process: Process, out: MemoryObjectReceiveStream[Any]) -> None:
    assert process.stdin is not None
    async with out:
        async for message in out:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            with suppress(ConnectionError):  # it ended: who reads its output finds out why
                process.stdin.write(f"{line}\n".encode())
                await process.stdin.drain()


async def _hear(process: Process, spoken: ProgramOutput, heard: anyio.Event) -> None:
    """Read its standard error output, so that it neither waits for a reader nor reaches the terminal."""
    assert process.stderr is not None
    while chunk := await process.stderr.read(_TAIL):
        spoken.add_errors(chunk)
    heard.set()
