"""What clients do wrong, and how they leave: `kr mcp` answers what can be answered, stops what nobody waits for, and ends cleanly."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from support.fork_server import kr_argv
from support.mcp_door import (
    MODES,
    TOOLS,
    Lines,
    client,
    environment,
    over_http,
    over_stdio,
    request,
    text,
    tool,
)
from support.projects import QUESTION

from kr_core.server.mcp.stdio_transport import MAX_MESSAGE_LENGTH

_SECONDS = 120.0


@pytest.fixture
def env(environ):
    return environment(environ, KR_TRUST="all")


class Hanging:
    """A service that takes a request and never answers; it knows when the one who asked has gone."""

    def __init__(self):
        self.asked, self.gone = threading.Event(), threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        connection, _peer = self._socket.accept()
        with connection:
            connection.recv(65536)
            self.asked.set()
            try:
                while connection.recv(65536):
                    pass
            except OSError:
                pass
            self.gone.set()

    def close(self):
        self._socket.close()


@pytest.fixture
def hanging():
    service = Hanging()
    yield service
    service.close()


@pytest.fixture
def researches(project_folder, hanging):
    """The project's only source is the hanging service."""
    settings = {
        "knowledge_research": {"sources": ["context7"], "fallback_if_mcp_unavailable": "off"},
        "plugins": {"context7": {"base_url": f"{hanging.url}/api"}},
    }
    (project_folder / "kr.yaml").write_text(json.dumps(settings))
    return {"question": QUESTION, "framework": "parcel", "version": "1.4.0"}


@pytest.mark.req("I2")
def test_what_is_no_message_is_answered_and_the_next_one_too(project_folder, env):
    """Broken JSON, other values, bytes that are no text, messages of 10 MB: an error each, and the server goes on."""
    long = json.dumps(tool(1, "qa_log", text="x" * 10_000_000)).encode() + b"\n"
    with Lines(project_folder, env) as door:
        assert {one["name"] for one in door.ask(request(0, "tools/list"))["result"]["tools"]} == TOOLS
        for raw, code in (
            (b'{"jsonrpc": "2.0", "id": 1, "method"\n', -32700),
            (b"nonsense\n", -32700),
            (b"\xff\xfe\x00\n", -32700),
            (b'"text"\n', -32600),
            (b"[]\n", -32600),
            (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n', -32600),
            (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}\n', -32600),
            (b"[" * 100_000 + b"\n", -32700),
            (long, -32600),
        ):
            answer = door.ask(raw)
            assert (answer["id"], answer["error"]["code"]) == (None, code), raw[:60]
        for message, code in (
            (request(2, "tools/guess"), -32601),
            (request(3, "tools/call"), -32602),
            (request(4, "tools/call", name=5), -32602),
            (request(5, "tools/call", name="qa_log", arguments=[]), -32602),
            (request(6, "resources/read", uri="kr://nothing"), -32602),
        ):
            answer = door.ask(message)
            assert (answer["id"], answer["error"]["code"]) == (message["id"], code), message
        door.write(
            b"\n",
            {"jsonrpc": "2.0", "method": "notifications/nonsense"},
            {"jsonrpc": "2.0", "id": 77, "result": {}},
        )
        for unknown in (77, "77", [77], {}, None):
            door.write(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": unknown}}
            )
        assert door.ask(tool(7, "qa_log"))["result"]["structuredContent"]["exchanges"] == []
        code, out, err = door.leave()
    assert (code, out) == (0, b"")
    assert "Traceback" not in err


@pytest.mark.req("I2")
def test_a_line_may_come_in_pieces_and_several_at_once(project_folder, env):
    """Messages end where lines do, however they are cut; the last one needs its line's end."""
    raw = b"".join(json.dumps(request(number, "prompts/list")).encode() + b"\n" for number in range(20))
    with Lines(project_folder, env) as door:
        for place in range(0, len(raw), 257):
            door.write(raw[place : place + 257])
        assert sorted(door.read()["id"] for _ in range(20)) == [*range(20)]
        door.write(raw + json.dumps(request(99, "prompts/list")).encode()[:-1])
        assert sorted(door.read()["id"] for _ in range(20)) == [*range(20)]
        assert door.leave()[0] == 0


@pytest.mark.req("I2")
def test_standard_streams_may_be_files(project_folder, env, tmp_path):
    """A file of messages is read to its end; what is no file, pipe or terminal has none."""
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_bytes(b"nonsense\n" + json.dumps(request(1, "tools/list")).encode() + b"\n")
    with asked.open("rb") as source, told.open("wb") as target:
        done = subprocess.run(
            kr_argv(env, "mcp"),
            check=False,
            cwd=project_folder,
            env=env,
            stdin=source,
            stdout=target,
            timeout=_SECONDS,
        )
    answers = [json.loads(line) for line in told.read_text().splitlines()]
    assert (done.returncode, answers[0]["error"]["code"]) == (0, -32700)
    assert all("result" in one or "error" in one for one in answers)


@pytest.mark.req("I2")
def test_a_client_that_leaves_mid_request_stops_the_work(project_folder, env, hanging, researches):
    """When standard input ends, the source's request is given up, and the process ends with 0."""
    with Lines(project_folder, env) as door:
        door.write(tool(1, "research", **researches))
        assert hanging.asked.wait(_SECONDS)
        code, out, err = door.leave()
    assert (code, "Traceback" in err) == (0, False)
    assert json.loads(out)["error"]["message"] == "Connection closed"
    assert hanging.gone.wait(_SECONDS)


@pytest.mark.req("I2")
@pytest.mark.parametrize(("number", "ends"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_stops_the_work(project_folder, env, hanging, researches, number, ends):
    """The same when the process is told to end, or interrupted, though standard input stays open."""
    with Lines(project_folder, env) as door:
        door.write(tool(1, "research", **researches))
        assert hanging.asked.wait(_SECONDS)
        code, err = door.told_to_end(number)
    assert (code, "Traceback" in err) == (ends, False)
    assert hanging.gone.wait(_SECONDS)


@pytest.mark.req("I2")
@pytest.mark.parametrize("end", ["leaves", "is told"])
def test_a_client_that_never_reads_keeps_nothing_alive(project_folder, env, end):
    """Answers that nobody reads fill the pipe; the process ends all the same."""
    with Lines(project_folder, env) as door:
        line = json.dumps(request(1, "tools/list")).encode() + b"\n"  # each answer has some 20,000 bytes
        door.write(line * 20)
        if end == "leaves":
            door.process.stdin.close()
            assert door.process.wait(_SECONDS) == 0
        else:
            first = door.process.stdout.readline()  # it serves
            assert first.startswith(b"{")
            code, err = door.told_to_end()
            assert (code, err) == (0, "")


def sent_unread(door, line, most):
    """Write a line again and again, without reading, until there is no more room or it was written so often; how often."""
    assert len(line) <= select.PIPE_BUF, "it is written whole, or not at all"
    pipe = door.process.stdin.fileno()
    number = 0
    while number < most and select.select([], [pipe], [], 1.0)[1]:
        os.write(pipe, line)
        number += 1
    return number


@pytest.mark.req("I2")
@pytest.mark.parametrize("leaves", [False, True])
def test_a_client_that_never_reads_is_no_longer_read(project_folder, env, leaves):
    """Its requests wait in the pipe, not in the server's memory; once it reads, each is answered."""
    line = json.dumps(request(1, "tools/list", cursor="x" * 3000)).encode() + b"\n"
    with Lines(project_folder, env) as door:
        door.ask(line)
        number = sent_unread(door, line, 2_000)
        assert number < 1_000
        if leaves:
            door.process.stdin.close()
            assert door.process.wait(_SECONDS) == 0
        else:
            assert all(door.read()["result"]["tools"] for _ in range(number))
            assert door.leave()[:2] == (0, b"")


@pytest.mark.req("I2")
def test_a_client_that_closes_its_ears_is_served_until_it_leaves(project_folder, env):
    """Where nobody can read any more, writing is no error; the end of standard input ends the process."""
    with Lines(project_folder, env) as door:
        door.ask(request(1, "tools/list"))
        door.process.stdout.close()
        door.write(*[request(number, "tools/list") for number in range(2, 12)])
        door.process.stdin.close()
        assert door.process.wait(_SECONDS) == 0
        assert "Traceback" not in door.process.stderr.read().decode()


@pytest.mark.req("I2")
@pytest.mark.parametrize(
    ("way", "name"),
    [("stdio", "research"), ("http", "research"), ("stdio", "research_request"), ("stdio", "expedition")],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_stops_the_work(project_folder, env, hanging, researches, way, mode, name):
    """The source's request is gone, the record says so, and the next call is answered."""
    if name == "research":
        given = researches
    elif name == "expedition":
        given = {"question": f"{researches['question']} In parcel."}
    else:
        one = {"query": researches["question"], "framework": "parcel", "framework_version": "1.4.0"}
        given = {"story_key": "3-1", "requesting_agent": "dev-runner", "queries": [one]}

    async def cancelled(server):
        async with client(server, mode) as connected:
            call = asyncio.create_task(connected.call_tool(name, given))
            assert await asyncio.to_thread(hanging.asked.wait, _SECONDS)
            call.cancel()
            await asyncio.wait([call])
            assert await asyncio.to_thread(hanging.gone.wait, _SECONDS)
            return await connected.call_tool("qa_log", {})

    with served(way, project_folder, env) as server:
        assert not asyncio.run(cancelled(server)).is_error


@pytest.mark.req("I2")
def test_a_call_may_be_cancelled_at_any_time(project_folder, env):
    """Before it begins, while the project is opened, while it works, after it was answered: one answer at most, and never a wrong one."""
    with Lines(project_folder, env) as door:
        for number in range(1, 10):
            door.write(tool(number, "research", question=f"{QUESTION} {number}"))
            if number % 3 == 0:
                door.write(tool(1000 + number, "qa_log"))
                while door.read()["id"] != 1000 + number:
                    pass
            door.write(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            )
        door.write(tool(2000, "search_knowledge", question="parcel"))
        answered = []
        while not answered or answered[-1] != 2000:
            answered.append(door.read()["id"])
        assert len(answered) == len(set(answered))
        code, out, err = door.leave()
    assert (code, out) == (0, b"")
    assert "Traceback" not in err


@contextmanager
def served(way, folder, env):
    if way == "stdio":
        yield over_stdio(folder, env)
    else:
        with over_http(folder, env) as url:
            yield url


# -- HTTP ------------------------------------------------------------------------------------------------------


def post(url, body, **headers):
    """A raw POST of the newer generation; status and body."""
    known = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
    }
    asked = urllib.request.Request(
        url, body, {**known, **{name.replace("_", "-"): value for name, value in headers.items()}}
    )
    try:
        with urllib.request.urlopen(asked, timeout=_SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:  # of one that was refused before it was all sent, the rest is reset
            return error.code, b""


def announced(url, length):
    """The status of a POST whose body is so long, before any of it is sent."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_SECONDS)
    connection.putrequest("POST", "/mcp")
    for name, value in (("Content-Type", "application/json"), ("Content-Length", str(length))):
        connection.putheader(name, value)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.req("I2", "Z8")
def test_http_answers_no_page_of_a_stranger_and_no_nonsense(project_folder, env):
    """Names that a stranger may point here, origins elsewhere, other types, 10 MB: refused; fifty clients at once are served."""
    listing = json.dumps(request(1, "tools/list")).encode()
    lists = {"mcp_method": "tools/list"}

    def one(number):
        asked = json.dumps(tool(number, "research", question=QUESTION)).encode()
        status, body = post(url, asked, mcp_method="tools/call", mcp_name="research")
        assert status == 200
        told = json.loads(body.rpartition(b"data: ")[2])  # a stream, if it took long
        assert not told["result"].get("isError"), told["result"]["content"]
        return told["id"], told["result"]["structuredContent"]["results"]["report_path"]

    with over_http(project_folder, env) as url:
        assert post(url, listing, **lists)[0] == 200
        for status, headers in (
            (421, {"host": "rebound.example:80"}),
            (421, {"host": "127.0.0.1.example"}),
            (403, {"origin": "https://stranger.example"}),
            (403, {"origin": "null"}),
            (400, {"content_type": "text/plain"}),
            (400, {"mcp_method": "prompts/list"}),
        ):
            assert post(url, listing, **{**lists, **headers})[0] == status, headers
        assert post(url, listing, **lists, origin="http://localhost:6274")[0] == 200
        for body in (b"", b"{", b"[]", b"\xff", b"null"):
            assert 400 <= post(url, body, **lists)[0] < 500, body
        assert announced(url, MAX_MESSAGE_LENGTH + 1) == 413
        assert post(url.replace("/mcp", "/other"), listing, **lists)[0] == 404
        with ThreadPoolExecutor(50) as pool:
            served_at_once = list(pool.map(one, range(50)))
    assert [number for number, _path in served_at_once] == [*range(50)]
    assert len({path for _number, path in served_at_once}) == 1


@pytest.mark.req("I2", "Z8")
def test_http_beyond_this_machine_asks_for_the_token(project_folder, env):
    """Without it, or with another one, nobody is served; the token is nowhere on the command line."""
    token = "of-a-test-0123456789"
    listing = json.dumps(request(1, "tools/list")).encode()
    options = ("--host", "0.0.0.0", "--token-env", "DOOR")

    async def asked(url):
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as known,
            client(streamable_http_client(url, http_client=known)) as connected,
        ):
            return await connected.call_tool("lessons", {"phase": "code-review"})

    with over_http(project_folder, {**env, "DOOR": token}, *options) as shown:
        url = shown.replace("0.0.0.0", "127.0.0.1")
        for given in ({}, {"authorization": "Bearer other"}, {"authorization": token}):
            assert post(url, listing, mcp_method="tools/list", **given)[0] == 401
        assert post(url, listing, mcp_method="tools/list", authorization=f"Bearer {token}")[0] == 200
        assert "No lessons" in text(asyncio.run(asked(url)))
