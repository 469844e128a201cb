"""KR inside another program: plain objects in place of what is configured, and both ways to ask."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support.embedded import RESEARCH, Shelf
from support.projects import DAY, QUESTION, Given, forever, found

from kr_core import ConfigError, Finding, Outcome, Pipeline, StorageError
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

pytestmark = [pytest.mark.req("P5"), pytest.mark.usefixtures("of_nobody")]


class ReleaseNotes(Given):
    """A source that is called after its class."""


def consulted(answer):
    return [line.source for line in answer.result.results.sources_consulted]


# -- what a pipeline is made of -------------------------------------------------------------------------


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


class Misspelt(ReleaseNotes):
    """A source that means `unready`."""

    unredy = ""


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
        (
            {"sources": [Misspelt(found())]},
            "object of Misspelt: KR does not know `unredy`; rename it to `unready`",
        ),
        (
            {"sources": [Bare()]},
            "is not a kr_core.plugin.Source: it has no attribute `external`; set it on the class",
        ),
        ({"sources": {"a\x1b[31m\n": ReleaseNotes(found())}}, "is not a name; use letters"),
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
    ("said", "key", "hint"),
    [
        ({"knowledge_research": {"enabeld": False}}, "knowledge_research.enabeld", "`enabled`"),
        ({"knowledge_research": {"sources": ["instaled_docs"]}}, "knowledge_research.sources", "`installed_docs`"),
        ({"stor": "files"}, "stor", "`store`"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_name_says_where_it_stands_and_what_is_near(project_folder, said, key, hint):
    """A mapping has no lines, so the key tells the place; the nearest right name is suggested."""
    with pytest.raises(ConfigError) as caught:
        Pipeline.open(said, folder=project_folder)
    assert f"configuration given by the program, {key}" in str(caught.value)
    assert hint in str(caught.value)


# -- asking ---------------------------------------------------------------------------------------------


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
        with pytest.raises(TypeError, match="refresh: options go with a question"):
            pipeline.research(asked, refresh=True)
        with pytest.raises(TypeError, match="refresh: options go with a question"):
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
