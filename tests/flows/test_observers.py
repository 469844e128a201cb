"""What a program that embeds KR sees of it: every event of every stage, in order, and harmless to watch."""

from __future__ import annotations

import asyncio
import json
from typing import get_type_hints

import pytest
from support.embedded import HIT, RESEARCH, Shelf, cancelled
from support.projects import QUESTION, Given, forever, found

from kr_core import EVENTS, ConfigError, Finding, Outcome, Pipeline, StorageError
from kr_core.model import STAGE_NAMES

pytestmark = [pytest.mark.req("P5", "P6"), pytest.mark.usefixtures("of_nobody")]


def test_an_observer_sees_every_stage_before_and_after_in_order(bench):
    """Research says every stage; a cache hit ends after the look-up. The journal has the same events."""
    pipeline = bench.pipeline({"a": Given(found())})
    pipeline.research(bench.request())
    assert bench.kinds() == RESEARCH
    assert [kind.partition(".")[0] for kind in RESEARCH if kind.endswith("started")][1:] == [
        *STAGE_NAMES[:3], "source", *STAGE_NAMES[3:],
    ]  # fmt: skip
    pipeline.research(bench.request())
    assert bench.kinds()[len(RESEARCH) :] == HIT
    assert [event for _number, event in pipeline.journal.read(0, 100)] == bench.events


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


def test_every_event_has_the_data_that_its_kind_promises(bench, project_folder):
    """Over runs of every ending, each event is of a known kind, its data has exactly the keys of its type, and is JSON."""
    _runs_of_every_ending(bench, project_folder)
    for event in bench.events:
        assert set(event.data) == set(get_type_hints(EVENTS[event.kind])), event
        json.dumps(event.data, allow_nan=False)
    never = {"compose.failed"}  # KR's own work on checked values: only Ctrl-C ends it
    # see test_warm, test_repeated, test_single_flight, test_written_reports, and tests/unit/net
    elsewhere = {"run.repeated", "run.waited", "source.request", "synthesis.started", "synthesis.finished"}
    elsewhere.add("answer.rejected")  # see test_not_found
    elsewhere |= {
        kind for kind in EVENTS if kind.startswith(("expedition.", "cycle."))
    }  # see test_expeditions
    elsewhere |= {kind for kind in EVENTS if kind.startswith("recommendation.")}  # see test_retro_accept
    asked = {
        kind for kind, data in EVENTS.items() if "exchange_id" in get_type_hints(data)
    }  # see test_questions_on_record
    assert {event.kind for event in bench.events} == set(EVENTS) - never - elsewhere - asked - {
        "agent.request"
    }


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
        await cancelled(task)

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
