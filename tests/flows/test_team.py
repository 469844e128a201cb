"""`kr team` as a process: lines in, lines out, its log apart, and how it ends."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from contextlib import contextmanager
from datetime import date, timedelta

import pytest
from support.fork_server import kr_argv
from support.loopback import serving
from support.services import LIBRARY, SNIPPET
from support.team_messages import SEEDS_ANSWER, SEEDS_INDEX, SEEDS_REQUEST, SEEDS_ROSTER

CONFIGURED = "knowledge_research: {{sources: [context7]}}\nplugins: {{context7: {{base_url: '{url}/api'}}}}\n"
WAIT_SECONDS = 120


class Service:
    """Context7, which answers at once, or when it is let go."""

    def __init__(self):
        self.open = threading.Event()
        self.open.set()
        self.asked = threading.Semaphore(0)
        self.library, self.snippet = LIBRARY, SNIPPET

    def __call__(self, asked):
        if asked.path.endswith("/search"):
            return {"results": [self.library], "searchFilterApplied": False}
        self.asked.release()
        self.open.wait(WAIT_SECONDS)
        return {"codeSnippets": [self.snippet], "infoSnippets": []}

    def wait_until_asked(self):
        assert self.asked.acquire(timeout=WAIT_SECONDS)


class Team:
    """A running `kr team`."""

    def __init__(self, folder, environ, *arguments):
        command = kr_argv(environ, "team", *arguments)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.log = []
        self._lines = queue.SimpleQueue()
        self._logged = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_log, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.decode())
        self._lines.put("")

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode().rstrip("\n"))
            self._logged.put(self.log[-1])
        self._logged.put(None)

    def say(self, *lines):
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else f"{line}\n".encode())
        self.process.stdin.flush()

    def wait_for_log(self, text):
        for line in iter(self._logged.get, None):
            if text in line:
                return
        raise AssertionError(self.log)

    def hear(self):
        """The next line, without its end; empty once there is none."""
        return self._lines.get(timeout=WAIT_SECONDS).rstrip("\n")

    def result(self):
        name, _, body = self.hear().partition(": ")
        assert name == "RESEARCH_RESULT", (name, body)
        return json.loads(body)

    def end(self):
        """What is heard until the end, and the exit code."""
        heard = list(iter(self.hear, ""))
        code = self.process.wait(WAIT_SECONDS)
        for reader in self._readers:
            reader.join(WAIT_SECONDS)
        return heard, code


@pytest.fixture
def service():
    made = Service()
    with serving(made) as server:
        made.url = server.url
        yield made
        made.open.set()


@pytest.fixture
def folder(tmp_path, service):
    made = tmp_path / "team"
    made.mkdir()
    (made / "kr.yaml").write_text(CONFIGURED.format(url=service.url))
    return made


@pytest.fixture
def team(folder, environ):
    """Start `kr team`: `with team("--session", "s1") as one:`."""

    @contextmanager
    def start(*arguments, **changes):
        one = Team(folder, {**environ, **changes}, *arguments)
        try:
            yield one
        finally:
            one.process.kill()
            one.process.wait()
            for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
                try:
                    stream.close()
                except OSError:
                    pass

    return start


def asking(topic="timeout", number=None, story="3-1", **values):
    body = {
        "story_key": story, "requesting_agent": "dev-runner-3-1",
        "queries": [{"query": f"How do I set the {topic} for a parcel?", "framework": "parcel", "framework_version": "1.4.0",
                     "topic": topic, "tags": [topic], **values}],
    }  # fmt: skip
    return "RESEARCH_REQUEST: " + json.dumps(body if number is None else {**body, "request_id": number})


def word(number):
    """A topic that is like no other."""
    return "".join(chr(ord("b") + int(digit) * 2) for digit in f"{number:03}") * 2


@pytest.mark.req("T1", "T4")
def test_the_conversation_of_a_sprint(team):
    """Asked, asked again, and ended: results on standard output, the log on standard error, the exit code 0."""
    with team() as one:
        one.say(asking())
        first = one.result()
        one.say(asking(story="4-2"), "status_request")
        second, status = one.result(), one.hear()
        one.say("shutdown_request")
        heard, code = one.end()
    assert [result["results"][0]["status"] for result in (first, second)] == ["success", "cache-hit"]
    assert (first["story_key"], second["story_key"]) == ("3-1", "4-2")
    assert json.loads(status.removeprefix("status_response: "))["cache_hit_rate"] == 0.5
    assert heard == ["shutdown_response: approve"]
    assert code == 0
    assert one.log[-2:] == [
        "[KR-TEAM] Cache hits: 1 of 2 queries (50%)",
        "[KR-TEAM] Shutdown acknowledged, 2 research requests served this Sprint",
    ]


@pytest.mark.req("T1", "T5")
def test_the_messages_of_the_seeds_get_the_answers_of_the_seeds(team, folder, service):
    """Field by field, from the process itself: the result of the request, and the line of the log for the roster."""
    base = folder / "knowledge-base"
    (base / "frameworks/vue-easytable").mkdir(parents=True)
    (base / "index.yaml").write_text("schema_version: 1\nentries:" + SEEDS_INDEX.format(status="stale"))
    old = "# old\n\n**Framework:** vue-easytable\n"
    (base / "frameworks/vue-easytable/virtual-scroll.md").write_text(old)
    service.library = SEEDS_LIBRARY
    service.snippet = SEEDS_SNIPPET
    with team() as one:
        one.say(SEEDS_ROSTER)
        one.wait_for_log("[KR] Roster updated: 3 residents, 1 slaves, 2 temps")
        one.say(SEEDS_REQUEST)
        first = one.result()
        one.say(SEEDS_REQUEST)
        second = one.result()
        one.say("shutdown_request")
        assert one.end() == (["shutdown_response: approve"], 0)
    assert [*first][:2] == ["story_key", "results"]
    for result, status in ((first, "success"), (second, "cache-hit")):
        assert (result["story_key"], result["requesting_agent"]) == ("3-1", "dev-runner-3-1")
        assert result["errors"] == []
        (told,) = result["results"]
        assert [*told][:5] == ["query", "status", "report_path", "confidence", "summary"]
        assert told["query"] == "How to configure virtual scrolling with dynamic row heights?"
        assert told["status"] == status
        assert told["report_path"] == "frameworks/vue-easytable/virtual-scroll.md"
        assert told["confidence"] == "high"
        assert "use <ve-table> with `virtual-scroll-option` prop" in told["summary"]


SEEDS_LIBRARY = {
    **LIBRARY, "id": "/happy-coding-clans/vue-easytable", "title": "vue-easytable", "versions": ["v2.27.1"],
}  # fmt: skip
SEEDS_SNIPPET = {
    **SNIPPET, "codeTitle": "Configure virtual scrolling with dynamic row heights",
    "codeDescription": SEEDS_ANSWER, "pageTitle": "Virtual scrolling configuration",
    "codeList": [{"language": "html", "code": '<ve-table :virtual-scroll-option="option" />'}],
}  # fmt: skip


@pytest.mark.req("T4")
@pytest.mark.parametrize(
    "how", ["shutdown_request", '{"type": "shutdown_request"}', "SIGTERM", "SIGINT", "EOF"]
)
def test_every_end_finishes_what_is_in_hand(team, service, folder, how):
    """A message, a signal or the end of the input: the result in hand is sent, then the approval, exit 0."""
    service.open.clear()
    with team() as one:
        one.say(asking())
        service.wait_until_asked()
        if how == "EOF":
            one.process.stdin.close()
        elif how.startswith("SIG"):
            one.process.send_signal(signal.Signals[how])
        else:
            one.say(how)
        service.open.set()
        heard, code = one.end()
    assert [line.partition(":")[0] for line in heard] == ["RESEARCH_RESULT", "shutdown_response"]
    assert '"status": "success"' in heard[0]
    assert code == 0
    assert (folder / "knowledge-base/index.yaml").read_text().count("- id:") == 1
    assert one.log[-1].endswith("1 research requests served this Sprint")


@pytest.mark.req("T4")
def test_at_the_end_of_the_input_all_that_was_asked_is_answered(team, service):
    """More than may be worked on at once: nothing is refused, as nobody has told it to end."""
    service.open.clear()
    with team() as one:
        one.say(*(asking(word(number), number, story=f"{number + 1}-1") for number in range(20)))
        one.process.stdin.close()
        service.wait_until_asked()
        service.open.set()
        heard, code = one.end()
    assert code == 0
    results = [json.loads(line.removeprefix("RESEARCH_RESULT: ")) for line in heard[:-1]]
    assert {result["request_id"] for result in results} == set(range(20))
    assert {result["results"][0]["status"] for result in results} == {"success"}
    assert heard[-1] == "shutdown_response: approve"
    assert one.log[-1].endswith("20 research requests served this Sprint")


@pytest.mark.req("T4")
def test_after_the_end_of_the_input_it_can_still_be_told_to_end(team, service, folder):
    """Then what waits is refused."""
    (folder / "kr.yaml").write_text("defaults: {max_concurrent: 1}\n" + (folder / "kr.yaml").read_text())
    service.open.clear()
    with team() as one:
        one.say(asking(word(1), 1))
        service.wait_until_asked()
        one.say(asking(word(2), 2), "status_request")
        one.hear()  # both are taken
        one.process.stdin.close()
        one.process.send_signal(signal.SIGTERM)
        one.wait_for_log("Shutting down")
        service.open.set()
        heard, code = one.end()
    assert code == 0
    assert [json.loads(line.partition(": ")[2])["results"][0]["status"] for line in heard[:-1]] == [
        "failure",
        "success",
    ]


@pytest.mark.req("T4")
def test_what_is_asked_after_a_shutdown_request_is_refused_until_the_end(team, service):
    """Each line gets its answer while work in hand is finished: what is known too, as nothing more is written."""
    with team() as one:
        one.say(asking("weight"))
        assert one.result()["results"][0]["status"] == "success"
        service.wait_until_asked()
        service.open.clear()
        one.say(asking("timeout", 1))
        service.wait_until_asked()
        one.say("shutdown_request", asking("colour", 2), asking("weight", 3))
        refused = [one.result(), one.result()]
        one.say("hello", asking("height", 4))
        unknown, late = one.result(), one.result()
        service.open.set()
        heard, code = one.end()
    assert [result["request_id"] for result in (*refused, late)] == [2, 3, 4]
    for result in (*refused, late):
        assert (result["story_key"], result["requesting_agent"]) == ("3-1", "dev-runner-3-1")
        assert [error["type"] for error in result["errors"]] == ["shutdown"]
        assert result["results"][0]["status"] == "failure"
    assert unknown["errors"][0]["type"] == "unknown_message"
    assert '"status": "success"' in heard[0]
    assert (heard[1:], code) == (["shutdown_response: approve"], 0)
    assert one.log[-1].endswith("2 research requests served this Sprint")


@pytest.mark.req("T4")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_told_to_end_while_it_starts(team, tmp_path, number):
    """A signal that comes while the most of it is being imported ends it in good order."""
    (tmp_path / "sitecustomize.py").write_text(EARLY.format(number=int(number)))
    with team(PYTHONPATH=str(tmp_path)) as one:
        assert one.end() == (["shutdown_response: approve"], 0)
    assert one.log[-1] == "[KR-TEAM] Shutdown acknowledged, 0 research requests served this Sprint"


EARLY = """
import os, sys

class Tell:
    def find_spec(self, name, path, target=None):
        if name == "kr_core.research":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Tell())
"""


@pytest.mark.req("T4")
def test_a_second_signal_gives_up_what_is_in_hand(team, service):
    service.open.clear()
    with team() as one:
        one.say(asking())
        service.wait_until_asked()
        one.process.send_signal(signal.SIGTERM)
        one.wait_for_log("Shutting down, 1 queries in hand")
        one.process.send_signal(signal.SIGTERM)
        heard, code = one.end()
    assert code == 0
    assert '"status": "failure"' in heard[0]
    assert heard[-1] == "shutdown_response: approve"


@pytest.mark.req("T2")
def test_bad_lines_get_an_error_each_and_the_process_lives_on(team):
    """Broken JSON, unknown messages, what is not UTF-8, two messages in one line, ten megabytes; blank lines get nothing."""
    halves = asking()[:60], asking()
    bad = [
        b"RESEARCH_REQUEST: {\n", b"RESEARCH_REQUEST:\n", b"RESEARCH_REQUEST\n", b"RESEARCH_REQUEST: [1]\n", b'{"a": 1}\n',
        b'{"msg_type": "TASK_DONE"}\n', b'{"msg_type": ["x"]}\n', b"hello: {}\n", b"hello\n", b"{\n", b"\xff\xfe\n", b"\0\n",
        b"RESEARCH_REQUEST: " + b"[" * 100_000 + b"\n", b'RESEARCH_REQUEST: {"a": ' + b"9" * 10_000 + b"}\n",
        *(asking().replace('"3-1"', number, 1).encode() + b"\n" for number in ("NaN", "1e999", "-Infinity")),
        "".join(halves).encode() + b"\n", b"RESEARCH_REQUEST: " + b"x" * 10_000_000 + b"\n", b"AGENT_ROSTER_BROADCAST: {}\n",
    ]  # fmt: skip
    with team() as one:
        one.say(b"\n", b"  \r\n", *bad)
        results = [one.result() for _ in bad]
        one.say(asking().encode() + b"\r\n")
        good = one.result()
        one.say("shutdown_request")
        assert one.end()[1] == 0
    for result in results:
        assert (result["story_key"], result["results"], len(result["errors"])) == (None, [], 1)
        assert len(json.dumps(result)) < 500
    assert "10000018 bytes" in results[-2]["errors"][0]["message"]
    assert good["results"][0]["status"] == "success"


@pytest.mark.req("T1", "T2")
def test_a_request_over_several_lines_is_one_message(team):
    """Pretty-printed it has one result; cut off by the next message, or by the end, one error."""
    name, _, body = asking().partition(": ")
    request = f"{name}: {json.dumps(json.loads(body), indent=2)}"
    with team() as one:
        one.say(request, request[:-2], request)
        results = [one.result() for _ in range(3)]
        one.say("RESEARCH_REQUEST: {", '  "story_key": "3-1",')
        one.process.stdin.close()
        last, (end,), code = one.result(), *one.end()
    (cut,) = (one for one in results if one["errors"])
    assert {one["results"][0]["status"] for one in results if one["results"]} <= {"success", "cache-hit"}
    assert "is not complete after 14 lines: a new message begins" in cut["errors"][0]["message"]
    assert "is not complete after 2 lines: the input ends" in last["errors"][0]["message"]
    assert (end, code) == ("shutdown_response: approve", 0)


@pytest.mark.req("T1")
def test_text_in_any_script_comes_back_as_it_was(team):
    """UTF-8 both ways; a lone surrogate is no text, and its refusal is one that JSON has a form for."""
    with team() as one:
        one.say(asking(query="如何设置 parcel 的 timeout? \N{LINE SEPARATOR} \N{SNOWMAN}"))
        assert (
            one.result()["results"][0]["query"]
            == "如何设置 parcel 的 timeout? \N{LINE SEPARATOR} \N{SNOWMAN}"
        )
        one.say(asking(query="\ud800 parcel"))
        assert one.result()["results"][0]["query"] == "\ud800 parcel"


@pytest.mark.req("T2")
def test_a_line_that_comes_in_pieces_is_one_line(team):
    with team() as one:
        for byte in f"{asking()}\n".encode():
            one.say(bytes([byte]))
        assert one.result()["results"][0]["status"] == "success"
        one.say(asking("weight").encode())  # its end never comes
        one.process.stdin.close()
        heard, code = one.end()
    assert (code, len(heard)) == (0, 2)
    assert '"status": "success"' in heard[0]


@pytest.mark.req("T4")
def test_a_peer_that_goes_away_ends_it_and_the_work_is_kept(folder, service, environ):
    """Nobody can read the result of what is in hand: it is in the knowledge base, and the process ends in good order."""
    service.open.clear()
    with _with_outlet(folder, environ) as (process, reading):
        process.stdin.write(f"{asking()}\n".encode())
        process.stdin.flush()
        service.wait_until_asked()
        os.close(reading.pop())
        process.stdin.write(b"hello\n")  # its answer meets nobody
        process.stdin.flush()
        service.open.set()
        assert process.wait(WAIT_SECONDS) == 0
        assert b"1 research requests served" in process.stderr.read()
    assert "timeout" in (folder / "knowledge-base/index.yaml").read_text()


@pytest.mark.req("T2")
def test_of_a_peer_that_never_reads_no_more_is_read(folder, environ):
    """Forty megabytes of answers are asked for: some are made, memory stays bounded, and SIGTERM ends it, with 1."""
    queries = [{"query": "x" * 9_000}] * 100
    line = f"RESEARCH_REQUEST: {json.dumps({'story_key': 'none', 'queries': queries})}\n".encode()

    def write():
        try:
            for _ in range(45):
                process.stdin.write(line)
        except OSError:
            stopped.set()

    stopped = threading.Event()
    with _with_outlet(folder, environ) as (process, _reading):
        writing = threading.Thread(target=write, daemon=True)
        writing.start()
        while b"not read" not in (said := process.stderr.readline()):
            assert said
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_SECONDS) == 1
        assert b"no one has read the last" in process.stderr.read()
        writing.join(WAIT_SECONDS)
        assert stopped.is_set()


@contextmanager
def _with_outlet(folder, environ):
    """`kr team` on a pipe whose reading end is the test's; a test that closes it takes it out of the list."""
    end, outlet = os.pipe()
    reading = [end]
    command = kr_argv(environ, "team")
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdin=subprocess.PIPE, stdout=outlet, stderr=subprocess.PIPE
    )
    os.close(outlet)
    try:
        yield process, reading
    finally:
        process.kill()
        process.wait()
        for one in reading:
            os.close(one)
        process.stderr.close()
        try:
            process.stdin.close()
        except OSError:  # what it had not read
            pass


@pytest.mark.req("T4")
def test_what_plugins_read_and_print_is_kept_from_the_conversation(team, tmp_path, folder):
    """A plugin that prints, and a program that it starts and that reads standard input, disturb nothing."""
    site = tmp_path / "site"
    info = site / "chatty-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chatty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kr]\nchatty = chatty\n")
    (site / "chatty.py").write_text(CHATTY)
    (folder / "kr.yaml").write_text("knowledge_research: {sources: [chatty]}\n")
    with team(PYTHONPATH=str(site)) as one:
        one.say(asking(), asking("weight", number=2), asking("weight", number=3))
        results = [one.result() for _ in range(3)]
        one.say("shutdown_request")
        assert one.end() == (["shutdown_response: approve"], 0)
    assert {result["results"][0]["status"] for result in results} <= {"success", "cache-hit"}
    assert any("printed" in line for line in one.log)
    assert any("shouted" in line for line in one.log)


CHATTY = """
import subprocess
from kr_core import Finding, Outcome, Passage, Provider, Source, hookimpl

class Chatty:
    external = False
    timeout_seconds = 30.0

    async def query(self, query, context):
        print("printed", flush=True)
        subprocess.run(["sh", "-c", "cat; echo shouted"], check=True)
        text = f"Set the {query.topic} for a parcel with `{query.topic}=`."
        passage = Passage(text=text, url="https://example.org/x", title="x", coverage=0.9)
        return Finding(outcome=Outcome.ok, passages=(passage,), url=passage.url)

@hookimpl
def kr_source() -> Provider[Source]:
    return Provider(lambda _settings, _setup: Chatty())
"""


GIT = {
    f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@pytest.mark.req("T4", "K10")
def test_at_the_end_pending_changes_of_the_knowledge_base_are_committed(team, folder, tmp_path):
    """A day of use that a hit has written, and a report whose commit failed, follow at the shutdown; nothing else does."""
    environ = {**GIT, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments):
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env={**os.environ, **environ}, check=True, capture_output=True
        )
        return done.stdout.decode()

    (folder / "kr.yaml").write_text(
        "knowledge_research: {git_commit: auto, " + (folder / "kr.yaml").read_text().partition("{")[2]
    )
    git("init", "-q", "-b", "main", ".")
    git("add", "kr.yaml")
    git("commit", "-q", "-m", "first")
    (folder / "mine.txt").write_text("mine\n")
    with team(**environ) as one:
        merging = folder / ".git/MERGE_HEAD"
        merging.write_text(git("rev-parse", "HEAD"))
        one.say(asking())
        notes = one.result()["results"][0]["notes"]
        merging.unlink()
        one.say("shutdown_request")
        assert one.end()[1] == 0
    assert any("not committed" in note for note in notes)
    committed = git("show", "--format=", "--name-only").split()
    assert "knowledge-base/index.yaml" in committed
    assert "knowledge-base/frameworks/parcel/timeout.md" in committed
    index = folder / "knowledge-base/index.yaml"
    today, yesterday = date.today(), date.today() - timedelta(days=1)
    index.write_text(index.read_text().replace(f"last_accessed: '{today}'", f"last_accessed: '{yesterday}'"))
    git("commit", "-q", "-m", "yesterday", str(index))
    with team(**environ) as one:
        one.say(asking())
        assert one.result()["results"][0]["status"] == "cache-hit"
        one.say("shutdown_request")
        assert one.end()[1] == 0
    assert git("show", "--format=", "--name-only").split() == ["knowledge-base/index.yaml"]
    assert f"+  last_accessed: '{today}'" in git("show", "--format=")
    assert git("status", "--porcelain") == "?? mine.txt\n"


@pytest.mark.req("T3")
def test_a_named_session_goes_on_with_its_budgets(team, folder):
    """A process that is started again spends what the one before has left; another session starts fresh."""
    (folder / "kr.yaml").write_text(
        "knowledge_research: {max_calls_per_story: 1, " + (folder / "kr.yaml").read_text().partition("{")[2]
    )
    came = []
    for session, topic in (("s1", "timeout"), ("s1", "weight"), ("s2", "weight")):
        with team("--session", session) as one:
            one.say(asking(topic))
            came.append(one.result()["results"][0]["status"])
            one.say("shutdown_request")
            assert one.end()[1] == 0
    assert came == ["success", "budget-exhausted", "success"]


@pytest.mark.req("T1", "T6")
def test_a_hundred_requests_at_once_are_all_answered_each_with_its_own(team, service):
    """A third of them known, the others held up: the known ones come first, then the rest, complete and matched."""

    known = range(0, 100, 3)
    with team("-q") as one:
        one.say(*(asking(word(number), number, story=f"{number + 1}-1") for number in known))
        assert {one.result()["results"][0]["status"] for _ in known} == {"success"}
        service.open.clear()
        one.say(*(asking(word(number), number, story=f"{number + 1}-1") for number in range(100)))
        hits = [one.result() for _ in known]
        service.open.set()
        rest = [one.result() for _ in range(100 - len(known))]
        one.say("shutdown_request")
        assert one.end() == (["shutdown_response: approve"], 0)
        assert one.log == []
    assert {result["request_id"] for result in hits} == set(known)
    assert {result["results"][0]["status"] for result in hits} == {"cache-hit"}
    assert {result["request_id"] for result in rest} == set(range(100)) - set(known)
    assert {result["results"][0]["status"] for result in rest} == {"success"}
    for result in (*hits, *rest):
        assert result["story_key"] == f"{result['request_id'] + 1}-1"
        assert f" {word(result['request_id'])} " in result["results"][0]["query"]
