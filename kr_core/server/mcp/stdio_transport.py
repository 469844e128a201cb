"""The protocol on standard input and output, a JSON value a line; both belong to it alone while it is served.

The SDK's `stdio_server` keeps none of these bounds: it leaves lines that are not messages unanswered, reads lines of any
length and any number of requests, and waits for a thread that reads until the peer leaves.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import stat
import sys
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
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
from pydantic_core import from_json

from kr_core.server.mcp.mcp_server import server_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

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
"""Between looks whether the peer reads again, or has left."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1.0
"""How long a peer may take at the end to read what was written before."""


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
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage], Callable[[], object]]
]:
    """The messages that come and go, and what ends the input; other code prints to standard error, and reads nothing."""
    source, target = _taken(0, os.open(os.devnull, os.O_RDONLY)), _taken(1, os.dup(2))
    to_server, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    output, held = _Output(target), _OpenRequests()
    reading = asyncio.create_task(_read(source, to_server, output, held))
    writing = asyncio.create_task(_write(from_server, output, held))
    try:
        yield incoming, outgoing, reading.cancel
    finally:
        reading.cancel()
        await asyncio.wait([writing], timeout=_LAST_SECONDS)
        writing.cancel()
        await asyncio.wait([reading, writing])
        output.close()


def _taken(number: int, instead: int) -> int:
    """A standard stream under another number; what uses the old number gets something else from now on."""
    (sys.stdin, sys.stdout)[number].flush()
    taken = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return taken


class _OpenRequests:
    """The requests that have no answer yet, and how many bytes they have; a peer may use an id twice."""

    def __init__(self) -> None:
        self._sizes: dict[RequestId, list[int]] = {}
        self.number = self.size = 0

    def add(self, request: RequestId, size: int) -> None:
        self._sizes.setdefault(coerce_request_id(request), []).append(size)
        self.number += 1
        self.size += size

    def remove(self, request: RequestId | None) -> None:
        """Forget a request that was answered, or cancelled, which is not answered."""
        key = None if request is None else coerce_request_id(request)
        if key is None or key not in self._sizes:
            return
        self.number -= 1
        self.size -= self._sizes[key].pop()
        if not self._sizes[key]:
            del self._sizes[key]

    def exceeds(self, number: int, size: int) -> bool:
        return self.number >= number or self.size >= size


# -- output ----------------------------------------------------------------------------------------------------


async def _write(
    messages: MemoryObjectReceiveStream[SessionMessage], output: _Output, held: _OpenRequests
) -> None:
    """Write what the server says, until it has ended and the peer has read everything."""
    async with messages:
        async for one in messages:
            output.add(one.message)
            await output.drained.wait()
            if isinstance(one.message, JSONRPCResponse | JSONRPCError):
                held.remove(one.message.id)
    await output.drained.wait()


class _Output:
    """Writes messages, one after the other, as fast as the peer reads them; to a peer that has gone nothing."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._loop = asyncio.get_running_loop()
        self._unwritten = bytearray()
        self.drained = asyncio.Event()
        """Set while nothing waits for the peer."""
        self.drained.set()
        kind = os.fstat(number).st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(
            kind
        ):  # a terminal belongs to others too; a file is never full
            os.set_blocking(number, False)

    def add(self, message: JSONRPCMessage) -> None:
        """Write a message as far as there is room for it, and the rest later."""
        self._unwritten += message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        if self.drained.is_set():
            self.drained.clear()
            self._go_on()

    def refuse(self, code: int, said: str, request: RequestId | None = None) -> None:
        """Answer with an error, unless the peer leaves too many unread."""
        if len(self._unwritten) <= MAX_MESSAGE_LENGTH:
            self.add(JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=said)))

    def close(self) -> None:
        """Write no more."""
        self._loop.remove_writer(self._number)

    def _go_on(self) -> None:
        try:
            while self._unwritten:
                del self._unwritten[: os.write(self._number, self._unwritten)]
        except BlockingIOError:
            self._loop.add_writer(self._number, self._go_on)
            return
        except OSError:  # nothing reads any more: the end of input will follow
            self._unwritten.clear()
        self._loop.remove_writer(self._number)
        self.drained.set()


# -- input -----------------------------------------------------------------------------------------------------


async def _read(
    number: int, to_server: MemoryObjectSendStream[Incoming], output: _Output, held: _OpenRequests
) -> None:
    """Hand messages on until the input ends, and refuse what is not a message."""
    async with to_server, aclosing(_lines(number)) as lines:
        async for line in lines:
            message = _message(line, output)
            if isinstance(message, JSONRPCRequest):
                if held.exceeds(_MAX_AT_ONCE, _MAX_BYTES_AT_ONCE):
                    said = f"{held.number:,} requests are under way; wait for some of their answers"
                    output.refuse(INTERNAL_ERROR, said, message.id)
                    continue
                held.add(message.id, len(line))
            elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                held.remove(cancelled_request_id_from_params(message.params))
            if message is not None:
                with suppress(anyio.BrokenResourceError):  # the server has ended already
                    await to_server.send(SessionMessage(message))
            while not output.drained.is_set() and held.exceeds(_MAX_HELD, _MAX_HELD_BYTES):
                if _is_closed(number):
                    return
                await asyncio.sleep(_LOOK_SECONDS)


async def _lines(number: int) -> AsyncGenerator[bytes, None]:
    """The lines of the input that have an end; of one that is too long only as much as shows that."""
    begun = bytearray()
    while chunk := await _chunk(number):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield bytes(begun + line)
            begun.clear()
        begun += rest
        del begun[MAX_MESSAGE_LENGTH + 1 :]


async def _chunk(number: int) -> bytes:
    """What there is to read next; empty at the end. A thread that reads would have to be waited for."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    while True:
        try:
            loop.add_reader(number, readable.set)
        except PermissionError:  # a file, which is there at once
            readable.set()
            await asyncio.sleep(0)
        try:
            await readable.wait()
            return os.read(number, _CHUNK)
        except BlockingIOError:  # the other end may have been set so
            readable.clear()
        except OSError:
            return b""
        finally:
            loop.remove_reader(number)


def _message(line: bytes, output: _Output) -> JSONRPCMessage | None:
    """A line as a message; None for an empty line, and for one that was refused."""
    if len(line) > MAX_MESSAGE_LENGTH:
        output.refuse(INVALID_REQUEST, f"Invalid request: a message has at most {MAX_MESSAGE_LENGTH} bytes")
    elif line.strip():
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            if not isinstance(message, JSONRPCNotification) or "id" not in from_json(line):
                return message
            # Its id is null, say, so that the SDK takes it for a notification; its sender waits for an answer.
            output.refuse(INVALID_REQUEST, "Invalid request: an id is a string or a whole number")
        except ValidationError as error:
            is_json = all(fault["type"] != "json_invalid" for fault in error.errors(include_url=False))
            code, said = (INVALID_REQUEST, "Invalid request") if is_json else (PARSE_ERROR, "Parse error")
            output.refuse(code, f"{said}: a line is one message of JSON-RPC 2.0")
    return None


def _is_closed(number: int) -> bool:
    """Whether the other end of a pipe is closed."""
    asks = select.poll()
    asks.register(number, 0)
    return any(event & select.POLLHUP for _number, event in asks.poll(0))
