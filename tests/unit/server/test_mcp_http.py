"""Sessions of `kr mcp --http` (I2)."""

from __future__ import annotations

import asyncio
import itertools
import socket
from contextlib import asynccontextmanager

import httpx
import pytest

from kr_core.server.http_server import ConnectionLimits, LimitedServer
from kr_core.server.mcp.http_transport import WholeBodies, application
from kr_core.server.served_project import ServedProject

pytestmark = pytest.mark.req("I2", "Z6")

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
TAKES = {"accept": "application/json, text/event-stream"}


PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@asynccontextmanager
async def served(folder, **limits):
    """A server; gives the address, and a client."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = LimitedServer(application(ServedProject(folder=folder), **limits), ConnectionLimits())
        running = asyncio.ensure_future(server._serve([listening]))
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", headers=TAKES, timeout=60
        ) as client:
            yield client
        server.should_exit = True
        await running


async def opened(client):
    """The header of a new session."""
    answered = await client.post("/mcp", json=INITIALIZE)
    assert answered.status_code == 200
    return {"mcp-session-id": answered.headers["mcp-session-id"]}


async def status(client, session):
    return (await client.post("/mcp", json=PING, headers=session)).status_code


def test_a_session_that_nobody_uses_ends(tmp_path):
    """Its id is not known any more after the idle limit; the client begins a new one."""

    async def run():
        async with served(tmp_path, idle_seconds=0.2) as client:
            session = await opened(client)
            assert await status(client, session) == 200
            for tries in itertools.count():
                await asyncio.sleep(0.1 * 2**tries)
                if await status(client, session) == 404:
                    break

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_session_with_an_open_stream_stays(tmp_path):
    """A client that listens has not gone; only the limits of their number end its session."""

    async def run():
        async with served(tmp_path, idle_seconds=0.1) as client:
            session, other = await opened(client), await opened(client)
            async with client.stream("GET", "/mcp", headers=session) as stream:
                assert stream.status_code == 200
                for tries in itertools.count():
                    await asyncio.sleep(0.2 * 2**tries)
                    if await status(client, other) == 404:
                        break
                assert await status(client, session) == 200

    asyncio.run(asyncio.wait_for(run(), 60))


def test_of_too_many_sessions_the_one_silent_longest_ends(tmp_path):
    """A client that opens more and more keeps no one out, and what is in use stays."""

    async def run():
        async with served(tmp_path, max_sessions=3) as client:
            first, second = await opened(client), await opened(client)
            assert await status(client, first) == 200
            more = [await opened(client) for _ in range(2)]
            assert await status(client, second) == 404
            assert [await status(client, one) for one in (first, *more)] == [200] * 3
            at_once = await asyncio.gather(*(opened(client) for _ in range(3)))
            assert [await status(client, one) for one in at_once] == [200] * 3
            assert [await status(client, one) for one in (first, *more)] == [404] * 3
            assert (await client.delete("/mcp", headers=at_once[0])).status_code == 200
            last = await opened(client)
            assert [await status(client, one) for one in (*at_once, last)] == [404, 200, 200, 200]

    asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize("limits", [{"max_streams": 1}, {"max_sessions": 2}])
def test_of_too_many_streams_the_one_silent_longest_ends(tmp_path, limits):
    """An open stream is no way to stay: it ends in good order with its session."""

    async def run():
        async with served(tmp_path, **limits) as client:
            first, second = await opened(client), await opened(client)
            async with client.stream("GET", "/mcp", headers=first) as one:
                assert await status(client, second) == 200
                async with client.stream("GET", "/mcp", headers=second) as two:
                    assert (one.status_code, two.status_code) == (200, 200)
                    if "max_sessions" in limits:
                        await opened(client)
                    assert [line async for line in one.aiter_lines()] == []
                    assert await status(client, first) == 404
                    assert await status(client, second) == 200

    asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize(
    ("declared", "sent", "called"),
    [
        (2_000_000, [b"x" * 1_000_000, None], None),
        (2_000_000, [b"x" * 1_000_000] * 2, [b"x" * 2_000_000]),
        (None, [b"x" * 3_000_000] * 3, [b"x" * 6_000_000, b"x" * 3_000_000]),
        (9_000_000, [b"x" * 3_000_000] * 3, [b"x" * 3_000_000] * 3),
    ],
    ids=["cut off", "whole", "too large", "too large as it says itself"],
)
def test_a_request_is_served_once_its_body_is_there(declared, sent, called):
    """One that is cut off is not begun, so that nothing keeps what came of it; one that is too large is refused as before."""
    heard = []

    async def inner(_scope, receive, _send):
        more = True
        while more:
            message = await receive()
            heard.append(message["body"])
            more = message["more_body"]

    coming = iter(enumerate(sent, 1))

    async def receive():
        number, part = next(coming)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": number < len(sent)}

    headers = [] if declared is None else [(b"content-length", b"%d" % declared)]
    asyncio.run(WholeBodies(inner)({"type": "http", "headers": headers}, receive, None))
    assert heard == (called or [])
