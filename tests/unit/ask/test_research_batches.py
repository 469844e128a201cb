"""A batch of research is chunks that workers take: nothing is researched twice, it can be held, and its cost is bounded."""

import asyncio
from datetime import date

import pytest

from kr_core import ConfigError, Pipeline
from kr_core.ask import research_batches
from kr_core.ask.research_batches import ResearchBatches
from kr_core.model import ResearchResult, Results
from kr_core.model.research import WrittenBy
from kr_core.research.results import CompletedResearch

pytestmark = pytest.mark.req("S2", "S4")

DAY = date(2026, 2, 5)
LINES = [{"question": f"How do I send parcel {number}?", "framework": "parcel"} for number in range(5)]


class Noted:
    """A runtime that notes what was queued."""

    def __init__(self):
        self.queued = []

    async def submit(self, run):
        if run not in self.queued:
            self.queued.append(run)

    def taken(self):
        """All that waits, as one worker takes it."""
        waiting, self.queued = self.queued, []
        return waiting


class Desk:
    """A project whose research is counted, may fail, and costs something."""

    def __init__(self, folder):
        self.pipeline = Pipeline.open({}, folder=folder)
        self.pipeline.aresearch_as = self.research
        self.runtime = Noted()
        self.batches = ResearchBatches(self.pipeline, self.runtime)
        self.asked, self.grants = [], []
        self.fails_at, self.cost = None, None

    async def research(self, request, grants):
        self.asked.append(request.query.question)
        self.grants.append(grants)
        if len(self.asked) == self.fails_at:
            await asyncio.sleep(0.3)  # the other one is done
            raise OSError("killed")
        written = None if self.cost is None else WrittenBy(agent="duc", cost_usd=self.cost)
        body = Results(summary=f"about {request.query.question}", written_by=written)
        return CompletedResearch(ResearchResult(status="success", story_key="", session_id="", results=body))

    async def work(self):
        for run in self.runtime.taken():
            await self.batches.perform(run)

    async def summaries(self, batch):
        return [one.results.summary async for one in self.batches.results(batch)]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(research_batches, "_SIZE", 2)
    made = Desk(tmp_path)
    yield made
    made.pipeline.close()


def test_the_results_come_in_the_order_asked(desk):
    """The same lines again are the same batch; once it has ended they are a new one."""

    async def run():
        batch = await desk.batches.begin(LINES, None)
        assert await desk.batches.begin(LINES, None) == batch
        assert len(desk.runtime.queued) == 3
        await desk.work()
        said = await desk.summaries(batch)
        await desk.batches.begin(LINES, None)
        await desk.work()
        return said, await desk.batches.all()

    said, (told,) = asyncio.run(run())
    assert said == [f"about How do I send parcel {number}?" for number in range(5)]
    assert (told.status, told.requests, told.chunks, told.chunks_ended) == ("ended", 5, 3, 3)
    assert len(desk.asked) == 10


def test_a_worker_that_takes_over_does_what_is_left(desk):
    """What the one that died had finished is not researched again, and a call is charged under the same name."""

    async def run():
        batch = await desk.batches.begin(LINES, None)
        desk.fails_at = 2
        first = desk.runtime.queued[0]
        with pytest.raises(OSError, match="killed"):
            await desk.batches.perform(first)
        await desk.batches.sweep()
        await desk.work()
        return await desk.summaries(batch)

    assert len(asyncio.run(run())) == 5
    assert len(desk.asked) == 6
    assert desk.grants[1] in desk.grants[2:]


def test_a_paused_batch_waits_until_it_is_resumed(desk):
    """No further request begins, who asks is told what there is, and a sweep leaves it alone."""

    async def run():
        batch = await desk.batches.begin(LINES, None)
        await desk.batches.perform(desk.runtime.queued.pop(0))
        await desk.batches.pause(batch)
        await desk.work()
        await desk.batches.sweep()
        assert desk.runtime.queued == []
        early = await desk.summaries(batch)
        (told,) = await desk.batches.all()
        await desk.batches.resume(batch, None)
        await desk.work()
        return early, told, await desk.summaries(batch)

    early, told, said = asyncio.run(run())
    assert (len(early), told.status, told.chunks_ended) == (2, "paused", 1)
    assert (len(said), len(desk.asked)) == (5, 5)


@pytest.mark.req("S5")
def test_a_batch_that_has_cost_its_limit_waits_for_a_person(desk, monkeypatch):
    """It goes on with a higher limit; with one that is spent already it is refused."""
    monkeypatch.setattr(research_batches, "_SIZE", 1)
    desk.cost = 0.5

    async def run():
        batch = await desk.batches.begin(LINES, 1.0)
        await desk.work()
        (spent,) = await desk.batches.all()
        with pytest.raises(ConfigError, match="it has cost"):
            await desk.batches.resume(batch, 0.9)
        await desk.batches.resume(batch, 9.0)
        await desk.work()
        (ended,) = await desk.batches.all()
        return spent, ended

    spent, ended = asyncio.run(run())
    assert (spent.status, spent.chunks_ended, spent.cost_usd) == ("paused", 2, 1.0)
    assert (ended.status, ended.chunks_ended, ended.cost_usd) == ("ended", 5, 2.5)


def test_a_batch_that_there_is_not(desk):
    """Its name is a mistake, and the message says so."""
    with pytest.raises(ConfigError, match="there is no such batch"):
        asyncio.run(desk.batches.pause("none"))
