"""The protocol on standard input and output, a JSON value a line; both belong to it alone while it is served.

Reading and writing are done by a thread each, which nobody waits for at the end: a peer that stops reading, or never closes its
end, cannot keep the process alive. What is no message is answered with an error, and the next line is read.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from kr_core.server.mcp.serving import server_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from kr_core.server.mcp.project import Project

__all__ = ["LONGEST_MESSAGE", "serve"]

Incoming = SessionMessage | Exception
LONGEST_MESSAGE = 4 * 1024 * 1024
"""Bytes of a message; the same as over HTTP."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1.0
"""So long a peer may take at the end to read what was written before."""


async def serve(project: Project) -> None:
    """Serve until standard input ends or a signal comes; what is under way is then cancelled, and the project closed.

    Raises:
        KeyboardInterrupt: SIGINT has ended it.
    """
    server = server_of(project)
    loop = asyncio.get_running_loop()
    came: list[int] = []
    try:
        async with _standard_streams() as (incoming, outgoing, end):

            def leave(number: int) -> None:
                came.append(number)
                end()  # as if the client had left: the SDK cancels what is under way, and comes back

            for number in _SIGNALS:
                loop.add_signal_handler(number, leave, number)
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        await project.close()
    if signal.SIGINT in came:
        raise KeyboardInterrupt


@asynccontextmanager
async def _standard_streams() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage], Callable[[], None]]
]:
    """The messages that come and go, and what lets no more come; whoever else prints does so on standard error, and reads nothing."""
    source, target = _taken(0, os.open(os.devnull, os.O_RDONLY)), _taken(1, os.dup(2))
    to_server, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    writer = _Writer(os.fdopen(target, "wb", closefd=False))
    reader = _Reader(os.fdopen(source, "rb", closefd=False), to_server, writer)
    async with from_server:
        passing = asyncio.create_task(_pass_on(from_server, writer))
        reader.start()
        try:
            yield incoming, outgoing, to_server.close
        finally:
            passing.cancel()
            await asyncio.wait([passing])
            await writer.end()


def _taken(number: int, instead: int) -> int:
    """A standard stream under another number; what uses the old number gets something else from now on."""
    (sys.stdin, sys.stdout)[number].flush()
    taken = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return taken


async def _pass_on(messages: MemoryObjectReceiveStream[SessionMessage], writer: _Writer) -> None:
    async for one in messages:
        await writer.write(one.message)


class _Writer:
    """Writes messages, one after the other, in a thread."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._lines: SimpleQueue[tuple[bytes, asyncio.Future[None] | None] | None] = SimpleQueue()
        self._ended = asyncio.Event()
        threading.Thread(target=self._work, name="kr-mcp-writer", daemon=True).start()

    async def write(self, message: JSONRPCMessage) -> None:
        """Write a message, and wait until the peer has room for it; a peer that has gone is written nothing."""
        written = self._loop.create_future()
        self._lines.put((_line(message), written))
        await written

    def write_soon(self, message: JSONRPCMessage) -> None:
        """Write a message, from any thread, and wait for nothing."""
        self._lines.put((_line(message), None))

    async def end(self) -> None:
        """Wait a little for what is not written yet, and write no more."""
        self._lines.put(None)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self._ended.wait()

    def _work(self) -> None:
        while (item := self._lines.get()) is not None:
            line, written = item
            with suppress(OSError, ValueError):  # nobody reads any more: the end of input will follow
                self._stream.write(line)
                self._stream.flush()
            if written is not None:
                self._tell(partial(_set, written))
        self._tell(self._ended.set)

    def _tell(self, what: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            self._loop.call_soon_threadsafe(what)


class _Reader:
    """Reads messages in a thread."""

    def __init__(
        self, stream: IO[bytes], to_server: MemoryObjectSendStream[Incoming], writer: _Writer
    ) -> None:
        self._stream = stream
        self._to_server = to_server
        self._writer = writer
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._work, name="kr-mcp-reader", daemon=True).start()

    def _work(self) -> None:
        with suppress(
            OSError, ValueError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError
        ):
            while line := self._stream.readline(LONGEST_MESSAGE + 1):
                if len(line) > LONGEST_MESSAGE:
                    self._skip_line(line)
                elif line.strip():
                    self._take(line)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._to_server.close)

    def _take(self, line: bytes) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            is_json = all(fault["type"] != "json_invalid" for fault in error.errors(include_url=False))
            code, said = (INVALID_REQUEST, "Invalid request") if is_json else (PARSE_ERROR, "Parse error")
            self._refuse(code, f"{said}: a line is one message of JSON-RPC 2.0")
            return
        asyncio.run_coroutine_threadsafe(self._to_server.send(SessionMessage(message)), self._loop).result()

    def _skip_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(LONGEST_MESSAGE)
        self._refuse(INVALID_REQUEST, f"Invalid request: a message has at most {LONGEST_MESSAGE} bytes")

    def _refuse(self, code: int, said: str) -> None:
        error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=said))
        self._writer.write_soon(error)


def _set(written: asyncio.Future[None]) -> None:
    if not written.done():  # who waited may have been cancelled
        written.set_result(None)


def _line(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
