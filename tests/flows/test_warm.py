"""A question that was answered in this process is answered again at once, as long as nothing it rests on has changed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from support.projects import QUESTION, Given, found, install, make_environment

from kr_core import EVENTS
from kr_core.plugin import Candidates
from kr_core.project import project as reading
from kr_core.research import memory_cache as remembering
from kr_core.toolkit import write_atomically

pytestmark = pytest.mark.req("R4")


@pytest.fixture
def warm(bench):
    """A pipeline that has its answer at hand, and its request."""
    source = Given(found())
    pipeline = bench.pipeline([source])
    request = pipeline.read_request(bench.request())
    for _ in range(4):  # researched, found, found between two equal states
        pipeline.research(request)
        time.sleep(0.05)
    bench.events.clear()
    pipeline.source = source
    return pipeline, request


def kinds(bench):
    seen = [event.kind for event in bench.events]
    bench.events.clear()
    return seen


def test_it_is_the_hit_that_a_look_up_gives(bench, warm):
    """The result has all that a look-up's has, and one event says that it was given again."""
    pipeline, request = warm
    again = pipeline.research(request)
    event = bench.events[0]
    assert kinds(bench) == ["run.repeated"]
    assert set(event.data) == set(EVENTS["run.repeated"].__annotations__)
    looked_up = bench.ask([Given(found())])
    assert again == looked_up
    assert pipeline.source.asked == 1


def test_session_story_and_budget_are_the_callers(bench, warm):
    """Another caller gets the answer under its own names, with what is left of its own budget."""
    pipeline, request = warm
    pipeline.journal.spend("s2", "4-2", "a grant", 10)
    other = pipeline.read_request(bench.request(story="4-2", session="s2"))
    result = pipeline.research(other).result
    assert (result.story_key, result.session_id) == ("4-2", "s2")
    assert result.results.budget_remaining == pipeline.research(request).result.results.budget_remaining - 1
    assert kinds(bench) == ["run.repeated"] * 2


def test_its_event_is_in_the_journal_when_the_pipeline_is_closed(bench, warm):
    """The answer does not wait for the disk; closing does."""
    pipeline, request = warm
    for _ in range(50):
        pipeline.research(request)
    told = [event.id for event in bench.events]
    pipeline.close()
    journal = bench.pipeline().journal
    kept = [event.id for _number, event in journal.read(0, 1000) if event.kind == "run.repeated"]
    assert kept[-50:] == told
    assert len(told) == 50


def _report(bench):
    return next((bench.folder / "knowledge-base/frameworks").rglob("*.md"))


def change_the_report(bench, _pipeline):
    file = _report(bench)
    write_atomically(file, file.read_text().replace("timeout", "limit"))


def remove_the_report(bench, _pipeline):
    _report(bench).unlink()


def change_the_evidence(bench, _pipeline):
    file = _report(bench).with_suffix(".evidence.json")
    file.write_text(file.read_text() + " ")


def touch_the_index(bench, _pipeline):
    bench.index_file = bench.folder / "knowledge-base/index.yaml"
    bench.index_file.write_text("# a note\n" + bench.index_file.read_text())


def write_in_another_pipeline(bench, _pipeline):
    bench.ask([Given(found())], {**bench.request(), "refresh": True})


def wait_for_the_next_day(bench, _pipeline):
    bench.day += timedelta(days=1)


@pytest.mark.parametrize(
    "change",
    [change_the_report, remove_the_report, change_the_evidence, touch_the_index, write_in_another_pipeline,
     wait_for_the_next_day],
)  # fmt: skip
def test_a_change_takes_the_long_way(bench, warm, change):
    """Whatever the answer rests on changes: it is looked up anew, and then is what a new pipeline says."""
    pipeline, request = warm
    change(bench, pipeline)
    bench.events.clear()
    answer = pipeline.research(request)
    assert kinds(bench)[0] == "run.started"
    if change is not remove_the_report:
        assert answer.report == bench.ask([Given(found())]).report


def test_an_answer_too_old_is_not_given_again(bench, warm):
    """After the time that an entry may lie unused it is stale, also in a process that has it at hand."""
    pipeline, request = warm
    bench.day += timedelta(days=31)
    assert pipeline.research(request).result.status == "success"
    assert pipeline.source.asked == 2


def test_refresh_is_researched(bench, warm):
    """Who wants it anew gets it anew."""
    pipeline, _request = warm
    anew = pipeline.read_request({**bench.request(), "refresh": True})
    assert pipeline.research(anew).result.status == "success"
    assert pipeline.source.asked == 2


def test_another_version_is_another_question(bench, warm):
    """A lock file that names another major version makes another query, which is not answered from what is at hand."""
    pipeline, _request = warm
    assert pipeline.research(pipeline.read_request(bench.request(framework_version="2.0.0"))).result.status == "success"  # fmt: skip


def test_a_store_that_names_no_files_is_asked_each_time(bench):
    """What cannot be guarded is not kept."""
    kept = bench.pipeline([Given(found())]).store

    class Elsewhere:
        def candidates(self, query):
            return Candidates(kept.candidates(query).entries)

        def __getattr__(self, name):
            return getattr(kept, name)

    pipeline = bench.pipeline([Given(found())], store=Elsewhere())
    request = pipeline.read_request(bench.request())
    for _ in range(4):
        pipeline.research(request)
        time.sleep(0.05)
    assert "run.repeated" not in kinds(bench)


def test_from_many_threads(bench, warm):
    """Eight threads ask at once, each under its own session, while the report is rewritten."""
    pipeline, _request = warm
    requests = [pipeline.read_request(bench.request(session=f"s{number % 8}")) for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(pipeline.research, request) for request in requests]
        change_the_report(bench, pipeline)
        results = [future.result().result for future in asked]
    assert [result.session_id for result in results] == [request.session_id for request in requests]
    assert {result.status for result in results} == {"cache-hit"}
    assert pipeline.research(requests[0]).report == _report(bench).read_text()


def test_a_journal_that_fails_is_heard_of(bench):
    """Where the event of an answer could not be kept, the next question takes the long way, which says so."""
    from concurrent.futures import Future

    from kr_core import StorageError

    inner = bench.pipeline().journal

    class Failing:
        broken = False

        def append(self, events):
            if not self.broken:
                return inner.append(events)
            future = Future()
            future.set_exception(StorageError("the disk is full"))
            return future

        def __getattr__(self, name):
            return getattr(inner, name)

    journal = Failing()
    pipeline = bench.pipeline([Given(found())], journal=journal)
    request = pipeline.read_request(bench.request())
    for _ in range(4):
        pipeline.research(request)
        time.sleep(0.05)
    journal.broken = True
    assert pipeline.research(request).result.status == "cache-hit"
    with pytest.raises(StorageError, match="disk is full"):
        pipeline.research(request)


@pytest.fixture
def understood(bench, monkeypatch):
    """A pipeline that has understood and answered a question, in a project that is looked at each time."""
    monkeypatch.setattr(reading, "BELIEVED_SECONDS", 0.0)
    monkeypatch.setattr(remembering, "BELIEVED_SECONDS", 0.0)
    install(make_environment(bench.folder), "parcel", "1.4.0", {"parcel/__init__.py": ""})
    pipeline = bench.pipeline([Given(found())])
    time.sleep(0.05)  # what has just changed may change again in the same tick of the file system
    for _ in range(4):
        pipeline.research(QUESTION)
        time.sleep(0.05)
    bench.events.clear()
    return pipeline


def read_anew(pipeline, monkeypatch):
    """The questions that are read from now on."""
    read = []
    inner = remembering.requests.from_question
    monkeypatch.setattr(
        remembering.requests,
        "from_question",
        lambda question, *rest, **options: (read.append(question), inner(question, *rest, **options))[1],
    )
    return read


def test_a_question_is_read_once(bench, understood, monkeypatch):
    """The same text is neither read nor looked up again; each time it has a session of its own with its whole budget."""
    read = read_anew(understood, monkeypatch)
    answers = [understood.research(QUESTION) for _ in range(3)]
    assert kinds(bench) == ["run.repeated"] * 3
    assert read == []
    assert len({answer.result.session_id for answer in answers}) == 3
    whole = understood.config.settings.knowledge_research.max_calls_per_story
    assert {answer.result.results.budget_remaining for answer in answers} == {whole}
    looked_up = bench.pipeline([Given(found())]).research(QUESTION).result
    assert looked_up.results == answers[0].result.results
    assert understood.request(QUESTION).query == bench.pipeline().request(QUESTION).query
    assert len({understood.request(QUESTION).session_id for _ in range(3)}) == 3


def test_its_event_names_the_session_of_the_answer(bench, understood):
    """The journal has each repeated answer under the session that it was given to."""
    answers = [understood.research(QUESTION), understood.research(QUESTION)]
    told = [(event.data["session_id"], event.data["story_key"]) for event in bench.events]
    assert told == [(answer.result.session_id, answer.result.story_key) for answer in answers]


def test_other_options_are_another_question(understood, monkeypatch):
    """What is asked for with an option is read by itself; `True` is no number of calls, though it equals one."""
    read = read_anew(understood, monkeypatch)
    requests = [understood.request(QUESTION, max_calls=calls) for calls in (1, 1, 1, True)]
    assert [request.max_calls for request in requests] == [1, 1, 1, None]
    assert len(read) == 3
    mine = [understood.research(QUESTION, session_id="s1", story_key="4-2").result for _ in range(5)]
    assert {(result.session_id, result.story_key) for result in mine} == {("s1", "4-2")}
    understood.journal.spend("s1", "4-2", "a grant", 10)
    left = understood.research(QUESTION, session_id="s1", story_key="4-2").result.results.budget_remaining
    assert left == mine[-1].results.budget_remaining - 1


def another_version_is_installed(bench):
    site = bench.folder / ".venv/lib/python3.12/site-packages"
    for file in (site / "parcel-1.4.0.dist-info").iterdir():
        file.unlink()
    (site / "parcel-1.4.0.dist-info").rmdir()
    install(site, "parcel", "2.0.0", {"parcel/__init__.py": ""})


def it_is_locked_and_not_installed(bench):
    another_version_is_installed(bench)
    for file in bench.folder.glob(".venv/lib/python3.12/site-packages/parcel-*/*"):
        file.unlink()
    for folder in bench.folder.glob(".venv/lib/python3.12/site-packages/parcel-*"):
        folder.rmdir()
    (bench.folder / "uv.lock").write_text('version = 1\n[[package]]\nname = "parcel"\nversion = "2.0.0"\n')


def another_environment_is_nearer(bench):
    (bench.folder / ".venv").rename(bench.folder / "old")
    install(make_environment(bench.folder), "parcel", "2.0.0", {"parcel/__init__.py": ""})


@pytest.mark.parametrize(
    "change", [another_version_is_installed, it_is_locked_and_not_installed, another_environment_is_nearer]
)
def test_a_question_is_read_anew_where_the_project_changed(bench, understood, change):
    """Another version in the project is another query, also in a process that has understood the question before."""
    change(bench)
    assert understood.request(QUESTION).query.framework_version == "2.0.0"
    assert understood.research(QUESTION).result.status == "success"
    assert "run.repeated" not in kinds(bench)
