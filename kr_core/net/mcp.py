"""One call of a tool of an MCP server, by the official client, over HTTP or by starting the server."""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import TYPE_CHECKING, Any

import httpx

from kr_core.model import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.model import ToolResult
    from kr_core.net.line import Line


async def call_tool(
    line: Line,
    server: str | Program | object,
    tool: str,
    arguments: Mapping[str, Any],
    headers: Mapping[str, str],
) -> ToolResult:
    """Connect to a server, call one tool and leave.

    Args:
        line: the call has its turn, its circuit and its event there.
        server: a streamable-HTTP address, a program, or a server object of the SDK (in process, for tests).
        tool: its name there.
        arguments: what it is called with.
        headers: sent with each HTTP request.

    Raises:
        RequestError: it could not be called.
    """
    if isinstance(server, Program):
        host = where = " ".join(server.argv)
    elif isinstance(server, str):
        address = httpx.URL(server)
        host = f"{address.host}:{address.port or {'http': 80}.get(address.scheme, 443)}"
        where = str(address.copy_with(query=None, username=None, password=None))
    else:
        host = where = "in process"
    told = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    # Its import takes longer than the event loop may be held up.
    sdk = await asyncio.to_thread(importlib.import_module, "kr_core.net.mcp_client")
    async with line.exchange(host, f"tools/call {tool}", where, told) as exchange:
        try:
            result: ToolResult = await sdk.called(
                server, tool, dict(arguments), dict(headers), exchange, line.left
            )
        except Exception as error:
            raise sdk.explained(error, where) from error
        exchange.received = len(result.text.encode())
    return result
