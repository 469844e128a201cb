"""Many questions at once in one program: several pipelines, threads, loops, and what becomes of a cancelled one."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.embedded import RESEARCH, Shelf, cancelled, cancelled_while_busy
from support.heartbeat import heartbeats
from support.projects import QUESTION, Given, forever, found

from kr_core import Pipeline
from kr_core.testing.watchers import watched

pytestmark = [pytest.mark.req("P5"), pytest.mark.usefixtures("of_nobody")]


def about(topic):
    """A question of its own for each topic."""
    return f"How do I set the {topic} of a parcel?"


# -- several pipelines, threads, many questions ---------------------------------------------------------


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

    async def slowly(_query, _context):
        await asyncio.sleep(0.05)
        return found()

    async def work(pipeline):
        with watched("reads", "writes", "process") as touched, heartbeats() as gaps:
            answers = await asyncio.gather(
                *(
                    # each of a version of its own: the same question would be researched once
                    pipeline.aresearch(
                        QUESTION, version=f"1.4.{number}", story_key=f"1-{number}", refresh=True
                    )
                    for number in range(200)
                )
            )
        return answers, touched, gaps

    with Pipeline(sources=[Given(slowly)], on_event=lambda _event: None) as pipeline:
        answers, touched, gaps = asyncio.run(work(pipeline))
    assert [answer.result.status for answer in answers] == ["success"] * 200
    assert not touched
    assert max(gaps) < 0.25, max(gaps)


@pytest.mark.req("S4")
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


@pytest.mark.req("S4")
def test_the_limit_of_a_question_runs_while_it_waits_for_its_turn(bench):
    """One may ask at once, and its source never answers: the one behind it is given up as well, and both say so."""
    asked = asyncio.Event()

    async def never(query, context):
        asked.set()
        await forever(query, context)

    async def work():
        began = time.monotonic()
        first = asyncio.create_task(pipeline.aresearch(bench.request(framework="first")))
        await asked.wait()
        later = time.monotonic() - began
        answers = await asyncio.gather(first, pipeline.aresearch(bench.request(framework="second")))
        return [answer.result for answer in answers], later

    bench.configure("defaults: {max_concurrent: 1, agent_timeout_seconds: {knowledge_research: 1}}\n")
    source = Given(never, timeout_seconds=30.0)
    pipeline = bench.pipeline([source])
    results, later = asyncio.run(work())
    assert [result.status for result in results] == ["degraded"] * 2
    for result in results:
        assert "run: timeout after 1 s" in result.results.degradation_notes
    # it is left no more than it came later than the first one, which takes all of its second
    assert source.asked == 1 or source.deadline < later + 0.5


# -- cancellation ---------------------------------------------------------------------------------------


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
        await cancelled(one)
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
            go_on.wait()
            return super().candidates(query)

    async def work():
        task = asyncio.create_task(pipeline.aresearch(bench.request()))
        await asyncio.to_thread(reading.wait)
        await cancelled_while_busy(task, go_on)
        return list(bench.events)

    reading, go_on, source = threading.Event(), threading.Event(), Given(found())
    pipeline = bench.pipeline({"a": source}, store=Slow())
    assert [event.kind for event in asyncio.run(work())] == [*RESEARCH[:5], "run.cancelled"]
    assert source.asked == 0


def test_a_report_that_is_being_kept_is_kept_though_the_question_is_cancelled(bench):
    """A write is seen to its end: the next one who asks has the answer at once."""

    class Slow(Shelf):
        def write(self, *arguments, **options):
            writing.set()
            go_on.wait()
            return super().write(*arguments, **options)

    async def work():
        task = asyncio.create_task(pipeline.aresearch(bench.request()))
        await asyncio.to_thread(writing.wait)
        await cancelled_while_busy(task, go_on)
        return bench.kinds()

    writing, go_on = threading.Event(), threading.Event()
    pipeline = bench.pipeline({"a": Given(found())}, store=Slow())
    assert asyncio.run(work()) == RESEARCH
    assert pipeline.research(bench.request()).result.status == "cache-hit"
