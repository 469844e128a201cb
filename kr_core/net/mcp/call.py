"""One call of a tool of an MCP server, by the official client, over HTTP or by starting the server."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import httpx

from kr_core.entry_points import require
from kr_core.errors import RequestError
from kr_core.model import Program
from kr_core.net.gateway import place_of
from kr_core.net.redaction import REDACTED, redacted
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.model import ToolResult
    from kr_core.net.gateway import Gateway

_MAX_REASON_LENGTH = 300
_SHORTEST_SECRET = 6
"""Characters of a value from the settings that is hidden where a server repeats it."""


async def call_tool(
    line: Gateway,
    server: str | Program | object,
    tool: str,
    arguments: Mapping[str, Any],
    headers: Mapping[str, str],
    user_agent: str,
    transport: httpx.AsyncBaseTransport | None = None,
) -> ToolResult:
    """Connect to a server, call one tool and leave.

    Args:
        line: the call has its turn, its circuit and its event there.
        server: a streamable-HTTP address, a program, or a server object of the SDK (in process, for tests).
        tool: its name there.
        arguments: what it is called with.
        headers: sent with each HTTP request.
        user_agent: who asks.
        transport: what answers HTTP in place of the network.

    Raises:
        RequestError: it could not be called.
        PluginError: the extra `mcp` is not installed.
    """
    require("mcp", "mcp")
    host, where = _place(server)
    given = _encodable(dict(arguments))
    told = json.dumps(given, ensure_ascii=False, default=str)
    # Its import takes longer than the event loop may be held up.
    sdk = await asyncio.to_thread(importlib.import_module, "kr_core.net.mcp.mcp_client")
    async with line.exchange(host, f"tools/call {tool}", where, told) as exchange:
        call = sdk.Call(server, tool, given, dict(headers))
        try:
            result: ToolResult = await sdk.called(call, exchange, line.left, user_agent, transport)
        except RequestError as error:
            what = _without_secrets(error.what, server, headers)[:_MAX_REASON_LENGTH]
            raise RequestError(error.outcome, what, where=where, hint=error.hint) from error
        exchange.received = len(result.text.encode("utf-8", "replace"))
    return result


def _place(server: str | Program | object) -> tuple[str, str]:
    """Whose circuit it is, and what a person is told of it: of a program its name, since arguments may hold secrets."""
    if isinstance(server, Program):
        name = PurePath(server.argv[0]).name
        return f"{name}#{hashlib.sha256(repr(tuple(server.argv)).encode()).hexdigest()[:6]}", name
    if not isinstance(server, str):
        return "in process", "in process"
    try:
        return place_of(httpx.URL(server))
    except httpx.InvalidURL:  # it may hold a password all the same; the client says what is wrong
        return "no address", "no address"


def _encodable(value: Any) -> Any:
    """Plain data without lone surrogates, which no message can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def _without_secrets(said: str, server: str | Program | object, headers: Mapping[str, str]) -> str:
    """What a server said, without what it was given in confidence."""
    given = [*headers.values(), *(server.environment.values() if isinstance(server, Program) else ())]
    for value in sorted(given, key=len, reverse=True):
        if len(value) >= _SHORTEST_SECRET:
            said = said.replace(value, REDACTED)
    return " ".join(printable(redacted(said)).split())
