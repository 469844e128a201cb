"""The sources that an expedition asks: at once, within its budget of calls, and whichever of them is down."""

import asyncio

import pytest
from support.expeditions import Library, of, research
from support.projects import Given

from kr_core import Finding


@pytest.mark.req("E2")
def test_engines_that_die_and_come_back(bench):
    """A cycle in which the engine is down is repeated once and noted; what comes after it is found, and nothing is lost."""
    undisturbed = research(bench.pipeline({"web": Library(most=1)}))[-1]
    bench.close()
    bench.folder.joinpath(".kr/journal.sqlite").unlink()
    bench.events.clear()

    async def query(query, context):
        cycle = [event.data["cycle"] for event in bench.events if event.kind == "cycle.started"][-1]
        if cycle in {2, 3}:
            return Finding(outcome="unavailable", reason="the engine is down", reached=False)
        return await Library(most=1).query(query, context)

    updates = research(bench.pipeline({"web": Given(query, external=True)}), max_calls=100)
    attempts = [
        (one.report.cycle, one.report.attempt, bool(one.report.down)) for one in of(updates, "convergence")
    ]
    assert attempts[:5] == [(1, 1, False), (2, 1, True), (2, 2, True), (3, 1, True), (3, 2, True)]
    assert attempts[5] == (4, 1, False)
    notes = "\n".join(update.text for update in of(updates, "note"))
    assert "cycle 2: web down; the cycle is repeated once" in notes
    assert "cycle 2: web still down" in notes
    finished = updates[-1]
    assert finished.cycles >= 4
    found = {axiom.id for axiom in finished.axioms}
    assert {axiom.id for axiom in undisturbed.axioms[:2]} <= found


@pytest.mark.req("E8")
@pytest.mark.parametrize("last", ["one", "two"])
def test_notes_come_in_the_same_order_whoever_answers_first(bench, last):
    """So that one that was killed comes to the same as one that was not."""
    answered = asyncio.Event()

    def failing(name):
        async def query(query, context):
            if name == last:
                await answered.wait()
            answered.set()
            return Finding(outcome="unavailable", reason=f"{name} is closed", reached=False)

        return Given(query, external=False)

    updates = research(bench.pipeline({"one": failing("one"), "two": failing("two")}), max_cycles=2)
    closed = [note for note in updates[-1].notes if "is closed" in note]
    assert [note.partition(":")[0] for note in closed] == ["one", "two"]


@pytest.mark.req("E2")
def test_engines_that_never_answer(bench):
    """Nobody can look: it is repeated and noted each time, ends by the hard limit, and says so; never that there is nothing."""
    dead = Given(Finding(outcome="timeout", reason="no answer", reached=False), external=True)
    updates = research(bench.pipeline({"web": dead}), max_cycles=3)
    finished = updates[-1]
    assert (finished.reason, finished.cycles) == ("maximum_cycles", 3)
    assert not finished.axioms
    assert finished.calls == 0
    assert "Nobody could look: web did not answer" in finished.answer
    assert "Nothing was found" not in finished.answer
    assert len(of(updates, "convergence")) == 5  # the third cycle is the last, whatever became of it
    repeated = [note for note in finished.notes if "repeated once" in note]
    assert [note.partition(":")[0] for note in repeated] == ["cycle 1", "cycle 2"]


@pytest.mark.req("E2")
def test_a_dead_source_beside_a_living_one(bench):
    """A source that never answered is told of, and keeps nobody from the end."""
    updates = research(bench.pipeline({"dead": Given(ValueError("broken")), "web": Library()}), max_calls=100)
    assert updates[-1].reason == "axiom_diminishing_returns"
    assert any("dead" in note and "broken" in note for note in updates[-1].notes)
    assert not any("repeated" in note for note in updates[-1].notes)


@pytest.mark.req("E1", "E2")
def test_a_source_that_lacks_what_it_needs(bench):
    """It says so before the first cycle, is not asked, and keeps nobody from the end."""
    lacking = Given(Finding(outcome="unavailable", reason="it needs a key", reached=False), external=True)
    lacking.unready = "it needs a key"
    updates = research(bench.pipeline({"lacking": lacking, "web": Library()}), max_calls=100)
    assert lacking.asked == 0
    assert [update.text for update in of(updates, "note")] == ["lacking: not asked: it needs a key"]
    assert updates[0].sources == ("web",)
    assert updates[-1].axioms


@pytest.mark.req("E1")
def test_no_source_at_all(bench):
    """It ends, and says that nobody could look; never that there is nothing."""
    finished = research(bench.pipeline([]))[-1]
    assert finished.reason == "zero_findings"
    assert "Nobody could look" in finished.answer
    assert "Nothing was found" not in finished.answer


@pytest.mark.req("E7")
@pytest.mark.parametrize("calls", [1, 3, 6])
def test_the_budget_of_calls_holds_and_the_ending_is_written(bench, calls):
    """Never more calls than were allowed; when they are spent, the answer is made of what there is, and says so."""
    library = Library()
    finished = research(bench.pipeline({"web": library}), max_calls=calls)[-1]
    assert len(library.asked) == calls == finished.calls
    assert finished.cycles == {1: 1, 3: 2, 6: 3}[calls]
    assert finished.reason == "budget_exhausted"
    assert finished.axioms
    assert "Fast Carrier supports tracking" in finished.answer


@pytest.mark.req("E7")
def test_no_call_at_all(bench):
    """With no calls allowed only what is on the machine is asked."""
    web, docs = Library(), Library(external=False)
    finished = research(bench.pipeline({"web": web, "docs": docs}), max_calls=0)[-1]
    assert not web.asked
    assert docs.asked
    assert finished.reason != "budget_exhausted"
    assert finished.axioms


@pytest.mark.req("E2")
def test_searches_of_a_cycle_run_at_once(bench):
    """Each source is asked while the others still work."""
    together = asyncio.Barrier(3)

    async def query(_query, _context):
        if together.n_waiting or together.parties == 3:
            async with asyncio.timeout(5):
                await together.wait()
        return Finding(outcome="empty")

    sources = {name: Given(query) for name in ("one", "two", "three")}
    updates = research(bench.pipeline(sources), "How are parcels tracked?")
    assert {hit.outcome for hit in of(updates, "source_hit")} == {"empty"}
