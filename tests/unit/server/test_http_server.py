"""How long a connection may wait, and how many there are (H2, Z6)."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

from kr_core.server.http_server import ConnectionLimits, LimitedServer

pytestmark = pytest.mark.req("H2", "Z6")

BEGUN = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = BEGUN + b"\r\n"
BIG = 20_000_000
LONG = WHOLE.replace(b"/ ", b"/%d " % BIG, 1)


async def application(scope, receive, send):
    """Answers with as many bytes as the path says, once the body is there."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(0, int(scope["path"].strip("/") or 1), 100_000):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def serving(**limits):
    """A port that such a server listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = LimitedServer(application, ConnectionLimits(**limits))
        running = asyncio.ensure_future(server._serve([listening]))
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await running


@asynccontextmanager
async def connected(port, sent=b""):
    """The two ends of a connection over which this was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def until_closed(reader):
    """What came until the server ended the connection."""
    try:
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", ""),
        (BEGUN, "the headers of its request did not come within 0.2 s"),
        (BEGUN + b"Content-Length: 5\r\n\r\nab", "the body of its request did not come within 0.2 s"),
    ],
    ids=["nothing", "half its headers", "half its body"],
)
def test_a_request_that_does_not_come_ends_its_connection(sent, said, capfd):
    """A deadline for the headers and one for the body, a line for each; none for a connection that was never used."""

    async def run():
        async with serving(head_seconds=0.2, body_seconds=0.2) as port, connected(port, sent) as (reader, _):
            assert b"200 OK" not in await until_closed(reader)

    asyncio.run(run())
    expected = f"kr: closed a connection from 127.0.0.1: {said}\n" if said else ""
    assert capfd.readouterr().err == expected


def test_a_second_request_that_comes_half_ends_its_connection(capfd):
    """Also after a request that was answered: the deadline counts for each of them."""

    async def run():
        async with serving(head_seconds=0.2) as port, connected(port, WHOLE) as (reader, writer):
            assert await _length(reader)
            writer.write(BEGUN)
            assert await until_closed(reader) == b""

    asyncio.run(run())
    assert "the headers of its request did not come within 0.2 s" in capfd.readouterr().err


def test_who_does_not_read_an_answer_is_let_go(capfd):
    """A client that takes nothing of a long answer loses its connection; one beside it is answered meanwhile."""

    async def run():
        async with serving(read_seconds=0.3) as port:
            slow = socket.create_connection(("127.0.0.1", port))
            with slow:
                slow.sendall(LONG)
                async with connected(port, WHOLE) as (reader, _):
                    assert await _length(reader)
                for _ in range(6000):  # whether it is closed cannot be seen from here without reading
                    if "has read nothing of its answer for 0.3 s" in capfd.readouterr().err:
                        return
                    await asyncio.sleep(0.01)
                pytest.fail("it is still connected")

    asyncio.run(run())


def test_one_too_many_takes_the_place_of_who_waits_longest(capfd):
    """Connections that send nothing keep nobody out: each new one ends the oldest of them, with one line."""

    async def run():
        async with serving(connections=3) as port, AsyncExitStack() as stack:
            held = [await stack.enter_async_context(connected(port, BEGUN)) for _ in range(5)]
            first = await asyncio.gather(*(until_closed(reader) for reader, _ in held[:2]))
            assert first == [b"", b""]
            reader, _ = await stack.enter_async_context(connected(port, WHOLE))
            assert await _length(reader)

    asyncio.run(run())
    lines = capfd.readouterr().err.splitlines()
    said = (
        "kr: closed a connection from 127.0.0.1: 3 are open, the most at a time; it has sent no whole request"
    )
    assert lines == [said] * 3


def test_requests_that_do_not_come_whole_fill_no_memory(capfd):
    """Where what has come of them is too much together, the one that has waited longest may come later; the newest is answered."""
    half = BEGUN + b"Content-Length: 100000\r\n\r\n" + b"x" * 40_000

    async def run():
        async with serving(held_bytes=100_000, refused_seconds=0.2) as port, AsyncExitStack() as stack:
            await stack.enter_async_context(connected(port))
            first, _ = await stack.enter_async_context(connected(port, half))
            second, writer = await stack.enter_async_context(connected(port, half))
            await asyncio.sleep(0.05)
            await stack.enter_async_context(connected(port, half))
            refused = await until_closed(first)
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: 5\r\nconnection: close\r\n" in refused
            writer.write(b"x" * 60_000)
            assert await _length(second)

    asyncio.run(run())
    said = "requests that have not come whole are too large together; it has waited longest"
    assert said in capfd.readouterr().err


def test_who_still_sends_a_refused_body_reads_that_it_was_refused():
    """What comes meanwhile is thrown away, for a while."""
    head = BEGUN + b"Content-Length: 1000000\r\n\r\n"

    async def run():
        async with serving(held_bytes=100_000) as port, connected(port, head) as (reader, writer):
            for _ in range(20):
                writer.write(b"x" * 45_000)
                await writer.drain()
                await asyncio.sleep(0.01)
            assert (await asyncio.wait_for(reader.readline(), 60)).startswith(b"HTTP/1.1 503 ")

    asyncio.run(run())


def test_requests_that_are_answered_are_never_cut_short(capfd):
    """Where all connections have an answer under way, the newcomer goes, not one of them."""

    async def run():
        async with serving(connections=2) as port, AsyncExitStack() as stack:
            busy = [await stack.enter_async_context(connected(port, LONG)) for _ in range(2)]
            for reader, _ in busy:
                assert (await reader.readexactly(1000)).startswith(b"HTTP/1.1 200 OK")
            refused, _ = await stack.enter_async_context(connected(port, WHOLE))
            assert await until_closed(refused) == b""
            assert [await _length(reader) > BIG - 1000 for reader, _ in busy] == [True, True]

    asyncio.run(run())
    assert capfd.readouterr().err.count("\n") == 1


async def _length(reader):
    """How many bytes come until the end of the answer."""
    total, last = 0, b""
    while not last.endswith(b"0\r\n\r\n"):
        part = await asyncio.wait_for(reader.read(1_000_000), 60)
        assert part, "the answer ends early"
        total, last = total + len(part), (last + part)[-5:]
    return total
