"""A tool of an MCP server is called over HTTP or by starting a program; whatever the server does, the call ends in time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp_types import BlobResourceContents, EmbeddedResource, TextContent, TextResourceContents
from support import mcp_servers
from support.loopback import Answer, serving
from support.patience import in_time

from kr_core import RequestError
from kr_core.net.mcp import mcp_client
from kr_core.plugin import Outcome, Program

pytestmark = pytest.mark.req("R8", "R9")


def call(way, server, tool="ask", arguments=None, *, seconds=10.0, headers=None):
    """One call; its result and whether a request was sent."""

    async def go():
        async with way.out(seconds=seconds) as context:
            try:
                result = await context.call_tool(server, tool, arguments or {}, headers=headers or {})
            except RequestError as error:
                result = error
            return result, context.reached

    return asyncio.run(go())


def failure(way, server, **options):
    """The error of a call that must fail."""
    error, reached = call(way, server, **options)
    assert isinstance(error, RequestError), error
    return error, reached


def python(code, *arguments, **environment):
    """A program that runs this code."""
    return Program([sys.executable, "-c", code, *map(str, arguments)], environment)


def parcels():
    server = MCPServer("parcels", log_level="CRITICAL")

    @server.tool()
    def ask(question: str) -> str:
        """Answer a question."""
        return f"You asked: {question}"

    @server.tool()
    def fail(question: str) -> str:
        """Fail."""
        raise ValueError(question)

    return server


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    git = ["git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "Wait 30 s for a parcel"], check=True)
    return folder


# -- real servers ----------------------------------------------------------------------------------------


def test_a_program_of_the_newest_protocol_answers(way, repository):
    """`mcp-server-git` is started, asked and ended."""
    server = Program([*mcp_servers.git_server(), "--repository", str(repository)])
    result, reached = call(
        way, server, "git_log", {"repo_path": str(repository), "max_count": 1}, seconds=60.0
    )
    assert "Message: Wait 30 s for a parcel" in result.text
    assert reached
    assert not result.is_error
    kinds = [(kind, data["method"], data["url"], data["error"]) for kind, data in way.events]
    assert kinds == [("source.request", "tools/call git_log", "mcp-server-git", "")]


def test_a_program_of_an_older_protocol_answers(way):
    """The reference server speaks the protocol of 2025."""
    server = Program(mcp_servers.everything())
    result, _reached = call(way, server, "get-structured-content", {"location": "New York"}, seconds=60.0)
    assert result.structured["conditions"]
    assert str(result.structured["temperature"]) in result.text


def test_a_session_over_http_is_opened_and_closed(way):
    """The reference server over HTTP opens a session in the older way."""
    with mcp_servers.program([*mcp_servers.everything(), "streamableHttp"]) as address:
        result, reached = call(way, f"{address}/mcp", "echo", {"message": "parcel"})
    assert (result.text, reached) == ("Echo: parcel", True)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_server_over_http_answers(way, legacy):
    """By the newest protocol and by the one with a handshake, with the headers that were given."""
    with mcp_servers.serving(parcels(), legacy=legacy) as (url, asked):
        result, _ = call(way, url, "ask", {"question": "how?"}, headers={"Authorization": "Bearer abcdef"})
    assert result.text == "You asked: how?"
    assert {headers["authorization"] for _method, headers in asked} == {"Bearer abcdef"}
    assert {headers["user-agent"].partition("/")[0] for _method, headers in asked} == {"kr-core"}
    assert way.events[-1][1]["status"] == 200
    assert way.events[-1][1]["sent"] == '{"question": "how?"}'


def test_a_tool_that_fails_says_so(way):
    """What the server says itself of a failure is handed on."""
    with mcp_servers.serving(parcels()) as (url, _asked):
        failed, _ = call(way, url, "fail", {"question": "how?"})
        unknown, _ = call(way, url, "nothing")
    assert failed.is_error
    assert unknown.is_error
    assert "nothing" in unknown.text


def test_a_text_in_an_embedded_resource_is_part_of_the_answer(way):
    """Servers of documents answer so; what is no text is left out."""
    way.outside.mcp = server = MCPServer("documents", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def ask() -> list[Any]:
        """Give a document."""
        note = TextResourceContents(uri="docs://note", text="Wait 30 s for a parcel.")
        picture = BlobResourceContents(uri="docs://picture", blob="AAAA")
        resources = [EmbeddedResource(type="resource", resource=one) for one in (note, picture)]
        return [TextContent(type="text", text="Found:"), *resources]

    result, reached = call(way, "http://mcp.example/")
    assert (result.text, reached) == ("Found:\n\nWait 30 s for a parcel.", True)


def test_a_question_with_lone_surrogates_can_be_asked(way):
    """No message can hold them."""
    with mcp_servers.serving(parcels()) as (url, _asked):
        result, _ = call(way, url, "ask", {"question": "how\ud800?"})
    assert result.text == "You asked: how??"


# -- programs that misbehave -----------------------------------------------------------------------------

HANGS = "import time; time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANGS}"
GREETS = f"print('\\nwelcome', flush=True); {HANGS}"
BABBLES = "while True: print('{\"a\": 1}', flush=True)"
ENDS = "import sys; print('no licence', file=sys.stderr); sys.exit(3)"
LONG = f"import sys; sys.stdout.write('x' * 50_000_000); sys.stdout.flush(); {HANGS}"
MUCH = "import json; say = json.dumps({'jsonrpc': '2.0', 'method': 'notifications/x', 'params': {'x': 'y' * 10_000}})\nwhile True: print(say)"
LOUD = f"import sys\nfor _ in range(5000): sys.stderr.write('x' * 1000)\n{HANGS}"


@pytest.mark.parametrize(
    ("code", "outcome", "said"),
    [
        (HANGS, Outcome.timeout, "no answer within"),
        (DEAF, Outcome.timeout, "no answer within"),
        (LOUD, Outcome.timeout, "no answer within"),
        (GREETS, Outcome.timeout, "it last said: welcome"),
        (BABBLES, Outcome.bad_answer, "is not MCP"),
        (ENDS, Outcome.unavailable, "ended with exit code 3 before it answered: no licence"),
        ("import os; os.abort()", Outcome.unavailable, "ended by signal 6"),
        (LONG, Outcome.bad_answer, "longer than 8 MB"),
        (MUCH, Outcome.bad_answer, "longer than 8 MB"),
    ],
    ids=["hangs", "deaf", "loud", "greets", "babbles", "ends", "crashes", "long", "much"],
)
def test_a_program_that_misbehaves_has_a_typed_outcome_in_time(way, capfd, code, outcome, said):
    """It is ended, and nothing that it says reaches the terminal."""
    begun = time.monotonic()
    error, reached = failure(way, python(code), seconds=0.7 if outcome is Outcome.timeout else 20.0)
    assert time.monotonic() - begun < (3.0 if outcome is Outcome.timeout else 20.0)
    assert error.outcome == outcome
    assert said in str(error)
    assert reached, "who was started may have gone out"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("argv", [["/nowhere/server"], [os.curdir], ["a\0b"]])
def test_a_program_that_cannot_be_started_costs_nothing(way, argv):
    """Its command is told, and what to do."""
    error, reached = failure(way, Program(argv))
    assert error.outcome == Outcome.unavailable
    assert "cannot be started" in str(error)
    assert "`command`" in str(error)
    assert not reached


def test_what_was_given_in_confidence_is_not_told(way):
    """Neither in the error, nor in the event, where the program repeats it."""
    code = "import os, sys; print('wrong key', os.environ['TOKEN'], file=sys.stderr); sys.exit(1)"
    error, _ = failure(way, python(code, "--key", "hush-hush-hush", TOKEN="s3cr3t-t0k3n"))
    assert "wrong key [redacted]" in str(error)
    told = f"{error} {way.events}"
    assert "s3cr3t-t0k3n" not in told
    assert "hush-hush-hush" not in told


def test_a_program_that_failed_again_and_again_is_left_alone(way):
    """Its circuit is its own: another program of the same name is still started."""
    for _ in range(5):
        failure(way, python("raise SystemExit(1)"))

    async def refused():
        async with way.out() as context:
            with pytest.raises(Exception, match="failed again and again"):
                await context.call_tool(python("raise SystemExit(1)"), "ask", {})
            return context.reached

    assert asyncio.run(refused()) is False
    error, _ = failure(way, python("raise SystemExit(2)"))
    assert "exit code 2" in str(error)


# -- cancellation ----------------------------------------------------------------------------------------

FAMILY = """
import os, signal, subprocess, sys, time
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[2] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.replace(sys.argv[2] + ".part", sys.argv[2])
time.sleep(600)
"""


async def _once(task):
    task.cancel()
    await asyncio.wait({task})


async def _again_and_again(task):
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)


def _lives(pid):
    """Whether a process is there and no zombie that nobody has buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("given_up", [_once, _again_and_again])
@pytest.mark.parametrize("kind", ["docile", "deaf"])
def test_a_cancelled_call_ends_the_program_and_what_it_started(way, tmp_path, kind, given_up):
    """Within the time that a cancelled call has, and no task is left."""
    pids = tmp_path / "pids"

    async def go():
        async with way.out(seconds=60.0) as context:
            calling = context.call_tool(python(FAMILY, kind, pids), "ask", {})
            task = asyncio.ensure_future(calling)
            await asyncio.to_thread(mcp_servers.until, pids.exists, 20.0, "it did not start")
            begun = time.monotonic()
            await given_up(task)
            assert task.cancelled()
            assert time.monotonic() - begun < 20.0  # of 60
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(go()) == set()
    for pid in pids.read_text().split():
        mcp_servers.until(lambda pid=pid: not _lives(pid), 20.0, f"{pid} still runs")


def test_a_call_cancelled_by_a_scope_of_anyio_ends_over_http(way):
    """Starlette and FastAPI cancel like this."""
    with serving(lambda _asked: time.sleep(1.0) or Answer(200, b"")) as server:

        async def go():
            async with way.out(seconds=60.0) as context:
                begun = time.monotonic()
                with anyio.move_on_after(0.2):
                    await context.call_tool(server.url, "ask", {})
                return time.monotonic() - begun, asyncio.all_tasks() - {asyncio.current_task()}

        seconds, left = asyncio.run(go())
    assert seconds < 1.0
    assert left == set()


# -- servers over HTTP that misbehave --------------------------------------------------------------------

MCP = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (Answer(401), Outcome.blocked, "answered 401"),
        (Answer(403), Outcome.blocked, "answered 403"),
        (Answer(402), Outcome.limited, "answered 402"),
        (Answer(429), Outcome.limited, "answered 429"),
        (Answer(404), Outcome.unavailable, "answered 404"),
        (Answer(500), Outcome.unavailable, "answered 500"),
        (Answer(503), Outcome.unavailable, "answered 503"),
        (Answer(reset=True), Outcome.unavailable, "disconnected"),
        (Answer(302, b"", {"Location": "http://169.254.169.254/"}), Outcome.unavailable, "not followed"),
        (Answer(200, "<html>"), Outcome.bad_answer, "no MCP server"),
        (Answer(200, "{", MCP), Outcome.bad_answer, "no message of MCP"),
        (Answer(200, b"\xff\xfe", MCP), Outcome.bad_answer, "no message of MCP"),
        (Answer(200, "[" * 100_000, MCP), Outcome.bad_answer, "no message of MCP"),
        (Answer(200, {"jsonrpc": 7}), Outcome.bad_answer, "no message of MCP"),
        (Answer(200, "data: x\n\n", EVENTS), Outcome.bad_answer, "no message of MCP"),
        (Answer(200, "event: ping\n\n", EVENTS), Outcome.unavailable, "without a response"),
        (Answer(200, b"x" * 50_000_000, MCP), Outcome.bad_answer, "longer than 8 MB"),
        (Answer(200, b"data: " + b"x" * 50_000_000, EVENTS), Outcome.bad_answer, "longer than 8 MB"),
        (Answer(202), Outcome.unavailable, "202"),
    ],
    ids=lambda value: None if isinstance(value, Answer) else str(value).replace(" ", "-"),
)  # fmt: skip
def test_a_server_that_misbehaves_has_a_typed_outcome(way, answer, outcome, said):
    """A failure of the service is never an answer."""
    with serving(lambda _asked: answer) as server:
        error, reached = failure(way, f"{server.url}/mcp?key=hush")
    assert error.outcome == outcome
    assert said in str(error)
    assert str(error).startswith(f"{server.url}/mcp: "), "the query is nobody's business"
    assert "hush" not in f"{error} {way.events}"
    assert reached


def test_the_sdk_prints_nothing():
    """It logs with tracebacks what it cannot read, and Python prints what nobody handles."""
    code = """if True:
        import asyncio, sys
        from kr_core import RequestError
        from kr_core.net.source_context import ConsultationContext
        from kr_core.net.shared_resources import SharedResources

        async def ask():
            outside = SharedResources(None)
            context = ConsultationContext(None, lambda *_: None, asyncio.get_running_loop().time() + 9, outside, "docs")
            try:
                await context.call_tool(sys.argv[1], "ask", {})
            except RequestError as error:
                print(error.outcome)
            await context.close()

        asyncio.run(ask())
    """
    with serving(lambda _asked: Answer(200, "{", MCP)) as server:
        command = [sys.executable, "-W", "error", "-c", code, server.url]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("bad_answer\n", "")


@pytest.mark.req("Z5")
def test_a_server_that_asks_to_wait_is_asked_again_in_time(way):
    """`Retry-After` is honoured; the answer after it stands."""
    with serving(lambda _asked: Answer(429, b"", {"Retry-After": "0.1"})) as server:
        error, _ = failure(way, server.url)
        assert (error.outcome, len(server.asked)) == (Outcome.limited, 3)
        late, _ = failure(way, server.url, seconds=0.5)
    assert late.outcome == Outcome.limited


@pytest.mark.req("R7")
def test_a_server_that_is_not_there_costs_nothing(way):
    """No connection came about, so no request was sent."""
    with serving(lambda _asked: Answer()) as server:
        url = server.url
    error, reached = failure(way, url)
    assert error.outcome == Outcome.unavailable
    assert "ConnectError" in str(error)
    assert not reached
    error, reached = failure(way, "http://[::1")
    assert "no address: InvalidURL" in str(error)
    assert not reached


def test_a_server_that_does_not_answer_is_given_up_in_time(way):
    """The error comes at the deadline, not after it."""
    with serving(lambda _asked: time.sleep(0.6) or Answer(200, b"")) as server:
        error, reached = in_time(lambda: failure(way, server.url, seconds=0.3), 0.9)
    assert error.outcome == Outcome.timeout
    assert reached


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["answer"]},
        {"properties": {"other": {"pattern": "^(a|a)*$"}}},
        {"$ref": "#"},
        {"$ref": "https://schemas.example/any"},
        {"type": "nothing"},
    ],
    ids=["other", "slow", "endless", "elsewhere", "invalid"],
)
def test_what_a_server_declares_of_its_answers_checks_none(way, schema):
    """A schema is a program of the server's: its patterns may take for ever. So the texts of an answer are read as they are."""

    def answer(asked):
        message = json.loads(asked.body)
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        tool = {
            "name": "ask",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", **schema},
        }
        results = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **more},
            "tools/list": {"tools": [tool], **more},
            "tools/call": {
                "content": [{"type": "text", "text": "Wait 30 s."}],
                "structuredContent": {"other": "a" * 40 + "b"},
                "resultType": "complete",
            },
        }
        return {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}

    with serving(answer) as server:
        result, _ = call(way, server.url)
        methods = [json.loads(asked.body)["method"] for asked in server.asked]
    assert (result.text, result.structured) == ("Wait 30 s.", {"other": "a" * 40 + "b"})
    assert "tools/list" not in methods, "nothing of it is needed"


def test_a_text_that_a_server_in_this_process_makes_too_long_is_refused(way, monkeypatch):
    """Over HTTP and from a program it does not get so far."""
    way.outside.mcp = server = MCPServer("long", log_level="CRITICAL")

    @server.tool()
    def ask() -> str:
        """Say too much."""
        return "x" * (mcp_client.MAX_BYTES + 1)

    error, _ = failure(way, "http://mcp.example/")
    assert error.outcome == Outcome.bad_answer
