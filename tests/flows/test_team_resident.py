"""The resident of a team, as any door uses it: what is answered when, in which order, and what a shutdown leaves."""

from __future__ import annotations

import asyncio
import contextvars
import json

import pytest
from support.projects import QUESTION, Given, found
from support.team_messages import SEEDS_ANSWER, SEEDS_INDEX, SEEDS_REQUEST, SEEDS_ROSTER

from kr_core.model import Fault
from kr_core.team import messages
from kr_core.team import resident as module
from kr_core.team.resident import Resident


def query(topic="timeout", **values):
    """A query about a topic of its own."""
    return {"query": f"How do I set the {topic} of a parcel?", "framework": "parcel",
            "framework_version": "1.4.0", "topic": topic, "tags": [topic], **values}  # fmt: skip


def request(*queries, story="3-1", **values):
    return {"story_key": story, "requesting_agent": "dev-runner-3-1", "queries": list(queries), **values}


class Slow(Given):
    """A source that answers a topic once it is let go."""

    def __init__(self, **values):
        super().__init__(self.slowly, timeout_seconds=60.0, **values)
        self.order = []
        self._let_go = {}
        self._asked = {}

    def _event(self, events, topic):
        return events.setdefault(topic, asyncio.Event())

    async def slowly(self, query, _context):
        self.order.append(query.topic)
        self._event(self._asked, query.topic).set()
        await self._event(self._let_go, query.topic).wait()
        return found(
            f"Pass `{query.topic}=` to `send` to set the {query.topic} of a parcel.\n\n    send('Paris')\n"
        )

    async def asked_for(self, topic):
        await self._event(self._asked, topic).wait()

    def let_go(self, *topics):
        for topic in topics:
            self._event(self._let_go, topic).set()


class Team:
    """A resident with its log."""

    def __init__(self, bench, sources, **components):
        self.log = []
        self.pipeline = bench.pipeline(sources, **components)
        self.resident = Resident(self.pipeline, session_id="sprint-1", tell=self.log.append)

    def run(self, work):
        async def all_of_it():
            await self.resident.start()
            try:
                return await work(self.resident)
            finally:
                self.resident.abandon()
                await self.resident.shut_down()

        return asyncio.run(asyncio.wait_for(all_of_it(), 60))

    async def begin(self, *asked):
        """Ask, and come back once each is looked up."""
        return [await self.resident.take(await asyncio.to_thread(self.resident.look, one)) for one in asked]


def statuses(result):
    return [one["status"] for one in result["results"]]


async def settled(team):
    """Let everything go on that can."""
    for _ in range(200):
        await asyncio.sleep(0.005)
        if not team.resident.status()["in_hand"]:
            break


class TestTheSeedsMessages:
    @pytest.mark.req("T1")
    def test_the_request_of_the_seed_gets_the_result_of_the_seed(self, bench):
        """Field by field: new research of a stale entry keeps the seed's path; the summary is the source's words."""
        base = bench.folder / "knowledge-base"
        (base / "frameworks/vue-easytable").mkdir(parents=True)
        (base / "index.yaml").write_text("schema_version: 1\nentries:" + SEEDS_INDEX.format(status="stale"))
        (base / "frameworks/vue-easytable/virtual-scroll.md").write_text(
            "# old\n\n**Framework:** vue-easytable\n"
        )
        answer = found(f'{SEEDS_ANSWER}\n\n    <ve-table :virtual-scroll-option="option" />\n',
                       code=('<ve-table :virtual-scroll-option="option" />',))  # fmt: skip
        team = Team(bench, [Given(answer)])

        async def work(resident):
            message = messages.read(SEEDS_REQUEST)
            assert message.name == "RESEARCH_REQUEST"
            first, second = await resident.research(message.body), await resident.research(message.body)
            return first, second

        first, second = team.run(work)
        line = messages.written("RESEARCH_RESULT", first)
        assert line.startswith('RESEARCH_RESULT: {"story_key": "3-1", "results": [{"query": ')
        assert "\n" not in line
        assert first["requesting_agent"] == "dev-runner-3-1"
        (one,) = first["results"]
        assert list(one)[:5] == ["query", "status", "report_path", "confidence", "summary"]
        assert one["query"] == "How to configure virtual scrolling with dynamic row heights?"
        assert one["status"] == "success"
        assert one["report_path"] == "frameworks/vue-easytable/virtual-scroll.md"
        assert one["confidence"] == "high"
        assert "use <ve-table> with `virtual-scroll-option` prop" in one["summary"]
        assert {**second["results"][0], "status": "success", "notes": one.get("notes")} == {
            **one, "notes": one.get("notes")
        }  # fmt: skip
        assert statuses(second) == ["cache-hit"]

    @pytest.mark.req("T5")
    def test_the_roster_of_the_seed_is_logged(self, bench):
        team = Team(bench, [])

        async def work(resident):
            message = messages.read(SEEDS_ROSTER)
            assert message.name == "AGENT_ROSTER_BROADCAST"
            assert resident.roster(message.body) is None
            assert resident.roster(messages.read(f"AGENT_ROSTER_BROADCAST: {SEEDS_ROSTER}").body) is None
            return resident.status()["roster"]

        assert team.run(work)["slaves"] == ["slave-batch-1"]
        assert team.log[:2] == ["[KR] Roster updated: 3 residents, 1 slaves, 2 temps"] * 2

    @pytest.mark.req("T2", "T5")
    @pytest.mark.parametrize(
        "body", [{}, {"roster": None}, {"roster": {"residents": "all"}}, {"roster": {"temps": [1]}}, [], None]
    )
    def test_a_roster_that_is_none_is_refused(self, bench, body):
        async def work(resident):
            return resident.roster(body)

        fault = Team(bench, []).run(work)
        assert isinstance(fault, Fault)
        assert fault.field.startswith("roster")


class TestOrder:
    @pytest.mark.req("T1", "T6")
    def test_results_stand_in_the_order_asked_and_requests_overtake_each_other(self, bench):
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            slow, quick = await team.begin(
                request(query("label"), query("weight"), request_id="a"),
                request(query("colour"), request_id=7),
            )
            source.let_go("colour", "weight")
            first = await quick
            assert not slow.done()
            source.let_go("label")
            return first, await slow

        quick, slow = team.run(work)
        assert (quick["request_id"], slow["request_id"]) == (7, "a")
        assert [one["query"] for one in slow["results"]] == [
            query("label")["query"],
            query("weight")["query"],
        ]
        assert statuses(slow) == ["success", "success"]

    @pytest.mark.req("T1")
    def test_high_priority_runs_first(self, bench):
        """Of what waits; a priority that is none is taken as normal, and noted."""
        bench.configure("defaults: {max_concurrent: 1}\n")
        source = Slow()
        team = Team(bench, [source])

        async def work(_resident):
            asked = await team.begin(request(query("label")))
            await source.asked_for("label")
            asked += await team.begin(
                request(query("weight", priority="low")), request(query("colour", priority="at once")),
                request(query("height", priority="High")), request(query("price", priority="high")),
            )  # fmt: skip
            source.let_go("label", "weight", "colour", "height", "price")
            return [await one for one in asked]

        results = team.run(work)
        assert source.order == ["label", "height", "price", "colour", "weight"]
        assert "priority: 'at once'" in results[2]["results"][0]["notes"][0]

    @pytest.mark.req("T6")
    def test_a_hit_does_not_wait_for_a_slow_source(self, bench):
        """All places are taken by a source that does not answer: what is known is answered, also beside what is not."""
        bench.configure("defaults: {max_concurrent: 1}\n")
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            source.let_go("label")
            assert statuses(await resident.research(request(query("label")))) == ["success"]
            held = await team.begin(request(query("weight")), request(query("colour"), query("label")))
            await source.asked_for("weight")
            known = await resident.research(request(query("label"), story="4-2"))
            status = resident.status()
            source.let_go("weight", "colour")
            return known, status, [await one for one in held]

        known, status, held = team.run(work)
        assert statuses(known) == ["cache-hit"]
        assert (status["in_hand"], status["waiting"]) == (1, 1)
        assert (status["queries"], status["cache_hits"], status["cache_hit_rate"]) == (5, 2, 0.4)
        assert [statuses(one) for one in held] == [["success"], ["success", "cache-hit"]]
        assert "[KR-TEAM] Cache hits: 2 of 5 queries (40%)" in team.log

    @pytest.mark.req("T6")
    def test_so_many_are_worked_on_at_once(self, bench):
        bench.configure("defaults: {max_concurrent: 3}\n")
        source = Slow()
        team = Team(bench, [source])
        topics = ["label", "weight", "colour", "height", "price"]

        async def work(resident):
            asked = await team.begin(*(request(query(topic)) for topic in topics))
            for topic in topics[:3]:
                await source.asked_for(topic)
            assert resident.status()["in_hand"] == 3
            assert len(source.order) == 3
            source.let_go(*topics)
            return [await one for one in asked]

        assert [statuses(one) for one in team.run(work)] == [["success"]] * 5

    @pytest.mark.req("T6")
    @pytest.mark.parametrize("pause", [0, 0.015])
    def test_hits_do_not_starve_research(self, bench, monkeypatch, pause):
        """A place that is free is taken again while look-ups come without a pause; with pauses, the first one too."""
        monkeypatch.setattr(module, "_MAX_PATIENCE_SECONDS", 1e9)
        monkeypatch.setattr(module, "_QUIET_SECONDS", 0.3)  # no look-up takes that long
        bench.configure("defaults: {max_concurrent: 1}\n")
        source = Slow()
        team = Team(bench, [source])

        async def look_up_for_ever(resident):
            while True:
                looked = await asyncio.to_thread(resident.look, request(query("price")))
                await resident.take(looked)
                await asyncio.sleep(pause)

        async def work(resident):
            source.let_go("price")
            assert statuses(await resident.research(request(query("price")))) == ["success"]
            asked = await team.begin(request(query("label")), request(query("weight")))
            if not pause:
                await source.asked_for("label")
            looking = asyncio.create_task(look_up_for_ever(resident))
            await source.asked_for("label")
            source.let_go("label")
            await source.asked_for("weight")
            source.let_go("weight")
            results = [await one for one in asked]
            looking.cancel()
            await asyncio.wait([looking])
            return results

        assert [statuses(one) for one in team.run(work)] == [["success"]] * 2

    def test_who_asks_more_than_may_wait_waits(self, bench, monkeypatch):
        """What is held is bounded: the next request is taken when an answer was given."""
        monkeypatch.setattr(module, "_MAX_HELD", 1_500)
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            first, second = await team.begin(request(query("label")), request(query("weight")))
            third = asyncio.create_task(resident.research(request(query("colour"))))
            source.let_go("weight", "colour")
            await second
            done, _pending = await asyncio.wait({third}, timeout=60)
            assert done
            source.let_go("label")
            return await first

        assert statuses(team.run(work)) == ["success"]


class TestWhoAsked:
    @pytest.mark.req("I2")
    def test_a_cancelled_request_stops_and_makes_room(self, bench):
        """What it has in hand is given up, what it has waiting is never begun, others go on, and the shutdown does not hang."""
        bench.configure("defaults: {max_concurrent: 1}\n")
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            asked = request(query("label"), query("weight"), query("height"))
            gone = asyncio.create_task(resident.research(asked))
            await source.asked_for("label")
            (other,) = await team.begin(request(query("colour")))
            gone.cancel()
            source.let_go("colour")
            result = await other
            await asyncio.wait([gone])
            return gone.cancelled(), result, resident.status()

        cancelled, result, status = team.run(work)
        assert cancelled
        assert statuses(result) == ["success"]
        assert source.order == ["label", "colour"]
        assert (status["waiting"], status["requests_served"]) == (0, 1)
        assert "run.cancelled" in bench.kinds()

    @pytest.mark.req("I2")
    def test_work_runs_in_the_context_of_whoever_asked_for_it(self, bench):
        """Not of the one who made room: the progress of a request goes to its own client."""
        bench.configure("defaults: {max_concurrent: 1}\n")
        whose = contextvars.ContextVar("whose")
        seen = {}

        class Watching(Slow):
            async def slowly(self, query, context):
                seen[query.topic] = whose.get()
                return await super().slowly(query, context)

        source = Watching()
        team = Team(bench, [source])

        async def work(resident):
            async def ask(name, *topics):
                whose.set(name)
                return await resident.research(request(*map(query, topics)))

            first = asyncio.create_task(ask("first", "label", "weight"))
            await source.asked_for("label")
            second = asyncio.create_task(ask("second", "colour", "height"))
            source.let_go("label", "weight", "colour", "height")
            await asyncio.gather(first, second)

        team.run(work)
        assert seen == {"label": "first", "weight": "first", "colour": "second", "height": "second"}


class TestBudget:
    @pytest.mark.req("T3")
    def test_a_story_out_of_budget_is_told_at_once(self, bench):
        """It does not wait for another story's slow source; the machine's own sources are asked; a new story starts fresh."""
        bench.configure("defaults: {max_concurrent: 1}\nknowledge_research: {max_calls_per_story: 1}\n")
        source, local = Slow(external=True), Given(None)
        local.answer = lambda query, _context: _local(query)
        team = Team(bench, {"local": local, "outside": source})

        async def work(resident):
            source.let_go("label")
            first = await resident.research(request(query("label")))
            (slow,) = await team.begin(request(query("weight"), story="4-1"))
            await source.asked_for("weight")
            spent = await resident.research(request(query("colour"), query("at home"), query("label")))
            left = resident.status()["budget_remaining"]
            source.let_go("weight")
            return first, spent, left, await slow

        first, spent, left, slow = team.run(work)
        assert statuses(first) == ["partial"]  # the machine's own had nothing
        assert statuses(spent) == ["budget-exhausted", "success", "cache-hit"]
        assert "Research budget exhausted for story 3-1" in spent["results"][0]["notes"][-1]
        assert left["3-1"] == 0
        assert statuses(slow) == ["partial"]
        assert source.order == ["label", "weight"]

    @pytest.mark.req("T3")
    def test_what_waits_is_told_when_its_story_has_spent_all(self, bench):
        """Though the only place is taken again, by another story's slow source."""
        bench.configure("defaults: {max_concurrent: 1}\nknowledge_research: {max_calls_per_story: 1}\n")
        source = Slow(external=True)
        team = Team(bench, [source])

        async def work(_resident):
            (first,) = await team.begin(request(query("label")))
            await source.asked_for("label")
            slow, behind = await team.begin(
                request(query("weight", priority="high"), story="4-1"), request(query("colour"))
            )
            source.let_go("label")
            await first
            spent = await behind
            assert not slow.done()
            source.let_go("weight")
            await slow
            return spent

        assert statuses(team.run(work)) == ["budget-exhausted"]


async def _local(query):
    from kr_core import Finding, Outcome

    if query.topic == "at home":
        return found(
            "Pass `at_home=True` to `send`: set that the parcel is at home.\n\n    send(at_home=True)\n"
        )
    return Finding(outcome=Outcome.empty)


async def _twice(resident, asked):
    return await resident.research(asked), await resident.research(asked)


def team_result(bench, asked):
    return Team(bench, []).run(lambda resident: resident.research(asked))


class TestBadRequests:
    GOOD = request(query())

    @pytest.mark.req("T2")
    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"story_key": "31"}, "story_key"),
            ({"story_key": None}, "story_key"),
            ({"story_key": ["3-1"]}, "story_key"),
            ({"requesting_agent": ""}, "requesting_agent"),
            ({"requesting_agent": 7}, "requesting_agent"),
            ({"request_id": {}}, "request_id"),
            ({"request_id": True}, "request_id"),
            ({"request_id": float("nan")}, "request_id"),
            ({"request_id": float("inf")}, "request_id"),
            ({"queries": []}, "queries"),
            ({"queries": "all"}, "queries"),
            ({"queries": [query()] * 101}, "queries"),
            ({"queries": [7]}, "queries[0]"),
            ({"queries": [query(query="")]}, "queries[0].query"),
            ({"queries": [query(query="x" * 10_001)]}, "queries[0].query"),
            ({"queries": [query(query=["x"])]}, "queries[0].query"),
            ({"queries": [query(framework="../up")]}, "queries[0].framework"),
            ({"queries": [query(framework_version="")]}, "queries[0].framework_version"),
            ({"queries": [query(tags=[])]}, "queries[0].tags"),
            ({"queries": [query(tags=[""])]}, "queries[0].tags"),
            ({"queries": [query(topic={})]}, "queries[0].topic"),
            ({"queries": [{"query": "\ud800 in parcel", "framework": "parcel"}]}, "queries[0].query"),
        ],
    )
    def test_a_bad_field_is_named_and_nothing_is_researched(self, bench, changes, field):
        source = Given(found())
        team = Team(bench, [source])

        async def work(resident):
            bad = await resident.research({**self.GOOD, **changes})
            return bad, await resident.research(self.GOOD)

        bad, good = team.run(work)
        assert bad["errors"][0]["field"] == field
        assert bad["errors"][0]["type"] == "validation_error"
        assert field in bad["errors"][0]["message"]
        assert set(statuses(bad)) <= {"failure"}
        json.loads(messages.written("RESEARCH_RESULT", bad).removeprefix("RESEARCH_RESULT: "))
        assert statuses(good) == ["success"]
        assert source.asked == 1

    @pytest.mark.req("T1")
    def test_unknown_fields_are_ignored_with_a_note(self, bench):
        """Whatever a team adds for itself; what it writes around each message goes without saying."""
        team = Team(bench, [Given(found())])
        asked = request(query(depth=3), quarries=[], session_id="sprint-xxx", msg_type="RESEARCH_REQUEST")
        asked |= {"type": "message", **{f"more{number}": None for number in range(6)}}
        first, second = team.run(lambda resident: _twice(resident, asked))
        for result in (first, second):
            assert result["errors"] == []
            notes = [note for note in result["results"][0]["notes"] if "ignored" in note]
            assert notes == [
                "ignored, since unknown here: quarries, more0, more1, more2, more3 and 2 more",
                "ignored, since unknown here: queries[0].depth",
            ]
        assert [*statuses(first), *statuses(second)] == ["success", "cache-hit"]
        failed = team_result(bench, {**asked, "queries": [query(tags=[], depth=3)]})
        assert "queries[0].depth" in failed["results"][0]["notes"][-1]

    @pytest.mark.req("T2")
    def test_a_bad_query_leaves_the_others(self, bench):
        team = Team(bench, [Given(found())])
        result = team.run(lambda resident: resident.research(request(query(tags=[]), query("label"))))
        assert statuses(result) == ["failure", "success"]
        assert result["results"][0]["summary"] == result["errors"][0]["message"]
        assert (result["results"][0]["report_path"], result["results"][0]["confidence"]) == (None, None)

    @pytest.mark.req("R1")
    def test_what_a_query_leaves_out_is_inferred(self, bench):
        team = Team(bench, [Given(found())])
        asked = request({"query": QUESTION, "framework": "parcel"})
        assert statuses(team.run(lambda resident: resident.research(asked))) == ["success"]

    @pytest.mark.req("T2")
    @pytest.mark.parametrize("body", [None, [], 7, "text"])
    def test_what_is_no_object_is_refused(self, bench, body):
        result = Team(bench, []).run(lambda resident: resident.research(body))
        assert (result["results"], result["errors"][0]["field"]) == ([], "request")

    @pytest.mark.req("T2", "R9")
    @pytest.mark.parametrize("broken", ["store", "scorer"])
    def test_what_fails_inside_is_a_result_too(self, bench, broken):
        """A store or a scorer that is not there, for the look-up and for the research: whoever asks hears of it."""
        bench.configure(f"{broken}: nothing\n")
        team = Team(bench, [Given(found())])

        async def work():
            results = [await team.resident.research(request(query())) for _ in range(2)]
            await team.resident.shut_down()
            return results

        for result in asyncio.run(asyncio.wait_for(work(), 60)):
            assert statuses(result) == ["failure"]
            assert "nothing" in result["errors"][0]["message"]
            assert result["errors"][0]["type"] == "internal_error"

    @pytest.mark.req("R3")
    def test_where_research_is_disabled_the_result_says_so(self, bench):
        bench.configure("knowledge_research: {enabled: false}\n")
        result = Team(bench, []).run(lambda resident: resident.research(request(query())))
        assert statuses(result) == ["failure"]
        assert result["results"][0]["summary"] == "Knowledge research disabled in config"


class TestShutdown:
    @pytest.mark.req("T4")
    def test_what_is_in_hand_is_finished_and_what_waits_is_told(self, bench):
        """A request of which one query is researched is in hand with all of them."""
        bench.configure("defaults: {max_concurrent: 1}\n")
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            in_hand, waiting = await team.begin(
                request(query("label"), query("weight")), request(query("colour"))
            )
            await source.asked_for("label")
            ending = asyncio.create_task(resident.shut_down())
            refused = await waiting
            late = await resident.research(request(query("height")))
            assert not ending.done()
            source.let_go("label", "weight")
            await ending
            return await in_hand, refused, late

        async def run():
            await team.resident.start()
            return await work(team.resident)

        finished, refused, late = asyncio.run(run())
        assert statuses(finished) == ["success", "success"]
        for one in (refused, late):
            assert statuses(one) == ["failure"]
            assert one["errors"][0]["type"] == "shutdown"
        assert source.order == ["label", "weight"]
        assert team.log[-1] == "[KR-TEAM] Shutdown acknowledged, 1 research requests served this Sprint"
        assert {entry["topic"] for entry in bench.index} == {"label", "weight"}

    def test_told_twice_it_gives_up_what_is_in_hand(self, bench):
        source = Slow()
        team = Team(bench, [source])

        async def work(resident):
            (in_hand,) = await team.begin(request(query("label")))
            await source.asked_for("label")
            ending = asyncio.create_task(resident.shut_down())
            await asyncio.sleep(0)
            resident.abandon()
            await ending
            return await in_hand

        result = asyncio.run(asyncio.wait_for(work(team.resident), 60))
        assert statuses(result) == ["failure"]
        assert "run.cancelled" in bench.kinds()
