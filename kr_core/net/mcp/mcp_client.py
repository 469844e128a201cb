"""The official MCP client (the extra `mcp`), with its answers bounded and its errors told apart; imported when used."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PARSE_ERROR, EmbeddedResource, TextContent, TextResourceContents

from kr_core.errors import RequestError
from kr_core.model import Outcome, Program, ToolResult
from kr_core.net.body import MAX_BYTES, too_long
from kr_core.net.mcp import http, stdio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    import httpx
    from mcp_types import CallToolResult, ContentBlock

    from kr_core.net.gateway import GatewayRequest

# What the SDK logs while a server misbehaves is in the error; without a handler Python prints it to the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class Call(NamedTuple):
    """One call of one tool."""

    server: str | Program | object
    tool: str
    arguments: Mapping[str, Any]
    headers: Mapping[str, str]


class _Connection(Protocol):
    """How a server is reached, and what it knows of a failure."""

    fault: RequestError | None


async def called(
    call: Call,
    exchange: GatewayRequest,
    seconds: float,
    user_agent: str,
    transport: httpx.AsyncBaseTransport | None,
) -> ToolResult:
    """Connect, call one tool, leave.

    Args:
        call: what is called.
        exchange: is told how it goes.
        seconds: how long it may take; to end a program takes one more at most.
        user_agent: who asks.
        transport: what answers HTTP in place of the network.

    Raises:
        RequestError: it could not be called, or what it answered is none.
    """
    way: _Connection = stdio.ProgramOutput()
    try:
        async with asyncio.timeout(seconds):
            async with (
                _streams(call, exchange, seconds, user_agent, transport) as (server, way),
                Client(server, mode="auto", read_timeout_seconds=seconds) as client,
            ):
                exchange.was_sent()
                client.session.validate_tool_result = _unchecked  # type: ignore[assignment, method-assign]  # it has no switch
                answer = await client.call_tool(call.tool, dict(call.arguments))
    except TimeoutError:
        raise RequestError(Outcome.timeout, _late(way, seconds)) from None
    except Exception as error:
        raise _explained(error, way) from error
    text = "\n\n".join(_texts(answer.content))
    if len(text) > MAX_BYTES:
        raise too_long(MAX_BYTES)
    return ToolResult(text, answer.structured_content, bool(answer.is_error))


async def _unchecked(_name: str, _result: CallToolResult) -> None:
    """Check no answer by the schema that its server declares: its patterns and references may take for ever.

    KR reads only the texts of an answer.
    """


@asynccontextmanager
async def _streams(
    call: Call,
    exchange: GatewayRequest,
    seconds: float,
    user_agent: str,
    transport: httpx.AsyncBaseTransport | None,
) -> AsyncIterator[tuple[Any, _Connection]]:
    """What the SDK's client connects to, and what will know why that failed."""
    spoken = stdio.ProgramOutput()
    if isinstance(call.server, Program):
        yield stdio.running(call.server, spoken, MAX_BYTES, exchange.was_sent), spoken
    elif isinstance(call.server, str):
        deadline = asyncio.get_running_loop().time() + seconds
        # In a thread, since the first one imports, and reads certificates.
        making = asyncio.to_thread(
            http.MCPConnection, call.headers, exchange, deadline, seconds, MAX_BYTES, user_agent, transport
        )
        async with await making as client:
            yield (
                streamable_http_client(call.server, http_client=client, max_sse_event_size=MAX_BYTES),
                client,
            )
    else:
        yield call.server, spoken


def _texts(content: list[ContentBlock]) -> Iterator[str]:
    for block in content:
        if isinstance(block, TextContent):
            yield block.text
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            yield block.resource.text


def _late(way: _Connection, seconds: float) -> str:
    said = way.last if isinstance(way, stdio.ProgramOutput) else ""
    return f"no answer within {round(seconds, 1):g} s" + (f"; it last said: {said}" if said else "")


def _explained(error: Exception, way: _Connection) -> RequestError:
    """What an error of the client means; what the way knows of it comes first."""
    leaves = list(_leaves(error))
    known = next((leaf for leaf in leaves if isinstance(leaf, RequestError)), way.fault)
    said = next((str(leaf) for leaf in leaves if isinstance(leaf, MCPError)), "")
    last = way.last if isinstance(way, stdio.ProgramOutput) else ""
    if known is not None:
        more = last or (said if known.what.startswith("answered ") else "")
        return RequestError(known.outcome, f"{known.what}: {more}" if more else known.what, hint=known.hint)
    leaf = leaves[0]
    if isinstance(leaf, MCPError):
        if leaf.code == PARSE_ERROR:
            return RequestError(Outcome.bad_answer, "what it answers is no message of MCP")
        late = "timed out" in said.lower()
        return RequestError(Outcome.timeout if late else Outcome.unavailable, said)
    # The SDK raises RuntimeError and ValueError for results that are not as MCP has them.
    outcome = Outcome.bad_answer if isinstance(leaf, RuntimeError | ValueError) else Outcome.unavailable
    return RequestError(outcome, f"{type(leaf).__name__}: {leaf}".removesuffix(": "))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
