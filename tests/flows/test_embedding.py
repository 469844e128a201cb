"""KR inside another program: plain objects, both faces, several pipelines, threads, loops and cancellation."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import get_type_hints

import pytest
from support import DAY, QUESTION, Given, forever, found

from kr_core import (
    EVENTS,
    STAGES,
    Candidates,
    ConfigError,
    Finding,
    Kept,
    Moved,
    Outcome,
    Pipeline,
    StorageError,
)
from kr_core.testing.watching import watched
from kr_plugins.journals.sqlite import SQLite

pytestmark = pytest.mark.req("P5")

RESEARCH = [
    "run.started", "lookup.started", "lookup.finished", "route.started", "route.finished", "consult.started",
    "source.started", "source.finished", "consult.finished", "compose.started", "compose.finished",
    "score.started", "score.finished", "render.started", "render.finished", "keep.started", "keep.finished",
    "run.finished",
]  # fmt: skip
HIT = ["run.started", "lookup.started", "lookup.finished", "run.finished"]


class Shelf(dict):
    """A knowledge base in memory: entries by id, each with its report and evidence. Empty, it is false."""

    def candidates(self, query):
        return Candidates([entry for entry, _report, _evidence in self.values()])

    def entries(self):
        return [entry for entry, _report, _evidence in self.values()]

    def read(self, entry):
        return self[entry.id][1:] if entry.id in self else None

    def write(self, report, evidence, entry, *, index=True):
        if index:
            self[entry.id] = (entry, report, dict(evidence))
        return Kept(entry if index else None, entry.path, len(self))

    def touch(self, entry, today):
        return len(self)

    def drop(self, entry):
        del self[entry.id]

    def mark_stale(self, choose):
        return Moved(choose(self.entries()))

    archive = mark_stale  # what it is asked for in these tests is nothing

    def archived(self):
        return []

    def restore(self, entry):
        raise StorageError("it is not in the archive")


class ReleaseNotes(Given):
    """A source that is called after its class."""


@pytest.fixture(autouse=True)
def _of_nobody(monkeypatch, tmp_path):
    """Nothing of the tester's own projects and caches."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "KR_TRUST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def here(project_folder, monkeypatch):
    """The project, as the working folder."""
    monkeypatch.chdir(project_folder)
    return project_folder


def consulted(answer):
    return [line.source for line in answer.result.results.sources_consulted]


def about(topic):
    """A question of its own for each topic."""
    return f"How do I set the {topic} of a parcel?"


# -- what a pipeline is made of --------------------------------------------------------------------------


def test_a_pipeline_of_plain_objects_uses_them_in_place_of_what_is_configured(here):
    """A store and sources that are handed over are used, also a store that is false while it is empty."""
    shelf = Shelf()
    with Pipeline(store=shelf, sources=[ReleaseNotes(found())], today=lambda: DAY) as pipeline:
        first, second = pipeline.research(QUESTION), pipeline.research(QUESTION)
    assert (first.result.status, second.result.status) == ("success", "cache-hit")
    assert consulted(first) == ["release_notes"]
    assert [entry.created for entry in shelf.entries()] == [DAY]
    assert not (here / "knowledge-base").exists()


def test_sources_are_called_after_their_name_or_their_class(here):
    """A source says its name itself, or is called after its class; a mapping says it for all."""
    named = Given(Finding(outcome=Outcome.empty))
    named.name = "wiki"
    with Pipeline(store=Shelf(), sources=[named, ReleaseNotes(found())]) as pipeline:
        assert consulted(pipeline.research(QUESTION)) == ["wiki", "release_notes"]
    with Pipeline(store=Shelf(), sources={"ours": named, "theirs": named}) as pipeline:
        assert consulted(pipeline.research(QUESTION)) == ["ours", "theirs"]


@pytest.mark.usefixtures("here")
def test_objects_and_configured_sources_stand_side_by_side(here):
    """A text among the sources names an installed plugin; keys and values stand in for a configuration file."""
    configuration = {"knowledge_research": {"max_calls_per_story": 7}}
    with Pipeline(
        configuration, store=Shelf(), sources=[Given(Finding(outcome=Outcome.empty)), "installed_docs"]
    ) as pipeline:
        assert pipeline.config.settings.knowledge_research.max_calls_per_story == 7
        answer = pipeline.research(QUESTION, framework="parcel")
    lines = {line.source: line.outcome for line in answer.result.results.sources_consulted}
    assert lines == {"given": "empty", "installed_docs": "ok"}


def test_two_sources_of_one_name_are_refused():
    """Results and budgets tell sources apart by name."""
    with pytest.raises(ConfigError, match=r"two of the sources are called `given`.*mapping of names"):
        Pipeline(sources=[Given(found()), Given(found())])


class Sync(ReleaseNotes):
    """A source whose query is not async."""

    def query(self, query, context):
        return found()


class Bare:
    """A source that does not say what it is."""

    async def query(self, query, context):
        return found()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"sources": [ReleaseNotes]},
            r"sources=\[.*is the class ReleaseNotes, not a source; .*`ReleaseNotes\(...\)`",
        ),
        (
            {"sources": [None]},
            r"sources=\[...\]\) number 1: is None, not a source; .*or the name of a configured",
        ),
        ({"sources": {"a": None}}, r"sources={'a': ...}\): is None"),
        ({"sources": [found]}, "is the function found, not a source"),
        (
            {"sources": ReleaseNotes(found())},
            r"sources=...\): is an object of ReleaseNotes; hand over a list",
        ),
        ({"sources": "web"}, "is the text 'web'; hand over a list"),
        ({"sources": [Sync(found())]}, "`query` is not async; write `async def query"),
        ({"sources": [Bare()]}, "no kr_core.Source: it has no attribute `external`; set it on the class"),
        ({"sources": {"a\x1b[31m\n": ReleaseNotes(found())}}, "is no name; use letters"),
        ({"store": 5}, r"Pipeline\(store=...\): is an object of int, not a store"),
        ({"scorer": ReleaseNotes(found())}, "is an object of ReleaseNotes, not a scorer"),
        ({"logs": [object()]}, "is an object of object, not a log"),
        ({"on_event": 5}, r"on_event=...\): is 5, no function"),
        ({"on_event": forever}, "is async, and nobody awaits it"),
        ({"config": "kr.yaml"}, "is 'kr.yaml', no configuration; .*`Pipeline.open"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_no_component_is_refused_with_the_argument_and_what_to_do(arguments, said):
    """When it is handed over, not when it is first needed."""
    with pytest.raises(ConfigError, match=said):
        Pipeline(**arguments)


def test_a_journal_that_was_given_stays_open_with_its_owner(here):
    """One journal may serve several pipelines, so a pipeline closes only its own."""
    journal = SQLite(here / "ours")
    try:
        for _ in range(2):
            with Pipeline(store=Shelf(), sources=[Given(found())], journal=journal) as pipeline:
                assert pipeline.research(QUESTION).result.status == "success"
        assert [event.kind for _number, event in journal.read(0, 100)] == [*RESEARCH, *RESEARCH]
    finally:
        journal.close()
    assert not (here / ".kr").exists()


def test_a_configuration_may_be_a_mapping_or_a_file(project_folder, tmp_path):
    """What a file would say, a program says as keys and values; paths count from the folder."""
    said = {"knowledge_research": {"knowledge_base_path": "answers", "sources": ["installed_docs"]}}
    with Pipeline.open(said, folder=project_folder) as pipeline:
        answer = pipeline.research(QUESTION)
    assert (answer.result.status, consulted(answer)) == ("success", ["installed_docs"])
    assert answer.result.results.citations[0].url == "pkg:pypi/parcel@1.4.0"
    assert (project_folder / "answers" / answer.result.results.report_path).exists()
    file = tmp_path / "other.yaml"
    file.write_text("knowledge_research: {enabled: false}\n")
    with Pipeline.open(file, folder=project_folder) as pipeline:
        assert pipeline.research(QUESTION).result.errors[0].type == "disabled"


@pytest.mark.parametrize(
    ("said", "key", "todo"),
    [
        ({"knowledge_research": {"enabeld": False}}, "knowledge_research.enabeld", "`enabled`"),
        ({"knowledge_research": {"sources": ["instaled_docs"]}}, "knowledge_research.sources", "`installed_docs`"),
        ({"stor": "files"}, "stor", "`store`"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_name_says_where_it_stands_and_what_is_near(project_folder, said, key, todo):
    """A mapping has no lines, so the key tells the place; the nearest right name is suggested."""
    with pytest.raises(ConfigError) as caught:
        Pipeline.open(said, folder=project_folder)
    assert f"configuration given by the program, {key}" in str(caught.value)
    assert todo in str(caught.value)


# -- asking ----------------------------------------------------------------------------------------------


def test_a_question_a_mapping_and_a_request_are_all_taken(bench):
    """Whatever form it has, the same request has the same answer."""
    pipeline = bench.pipeline({"a": Given(found())})
    asked = bench.request()
    query = asked["research_query"]
    options = {"framework": "parcel", "version": "1.4.0", "topic": query["topic"], "tags": query["tags"],
               "story_key": "3-1", "session_id": "s1"}  # fmt: skip
    forms = [asked, pipeline.read_request(asked), {"question": QUESTION, "mode": "research", **options}]
    answers = [pipeline.research({**asked, "refresh": True})]
    answers += [pipeline.research(form) for form in forms] + [pipeline.research(QUESTION, **options)]
    assert [answer.result.status for answer in answers] == ["success", *["cache-hit"] * 4]
    assert len({answer.result.model_dump_json() for answer in answers[1:]}) == 1
    assert len({answer.report for answer in answers}) == 1


def test_options_stand_beside_a_question_only(bench):
    """A request has its own; one that is passed over in silence would be believed."""
    pipeline = bench.pipeline({"a": Given(found())})
    for asked in (bench.request(), pipeline.read_request(bench.request())):
        with pytest.raises(TypeError, match="refresh: options stand beside a question"):
            pipeline.research(asked, refresh=True)
        with pytest.raises(TypeError, match="refresh: options stand beside a question"):
            asyncio.run(pipeline.aresearch(asked, refresh=True))
    with pytest.raises(TypeError, match="frame"):
        pipeline.research(QUESTION, frame="parcel")


def test_both_faces_give_the_same(here):
    """`research` and `aresearch` differ in how they wait, not in what they return or say."""
    answers, told = [], []
    for face in (
        Pipeline.research,
        lambda *asked, **options: asyncio.run(Pipeline.aresearch(*asked, **options)),
    ):
        events = []
        with Pipeline(store=Shelf(), sources=[Given(found())], on_event=events.append) as pipeline:
            answers.append(
                [face(pipeline, question, session_id="s") for question in (QUESTION, QUESTION, " ")]
            )
        told.append([(event.kind, event.data) for event in events])
    assert answers[0] == answers[1]
    assert told[0] == told[1]


def test_inside_a_running_loop_the_sync_face_names_the_async_one(bench):
    """Nothing is begun: the error comes before the first event."""
    pipeline = bench.pipeline({"a": Given(found())})

    async def wrongly():
        pipeline.research(bench.request())

    with pytest.raises(RuntimeError, match=r"await pipeline\.aresearch\(question\)"):
        asyncio.run(wrongly())
    assert bench.events == []


def test_a_pipeline_is_an_async_context_too(here):
    """At its end everything said is durable and the journal's thread has ended; a closed pipeline says so."""

    async def work():
        async with Pipeline.open(folder=here) as pipeline:
            assert (await pipeline.aresearch(QUESTION)).result.status == "success"
        return pipeline

    pipeline = asyncio.run(work())
    assert not [thread for thread in threading.enumerate() if thread.name == "kr-journal"]
    with pytest.raises(StorageError, match="the journal is closed"):
        pipeline.research(QUESTION)


# -- several pipelines, threads, many questions ----------------------------------------------------------


def _two(tmp_path, events):
    """Two pipelines of different configurations in folders of their own, each with its own source."""
    made = []
    for name, calls in (("north", 5), ("south", 7)):
        folder = tmp_path / name
        folder.mkdir()
        config = {"knowledge_research": {"knowledge_base_path": f"of-{name}", "max_calls_per_story": calls}}
        opened = Pipeline.open(config, folder=folder)  # its configuration, with a source as an object
        source = Given(
            found(
                f"Pass `timeout=` to `{name}.send` to set the topic of a parcel.",
                url=f"https://{name}.example",
            )
        )
        made.append(Pipeline(opened.config, sources={name: source}, on_event=events[name].append))
    return made


def _told_apart(tmp_path, events, answers):
    for name, calls in (("north", 5), ("south", 7)):
        assert {answer.result.results.budget_remaining for answer in answers[name]} == {calls}
        assert {cited.url for answer in answers[name] for cited in answer.result.results.citations} == {
            f"https://{name}.example"
        }
        assert {event.data["sources"][0] for event in events[name] if event.kind == "route.finished"} == {
            name
        }
        assert len({event.run for event in events[name]}) == len(answers[name]) == 10
        assert len(list((tmp_path / name / f"of-{name}/frameworks/parcel").glob("*.md"))) == 10


def _topics():
    return [
        "label",
        "weight",
        "colour",
        "height",
        "insurance",
        "stamp",
        "address",
        "carrier",
        "wrapping",
        "price",
    ]


def test_two_pipelines_in_one_loop_do_not_mix(tmp_path):
    """Each has its own configuration, sources, knowledge base, budget and observers."""
    events = {"north": [], "south": []}

    async def work():
        async with asyncio.TaskGroup() as group:
            return {
                name: [group.create_task(pipeline.aresearch(about(topic), framework="parcel")) for topic in _topics()]
                for name, pipeline in zip(events, pipelines, strict=True)
            }  # fmt: skip

    pipelines = _two(tmp_path, events)
    answers = {name: [task.result() for task in tasks] for name, tasks in asyncio.run(work()).items()}
    for pipeline in pipelines:
        pipeline.close()
    _told_apart(tmp_path, events, answers)


def test_two_pipelines_in_threads_do_not_mix(tmp_path):
    """The same with the sync face, twenty questions in eight threads."""
    events = {"north": [], "south": []}
    pipelines = dict(zip(events, _two(tmp_path, events), strict=True))
    with ThreadPoolExecutor(8) as threads:
        asked = {
            name: [threads.submit(pipeline.research, about(topic), framework="parcel") for topic in _topics()]
            for name, pipeline in pipelines.items()
        }
        answers = {name: [one.result() for one in ones] for name, ones in asked.items()}
    for pipeline in pipelines.values():
        pipeline.close()
    _told_apart(tmp_path, events, answers)


def test_threads_that_share_a_pipeline_share_its_components(project_folder):
    """Eight threads ask at once of a pipeline that has built nothing yet: each component is built once, nothing is lost."""
    ready = threading.Barrier(8)

    def ask(topic):
        ready.wait()
        return pipeline.research(QUESTION, topic=topic)

    with Pipeline.open(folder=project_folder) as pipeline, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, _topics()[:8]))
        assert [answer.result.status for answer in answers] == ["success"] * 8
        assert len([thread for thread in threading.enumerate() if thread.name == "kr-journal"]) == 1
        assert {entry.topic for entry in pipeline.store.entries()} == set(_topics()[:8])
        runs = [
            event.run for _number, event in pipeline.journal.read(0, 1000) if event.kind == "run.finished"
        ]
    assert len(set(runs)) == len(runs) == 8


def test_many_questions_at_once_never_block_the_loop(here):
    """Two hundred questions in one loop: its thread opens no file, and computes little between two heartbeats."""
    beats = []

    async def beat():
        while True:
            beats.append(time.thread_time())  # of this thread alone: a slow machine is no fault
            await asyncio.sleep(0.005)

    async def slowly(_query, _context):
        await asyncio.sleep(0.05)
        return found()

    async def work(pipeline):
        heart = asyncio.create_task(beat())
        with watched("reads", "writes", "process") as touched:
            answers = await asyncio.gather(
                *(
                    # each of a version of its own: the same question would be researched once
                    pipeline.aresearch(
                        QUESTION, version=f"1.4.{number}", story_key=f"1-{number}", refresh=True
                    )
                    for number in range(200)
                )
            )
        heart.cancel()
        return answers, touched

    with Pipeline(sources=[Given(slowly)], on_event=lambda _event: None) as pipeline:
        answers, touched = asyncio.run(work(pipeline))
    assert [answer.result.status for answer in answers] == ["success"] * 200
    assert not touched
    gaps = [after - before for before, after in pairwise(beats)]
    assert max(gaps) < 0.25, max(gaps)


# -- cancellation ----------------------------------------------------------------------------------------


async def _cancelled(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_cancelled_question_leaves_the_others(bench):
    """One of three is cancelled while its source is asked; the rest are answered, and the journal says which it was."""
    asked = asyncio.Event()

    async def query(query, context):
        if query.topic == "label":
            asked.set()
            await forever(query, context)
        return found()

    async def work():
        one, *others = (
            asyncio.create_task(pipeline.aresearch(bench.request(topic=topic)))
            for topic in ("label", "weight", "colour")
        )
        await asked.wait()
        await _cancelled(one)
        return await asyncio.gather(*others)

    pipeline = bench.pipeline({"a": Given(query)})
    answers = asyncio.run(work())
    assert [answer.result.status for answer in answers] == ["success", "success"]
    (run,) = {event.run for event in bench.events if event.kind == "run.cancelled"}
    of_it = [event.kind for event in bench.events if event.run == run]
    assert of_it == [*RESEARCH[:8], "consult.failed", "run.cancelled"]
    assert len([event for event in bench.events if event.kind == "run.finished"]) == 2


def test_a_question_cancelled_while_files_are_read_ends_when_they_are(bench):
    """The thread cannot be stopped: it is waited for, no source is asked after it, and the journal says so."""

    class Slow(Shelf):
        def candidates(self, query):
            reading.set()
            time.sleep(0.2)
            return super().candidates(query)

    async def work():
        task = asyncio.create_task(pipeline.aresearch(bench.request()))
        await asyncio.to_thread(reading.wait)
        await _cancelled(task)
        return list(bench.events)

    reading, source = threading.Event(), Given(found())
    pipeline = bench.pipeline({"a": source}, store=Slow())
    assert [event.kind for event in asyncio.run(work())] == [*RESEARCH[:5], "run.cancelled"]
    assert source.asked == 0


def test_a_report_that_is_being_kept_is_kept_though_the_question_is_cancelled(bench):
    """A write is seen to its end: the next one who asks has the answer at once."""

    class Slow(Shelf):
        def write(self, *arguments, **options):
            writing.set()
            time.sleep(0.2)
            return super().write(*arguments, **options)

    async def work():
        task = asyncio.create_task(pipeline.aresearch(bench.request()))
        await asyncio.to_thread(writing.wait)
        await _cancelled(task)
        return bench.kinds()

    writing = threading.Event()
    pipeline = bench.pipeline({"a": Given(found())}, store=Slow())
    assert asyncio.run(work()) == RESEARCH
    assert pipeline.research(bench.request()).result.status == "cache-hit"


# -- watching --------------------------------------------------------------------------------------------


@pytest.mark.req("P6")
def test_an_observer_sees_every_stage_before_and_after_in_order(bench):
    """Research says every stage; a cache hit ends after the look-up. The journal has the same events."""
    pipeline = bench.pipeline({"a": Given(found())})
    pipeline.research(bench.request())
    assert bench.kinds() == RESEARCH
    assert [kind.partition(".")[0] for kind in RESEARCH if kind.endswith("started")][1:] == [
        *STAGES[:3], "source", *STAGES[3:],
    ]  # fmt: skip
    pipeline.research(bench.request())
    assert bench.kinds()[len(RESEARCH) :] == HIT
    assert [event for _number, event in pipeline.journal.read(0, 100)] == bench.events


@pytest.mark.req("P6")
def test_an_observer_that_raises_harms_nothing(here):
    """It only watches; the answer, the report and the journal are as without it."""

    def break_down(event):
        raise RuntimeError(event.kind)

    shelf = Shelf()
    with Pipeline(store=shelf, sources=[Given(found())], on_event=break_down) as pipeline:
        answer = pipeline.research(QUESTION)
        kinds = [event.kind for _number, event in pipeline.journal.read(0, 100)]
    assert (answer.result.status, answer.result.errors, len(shelf)) == ("success", (), 1)
    assert kinds == RESEARCH


@pytest.mark.req("P6")
def test_every_event_has_the_data_that_its_kind_promises(bench, project_folder):
    """Over runs of every ending, each event is of a known kind, its data has exactly the keys of its type, and is JSON."""
    _runs_of_every_ending(bench, project_folder)
    for event in bench.events:
        assert set(event.data) == set(get_type_hints(EVENTS[event.kind])), event
        json.dumps(event.data, allow_nan=False)
    never = {"compose.failed"}  # KR's own work on checked values: only Ctrl-C ends it
    # see test_warm, test_repeated, test_single_flight, and tests/unit/net
    elsewhere = {"run.repeated", "run.waited", "source.request"}
    assert {event.kind for event in bench.events} == set(EVENTS) - never - elsewhere


def _runs_of_every_ending(bench, project_folder):
    class Full(Shelf):
        def write(self, *_arguments, **_options):
            raise StorageError("the disk is full")

    def anew(**values):
        return {**bench.request(**values), "refresh": True}

    async def chatty(_query, context):
        context.emit("source.said", object())
        return found()

    bench.ask({"a": Given(found())})
    bench.ask({"a": Given(found())})
    bench.ask({"a": Given(ValueError("down"))}, anew(topic="label"))
    bench.ask({"a": Given(found())}, anew(topic="weight"), store=Full())
    bench.ask({"a": Given(chatty)}, anew(topic="colour"))
    bench.ask({"a": Given(Finding(outcome=Outcome.empty), external=True), "b": Given(found(), external=True)},
              anew(topic="price", overrides={"max_calls": 1}))  # fmt: skip
    for action in ("retry_once", "mark_needs_intervention"):
        bench.configure(
            f"defaults: {{agent_timeout_seconds: {{knowledge_research: 1}}, agent_timeout_action: {action}}}"
        )
        bench.ask({"a": Given(forever, timeout_seconds=5.0)}, anew(topic="stamp"))
    bench.configure("")

    async def cancel():
        async def query(query, context):
            asked.set()
            await forever(query, context)

        asked = asyncio.Event()
        pipeline = bench.pipeline({"a": Given(query)})
        task = asyncio.create_task(pipeline.aresearch(anew(topic="height")))
        await asked.wait()
        await _cancelled(task)

    asyncio.run(cancel())

    class Interrupted(Shelf):
        def write(self, *_arguments, **_options):
            raise KeyboardInterrupt

    class Knowing(Given):
        def knows(self, _query, _project):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.ask({"a": Given(found())}, anew(topic="carrier"), store=Interrupted())
    for kind, other in (("scorer", "markdown"), ("renderer", "evidence")):
        bench.configure(f"{kind}: {other}")
        with pytest.raises(ConfigError, match=f"not a {kind}"):
            bench.ask({"a": Given(found())}, anew(topic="colour"))
    bench.configure("")
    pipeline = bench.pipeline()
    pipeline.registry._built["source", "installed_docs"] = Knowing(found())
    with pytest.raises(KeyboardInterrupt):
        pipeline.research(anew(topic="colour"))
    with Pipeline.open(folder=project_folder, on_event=bench.events.append) as pipeline:
        pipeline.research(QUESTION)
    with (
        Pipeline.open(
            {"plugins": {"files": {"unknown": 1}}}, folder=project_folder, on_event=bench.events.append
        ) as pipeline,
        pytest.raises(ConfigError, match="unknown"),
    ):
        pipeline.research(QUESTION)


@pytest.mark.req("S4", "P5")
def test_so_many_questions_ask_sources_at_once(bench):
    """`defaults.max_concurrent` of them; the others wait for their turn, and what is known needs none."""

    class Counted(Given):
        def __init__(self):
            super().__init__(self.counted, timeout_seconds=30.0)
            self.now, self.most = 0, 0

        async def counted(self, _query, _context):
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.02)
            self.now -= 1
            return found()

    async def work():
        names = [f"lib{chr(ord('a') + number)}" for number in range(12)]
        asked = [pipeline.aresearch(bench.request(framework=name)) for name in names]
        return [answer.result.status for answer in await asyncio.gather(*asked)]

    bench.configure("defaults: {max_concurrent: 3}\n")
    source = Counted()
    pipeline = bench.pipeline([source])
    assert asyncio.run(work()) == ["success"] * 12
    assert source.most == 3
    bench.configure("defaults: {max_concurrent: 1, agent_timeout_seconds: {knowledge_research: 1}}\n")
    pipeline = bench.pipeline([Given(forever, timeout_seconds=30.0)])

    async def late():
        first = asyncio.create_task(pipeline.aresearch(bench.request(framework="first")))
        await asyncio.sleep(0.1)
        return [
            answer.result
            for answer in await asyncio.gather(first, pipeline.aresearch(bench.request(framework="second")))
        ]

    assert [line.status for result in asyncio.run(late()) for line in result.results.sources_consulted][
        -1
    ] in {"skipped", "timeout"}
