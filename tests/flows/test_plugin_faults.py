"""Plugins that hang, block or fail: the run ends, and a note names the plugin and its line."""

import threading

import pytest
from support.projects import Given, found

from kr_core.model import Finding, Outcome, Passage
from kr_core.research import container
from kr_core.toolkit import TopicLookup

pytestmark = pytest.mark.req("P1", "P2", "R8")


def hang(*_arguments):
    threading.Event().wait()


def notes(result):
    return list(result.results.degradation_notes)


def test_a_scorer_that_hangs_does_not_hang_the_run(bench, monkeypatch):
    """The run ends with a low score; the note names the scorer, which is not called again."""
    monkeypatch.setattr(container, "CALL_SECONDS", 0.1)
    scorer = type("Slow", (), {"score": hang})()
    result = bench.result({"a": Given(found())}, scorer=scorer)
    assert (result.status, result.results.score) == ("success", 0)
    assert notes(result) == ["scorer Slow: the scorer failed (it did not end within 0.1 s)"]


def test_a_renderer_that_hangs_does_not_hang_the_run(bench, monkeypatch):
    """The report is plain text, and the note names the renderer."""
    monkeypatch.setattr(container, "_RENDER_SECONDS", 0.1)
    renderer = type("Slow", (), {"render": hang})()
    result = bench.result({"a": Given(found())}, renderer=renderer)
    assert result.status == "success"
    assert notes(result) == ["renderer Slow: it did not end within 0.1 s; plain text instead"]


@pytest.mark.parametrize("method", ["find", "judge"])
def test_a_look_up_that_hangs_does_not_hang_the_run(bench, monkeypatch, method):
    """KR's own look-up decides in its place, now and in the next run of the pipeline."""
    bench.result({"a": Given(found())})
    monkeypatch.setattr(container, "CALL_SECONDS", 0.1)
    pipeline = bench.pipeline({"a": Given(found())}, lookup=type("Slow", (TopicLookup,), {method: hang})())
    told = ["it did not end within 0.1 s", "KR does not call it again, since it hung before"]
    for fault in told:
        answer = pipeline.research(pipeline.read_request(bench.request()))
        assert answer.result.status == "cache-hit"
        assert notes(answer.result) == [f"lookup Slow: it failed ({fault}); KR's own look-up decided"]


def test_a_source_that_blocks_the_event_loop_is_noted(bench):
    """A source whose code does not await runs past its limit; the note says how long it took."""

    async def block(_query, _context):
        threading.Event().wait(0.8)
        return found()

    (note,) = notes(bench.result({"a": Given(block, timeout_seconds=0.1)}))
    assert note.startswith("a: took ")
    assert "; its limit is 0.1 s. Code that does not await holds up the event loop" in note


async def wrong(_self, _query, _context):
    raise LookupError("no shelf")


def test_a_source_that_fails_is_named_with_its_line(bench):
    """The note has the file and line in the source's own module that led to the error."""
    own = type("Own", (Given,), {"query": wrong, "__module__": __name__})
    result = bench.result({"a": own(None), "b": Given(found())})
    line = wrong.__code__.co_firstlineno + 1
    assert notes(result) == [f"a: unavailable: LookupError: no shelf (test_plugin_faults.py:{line})"]


def test_wrong_values_of_a_finding_are_one_line(bench):
    """A finding that was made without validation is refused with the key that is wrong, not with pydantic's four lines."""
    passage = Passage.model_construct(text="x", url="file:a", coverage="much")
    answer = Finding.model_construct(outcome=Outcome.ok, passages=(passage,))
    (note, *_) = notes(bench.result({"a": Given(answer), "b": Given(found())}))
    assert note.startswith("a: bad_answer: returned a Finding with wrong values: ")
    assert "For further information" not in note
    assert "passages.0" in note
