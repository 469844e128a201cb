"""`kr mcp --http` under attack: what a stranger's page, another client or a broken one may send, and that it goes on serving."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from support.mcp_door import MODES, TOOLS, client, environment, over_http, request

from kr_core.server.http_server import ConnectionLimits, LimitedServer
from kr_core.server.mcp.http_transport import application
from kr_core.server.served_project import ServedProject

pytestmark = pytest.mark.req("Z8", "I2")

TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
MOST_BYTES = 4 * 1024 * 1024
SESSIONS = 1_000
_SECONDS = 60.0


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a server in a process of its own; after all attacks clients of both generations are served."""
    folder = tmp_path_factory.mktemp("served")
    own = {"KR_CACHE_DIR": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}

    async def listed(url, mode):
        async with client(url, mode) as connected:
            return {one.name for one in (await connected.list_tools()).tools}

    with over_http(folder, environment(dict(os.environ), **own)) as url:
        yield url
        for mode in MODES:
            assert asyncio.run(listed(url, mode)) == TOOLS


@pytest.fixture(autouse=True)
def goes_on(served):
    """After each attack the next request is served."""
    yield
    assert sent(served, request(1, "tools/list"), **MODERN) == 200


def raw(url, *parts):
    """Send bytes as they are; the status of the answer, None where the connection ends without one."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=_SECONDS) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:  # it has answered, and closed, before it had everything
            pass
        try:
            head = connection.recv(4096)
        except OSError:
            return None
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    return int(found[1]) if found else None


def sent(url, body=INITIALIZE, method="POST", **headers):
    """The status of a request with these headers; a list of values is several headers of one name, None is none."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Host": "127.0.0.1", **TYPES, "Content-Length": str(len(content)), **headers}
    lines = [
        f"{name}: {value}"
        for name, values in named.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]
    head = f"{method} /mcp HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    return raw(url, head.encode("latin-1"), content)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8001", "127.0.0.1.nip.io", "localhost.evil.example", "127.0.0.1@evil.example",
        "evil.example@127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::1", "",
    ],
)  # fmt: skip
def test_a_name_that_a_stranger_points_here_is_refused(served, host):
    """DNS rebinding: the page's own name, and the spellings that some resolvers take for an address."""
    assert sent(served, Host=host) == 421
    assert sent(served, request(1, "tools/list"), Host=host, **MODERN) == 421


@pytest.mark.parametrize("host", [None, ["127.0.0.1", "evil.example"], ["evil.example", "127.0.0.1"]])
def test_a_request_names_one_host(served, host):
    """None, or two, is no request of HTTP/1.1."""
    assert sent(served, Host=host) == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example", "null", "", "file://", "http://localhost.evil.example", "https://127.0.0.1.evil.example",
        "http://user@localhost", "http://evil.example\\@localhost", "chrome-extension://abc",
        ["http://evil.example", "http://localhost"], ["http://localhost", "http://evil.example"],
    ],
)  # fmt: skip
def test_a_page_of_a_stranger_is_refused(served, origin):
    """Whatever it asks, and also where a second Origin says otherwise."""
    assert sent(served, Origin=origin) == 403
    assert sent(served, method="GET", Origin=origin) == 403
    assert sent(served, request(1, "tools/list"), Origin=origin, **MODERN) == 403


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_what_a_form_of_a_page_can_send_is_no_message(served, kind):
    """A browser asks before it sends JSON to another place; the types that it sends at once are refused."""
    assert sent(served, **{"Content-Type": kind}) in {400, 415}
    assert sent(served, request(1, "tools/list"), **{"Content-Type": kind}, **MODERN) in {400, 415}


BROKEN = {
    "nothing": b"", "array": b"[]", "batch": json.dumps([INITIALIZE, INITIALIZE]).encode(), "text": b'"x"', "null": b"null",
    "deep arrays": b"[" * 200_000, "deep objects": b'{"a":' * 200_000, "no UTF-8": b'{"method":"\xff"}', "NUL": b"\0",
    "half a character": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', "a long number": b'{"jsonrpc":"2.0","id":' + b"9" * 6000 + b',"method":"ping"}',
    "deep arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"qa_log","arguments":' + b'{"a":' * 5000 + b"1" + b"}" * 5002,
    "parameters in a list": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_is_no_message_is_refused(served, name):
    """In both generations, in a session or not."""
    assert sent(served, BROKEN[name]) == 400
    assert sent(served, BROKEN[name], **MODERN) == 400


@pytest.mark.parametrize("headers", [{}, MODERN])
def test_a_body_that_is_too_long_is_refused(served, headers):
    """Before it is read whole, whether its length is told or not, true or not."""
    long = b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (MOST_BYTES + 1)
    assert sent(served, long, **headers) in {413, None}
    assert sent(served, b"{", **{"Content-Length": "99999999999"}, **headers) == 413
    assert sent(served, b"{", **{"Content-Length": "-1"}, **headers) == 400
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    head = "".join(
        f"{name}: {value}\r\n" for name, value in {"Host": "127.0.0.1", **TYPES, **headers}.items()
    )
    told = f"POST /mcp HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    assert raw(served, told, *[chunk] * (MOST_BYTES // 65_536 + 1), b"0\r\n\r\n") in {413, None}


def test_a_session_of_others_is_not_found(served):
    """Its id cannot be guessed; a wrong one can neither ask, nor listen, nor end it."""
    with httpx.Client(headers=TYPES, timeout=_SECONDS) as own:
        opened = own.post(served, json=INITIALIZE)
        name = opened.headers["mcp-session-id"]
        assert re.fullmatch(r"[0-9a-f]{32}", name)
        for guess in ("0" * 32, name[:-1], name.upper() + "0", f"{name} ", "x" * 30_000, "\xff"):
            for method in ("POST", "GET", "DELETE"):
                if guess.strip() != name:
                    assert sent(served, PING, method=method, **{"Mcp-Session-Id": guess}) == 404
        known = {"mcp-session-id": name, "mcp-protocol-version": LATEST_HANDSHAKE_VERSION}
        assert own.post(served, json=PING, headers=known).status_code == 200
        assert own.delete(served, headers=known).status_code == 200
        assert own.post(served, json=PING, headers=known).status_code == 404


def test_a_thousand_sessions_are_served_and_end(served):
    """Each has its own id and is answered; calls that open none leave none behind."""
    with httpx.Client(headers=TYPES, timeout=_SECONDS) as own:
        names = {own.post(served, json=INITIALIZE).headers["mcp-session-id"] for _ in range(SESSIONS)}
        assert len(names) == SESSIONS
        assert own.post(served, json=PING).status_code == 400
        for name in names:
            assert own.delete(served, headers={"mcp-session-id": name}).status_code == 200


def test_one_session_too_many_ends_the_one_silent_longest(tmp_path):
    """The others go on, and clients of the newer generation need none."""

    async def run(url, own):
        first, second = [await own.post(url, json=INITIALIZE) for _ in range(2)]
        known, silent = ({"mcp-session-id": one.headers["mcp-session-id"]} for one in (first, second))
        assert (await own.post(url, json=PING, headers=known)).status_code == 200
        assert (await own.post(url, json=INITIALIZE)).status_code == 200
        assert (await own.post(url, json=PING, headers=known)).status_code == 200
        assert (await own.post(url, json=PING, headers=silent)).status_code == 404
        assert (await own.post(url, json=request(1, "tools/list"), headers=MODERN)).status_code == 200

    asyncio.run(_with_server(tmp_path, run, max_sessions=2))


def test_a_body_that_does_not_come_ends_the_connection(tmp_path):
    """Each byte gives no more time, a session is not opened by half a request, and others are served meanwhile."""

    async def run(url, own):
        place = urlsplit(url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "127.0.0.1", **TYPES}.items())
        writer.write(f"POST /mcp HTTP/1.1\r\n{head}Content-Length: 1000\r\n\r\n".encode())
        ended = asyncio.ensure_future(reader.read())
        while not ended.done():
            writer.write(b" ")
            assert (await own.post(url, json=request(1, "tools/list"), headers=MODERN)).status_code == 200
        assert isinstance(ended.exception(), ConnectionError) or b"mcp-session-id" not in ended.result()
        writer.close()
        assert (await own.post(url, json=INITIALIZE)).status_code == 200, "the only session is free"

    asyncio.run(_with_server(tmp_path, run, max_sessions=1))


async def _with_server(folder, run, max_sessions):
    """Do something with the address of a server in this loop, whose clients have little time."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app = application(ServedProject(folder=folder), max_sessions=max_sessions)
        server = LimitedServer(app, ConnectionLimits(body_seconds=0.5))
        running = asyncio.ensure_future(server._serve([listening]))
        async with httpx.AsyncClient(headers=TYPES, timeout=_SECONDS) as own:
            await run(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", own)
        server.should_exit = True
        await running
