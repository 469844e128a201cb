"""Beyond the machine: what is paid for once is not paid for again, what may not leave stays, and what is down is passed over."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from importlib import import_module

import pytest
from support.loopback import serving
from support.projects import QUESTION
from support.services import Context7

from kr_core.config import load, trust_store
from kr_core.plugin import Finding, Outcome, Rate

CONFIGURED = """
knowledge_research: {{sources: [context7], fallback_if_mcp_unavailable: off}}
plugins: {{context7: {{base_url: "{url}/api"}}}}
"""


@pytest.fixture
def service():
    """Context7 on loopback; `service.answer.mode` says how it is."""
    with serving(Context7()) as server:
        yield server


@pytest.fixture
def configured(bench, service):
    bench.configure(CONFIGURED.format(url=service.url))
    return bench


def forget_report(bench):
    """As if the run had been killed before it kept its report."""
    (bench.folder / "knowledge-base/index.yaml").unlink()


def consulted(result):
    return [(line.source, line.outcome) for line in result.results.sources_consulted]


def requests(service):
    """How often documentation was asked for."""
    return sum(asked.path == "/api/v2/context" for asked in service.asked)


@pytest.mark.req("K11", "R7")
def test_what_was_answered_is_not_asked_again(configured, service):
    """Another run, another story: the answer of the last day serves, and costs nothing."""
    first = configured.result()
    assert (first.status, first.results.budget_remaining) == ("success", 2)
    forget_report(configured)
    asked = len(service.asked)
    again = configured.result(request=configured.request(story="3-2"))
    assert (again.status, again.results.budget_remaining) == ("success", 3)
    assert again.results.summary == first.results.summary
    assert len(service.asked) == asked
    finished = [event.data for event in configured.events if event.kind == "source.finished"]
    assert [data["remembered"] for data in finished] == [False, True]


@pytest.mark.req("K11")
def test_refresh_asks_anew(configured, service):
    """And what came then is what is remembered."""
    configured.result()
    configured.result(request={**configured.request(), "refresh": True})
    assert requests(service) == 2


@pytest.mark.req("K11")
def test_a_stale_entry_is_researched_anew(configured, service):
    """The new research for an answer that is too old wants new answers."""
    configured.result()
    index = configured.folder / "knowledge-base/index.yaml"
    index.write_text(index.read_text().replace("status: fresh", "status: stale"))
    assert configured.result().status == "success"
    assert requests(service) == 2


@pytest.mark.req("K11")
def test_another_question_version_or_setting_is_another_answer(configured, service, tmp_path, monkeypatch):
    """What was asked, about what, and of which service: any of them makes it another one."""
    configured.result()
    configured.result(
        request=configured.request(
            question="How long does send wait for a parcel?", topic="waiting", tags=["waiting"]
        )
    )
    configured.result(request=configured.request(framework_version="0.9.0"))
    assert requests(service) == 3
    forget_report(configured)
    configured.configure(
        CONFIGURED.format(url=service.url).replace("{base_url", "{api_key: another, base_url")
    )
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    trust_store.trust(load(configured.folder))  # a key of the file's own
    configured.result(request=configured.request(story="3-2"))
    assert requests(service) == 4


@pytest.mark.req("K9")
def test_a_new_major_version_overtakes_what_was_answered(configured, service):
    """Where the project does not say which version it uses, what Context7 lists does; other frameworks stay as they are."""
    configured.result(request=configured.request(framework_version="0.9.0"))
    configured.result(request=configured.request(framework="letters", framework_version="0.9.0"))
    asked = {
        "topic": "insurance",
        "tags": ["insured"],
        "question": QUESTION,
        "framework_version": "1.4.0",
    }
    result = configured.result(request=configured.request(story="3-2", **asked))
    assert "parcel 1.4.0 was released: 1 earlier answer marked stale" in result.results.degradation_notes
    assert [(entry["id"], entry["status"]) for entry in configured.index if entry["framework"] == "parcel"] == [
        ("parcel-timeout-of-a-parcel", "stale"), ("parcel-insurance", "fresh"),
    ]  # fmt: skip
    again = configured.result(
        request=configured.request(story="3-3", **{**asked, "topic": "weights", "tags": ["w"]})
    )
    assert not any("was released" in note for note in again.results.degradation_notes)


@pytest.mark.req("K9")
def test_questions_about_an_earlier_version_overtake_nothing(configured, service):
    """1.4.0 is listed: a question about 0.9.0 marks no other answer about 0.9.0 stale, so a repeated one is a hit."""
    first = configured.request(framework_version="0.9.0")
    configured.result(request=first)
    other = {"topic": "insurance", "tags": ["insured"], "question": QUESTION, "framework_version": "0.9.0"}
    configured.result(request=configured.request(story="3-2", **other))
    assert {entry["status"] for entry in configured.index} == {"fresh"}
    assert configured.result(request={**first, "story_key": "3-3"}).status == "cache-hit"


@pytest.mark.req("K9")
def test_an_answer_about_a_later_version_is_not_overtaken(configured, service):
    """An answer about 2.0.0 stays fresh where 1.4.0 is the newest version that is listed."""
    configured.result(request=configured.request(framework_version="2.0.0"))
    other = {"topic": "insurance", "tags": ["insured"], "question": QUESTION, "framework_version": "1.4.0"}
    configured.result(request=configured.request(story="3-2", **other))
    assert {entry["status"] for entry in configured.index} == {"fresh"}


@pytest.mark.req("K9")
def test_the_version_in_use_is_not_overtaken(project_folder, environ, service):
    """A project that uses 1.4.0 keeps its answers whatever was released."""
    import yaml

    from kr_core import Pipeline

    (project_folder / "kr.yaml").write_text(CONFIGURED.format(url=service.url))
    with Pipeline.open(folder=project_folder) as pipeline:
        pipeline.research("How do I set a timeout for a parcel?", framework="parcel", version="0.9.0")
        later = pipeline.research(QUESTION, framework="parcel", topic="insurance", tags=("insured",))
    assert [line.outcome for line in later.result.results.sources_consulted] == ["ok"]
    entries = yaml.safe_load((project_folder / "knowledge-base/index.yaml").read_text())["entries"]
    assert {entry["status"] for entry in entries} == {"fresh"}


@pytest.mark.req("R20")
def test_that_nothing_was_found_is_remembered_for_a_day(configured, service):
    """It costs nothing again, and the note says why nobody was asked; a day later, or with refresh, it is asked anew."""
    service.answer.mode = "empty"
    first = configured.result()
    assert (first.status, consulted(first), first.results.budget_remaining) == (
        "degraded", [("context7", "empty")], 2,
    )  # fmt: skip
    again = configured.result(request=configured.request(story="3-2"))
    assert (again.status, consulted(again), again.results.budget_remaining) == (
        "degraded", [("context7", "empty")], 3,
    )  # fmt: skip
    assert requests(service) == 1
    assert any(
        "asked within a day, `--refresh` asks anew" in note for note in again.results.degradation_notes
    )
    configured.result(request={**configured.request(), "refresh": True})
    assert requests(service) == 2
    with sqlite3.connect(configured.folder.parent / "cache/answers/cache.db") as database:
        [(least, most)] = database.execute(
            "SELECT min(expire_time - store_time), max(expire_time - store_time) FROM Cache WHERE key LIKE 'answer %'"
        )
        database.execute("UPDATE Cache SET expire_time = expire_time - 86400 WHERE key LIKE 'answer %'")
    database.close()
    assert (round(least), round(most)) == (86_400, 86_400)
    configured.result(request=configured.request(story="3-3"))
    assert requests(service) == 3


@pytest.mark.req("R9", "R20")
@pytest.mark.parametrize("mode", ["pending", "blocked", "limited", "unavailable", "bad_answer"])
def test_a_failure_is_never_remembered(configured, service, mode):
    """Once the service is well again, its answer is there."""
    service.answer.mode = mode
    first = configured.result()
    assert (first.status, consulted(first)) == ("degraded", [("context7", mode)])
    service.answer.mode = "ok"
    again = configured.result(request=configured.request(story="3-2"))
    assert (again.status, consulted(again)) == ("success", [("context7", "ok")])


@pytest.mark.req("R7")
def test_a_source_that_is_not_reached_costs_nothing(bench):
    """A refused connection is no call; the note says what happened."""
    with serving(Context7()) as server:
        url = server.url
    bench.configure(CONFIGURED.format(url=url))
    result = bench.result()
    assert (result.status, result.results.budget_remaining) == ("degraded", 3)
    assert result.results.degradation_notes[0].startswith("context7: unavailable: ")


@pytest.mark.req("R10")
@pytest.mark.parametrize(
    ("mode", "written", "asked"),
    [
        ("unavailable", "", ["context7", "web_search"]),
        ("unavailable", "fallback_if_mcp_unavailable: web_search,", ["context7", "web_search"]),
        ("unavailable", "fallback_if_mcp_unavailable: off,", ["context7"]),
        ("empty", "", ["context7"]),
        ("ok", "", ["context7"]),
    ],
)
def test_the_fallback_takes_over_where_no_mcp_source_is_reached(bench, service, mode, written, asked):
    """Also where the list does not name it; not where one of them looked, whatever it found."""
    service.answer.mode = mode
    settings = (
        f'{{{written} sources: [context7]}}\nplugins: {{context7: {{base_url: "{service.url}/api"}}}}\n'
    )
    bench.configure(f"knowledge_research: {settings}")
    assert [name for name, _outcome in consulted(bench.result())] == asked


@pytest.mark.req("R10")
def test_the_fallback_is_asked_once(bench, service):
    """Where the list names it, its turn is the one there."""
    service.answer.mode = "unavailable"
    bench.configure(
        f'knowledge_research: {{sources: [web_search, context7]}}\nplugins: {{context7: {{base_url: "{service.url}/api"}}}}\n'
    )
    assert [name for name, _outcome in consulted(bench.result())] == ["web_search", "context7"]


@pytest.mark.req("R19")
def test_only_the_question_leaves(configured, service):
    """No secret, no code; both are noted, and each request is on record without them."""
    key = "-".join(["sk", "proj", 3 * "abcdefgh"])
    question = f"{QUESTION} My key {key} fails.\n\n```python\nsend(INTERNAL, timeout=1)\n```"
    result = configured.result(request=configured.request(question=question))
    told = json.dumps([asked.query for asked in service.asked])
    assert "set a timeout for a parcel" in told
    assert key not in told
    assert "INTERNAL" not in told
    notes = result.results.degradation_notes
    assert "what looks like a secret was taken out of the question" in notes
    assert any(note.startswith("context7: code in the question was kept at home") for note in notes)
    sent = [event.data for event in configured.events if event.kind == "source.request"]
    assert len(sent) == len(service.asked)
    assert all(data["source"] == "context7" and data["url"].startswith(service.url) for data in sent)
    assert any("set a timeout for a parcel" in data["sent"] for data in sent)
    assert key not in json.dumps(sent)


@pytest.mark.req("R19")
@pytest.mark.parametrize("published", [True, False])
def test_a_secret_is_kept_nowhere(project_folder, kr, service, published):
    """Neither in reports, which lie in git, nor in the journal, logs, memos or what is printed."""
    key = "-".join(["sk", "proj", 3 * "abcdefgh"])
    question = f"How do I set a timeout for a parcel with my key {key}?"
    (project_folder / "kr.yaml").write_text(CONFIGURED.format(url=service.url))
    if published:
        request = {
            "story_key": "3-1", "mode": "research", "session_id": "s",
            "research_query": {"framework": "parcel", "framework_version": "1.4.0", "topic": f"timeout {key}", "tags": [key], "question": question},
        }  # fmt: skip
        command, given = ["research", "--request", "-"], json.dumps(request).encode()
    else:
        command, given = ["research", question, "--framework", "parcel"], b""
    for _ in range(3):
        done = kr(*command, input=given)
        assert done.code == 0, done
        assert key not in done.out + done.err
    folders = [project_folder, project_folder.parent / "cache"]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert any(file.name == "index.yaml" for file in files)
    assert [file for file in files if key in file.name or key.encode() in file.read_bytes()] == []


@pytest.mark.req("R9", "R13")
def test_what_was_to_be_refreshed_stays_as_good_as_it_was(configured, service):
    """Nobody answers anew: the kept answer is given as it is, and the notes say so."""
    first = configured.result()
    service.answer.mode = "unavailable"
    again = configured.result(request={**configured.request(), "refresh": True})
    assert (again.status, again.results.confidence, again.results.score) == (
        "degraded", first.results.confidence, first.results.score,
    )  # fmt: skip
    assert "all_sources_unavailable: what was kept still holds" in again.results.degradation_notes
    assert "stale" not in again.results.summary
    assert configured.result().status == "cache-hit"


@pytest.mark.req("R19")
def test_names_alone_leave_where_it_is_said(bench, service):
    """With `egress: names` nothing of the question's own words is told."""
    bench.configure(CONFIGURED.format(url=service.url).replace("{base_url", "{egress: names, base_url"))
    bench.result(
        request=bench.request(question="Why does the acquisition of Initech change the timeout for a parcel?")
    )
    told = json.dumps([asked.query for asked in service.asked])
    assert "parcel" in told
    assert "Initech" not in told


@pytest.mark.req("R19")
def test_an_egress_that_is_none(bench, service):
    """It is refused with its place, like any wrong value."""
    bench.configure(CONFIGURED.format(url=service.url).replace("{base_url", "{egress: everything, base_url"))
    with pytest.raises(Exception, match=r"kr\.yaml:3: `plugins\.context7\.egress`"):
        bench.result()


@pytest.mark.req("K11", "Z7")
def test_killed_in_mid_chain_nothing_is_paid_twice(tmp_path, environ, service):
    """The first source has answered, the second hangs, the process is killed: asked again, only the second is."""
    hangs = threading.Event()
    service.answer.mode = "prose"  # without code it scores less than 80

    def search(_asked):
        hangs.wait(60)
        return {"results": []}

    with serving(search) as engine:
        (tmp_path / "kr.yaml").write_text(
            "knowledge_research: {sources: [context7, web_search], sufficient_at: 100}\n"
            f'plugins: {{context7: {{base_url: "{service.url}/api"}}, web_search: {{url: "{engine.url}"}}}}\n'
        )
        command = [
            sys.executable,
            "-m",
            "kr_core",
            "research",
            QUESTION,
            "--framework",
            "parcel",
            "--version",
            "2.0",
            "--json",
        ]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until = time.monotonic() + 60
        while not engine.asked:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hangs.set()
        paid = len(service.asked)
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, timeout=300, check=True
        )
        result = json.loads(done.stdout)["results"]
        assert [line["outcome"] for line in result["sources_consulted"]] == ["ok", "empty"]
        assert len(service.asked) == paid
        assert len(engine.asked) == 2


def _many(count, arguments, cwd, environ):
    """Run as many commands at once; their results."""
    command = [sys.executable, "-m", "kr_core", "research", *arguments, "--json"]
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [one.format(number=number) for one in command], cwd=cwd, env=environ,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )
            )
            for number in range(count)
        ]  # fmt: skip
        return [json.loads(process.communicate(timeout=120)[0]) for process in started]


@pytest.mark.req("R16")
@pytest.mark.faults
def test_fifty_processes_ask_upstream_once(tmp_path, environ, service):
    """One question, fifty processes: one consultation, and all have the answer."""
    (tmp_path / "kr.yaml").write_text(CONFIGURED.format(url=service.url))
    results = _many(50, [QUESTION, "--framework", "parcel"], tmp_path, environ)
    assert requests(service) == 1
    assert {result["status"] for result in results} <= {"success", "cache-hit"}
    assert len({result["results"]["summary"] for result in results}) == 1


@pytest.mark.req("R7")
@pytest.mark.faults
def test_thirty_two_processes_spend_one_budget(tmp_path, environ, service):
    """One story, thirty-two questions, three calls: exactly three are made, and the others say that none was left."""
    service.answer.mode = "limited"
    (tmp_path / "kr.yaml").write_text(CONFIGURED.format(url=service.url))
    asked = [
        "What does number {number} of a parcel mean?",
        "--framework",
        "parcel",
        "--story",
        "3-1",
        "--session",
        "s",
    ]
    results = _many(32, asked, tmp_path, environ)
    assert requests(service) == 3
    statuses = sorted(result["status"] for result in results)
    assert statuses == ["budget-exhausted"] * 29 + ["degraded"] * 3


@pytest.mark.req("R9", "R6")
def test_without_a_network_the_end_comes_soon(tmp_path, environ):
    """Nothing installed, nothing reachable: a skeleton, and each source says why. How soon is measured by the bench."""
    nowhere = {
        "ALL_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }
    command = [
        sys.executable,
        "-m",
        "kr_core",
        "research",
        "How do I fold in frobnicate?",
        "--framework",
        "frobnicate",
        "--json",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env={**environ, **nowhere}, capture_output=True, timeout=300, check=False
    )
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"]) == (4, "degraded")
    assert [line["source"] for line in result["results"]["sources_consulted"]] == [
        "context7",
        "deepwiki",
        "web_search",
    ]
    notes = result["results"]["degradation_notes"]
    assert next(note for note in notes if note.startswith("not ")) in {
        "not switched on: web_search; not reached: context7, deepwiki",
        # a machine with another package index: no public one is asked for the repository, and a note says so
        "not switched on: web_search; not reached: context7",
    }
    assert "all_sources_unavailable: no cached content available" in notes
    assert result["results"]["budget_remaining"] == 3
    assert (
        "[No research results available, manual research required]"
        in (tmp_path / result["results"]["report_path"]).read_text()
    )


@pytest.mark.req("Z5", "S4")
def test_a_rate_is_held_over_threads_that_begin_at_once(bench):
    """All threads of a pipeline share its turns, the first ones too."""
    begin = threading.Barrier(8)

    class Slow:
        external = True
        timeout_seconds = 5.0
        rate = Rate(1, 60.0)

        async def query(self, _query, context):
            await context.http.get(server.url)
            return Finding(outcome=Outcome.empty, reason="found nothing")

    def ask(number):
        begin.wait(30)
        pipeline.research(f"Why is parcel{number} lost?", framework="parcel", version="1.0")

    with serving(lambda _asked: "well") as server:
        pipeline = bench.pipeline({"slow": Slow()})
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(server.asked) == 1


@pytest.mark.req("R8")
def test_a_call_is_dropped_at_its_deadline(bench):
    """It counts, since it was sent; the note says how long KR waited, less what an earlier request took."""
    goes_on = threading.Event()
    import_module("kr_plugins.sources.context7")  # else its import counts, which takes long on a busy machine

    def slow(asked):
        if not asked.path.endswith("search"):
            goes_on.wait(60)
        return Context7()(asked)

    with serving(slow) as server:
        bench.configure(CONFIGURED.format(url=server.url))
        result = bench.result(request=bench.request(overrides={"timeout_seconds": 1}))
        goes_on.set()
    assert consulted(result) == [("context7", "timeout")]
    assert re.fullmatch(r"context7: timeout after (1|0\.\d) s", result.results.degradation_notes[0])
    assert result.results.budget_remaining == 2
