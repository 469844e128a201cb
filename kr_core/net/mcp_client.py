"""The official MCP client (the extra `mcp`), with its answers bounded and its errors told apart; imported when used."""

from __future__ import annotations

import json
import tempfile
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from kr_core.errors import RequestError
from kr_core.model import Outcome, Program, ToolResult
from kr_core.printable import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from kr_core.net.line import Exchange

MOST_BYTES = 8 * 2**20
"""Of one answer."""
_CONNECT_SECONDS = 10.0
_LONGEST_REASON = 300
_OUTCOMES = {401: Outcome.blocked, 403: Outcome.blocked, 402: Outcome.limited, 429: Outcome.limited}
_TODO_PROGRAM = "see that its `command` runs in a terminal"


async def called(
    server: str | Program | object,
    tool: str,
    arguments: dict[str, Any],
    headers: dict[str, str],
    exchange: Exchange,
    seconds: float,
) -> ToolResult:
    """Connect, call one tool, leave."""
    async with (
        _transport(server, headers, exchange, seconds) as transport,
        Client(transport, mode="auto", read_timeout_seconds=seconds) as client,
    ):
        exchange.was_sent()
        answer = await client.call_tool(tool, arguments)
    texts = [block.text for block in answer.content if isinstance(block, TextContent)]
    text = "\n\n".join(texts)
    if len(text) > MOST_BYTES:
        raise RequestError(Outcome.bad_answer, f"the answer is longer than {MOST_BYTES / 2**20:g} MB")
    return ToolResult(text, answer.structured_content, bool(answer.is_error))


@asynccontextmanager
async def _transport(
    server: str | Program | object, headers: dict[str, str], exchange: Exchange, seconds: float
) -> AsyncIterator[Any]:
    if isinstance(server, Program):
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            program = StdioServerParameters(
                command=server.argv[0],
                args=list(server.argv[1:]),
                env=dict(server.environment),
                cwd=server.folder,
            )
            try:
                yield stdio_client(program, errlog=said)
            except Exception as error:
                said.seek(0)
                if lines := [line for line in said.read()[-4000:].splitlines() if line.strip()]:
                    error.add_note(lines[-1].strip())
                raise
    elif isinstance(server, str):
        limits = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        # The environment's proxies serve; identity, so that what is counted is what is read.
        sent = {**headers, "Accept-Encoding": "identity"}
        async with httpx2.AsyncClient(
            headers=sent,
            timeout=limits,
            event_hooks={"request": [_traced(exchange)], "response": [_bounded(exchange)]},
        ) as client:
            yield streamable_http_client(server, http_client=client)
    else:
        yield server


def _traced(exchange: Exchange) -> Any:
    async def trace(event: str, _info: Any) -> None:
        if event.endswith("send_request_headers.started"):
            exchange.was_sent()

    async def hook(request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "trace": trace}

    return hook


def _bounded(exchange: Exchange) -> Any:
    async def hook(response: httpx2.Response) -> None:
        exchange.status = response.status_code
        response.stream = _Bounded(response.stream)

    return hook


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks off where it becomes too long."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MOST_BYTES:
                raise httpx2.DecodingError(f"the answer is longer than {MOST_BYTES / 2**20:g} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def explained(error: BaseException, where: str) -> RequestError:
    """What an error of the client means."""
    if isinstance(error, RequestError):
        return error
    leaves = list(_leaves(error))
    notes = [note for leaf in (error, *leaves) for note in getattr(leaf, "__notes__", ())]
    told = f" ({printable(notes[0])})" if notes else ""
    for leaf in leaves:
        outcome, said = _told(leaf)
        if said:
            todo = _TODO_PROGRAM if isinstance(leaf, FileNotFoundError | PermissionError) else ""
            return RequestError(outcome, f"{printable(said)[:_LONGEST_REASON]}{told}", where=where, todo=todo)
    return RequestError(
        Outcome.unavailable, f"{printable(repr(leaves[0]))[:_LONGEST_REASON]}{told}", where=where
    )


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _told(error: BaseException) -> tuple[Outcome, str]:
    """Outcome and reason of one error; no reason for one that says nothing."""
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        return _OUTCOMES.get(status, Outcome.unavailable), f"answered {status}"
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return Outcome.timeout, "no answer in time"
    if isinstance(error, httpx2.DecodingError | json.JSONDecodeError | UnicodeError):
        return Outcome.bad_answer, str(error)
    if isinstance(error, httpx2.TransportError | OSError):
        return Outcome.unavailable, f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, MCPError):
        late = "timed out" in str(error).lower()
        return (Outcome.timeout if late else Outcome.unavailable), str(error)
    return Outcome.unavailable, ""
