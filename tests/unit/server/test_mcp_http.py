"""Sessions of `kr mcp --http` (I2)."""

from __future__ import annotations

import asyncio
import itertools
import socket

import httpx
import pytest

from kr_core.server.connection_limits import ConnectionLimits, LimitedServer
from kr_core.server.mcp.http_transport import application
from kr_core.server.served_project import ServedProject

pytestmark = pytest.mark.req("I2", "Z6")

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
TAKES = {"accept": "application/json, text/event-stream"}


def test_a_session_that_nobody_uses_ends(tmp_path):
    """Its id is not known any more after the idle limit; the client begins a new one."""

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            app = application(ServedProject(folder=tmp_path), idle_seconds=0.2)
            server = LimitedServer(app, ConnectionLimits())
            running = asyncio.ensure_future(server._serve([listening]))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            async with httpx.AsyncClient(headers=TAKES, timeout=60) as client:
                opened = await client.post(url, json=INITIALIZE)
                session = {"mcp-session-id": opened.headers["mcp-session-id"]}
                ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
                assert (await client.post(url, json=ping, headers=session)).status_code == 200
                for tries in itertools.count():
                    await asyncio.sleep(0.1 * 2**tries)
                    answered = await client.post(url, json=ping, headers=session)
                    if answered.status_code == 404:
                        break
            server.should_exit = True
            await running

    asyncio.run(asyncio.wait_for(run(), 60))
