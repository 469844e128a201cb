"""The protocol on standard input and output, a JSON value a line; both belong to it alone while it is served.

A peer that stops reading, or never closes its end, cannot keep the process alive; nor can one that reads nothing fill its memory. What is no message is answered with an error,
and the next line is read.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import signal
import stat
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from kr_core.server.mcp.mcp_server import server_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import RequestId

    from kr_core.server.served_project import ServedProject

__all__ = ["MAX_MESSAGE_LENGTH", "serve"]

Incoming = SessionMessage | Exception
MAX_MESSAGE_LENGTH = 4 * 1024 * 1024
"""Bytes of a message; the same as over HTTP."""
_CHUNK = 64 * 1024
_MAX_HELD, _MAX_HELD_BYTES = 64, 16 * 1024 * 1024
"""Requests, and bytes of them, without an answer while the peer reads none: no more are read before it does."""
_MAX_AT_ONCE, _MAX_BYTES_AT_ONCE = 2_000, 64 * 1024 * 1024
"""The same while it reads: more are refused, but what cancels one or answers a form still comes through."""
_LOOK_SECONDS = 0.01
"""Between looks whether what is held has become less."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1.0
"""So long a peer may take at the end to read what was written before."""


async def serve(project: ServedProject) -> None:
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
    # What waits is not bounded here, since the SDK begins with each message at once: the reader sees to it.
    to_server, incoming = anyio.create_memory_object_stream[Incoming](math.inf)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    writer = _MessageWriter(target)
    held = _OpenRequests()
    reader = _MessageReader(source, to_server, writer, held)
    passing = asyncio.create_task(_pass_on(from_server, writer, held))
    try:
        yield incoming, outgoing, reader.end
    finally:
        reader.end()
        passing.cancel()
        await asyncio.wait([passing])
        from_server.close()
        await writer.end()


def _taken(number: int, instead: int) -> int:
    """A standard stream under another number; what uses the old number gets something else from now on."""
    (sys.stdin, sys.stdout)[number].flush()
    taken = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return taken


async def _pass_on(
    messages: MemoryObjectReceiveStream[SessionMessage], writer: _MessageWriter, held: _OpenRequests
) -> None:
    async for one in messages:
        writer.write(one.message)
        await writer.drained()
        if isinstance(one.message, JSONRPCResponse | JSONRPCError):
            held.done(one.message.id)


class _OpenRequests:
    """The requests that have no answer yet, and how many bytes they have; a peer may use an id twice."""

    def __init__(self) -> None:
        self._sizes: dict[object, list[int]] = {}
        self.number = self.size = 0

    def begun(self, request: object, size: int) -> None:
        """A request has come."""
        self._sizes.setdefault(request, []).append(size)
        self.number += 1
        self.size += size

    def done(self, request: object) -> None:
        """It was answered, or cancelled, which is not answered."""
        sizes = self._sizes.get(request)
        if sizes is None:
            return
        self.number -= 1
        self.size -= sizes.pop()
        if not sizes:
            del self._sizes[request]


class _MessageWriter:
    """Writes messages, one after the other, as fast as the peer reads them; to a peer that has gone nothing."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._loop = asyncio.get_running_loop()
        self._left = bytearray()
        self._empty = asyncio.Event()
        self._empty.set()
        kind = os.fstat(number).st_mode
        self._waits = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
        if self._waits:  # it is nobody else's; a terminal is, and a file is never full
            os.set_blocking(number, False)

    @property
    def waiting(self) -> int:
        """Bytes that the peer leaves no room for."""
        return len(self._left)

    def write(self, message: JSONRPCMessage) -> None:
        """Write a message as far as there is room for it, and the rest later."""
        self._left += _line(message)
        if self._empty.is_set():
            self._empty.clear()
            self._go_on()

    async def drained(self) -> None:
        """Wait until everything is written."""
        await self._empty.wait()

    async def end(self) -> None:
        """Wait a little for what is not written yet, and write no more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self.drained()
        self._done()

    def _go_on(self) -> None:
        try:
            while self._left:
                del self._left[: os.write(self._number, self._left)]
        except BlockingIOError:
            self._loop.add_writer(self._number, self._go_on)
            return
        except OSError:  # nobody reads any more: the end of input will follow
            self._left.clear()
        self._done()

    def _done(self) -> None:
        if self._waits:
            self._loop.remove_writer(self._number)
        self._empty.set()


class _MessageReader:
    """Reads messages, in the event loop: a thread would have to be waited for, and woken for each of them."""

    def __init__(
        self,
        number: int,
        to_server: MemoryObjectSendStream[Incoming],
        writer: _MessageWriter,
        held: _OpenRequests,
    ) -> None:
        self._number = number
        self._to_server = to_server
        self._writer = writer
        self._held = held
        self._loop = asyncio.get_running_loop()
        self._ended = False
        self._begun = bytearray()
        """What there is of a line that has not ended."""
        self._skips = False
        """The line is too long, and its rest is passed over."""
        self._waits = True
        """Whether the loop can say when there is something to read."""
        self._go_on()

    def end(self) -> None:
        """Read no more; to the server it is as if the input had ended."""
        if not self._ended:
            self._ended = True
            if self._waits:
                self._loop.remove_reader(self._number)
            self._to_server.close()

    def _go_on(self) -> None:
        if self._waits:
            try:
                self._loop.add_reader(self._number, self._read)
                return
            except PermissionError:  # a file, which is there at once
                self._waits = False
        self._loop.call_soon(self._read)

    def _read(self) -> None:
        if self._ended:
            return
        try:
            chunk = os.read(self._number, _CHUNK)
        except BlockingIOError:  # whoever has the other end may have set it so
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.end()
            return
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._line_ends(line)
        self._begun += rest
        if len(self._begun) > MAX_MESSAGE_LENGTH:
            self._skips = True
            self._begun.clear()
        if self._is_full():
            if self._waits:
                self._loop.remove_reader(self._number)
            self._loop.call_later(_LOOK_SECONDS, self._look)
        elif not self._waits:
            self._loop.call_soon(self._read)

    def _is_full(self) -> bool:
        """Whether so much is held that no more is to be read now."""
        unread = self._writer.waiting > 0
        held = self._held.number > _MAX_HELD or self._held.size > _MAX_HELD_BYTES
        return (unread and held) or self._to_server.statistics().current_buffer_used > _MAX_HELD

    def _look(self) -> None:
        """Read again once there is room; a peer that has closed its end meanwhile has left."""
        if self._ended:
            return
        if not self._is_full():
            self._go_on()
        elif self._writer.waiting > 0 and _is_closed(self._number):
            self.end()
        else:
            self._loop.call_later(_LOOK_SECONDS, self._look)

    def _line_ends(self, last: bytes) -> None:
        line = bytes(self._begun) + last
        skips, self._skips = self._skips, False
        self._begun.clear()
        if skips or len(line) > MAX_MESSAGE_LENGTH:
            said = f"Invalid request: a message has at most {MAX_MESSAGE_LENGTH} bytes"
            self._refuse(INVALID_REQUEST, said)
        elif line.strip():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            is_json = all(fault["type"] != "json_invalid" for fault in error.errors(include_url=False))
            code, said = (INVALID_REQUEST, "Invalid request") if is_json else (PARSE_ERROR, "Parse error")
            self._refuse(code, f"{said}: a line is one message of JSON-RPC 2.0")
            return
        if isinstance(message, JSONRPCRequest):
            if self._held.number >= _MAX_AT_ONCE or self._held.size >= _MAX_BYTES_AT_ONCE:
                said = f"{self._held.number:,} requests are under way; wait for some of their answers"
                self._refuse(INTERNAL_ERROR, said, message.id)
                return
            self._held.begun(message.id, len(line))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._held.done((message.params or {}).get("requestId"))
        with suppress(anyio.BrokenResourceError):  # the server has ended already
            self._to_server.send_nowait(SessionMessage(message))

    def _refuse(self, code: int, said: str, request: RequestId | None = None) -> None:
        if (
            self._writer.waiting > MAX_MESSAGE_LENGTH
        ):  # who sends nonsense and reads nothing gets no more answers
            return
        error = ErrorData(code=code, message=said)
        self._writer.write(JSONRPCError(jsonrpc="2.0", id=request, error=error))


def _is_closed(number: int) -> bool:
    """Whether nobody can write to a pipe any more."""
    asks = select.poll()
    asks.register(number, 0)
    return any(event & select.POLLHUP for _number, event in asks.poll(0))


def _line(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
