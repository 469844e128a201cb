"""Expeditions that were left, cancelled or are begun twice: nothing runs on, nothing is asked again."""

import asyncio
import time
from contextlib import aclosing

import pytest
from support.expeditions import QUERY, Library, all_of, research, resume
from support.projects import Bench, Given, forever

from kr_core import ConfigError, Expeditions
from kr_core.expedition import provenance


@pytest.mark.req("E7", "E8")
@pytest.mark.parametrize("calls", [5, 8])
def test_gone_on_with_no_call_left_is_decided_as_before(tmp_path, calls):
    """Cycles that are done were decided on with what was left then, not with what is left now."""
    names = ["Amber", "Birch", "Cedar", "Dahlia", "Elder", "Fern", "Gorse", "Hazel"]
    pages = {
        f"https://{name.lower()}.example/": (
            f"{name} Carrier",
            (
                f"{name} Carrier supports tracking of parcels by the {after} Carrier. The {name} Carrier signs parcels with"
                f" {name}Sign. Tracking of parcels by {name} Carrier costs {number + 2} coins."
            ),
        )
        for number, (name, after) in enumerate(zip(names, [*names[1:], names[0]], strict=True))
    }
    query = "Which carriers of parcels support tracking?"
    whole, left = Bench(tmp_path / "whole"), Bench(tmp_path / "left")
    ended = research(whole.pipeline({"web": Library(pages)}), query, max_calls=calls)[-1]

    async def leave():
        updates = Expeditions(left.pipeline({"web": Library(pages)})).run_expedition(query, max_calls=calls)
        async with aclosing(updates) as each:
            async for update in each:
                if update.type == "convergence" and update.report.cycle == ended.cycles:
                    return

    asyncio.run(leave())
    again = resume(left.pipeline({"web": Library(pages)}), "X1")[-1]
    whole.close()
    left.close()
    told = [(one.reason, one.cycles, one.calls, one.answer, len(one.axioms)) for one in (ended, again)]
    assert told[0] == told[1]


@pytest.mark.req("E8", "E9")
def test_one_that_was_left_in_its_first_cycle(bench):
    """What it has told is kept by then, and in its tree."""
    expeditions = Expeditions(bench.pipeline({"web": Library()}))

    async def left():
        async with aclosing(expeditions.run_expedition(QUERY)) as updates:
            return await anext(update.axiom.id async for update in updates if update.type == "axiom_found")

    told = asyncio.run(left())
    kept = expeditions.get("X1")
    assert kept.finished is None
    assert told in {axiom.id for axiom in expeditions.found(kept)}


@pytest.mark.req("E8")
def test_one_that_was_left_goes_on_where_it_was(bench):
    """A caller that goes away stops the searches at once; resumed, nothing is asked again, and the end is the same."""
    whole = research(bench.pipeline({"web": Library()}))[-1]
    bench.close()
    bench.folder.joinpath(".kr/journal.sqlite").unlink()
    library = Library()
    pipeline = bench.pipeline({"web": library})

    async def leave():
        updates = Expeditions(pipeline).run_expedition(QUERY)
        async for update in updates:
            if update.type == "convergence":
                break
        await updates.aclose()

    asyncio.run(leave())
    asked = list(library.asked)
    [kept] = Expeditions(pipeline).kept()
    assert (kept.status, kept.finished) == ("unfinished", None)
    assert "kr expedition resume X1" in provenance.as_text(kept, Expeditions(pipeline))
    updates = resume(pipeline, "x1")
    assert updates[0].resumed
    assert library.asked[: len(asked)] == asked
    assert len(library.asked) == whole.calls
    assert same(updates[-1]) == same(whole)
    assert same(resume(pipeline, "1")[-1]) == same(whole)  # a finished one says it all again
    assert len(library.asked) == whole.calls


def same(finished):
    """What an expedition came to, without what is another in each run."""
    return finished.model_dump(mode="json", exclude={"id"})


@pytest.mark.req("E8")
def test_a_cancelled_one_leaves_nothing_running(bench):
    """Cancelling it ends the calls of sources within their time to clean up."""
    ended = []
    begun = asyncio.Event()

    async def slow(query, context):
        begun.set()
        try:
            await forever(query, context)
        finally:
            ended.append(query.question)

    async def cancel():
        pipeline = bench.pipeline({"web": Given(slow)})
        task = asyncio.create_task(all_of(Expeditions(pipeline).run_expedition(QUERY)))
        await begun.wait()
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 30  # it would go on for ever

    asyncio.run(cancel())
    assert ended


@pytest.mark.req("E8")
def test_the_same_one_twice_at_once(bench):
    """Who resumes one that runs is told so."""

    async def twice():
        expeditions = Expeditions(bench.pipeline({"web": Given(forever)}))
        updates = expeditions.run_expedition(QUERY)
        await anext(updates)
        with pytest.raises(ConfigError, match="it runs already"):
            await all_of(expeditions.resume("X1"))
        await updates.aclose()

    asyncio.run(twice())
