"""What a run withstands: cancellation again and again, plugins that raise anything, imports that never end."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio
import pytest
from support.projects import Given, forever, found

from kr_core import Pipeline, PluginError, aio
from kr_core.research.container import SourceSlot


class Panic(BaseException):
    """As PyO3 raises it, and pytest when a test is skipped: no `Exception`."""


ANYTHING = [Panic("odd"), GeneratorExit("odd"), SystemExit("odd")]


async def _cancelled_by_anyio(work, begun):
    """Cancelled at every turn of the loop, as Starlette does it."""
    with anyio.CancelScope() as scope:
        waiting = asyncio.ensure_future(asyncio.to_thread(begun.wait))
        waiting.add_done_callback(lambda _waiting: scope.cancel())
        await work


async def _cancelled_twice(work, begun):
    task = asyncio.ensure_future(work)
    await asyncio.to_thread(begun.wait)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    with pytest.raises(asyncio.CancelledError):
        await task


cancelled = pytest.mark.parametrize("given_up", [_cancelled_by_anyio, _cancelled_twice])


class Slow:
    """A renderer that takes its time, as a large template does."""

    def __init__(self):
        self.begun = threading.Event()
        self.done = False

    def render(self, _report):
        self.begun.set()
        time.sleep(0.4)
        self.done = True
        return "# A report\n"


# -- cancellation ----------------------------------------------------------------------------------------


@pytest.mark.req("P5")
@cancelled
def test_what_is_being_written_is_written_however_often_the_question_is_cancelled(bench, given_up):
    """When `aresearch` has returned no thread works for it any more, and the pipeline may be closed."""
    renderer = Slow()
    pipeline = bench.pipeline({"a": Given(found())}, renderer=renderer)

    async def work():
        await given_up(pipeline.aresearch(bench.request()), renderer.begun)
        return renderer.done, bench.kinds()[-1]

    assert asyncio.run(work()) == (True, "run.finished")
    pipeline.close()


@pytest.mark.req("P5", "R8")
@cancelled
def test_a_call_may_clean_up_however_often_the_question_is_cancelled(bench, given_up):
    """A source has its grace, and its end is told before the run's."""
    begun, cleaned = threading.Event(), []

    async def query(query, context):
        begun.set()
        try:
            await forever(query, context)
        finally:
            await asyncio.sleep(0.2)
            cleaned.append(context)

    pipeline = bench.pipeline({"a": Given(query)})
    asyncio.run(given_up(pipeline.aresearch(bench.request()), begun))
    assert len(cleaned) == 1
    assert bench.kinds()[-4:] == ["source.started", "source.finished", "consult.failed", "run.cancelled"]
    assert bench.events[-3].data["reason"] == "the run was cancelled"
    assert [event for _number, event in pipeline.journal.read(0, 100)] == bench.events


@pytest.mark.req("P5", "R8")
@cancelled
def test_a_call_that_will_not_stop_holds_a_cancelled_question_no_longer_than_its_grace(bench, given_up):
    """It is left behind after that."""

    begun = threading.Event()

    async def query(_query, _context):
        begun.set()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    async def work():
        began = time.monotonic()
        await given_up(bench.pipeline({"a": Given(query)}).aresearch(bench.request()), begun)
        return time.monotonic() - began

    assert aio.run(work()) < aio.GRACE_SECONDS + 15  # of a minute


@pytest.mark.req("P5", "R10")
def test_a_call_that_was_granted_in_vain_is_given_back(bench):
    """A run that is cancelled while its call is taken of the budget costs none."""
    pipeline = bench.pipeline({"a": Given(found(), external=True)})
    journal = pipeline.journal
    spend, taking = journal.spend, threading.Event()

    def slowly(*arguments):
        taking.set()
        time.sleep(0.2)
        return spend(*arguments)

    journal.spend = slowly

    async def work():
        task = asyncio.create_task(pipeline.aresearch(bench.request()))
        await asyncio.to_thread(taking.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert journal.spent("s1", "3-1") == 0


# -- anything raised -------------------------------------------------------------------------------------


@pytest.mark.req("P2", "R9")
@pytest.mark.parametrize("error", ANYTHING, ids=lambda error: type(error).__name__)
def test_whatever_a_source_raises_is_its_own_fault(bench, error):
    """Also what is no `Exception`, in its query or its properties; the next source answers."""
    broken = type("S", (Given,), {"external": property(_raising(error), lambda *_: None)})(found())
    result = bench.result({"a": Given(error), "b": broken, "c": Given(found())})
    assert [line.status for line in result.results.sources_consulted] == [
        "unavailable", "unavailable", "success",
    ]  # fmt: skip
    assert all("odd" in note for note in result.results.degradation_notes)


@pytest.mark.req("P2", "R9")
@pytest.mark.parametrize("error", [*ANYTHING, ValueError("odd")], ids=lambda error: type(error).__name__)
def test_whatever_scorer_renderer_and_store_raise_is_noted(bench, error):
    """The answer stands, with a low score, as plain text, and in the result where it could not be kept."""
    broken = type("Broken", (), dict.fromkeys(("score", "render"), _raising(error)))()
    result = bench.result({"a": Given(found())}, scorer=broken, renderer=broken)
    assert (result.status, result.results.confidence) == ("success", "low")
    told = " ".join(result.results.degradation_notes)
    fault = f"{type(error).__name__}: odd (test_withstood.py:"
    assert f"scorer Broken: the scorer failed ({fault}" in told
    assert f"renderer Broken: {fault}" in told
    assert told.endswith("); plain text instead")


def _raising(error):
    def fail(*_arguments, **_options):
        raise error

    return fail


# -- every run ends --------------------------------------------------------------------------------------


def _refused_by(bench, noun, monkeypatch):
    """A pipeline whose component of a kind cannot be built."""
    pipeline = bench.pipeline({"a": Given(found())})
    build = pipeline.registry.build

    def refuse(kind, name):
        if kind == noun:
            raise PluginError("cannot be built", where=name)
        return build(kind, name)

    monkeypatch.setattr(pipeline.registry, "build", refuse)
    return pipeline


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    "face", [Pipeline.research, lambda *asked: asyncio.run(Pipeline.aresearch(*asked))], ids=["sync", "async"]
)
@pytest.mark.parametrize(
    ("noun", "stage"),
    [("store", "lookup"), ("lookup", "lookup"), ("scorer", "score"), ("renderer", "render")],
)
def test_a_run_whose_plugin_cannot_be_built_ends_as_a_failure(bench, monkeypatch, noun, stage, face):
    """The error is the caller's; the journal has the run's end, durably."""
    pipeline = _refused_by(bench, noun, monkeypatch)
    with pytest.raises(PluginError, match="cannot be built"):
        face(pipeline, bench.request())
    assert bench.kinds()[-2:] == [f"{stage}.failed", "run.finished"]
    assert bench.events[-1].data["status"] == "failure"
    assert [event for _number, event in pipeline.journal.read(0, 100)] == bench.events


@pytest.mark.req("P6")
def test_a_run_that_is_interrupted_ends_as_cancelled(bench):
    """Ctrl-C passes through, and the journal says that nobody waited."""

    class Interrupted(Slow):
        def render(self, _report):
            raise KeyboardInterrupt

    pipeline = bench.pipeline({"a": Given(found())}, renderer=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        pipeline.research(bench.request())
    assert bench.kinds()[-2:] == ["render.failed", "run.cancelled"]
    assert [event for _number, event in pipeline.journal.read(0, 100)] == bench.events


# -- limits ----------------------------------------------------------------------------------------------


def _chained(bench, monkeypatch, seconds, answer=None):
    """A pipeline whose first source takes so long to be imported and built; the second one answers."""
    pipeline = bench.pipeline({"slow": Given(found()), "b": Given(found())})

    def build():
        time.sleep(seconds)
        return answer or Given(found())

    links = (SourceSlot("slow", build), pipeline._components.chain(None)[1])
    monkeypatch.setattr(pipeline._components, "chain", lambda _query: links)
    return pipeline


@pytest.mark.req("R8")
def test_an_import_that_does_not_end_is_left_behind_at_the_limit(bench, monkeypatch):
    """It counts as a timeout of its source; the next one answers."""
    bench.configure("knowledge_research: {timeout_seconds: 1}")
    began = time.monotonic()
    result = _chained(bench, monkeypatch, 20).research(bench.request()).result
    assert time.monotonic() - began < 15  # of 20
    assert [line.status for line in result.results.sources_consulted] == ["timeout", "success"]
    assert result.results.degradation_notes[0] == ("slow: timeout after 1 s, while it was imported and built")


@pytest.mark.req("R8")
def test_an_import_counts_against_the_limit_of_the_run(bench, monkeypatch):
    """The run ends when its time is over, whatever is being imported."""
    bench.configure("defaults: {agent_timeout_seconds: {knowledge_research: 1}}")
    began = time.monotonic()
    result = _chained(bench, monkeypatch, 20).research(bench.request()).result
    assert time.monotonic() - began < 15  # of 20
    assert [line.status for line in result.results.sources_consulted] == ["timeout", "skipped"]
    assert "run: timeout after 1 s" in result.results.degradation_notes


@pytest.mark.req("R8")
def test_what_an_import_takes_is_not_there_for_the_call(bench, monkeypatch):
    """The limit is one for both."""
    source = Given(found(), timeout_seconds=5.0)
    _chained(bench, monkeypatch, 1.0, source).research(bench.request())
    assert 3.5 < source.deadline < 4.3


@pytest.mark.req("R8")
@pytest.mark.parametrize("seconds", [float("nan"), 0, -1.0])
def test_a_limit_that_is_none_is_told(bench, seconds):
    """A source that suggests it is unavailable, and says what to set."""
    result = bench.result({"a": Given(found(), timeout_seconds=seconds), "b": Given(found())})
    assert [line.status for line in result.results.sources_consulted] == ["unavailable", "success"]
    assert f"its `timeout_seconds` is {seconds}: set a number" in result.results.degradation_notes[0]
