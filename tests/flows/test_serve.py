"""`kr serve` as a process: where it listens, whom it lets in, how it ends, and what calls it takes."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from support.agents import QUESTION, project
from support.asked import Says
from support.fork_server import kr_argv
from support.inbox_page import TOKEN, UNSURE, served

from kr_core import HumanResponse, RequestError
from kr_core.plugin import HumanReply, PollResult
from kr_core.toolkit import served_at

pytestmark = pytest.mark.req("H2", "I3")


@contextmanager
def serving(folder, environ, *arguments, starts=False):
    """`kr serve`; with `starts` the process is its own, and not one that stands for it."""
    program = [sys.executable, "-m", "kr_core"] if starts else kr_argv(environ)
    with subprocess.Popen(
        [*program, "serve", *arguments],
        cwd=folder, env={**environ, "KR_TRUST": "all"}, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            process.message = process.stderr.readline()
            found = re.search(r"http://\S+(?=/\n)", process.message)
            process.url = found and found[0]
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_within_seconds_when_it_is_told_to(project_folder, environ, kr, number, code):
    """Also while a browser holds a connection and an agent works; the case waits on, and the page is no longer told of."""
    project(project_folder, more="escalations: [web]\n")
    (project_folder / "agent.py").write_text(
        "import json, pathlib, time\nhere = pathlib.Path(__file__).parent\n"
        "if (here / 'asked').exists():\n    (here / 'working').touch()\n    time.sleep(60)\n(here / 'asked').touch()\n"
        "print(json.dumps({'answer': 'Use Redis.', 'rationale': 'r', 'confidence': 65, 'uncertainty_reasons': []}))"
    )
    with serving(project_folder, environ, "--port", "0") as server:
        url = server.url
        assert served_at(project_folder / ".kr") == url
        asked = kr("ask", QUESTION, "--topic", "authentication", "--json", env={"KR_TRUST": "all"})
        assert asked.json["status"] == "escalated"
        with httpx.Client(base_url=url, timeout=30) as program, ThreadPoolExecutor(1) as pool:
            case = program.get("/api/inbox/E1").json()
            assert case["status"] == "notified"
            said = {"content": "Why?", "revision": 1}
            talk = pool.submit(program.post, "/api/inbox/E1/chat", json=said)
            while not (project_folder / "working").exists():
                assert not talk.done(), talk.result().text
                time.sleep(0.01)
            began = time.monotonic()
            server.send_signal(number)
            assert server.wait(60) == code
            assert time.monotonic() - began < 30  # the agent works for a minute
            assert talk.exception() is not None or talk.result().is_error
    assert served_at(project_folder / ".kr") is None
    assert kr("inbox", "show", "E1", "--json").json["status"] == "notified"


def test_what_it_cannot_do_is_said_before_it_serves(project_folder, kr):
    """A port that is taken, hosts and addresses that are none, a missing token: each with what to do, and exit code 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = kr("serve", "--port", port)
        assert (done.code, done.err) == (
            2,
            f"kr: 127.0.0.1:{port}: Address already in use; choose another with --host and --port\n",
        )
    for arguments, said in (
        (("--port", "99999"), "choose another with --host and --port"),
        (("--host", "no.such.host.invalid", "--token-env", "T"), "choose another with --host and --port"),
        (
            ("--host", "0.0.0.0"),
            "needs a token; name an environment variable that holds a token: --token-env KR_TOKEN",
        ),
        (("--url", "https://kr.example.org"), "needs a token"),
        (("--url", "kr.example.org"), "is not the address of a server"),
        (("--token-env", "NOT_SET"), "is not set"),
        (("--token-env", "SHORT"), "has less than 16 characters"),
    ):
        done = kr("serve", *arguments, env={"T": TOKEN, "SHORT": "abc"})
        assert (done.code, done.out) == (2, ""), arguments
        assert said in done.err, arguments
        assert len(done.err.splitlines()) == 1, done.err


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "nh3":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "nh3" else known(name, package)
"""
"""As a `sitecustomize` it makes Python believe that a library is not installed."""


def test_without_its_extra_it_says_what_to_install(kr, tmp_path):
    """The command that installs what is missing, and exit code 3."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    done = kr("serve", env={"PYTHONPATH": str(tmp_path)})
    assert (done.code, done.err) == (
        3, 'kr: needs nh3, which is not installed; pip install "kr-core[serve]"\n'
    )  # fmt: skip


@pytest.mark.req("Z6")
def test_beyond_the_machine_it_asks_for_the_token(project_folder, environ):
    """On all addresses it serves nobody without the token; the name of the machine is its own, others are not."""
    (project_folder / "kr.yaml").write_text("escalations: [web]\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    arguments = ("--host", "0.0.0.0", "--port", port, "--token-env", "T", "--url", "https://kr.example.org/")
    with serving(project_folder, {**environ, "T": TOKEN}, *arguments, starts=True) as server:
        assert server.message == "kr: the inbox is at https://kr.example.org/\n"
        state = json.loads((project_folder / ".kr/serve.json").read_text())
        assert state == {"url": "https://kr.example.org", "pid": server.pid}
        url = f"http://127.0.0.1:{port}/api/inbox"
        bearer = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(url).status_code == 401
        assert httpx.get(url, headers=bearer).status_code == 200
        known = {**bearer, "host": "kr.example.org", "origin": "https://kr.example.org"}
        assert httpx.get(url, headers=known).status_code == 200
        assert httpx.get(url, headers={**known, "host": "stranger.example"}).status_code == 421
        assert httpx.get(url, headers={**known, "origin": "http://kr.example.org:1"}).status_code == 403


class Bell:
    """A way to a human whose service calls by itself; what it calls with is a JSON value."""

    def __init__(self):
        self.told = []

    async def open(self, case, context):
        return f"bell/{case.request.id}"

    async def poll(self, shown, mark, context):
        return PollResult(mark=mark)

    async def acknowledge(self, case, notice, context):
        self.told.append((case.request.id, notice.kind, notice.message))

    async def receive(self, shown, headers, body, context):
        if headers.get("x-signature") != "right":
            raise RequestError("blocked", "the signature is wrong")
        try:
            said = json.loads(body)
        except ValueError:
            raise RequestError("bad_answer", "the body is no JSON") from None
        if said.get("wait"):
            await asyncio.sleep(said["wait"])
        assert {one.escalation_id for one in shown} >= {said["id"]}
        return PollResult([HumanReply(said["id"], HumanResponse(action="confirm", by="ann"), said["number"])])


@pytest.mark.req("H4", "Z6")
def test_a_service_that_calls_is_heard_if_the_call_is_its_own(tmp_path):
    """Its channel sees headers and body as they came, under whatever name the service calls; the reply is applied once."""
    with (
        served(tmp_path, token=TOKEN, escalations={"bell": Bell()}, duc=Says(UNSURE)) as inbox,
        httpx.Client(
            base_url=inbox.url, headers={"host": "kr.example.org", "X-Signature": "right"}
        ) as caller,
    ):
        key = inbox.ask()
        body = json.dumps({"id": key, "number": "1"}).encode()
        assert caller.post("/hooks/bell", content=body, headers={"X-Signature": "wrong"}).status_code == 401
        assert caller.post("/hooks/bell", content=b"{").status_code == 400
        assert caller.post("/hooks/nobody", content=body).status_code == 404
        assert caller.post("/hooks/bell", content=b"x" * 5_000_001).status_code == 413
        assert caller.get("/hooks/bell").status_code == 405
        assert inbox.case(key).waits
        first = caller.post("/hooks/bell", content=body)
        again = caller.post("/hooks/bell", content=body)
        assert [(one.status_code, one.text) for one in (first, again)] == [(200, "1 new\n"), (200, "0 new\n")]
        assert inbox.case(key).resolution.by == "ann"


def test_who_answers_on_the_page_is_told_of_by_all_other_ways(tmp_path):
    """The first valid reply wins; who would have replied elsewhere learns whose it was, and that theirs comes too late."""
    bell = Bell()
    with (
        served(tmp_path, escalations={"bell": bell}, duc=Says(UNSURE)) as inbox,
        inbox.person() as person,
        httpx.Client(base_url=inbox.url, headers={"X-Signature": "right"}) as caller,
    ):
        key = inbox.ask()
        person.open(f"/cases/{key}")
        person.fill("/reply", action="confirm", by="Grace")
        late = caller.post("/hooks/bell", content=json.dumps({"id": key, "number": "1"}).encode())
        assert late.status_code == 200
        inbox.run(inbox.service.tend())
        assert inbox.case(key).resolution.by == "Grace"
        said = [(kind, "Grace" in text) for one, kind, text in bell.told if one == key]
        assert ("ended", True) in said
        assert ("refused", True) in said
