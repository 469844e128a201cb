"""The same question, asked by several callers at once, is researched once, and all get the result."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.projects import Given, found

from kr_core import EVENTS
from kr_core.plugin import Candidates, Finding, Outcome, WriteResult

pytestmark = pytest.mark.req("R16")

PROGRAM = """
    import asyncio, json, sys, time
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from support.projects import Bench, found

    class Counting:
        external = False
        timeout_seconds = 60.0

        async def query(self, query, context):
            with open({folder!r} + "/asked", "a") as file:
                file.write("x")
            await asyncio.sleep(float(sys.argv[1]))
            return found()

    bench = Bench(Path({folder!r}))
    pipeline = bench.pipeline({{"counting": Counting()}})
    request = pipeline.read_request({{**bench.request(session=sys.argv[2]), "refresh": sys.argv[3] == "refresh"}})
    print("ready", flush=True)
    sys.stdin.readline()
    result = pipeline.research(request).result
    print(json.dumps([result.status, result.session_id, result.results.summary]))
    bench.close()
"""


class Slow(Given):
    """A source that takes its time, and fails as often as told before it answers."""

    def __init__(self, seconds=0.3, failures=()):
        self.failures = list(failures)
        super().__init__(self.slowly)
        self.seconds = seconds

    async def slowly(self, _query, _context):
        await asyncio.sleep(self.seconds)
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, BaseException):
                raise failure
            return failure
        return found()


class Nowhere:
    """A store that keeps nothing."""

    def candidates(self, _query):
        return Candidates(())

    def entries(self):
        return ()

    archived = entries

    def write(self, _report, _evidence, entry, *, index=True):
        return WriteResult(entry, entry.path, 0)

    def read(self, _entry):
        return None

    drop = restore = mark_stale = archive = read

    def touch(self, _entry, _today):
        return 0


@pytest.fixture
def processes(tmp_path):
    """Starts processes that ask the same question; each waits for a line before it asks."""
    started = []

    def start(session, seconds=0.5, refresh=False):
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        code = textwrap.dedent(PROGRAM.format(tests=str(Path(__file__).parents[1]), folder=str(folder)))
        command = [sys.executable, "-c", code, str(seconds), session, "refresh" if refresh else ""]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield SimpleNamespace(start=start, asked=lambda: len((tmp_path / "work/asked").read_text()))
    for process in started:
        process.kill()
        process.communicate()


def ask(process):
    process.stdin.write("\n")
    process.stdin.flush()


def answer(process):
    out, _ = process.communicate(timeout=300)
    return json.loads(out)


def wait_until(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_threads(bench):
    """Eight threads ask, the source is asked once, and each result has its caller's own session."""
    source = Slow()
    pipeline = bench.pipeline([source])
    requests = [pipeline.read_request(bench.request(session=f"s{number}")) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        results = [answer.result for answer in threads.map(pipeline.research, requests)]
    assert source.asked == 1
    assert [result.session_id for result in results] == [f"s{number}" for number in range(8)]
    assert sorted(result.status for result in results) == ["cache-hit"] * 7 + ["success"]
    assert len({result.results.summary for result in results}) == 1


def test_one_loop(bench):
    """A hundred tasks of one loop ask, the source is asked once, and those that waited say so."""
    source = Slow()
    pipeline = bench.pipeline([source])
    request = pipeline.read_request(bench.request())

    async def all_at_once():
        return await asyncio.gather(*(pipeline.aresearch(request) for _ in range(100)))

    answers = asyncio.run(all_at_once())
    assert source.asked == 1
    assert sorted(answer.result.status for answer in answers) == ["cache-hit"] * 99 + ["success"]
    waits = [event for event in bench.events if event.kind == "run.waited"]
    assert waits
    for event in waits:
        assert set(event.data) == set(EVENTS["run.waited"].__annotations__)
        assert event.data["served"]


def test_two_pipelines_of_one_process(bench):
    """Two pipelines on one knowledge base ask at once: the second waits and finds the first one's report."""
    one, other = Slow(), Slow()
    pipelines = [bench.pipeline([one]), bench.pipeline([other])]
    with ThreadPoolExecutor(2) as threads:
        asked = [
            threads.submit(pipeline.research, pipeline.read_request(bench.request()))
            for pipeline in pipelines
        ]
        statuses = sorted(future.result().result.status for future in asked)
    assert one.asked + other.asked == 1
    assert statuses == ["cache-hit", "success"]


def test_what_the_store_does_not_have_is_handed_over(bench):
    """Where the knowledge base keeps nothing, callers of one pipeline get the first one's answer itself."""
    source = Slow()
    pipeline = bench.pipeline([source], store=Nowhere())
    requests = [pipeline.read_request(bench.request(session=f"s{number}")) for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        results = [answer.result for answer in threads.map(pipeline.research, requests)]
    assert source.asked == 1
    assert [(result.status, result.session_id) for result in results] == [
        ("success", f"s{number}") for number in range(4)
    ]


def test_a_degraded_answer_is_handed_over_too(bench):
    """A source that is down is not asked once more by each caller that waited."""
    source = Slow(failures=[Finding(outcome=Outcome.unavailable, reason="down")] * 9)
    pipeline = bench.pipeline([source])
    request = pipeline.read_request(bench.request())
    with ThreadPoolExecutor(4) as threads:
        statuses = [answer.result.status for answer in threads.map(pipeline.research, [request] * 4)]
    assert (source.asked, statuses) == (1, ["degraded"] * 4)


def test_refresh(bench):
    """Of several callers who want it anew at once, one researches; alone, each does."""
    source = Slow()
    pipeline = bench.pipeline([source])
    request = pipeline.read_request({**bench.request(), "refresh": True})
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(pipeline.research, [request] * 4))
    assert source.asked == 1
    pipeline.research(request)
    assert source.asked == 2


@pytest.mark.parametrize(
    "other",
    [
        {"framework_version": "2.0.0"},
        {"topic": "insurance of a parcel"},
        {"question": "How do I insure a parcel?"},
    ],
    ids=["version", "topic", "question"],
)
def test_another_question_does_not_wait(bench, other):
    """Another version, topic or question is researched at the same time."""
    source = Slow(seconds=1.0)
    pipeline = bench.pipeline([source], store=Nowhere())
    requests = [pipeline.read_request(request) for request in (bench.request(), bench.request(**other))]

    async def both():
        began = time.monotonic()
        await asyncio.gather(*map(pipeline.aresearch, requests))
        return time.monotonic() - began

    seconds = asyncio.run(both())
    assert source.asked == 2
    assert not any(event.kind == "run.waited" for event in bench.events)
    assert seconds < 10


def test_other_forms_of_the_words_are_the_same_question(bench):
    """Case, order and words that say nothing make no other question."""
    source = Slow()
    pipeline = bench.pipeline([source])
    asked = [bench.request(), bench.request(topic="The Timeout of a Parcel", question="a parcel: how do I set its timeout")]  # fmt: skip
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda raw: pipeline.research(pipeline.read_request(raw)), asked))
    assert source.asked == 1


def test_a_first_that_is_cancelled_lets_the_next_one_try(bench):
    """The first caller gives up: one of the others asks the source, and the rest wait for that one."""
    source = Slow(seconds=0.5)
    pipeline = bench.pipeline([source])
    request = pipeline.read_request(bench.request())

    async def work():
        first = asyncio.create_task(pipeline.aresearch(request))
        await asyncio.to_thread(wait_until, lambda: source.asked)
        others = [asyncio.create_task(pipeline.aresearch(request)) for _ in range(3)]
        await asyncio.sleep(0.1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await asyncio.gather(*others)

    answers = asyncio.run(work())
    assert source.asked == 2
    assert sorted(answer.result.status for answer in answers) == ["cache-hit", "cache-hit", "success"]


def test_who_waits_can_be_cancelled_alone(bench):
    """A caller that gives up waiting leaves the first one's research and the others alone."""
    source = Slow(seconds=1.0)
    pipeline = bench.pipeline([source])
    request = pipeline.read_request(bench.request())

    async def work():
        tasks = [asyncio.create_task(pipeline.aresearch(request))]
        await asyncio.to_thread(wait_until, lambda: source.asked)
        tasks += [asyncio.create_task(pipeline.aresearch(request)) for _ in range(2)]
        await asyncio.sleep(0.1)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(work())
    assert isinstance(answers[1], asyncio.CancelledError)
    assert source.asked == 1
    assert {answers[0].result.status, answers[2].result.status} == {"success", "cache-hit"}
    assert pipeline.research(request).result.status == "cache-hit"


def test_who_waits_keeps_its_own_limit(bench):
    """A run that waits longer than a run may take ends as one that ran out of time, and the first one goes on."""
    first, second = Slow(seconds=3.0), Slow()
    patient = bench.pipeline([first])
    bench.configure("defaults: {agent_timeout_seconds: {knowledge_research: 1}}")
    hurried = bench.pipeline([second])
    request = patient.read_request(bench.request())
    with ThreadPoolExecutor(1) as threads:
        going = threads.submit(patient.research, request)
        wait_until(lambda: first.asked)
        result = hurried.research(request).result
        assert not going.done()
        assert going.result().result.status == "success"
    assert second.asked == 0
    assert "run: timeout after 1 s" in result.results.degradation_notes
    assert [line.status for line in result.results.sources_consulted] == ["skipped"]


def test_nothing_stays_behind(bench):
    """When all have landed no flight is remembered and no file is open."""
    from kr_core.research import single_flight

    pipeline = bench.pipeline([Slow(seconds=0.0)])
    pipeline.research(pipeline.read_request(bench.request()))
    assert single_flight._folders == {}


def test_processes(processes):
    """Six processes ask at once: one asks the source, and all have the answer under their own session."""
    started = [processes.start(f"s{number}") for number in range(6)]
    for process in started:
        ask(process)
    answers = [answer(process) for process in started]
    assert processes.asked() == 1
    assert sorted(status for status, _session, _summary in answers) == ["cache-hit"] * 5 + ["success"]
    assert [session for _status, session, _summary in answers] == [f"s{number}" for number in range(6)]
    assert len({summary for _status, _session, summary in answers}) == 1


def test_processes_that_want_it_anew(processes):
    """Two processes ask with `refresh` at once: the second takes what the first has written meanwhile."""
    started = [processes.start(f"s{number}", seconds=1.0, refresh=True) for number in range(2)]
    for process in started:
        ask(process)
    assert sorted(answer(process)[0] for process in started) == ["cache-hit", "success"]
    assert processes.asked() == 1


def test_a_killed_process_blocks_nobody(processes):
    """The first process is killed with -9 while its source works: another one goes on at once."""
    first = processes.start("first", seconds=600)
    ask(first)
    wait_until(lambda: Path(first.args[0]).exists() and _asked(processes) == 1)
    second = processes.start("second", seconds=0.1)
    ask(second)
    time.sleep(0.5)
    assert second.poll() is None
    assert _asked(processes) == 1
    os.kill(first.pid, signal.SIGKILL)
    assert answer(second)[:2] == ["success", "second"]
    assert processes.asked() == 2


def _asked(processes):
    try:
        return processes.asked()
    except FileNotFoundError:
        return 0
