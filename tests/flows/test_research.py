"""Research through the whole pipeline, with sources that fail on purpose."""

import asyncio
import json
import re
import time
from datetime import timedelta

import httpx
import pytest
import yaml
from support.projects import DAY, Given, forever, found, passage

from kr_core import ConfigError, Pipeline, PluginError, ResearchResult, StorageError
from kr_core.config import load, template_trust
from kr_core.evidence.verification import verify
from kr_core.plugin import SKELETON_MARK, STALE_MARK, Finding, Outcome, Passage
from kr_core.templates import bundled_folder
from kr_core.toolkit import yaml_text

KEYS = ["status", "story_key", "mode", "session_id", "results", "errors"]
RESULT_KEYS = [
    "cache_hit",
    "cache_entry_id",
    "report_path",
    "confidence",
    "sources_consulted",
    "budget_remaining",
    "degradation_notes",
    "index_updated",
    "index_count",
    "lru_evicted",
]
DOWN = Finding(outcome=Outcome.unavailable, reason="no connection", reached=False)


def out_of_room(*_arguments, **_options):
    raise StorageError("no room", where="kb", hint="make room")


class Broken:
    """A store that reads like the real one and cannot write."""

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return out_of_room if name == "write" else getattr(self.store, name)


class TestStatus:
    @pytest.mark.req("R15", "R5")
    def test_success(self, bench):
        """A source that answers is success; the answer is kept, indexed and cited."""
        answer = bench.ask({"docs": Given(found())})
        result = answer.result
        assert result.status == "success"
        assert result.results.index_updated
        assert result.results.index_count == 1
        assert result.results.citations[0].quote in answer.report
        assert (bench.folder / "knowledge-base" / result.results.report_path).read_text() == answer.report
        assert not result.errors

    @pytest.mark.req("R15")
    @pytest.mark.parametrize(
        "outcome", ["empty", "pending", "blocked", "limited", "unavailable", "bad_answer"]
    )
    def test_partial_by_a_source(self, bench, outcome):
        """A source that gave nothing before another answered makes it partial."""
        result = bench.result({"a": Given(Finding(outcome=outcome, reason="so")), "b": Given(found())})
        assert result.status == "partial"
        assert result.results.degradation_notes == (f"a: {outcome}: so",)

    @pytest.mark.req("R15")
    def test_partial_by_a_failed_write(self, bench):
        """A report that cannot be kept is returned with the result, and the fault is listed."""
        answer = bench.ask({"docs": Given(found())}, store=Broken(bench.pipeline().store))
        result = answer.result
        assert result.status == "partial"
        assert [fault.type for fault in result.errors] == ["write_error"]
        assert result.errors[0].message == "kb: no room; make room"
        assert not result.results.index_updated
        assert result.results.report_path is None
        assert result.results.report == answer.report
        assert "## Summary" in answer.report

    @pytest.mark.req("R15", "R4")
    def test_cache_hit(self, bench):
        """The second time the stored answer is returned: no source is asked or even built, nothing is spent."""
        first = bench.ask({"docs": Given(found(), external=True)}).result.results
        bench.configure("knowledge_research: {sources: [installed_docs]}")
        pipeline = bench.pipeline()
        answer = pipeline.research(pipeline.read_request(bench.request()))
        results = answer.result.results
        assert answer.result.status == "cache-hit"
        assert results.cache_hit
        assert results.sources_consulted == ()
        assert results.degradation_notes == ()
        assert results.index_updated
        assert results.confidence == first.confidence
        assert (results.score, results.reasons) == (first.score, first.reasons)
        assert (results.summary, results.citations) == (first.summary, first.citations)
        assert results.budget_remaining == first.budget_remaining == 2
        assert results.match.tier == "full"
        assert not [built for built in pipeline.registry._built if built[0] == "source"]

    @pytest.mark.req("R15", "R9")
    def test_degraded_with_a_skeleton(self, bench):
        """Without any content a skeleton is returned and written, and never indexed."""
        answer = bench.ask({"a": Given(DOWN), "b": Given(ValueError("rubbish"))})
        results = answer.result.results
        assert answer.result.status == "degraded"
        assert "all_sources_unavailable: no cached content available" in results.degradation_notes
        assert SKELETON_MARK == "[No research results available, manual research required]"
        assert SKELETON_MARK in answer.report
        assert (bench.folder / results.report_path).read_text() == answer.report
        assert results.confidence == "low"
        assert (results.cache_entry_id, results.index_updated, results.index_count) == (None, False, 0)
        assert not (bench.folder / "knowledge-base").exists()
        assert bench.result({"a": Given(found())}).status == "success"
        assert len(bench.index) == 1

    @pytest.mark.req("R15", "R9")
    def test_degraded_with_a_stale_report(self, bench):
        """Where there is an older report it serves, marked; nothing but the mark changes in its entry."""
        bench.ask({"docs": Given(found())})
        before = bench.index
        bench.day = DAY + timedelta(days=40)
        answer = bench.ask({"docs": Given(OSError("down"))})
        results = answer.result.results
        assert answer.result.status == "degraded"
        assert "all_sources_unavailable: using stale cache" in results.degradation_notes
        assert STALE_MARK == "[Based on stale cache, re-research recommended]"
        assert answer.report.startswith(STALE_MARK)
        assert results.summary.startswith(STALE_MARK)
        assert "timeout=" in results.summary
        assert results.confidence == "low"
        assert results.cache_entry_id == "parcel-timeout-of-a-parcel"
        assert not results.index_updated
        assert results.match.stale
        assert bench.index == [{**entry, "status": "stale"} for entry in before]

    @pytest.mark.req("R9", "K3")
    def test_a_near_question_is_no_stale_answer(self, bench):
        """An inferred question that only resembles a stored one does not get that answer when nobody answers."""
        pipeline = bench.pipeline({"docs": Given(found())})
        pipeline.research(pipeline.request("How do I set a timeout for a parcel?", framework="parcel"))
        pipeline = bench.pipeline({"docs": Given(DOWN)})
        answer = pipeline.research(
            pipeline.request("How do I log a timeout for a parcel?", framework="parcel")
        )
        assert answer.result.status == "degraded"
        assert SKELETON_MARK in answer.report
        assert "timeout=" not in answer.result.results.summary

    @pytest.mark.req("R9")
    def test_found_nothing_is_not_could_not_look(self, bench):
        """Where every source looked and found nothing, none is called unavailable as a whole."""
        result = bench.result({"a": Given(Finding(outcome="empty", reason="nothing about it"))})
        assert result.status == "degraded"
        assert result.results.degradation_notes == ("a: empty: nothing about it",)

    @pytest.mark.req("R15", "R8")
    def test_timeout_of_a_call(self, bench):
        """A call that timed out before another source answered makes it timeout."""
        result = bench.result({"a": Given(forever, timeout_seconds=0.05), "b": Given(found())})
        assert result.status == "timeout"
        assert [line.status for line in result.results.sources_consulted] == ["timeout", "success"]
        assert result.results.degradation_notes == ("a: timeout after 0.05 s",)

    @pytest.mark.req("R15", "R2", "R3")
    def test_failure(self, bench):
        """An invalid or disabled request is a failure with every key of the results."""
        bench.configure("knowledge_research: {enabled: false}")
        source = Given(found())
        result = bench.result({"docs": source})
        assert result.status == "failure"
        assert [fault.message for fault in result.errors] == ["Knowledge research disabled in config"]
        assert source.asked == 0
        assert bench.files == ["kr.yaml"]


class TestSources:
    @pytest.mark.req("R6")
    @pytest.mark.parametrize(
        ("answer", "status", "outcome", "note"),
        [
            (found(), "success", "ok", None),
            (Finding(outcome="empty", reason="none"), "unavailable", "empty", "s: empty: none"),
            (Finding(outcome="pending"), "unavailable", "pending", "s: pending: pending"),
            (Finding(outcome="blocked", reason="robots"), "unavailable", "blocked", "s: blocked: robots"),
            (Finding(outcome="limited", reason="429"), "unavailable", "limited", "s: limited: 429"),
            (Finding(outcome="unavailable", reason="x"), "unavailable", "unavailable", "s: unavailable: x"),
            (Finding(outcome="bad_answer", reason="x"), "unavailable", "bad_answer", "s: bad_answer: x"),
            (Finding(outcome="timeout", reason="timeout after 20 s"), "timeout", "timeout", "s: timeout after 20 s"),
            (None, "unavailable", "bad_answer", "s: bad_answer: returned NoneType, not a Finding"),
            ("quota exceeded", "unavailable", "bad_answer", "s: bad_answer: returned str, not a Finding"),
            (Finding(outcome="ok"), "unavailable", "empty", "s: empty: no passages"),
            (found("  \n"), "unavailable", "empty", "s: empty: no passages"),
            (Finding(outcome="limited", reason="quota", passages=(passage("You have exceeded your quota"),)),
             "unavailable", "limited", "s: limited: quota"),
            (ValueError("rub\nbish"), "unavailable", "unavailable", "s: unavailable: ValueError: rub bish"),
            (SystemExit(3), "unavailable", "unavailable",
             "s: unavailable: RuntimeError: the source tried to end the program (3)"),
            (asyncio.CancelledError(), "unavailable", "unavailable", "s: unavailable: the source cancelled itself"),
            (TimeoutError(), "timeout", "timeout", "s: timeout after N s"),
            (StorageError("broken", where="w"), "unavailable", "unavailable", "s: unavailable: w: broken"),
        ],
    )  # fmt: skip
    def test_each_outcome(self, bench, answer, status, outcome, note):
        """Whatever a source does has an outcome, one of four statuses, and a note if it is not ok."""
        result = bench.result({"s": Given(answer)})
        (line,) = result.results.sources_consulted
        assert (line.source, line.status, line.outcome) == ("s", status, outcome)
        notes = [text for text in result.results.degradation_notes if not text.startswith("all_sources")]
        if isinstance(answer, TimeoutError):  # how long it took, on whatever machine
            notes = [re.sub(r"0(\.\d+)?", "N", text) for text in notes]
        notes = [text.partition(" (projects.py:")[0] for text in notes]
        assert notes == ([note] if note else [])
        assert "quota" not in result.results.summary

    @pytest.mark.req("R6")
    def test_what_was_not_reached_is_skipped(self, bench):
        """Sources after the one that sufficed are listed, skipped, without a URL."""
        last = Given(found())
        result = bench.result({"a": Given(found()), "b": last})
        assert [line.model_dump() for line in result.results.sources_consulted] == [
            {"source": "a", "status": "success", "url": "https://docs.example/parcel", "outcome": "ok"},
            {"source": "b", "status": "skipped", "url": None, "outcome": None},
        ]
        assert last.asked == 0

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        "source",
        [
            object(),
            type("S", (), {"external": False, "timeout_seconds": "soon", "query": None})(),
            type("S", (), {"external": False, "timeout_seconds": 5, "query": lambda *_: 7})(),
            type("S", (), {"external": True, "timeout_seconds": 5, "query": lambda *_: found()})(),
        ],
        ids=["nothing", "a word for a number", "not async", "not awaitable"],
    )
    def test_a_source_that_is_none(self, bench, monkeypatch, source):
        """A plugin that builds no source at all is unavailable; the next one answers."""
        pipeline = bench.pipeline({"a": "installed_docs", "b": Given(found())})
        build = pipeline.registry.build
        monkeypatch.setattr(
            pipeline.registry, "build", lambda noun, name: source if noun == "source" else build(noun, name)
        )
        result = pipeline.research(pipeline.read_request(bench.request())).result
        assert result.status == "partial"
        assert result.results.sources_consulted[0].status == "unavailable"

    @pytest.mark.req("R9")
    def test_a_source_that_cannot_be_built(self, bench, monkeypatch):
        """A configured plugin that is broken is unavailable, with the reason; the run goes on."""
        bench.configure("knowledge_research: {sources: [installed_docs]}")
        pipeline = bench.pipeline()

        def build(_noun, name):
            raise PluginError("failed to import", where=name)

        original = pipeline.registry.build
        monkeypatch.setattr(
            pipeline.registry,
            "build",
            lambda noun, name: (build if noun == "source" else original)(noun, name),
        )
        result = pipeline.research(pipeline.read_request(bench.request())).result
        assert [line.status for line in result.results.sources_consulted] == ["unavailable"]
        assert result.results.degradation_notes[0] == (
            "installed_docs: unavailable: installed_docs: failed to import"
        )

    @pytest.mark.req("P3", "R9")
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("knowledge_research:\n  sources: [markdown]\n", "not a source"),
            (
                "knowledge_research:\n  sources: [installed_docs]\nplugins: {installed_docs: {colour: 7}}\n",
                "colour",
            ),
        ],
    )
    def test_a_source_that_is_wrongly_configured(self, bench, text, said):
        """A wrong kind of plugin, or an unknown setting of a source, ends the run with file and line, as P3 says."""
        bench.configure(text)
        with pytest.raises(ConfigError, match=rf"kr\.yaml:\d+.*{said}"):
            bench.result()
        assert bench.kinds()[-1] == "run.finished"

    @pytest.mark.req("P3", "R9")
    def test_a_source_that_is_wrongly_configured_under_bmad(self, bench):
        """A BMAD file may name what KR does not have: there such a source is unavailable, with a note."""
        folder = bench.folder / "_bmad/bso"
        folder.mkdir(parents=True)
        pipeline = bench.pipeline()
        text = "knowledge_research: {sources: [markdown]}\n"
        (folder / "config.yaml").write_text(text)
        pipeline = Pipeline(load(bench.folder, folder / "config.yaml", environ={}), project=pipeline.project)
        result = pipeline.research(pipeline.read_request(bench.request())).result
        pipeline.close()
        assert result.results.degradation_notes[0].startswith("markdown: unavailable: ")

    @pytest.mark.req("R9")
    @pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3)], ids=["an error", "an exit"])
    @pytest.mark.parametrize("name", ["external", "timeout_seconds"])
    def test_a_property_that_raises(self, bench, name, error):
        """A source whose properties raise is unavailable; the next one answers."""

        def fail(_self):
            raise error

        source = type("S", (Given,), {name: property(fail, lambda *_: None)})(found())
        result = bench.result({"a": source, "b": Given(found())})
        assert [line.status for line in result.results.sources_consulted] == ["unavailable", "success"]

    @pytest.mark.req("Z4")
    @pytest.mark.parametrize("bad", ["\x1b[31m", "\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\ud800"])
    def test_what_steers_a_terminal_is_replaced(self, bench, bad):
        """Controls in any text of a finding become U+FFFD in result, report and evidence, which can be verified."""
        from kr_core.evidence.verification import verify

        given = found(f"Parcels have a timeout{bad} of 5.", title=f"A{bad}B", symbol=f"parcel{bad}.send")
        given = given.model_copy(update={"notes": (f"old{bad}",), "reason": bad})
        answer = bench.ask({"a": Given(given)})
        path = bench.folder / "knowledge-base" / answer.result.results.report_path
        evidence = path.with_suffix(".evidence.json").read_text()
        shown = json.dumps(answer.result.to_dict(), ensure_ascii=False) + answer.report + evidence
        assert bad[0] not in shown
        assert "\ufffd" in shown
        assert verify(path.read_text(), json.loads(evidence)) == []

    @pytest.mark.req("Z4")
    def test_what_steers_a_terminal_in_an_error(self, bench):
        """Controls in the text of an error become U+FFFD in the notes."""
        result = bench.result({"a": Given(ValueError("\x1b[2Jgone\ud800"))})
        expected = "a: unavailable: ValueError: \ufffd[2Jgone\ufffd"
        assert result.results.degradation_notes[0].partition(" (projects.py:")[0] == expected

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        "values",
        [
            {"outcome": Outcome.ok, "passages": (7,)},
            {"outcome": Outcome.ok, "passages": None},
            {"outcome": "splendid"},
            {"outcome": Outcome.ok, "passages": (Passage.model_construct(text=7j, url=None),)},
            {"outcome": Outcome.ok, "notes": object()},
            {"passages": ()},
        ],
        ids=[
            "no passage",
            "none",
            "no outcome of ours",
            "a passage of other types",
            "an object",
            "no outcome",
        ],
    )
    def test_a_finding_made_without_validation(self, bench, values):
        """Wrong types in a finding are a bad answer, never an exception."""
        result = bench.result({"a": Given(Finding.model_construct(**values))})
        assert result.results.sources_consulted[0].outcome == "bad_answer"
        assert result.status == "degraded"

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        "values",
        [
            {"url": "file:///home/me/parcel.py"},
            {"url": "FILE:/parcel.py"},
            {"url": "/home/me/parcel.py"},
            {"locator": "/home/me/parcel.py:3"},
            {"locator": "C:\\parcel.py:3"},
        ],
        ids=str,
    )
    def test_an_absolute_path_is_no_citation(self, bench, values):
        """A citation that only this machine could follow is a bad answer."""
        result = bench.result({"a": Given(found(**values))})
        assert result.results.degradation_notes[0] == "a: bad_answer: absolute path in a citation"

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        ("text", "outcome"),
        [
            ("Monthly limit reached.", "limited"),
            ("429 Too Many Requests", "limited"),
            ("Rate-limit!", "limited"),
            ("Invalid API key: x", "blocked"),
            ("No results found.", "empty"),
        ],
    )
    def test_a_refusal_is_no_answer(self, bench, text, outcome):
        """A short text from outside that tells of a quota is `limited` and not kept; a long or local one is content."""
        result = bench.result({"a": Given(found(text), external=True)})
        assert result.results.sources_consulted[0].outcome == outcome
        assert f"a: {outcome}: {text}" in result.results.degradation_notes
        assert not (bench.folder / "knowledge-base/index.yaml").exists() or bench.index == []
        assert (
            bench.result({"a": Given(found(text + " A timeout of a parcel." * 40), external=True)}).status
            == "success"
        )

    @pytest.mark.req("R9")
    def test_a_local_text_on_limits_is_an_answer(self, bench):
        """Documentation that is installed may be short and speak of a rate limit."""
        assert bench.result({"a": Given(found("Sets the rate limit of a parcel."))}).status == "success"

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        ("question", "text", "code"),
        [
            (
                "What is sent with 401 Unauthorized for a parcel?",
                "Unauthorized parcels go back to Paris.",
                (),
            ),
            (
                "What does a parcel raise?",
                "A parcel raises it:\n\n```python\nraise Unauthorized\n```",
                ("raise Unauthorized",),
            ),
        ],
    )
    def test_an_answer_about_refusals_is_an_answer(self, bench, question, text, code):
        """What was asked about, and what shows code, is no refusal, however short it is."""
        given = Given(found(text, code=code), external=True)
        assert bench.result({"a": given}, request=bench.request(question=question)).status == "success"

    @pytest.mark.req("R9", "P6")
    def test_what_a_source_says_cannot_break_the_run(self, bench):
        """Events that JSON has no form for are kept as text."""

        async def talk(_query, context):
            context.emit("page.fetched", {"n": 1})
            context.emit("page.fetched", {"n": object(), "m": float("nan")})
            context.emit(7, "no mapping")
            return found()

        assert bench.result({"a": Given(talk)}).status == "success"
        kinds = [event.kind for _, event in bench.pipeline().journal.read(0, 100)]
        assert kinds.count("page.fetched") == 1
        assert kinds.count("source.said") == 2

    @pytest.mark.req("R5")
    def test_it_stops_at_the_first_that_suffices(self, bench):
        """In order, until one is about the question; what did not suffice stays in the report."""
        aside = found("Parcels were invented in Ur.", coverage=0.1, url="https://ur.example")
        a, b, c = Given(aside), Given(found()), Given(found())
        result = bench.result({"a": a, "b": b, "c": c})
        assert (a.asked, b.asked, c.asked) == (1, 1, 0)
        assert result.status == "success"
        assert [line.status for line in result.results.sources_consulted] == ["success", "success", "skipped"]

    @pytest.mark.req("R5")
    def test_sufficient_at_asks_for_a_score(self, bench):
        """With `sufficient_at` an answer below the score is kept, and the next source is asked too."""
        bench.configure("knowledge_research: {sufficient_at: 90}")
        weak = found(
            "A timeout for a parcel is set by the carrier.", official=False, url="https://blog.example"
        )
        a, b, c = Given(weak), Given(found()), Given(found())
        result = bench.result({"a": a, "b": b, "c": c})
        assert (a.asked, b.asked) == (1, 1)
        assert {"a", "b"} <= {citation.source for citation in result.results.citations} | {"a"}
        assert result.results.sources_consulted[0].status == "success"

    @pytest.mark.req("R5")
    def test_the_default_chain_lists_only_who_knows(self, bench, nowhere):
        """Without configuration `installed_docs` is listed only where the framework is installed."""
        result = bench.result()
        assert [line.source for line in result.results.sources_consulted] == [
            "context7",
            "deepwiki",
            "web_search",
        ]
        assert result.status == "degraded"
        assert result.results.degradation_notes[-2:] == (
            "installed_docs was not asked: parcel is not installed here",
            "all_sources_unavailable: no cached content available",
        )

    @pytest.mark.req("R5")
    def test_a_configured_chain_is_obeyed(self, bench):
        """A configured source is asked, though it knows nothing of the framework; an empty list asks nobody."""
        bench.configure("knowledge_research: {sources: [installed_docs]}")
        assert [line.source for line in bench.result().results.sources_consulted] == ["installed_docs"]
        bench.configure("knowledge_research: {sources: []}")
        assert bench.result().results.sources_consulted == ()


class TestBudget:
    @pytest.mark.req("R7")
    def test_shared_by_the_story(self, bench):
        """Three calls for a story in a session, whoever takes them; another story or session has its own."""
        empty = Finding(outcome="empty")

        def spend(**request):
            sources = {"a": Given(empty, external=True), "b": Given(empty, external=True)}
            return bench.result(sources, bench.request(**request)), sources

        first, _ = spend()
        assert first.results.budget_remaining == 1
        second, sources = spend(topic="another topic")
        assert [source.asked for source in sources.values()] == [1, 0]
        assert second.status == "budget-exhausted"
        assert second.results.budget_remaining == 0
        warning = "Research budget exhausted for story 3-1, continuing with available context"
        assert warning in second.results.degradation_notes
        assert [line.status for line in second.results.sources_consulted] == ["unavailable", "skipped"]
        assert spend(story="3-2")[0].results.budget_remaining == 1
        assert spend(session="s2")[0].results.budget_remaining == 1

    @pytest.mark.req("R7")
    def test_exact_for_pipelines_at_once(self, bench):
        """Ten runs at once on one journal spend three calls, not one more."""
        sources = [Given(Finding(outcome="empty"), external=True) for _ in range(10)]
        pipelines = [bench.pipeline({"a": source}) for source in sources]

        async def all_at_once():
            runs = (
                p.aresearch(p.read_request(bench.request(topic=f"t{n}"))) for n, p in enumerate(pipelines)
            )
            return await asyncio.gather(*runs)

        answers = asyncio.run(all_at_once())
        assert sum(source.asked for source in sources) == 3
        assert [answer.result.status for answer in answers].count("budget-exhausted") == 7

    @pytest.mark.req("R7")
    def test_local_sources_cost_nothing(self, bench):
        """A source that stays on the machine is asked though the budget is out, and may be the answer."""
        bench.configure("knowledge_research: {max_calls_per_story: 1}")
        bench.ask({"net": Given(Finding(outcome="empty"), external=True)})
        net, local = Given(found(), external=True), Given(found())
        result = bench.result({"net": net, "local": local}, bench.request(topic="other"))
        assert (net.asked, local.asked) == (0, 1)
        assert result.status == "success"
        assert result.results.budget_remaining == 0

    @pytest.mark.req("R7", "R15")
    def test_what_was_gathered_is_the_answer(self, bench):
        """When the budget ends before a sufficient answer, what there is is rendered and kept."""
        bench.configure("knowledge_research: {max_calls_per_story: 1}")
        weak = found("Parcels have a timeout.", coverage=0.2)
        answer = bench.ask({"a": Given(weak, external=True), "b": Given(found(), external=True)})
        assert answer.result.status == "budget-exhausted"
        assert answer.result.results.cache_entry_id
        assert "all_sources" not in str(answer.result.results.degradation_notes)

    @pytest.mark.req("R7")
    def test_or_else_the_stale_report(self, bench):
        """With no budget and a stale report, that is the answer; no source is blamed."""
        bench.ask({"a": Given(found(), external=True)})
        bench.ask({"a": Given(found(), external=True)}, bench.request(topic="x1", tags=["x1"]))
        bench.ask({"a": Given(found(), external=True)}, bench.request(topic="x2", tags=["x2"]))
        answer = bench.ask({"a": Given(found(), external=True)}, bench.request(framework_version="2.0"))
        assert answer.result.status == "budget-exhausted"
        assert answer.report.startswith(STALE_MARK)
        assert "all_sources" not in str(answer.result.results.degradation_notes)

    @pytest.mark.req("R7")
    @pytest.mark.parametrize(("calls", "asked"), [(1, [1, 0, 0, 0, 0]), (5, [1, 1, 1, 1, 1])])
    def test_an_override_is_what_this_run_may_spend(self, bench, calls, asked):
        """`config_overrides.max_calls` bounds the run, also above the story's own limit."""
        sources = {name: Given(Finding(outcome="empty"), external=True) for name in "abcde"}
        result = bench.result(sources, bench.request(overrides={"max_calls": calls}))
        assert [source.asked for source in sources.values()] == asked
        assert result.results.budget_remaining == 0

    @pytest.mark.req("R7")
    @pytest.mark.parametrize(
        "answer",
        [
            DOWN,
            ConnectionRefusedError(),
            httpx.ConnectError("refused"),
            httpx.ConnectTimeout("no way"),
        ],
        ids=["not reached", "refused", "no connection", "no connection in time"],
    )
    def test_never_reached_costs_nothing(self, bench, answer):
        """A call for which no request was sent is given back."""
        result = bench.result({"a": Given(answer, external=True)})
        assert result.results.budget_remaining == 3

    @pytest.mark.req("R7")
    @pytest.mark.parametrize(
        "answer",
        [
            found(),
            Finding(outcome="limited"),
            Finding(outcome="empty"),
            ValueError("rubbish"),
            forever,
            "rubbish",
        ],
        ids=["ok", "limited", "empty", "raised", "timeout", "bad"],
    )
    def test_whatever_came_back_costs_a_call(self, bench, answer):
        """Once a request was sent it counts, whatever came of it."""
        result = bench.result({"a": Given(answer, external=True, timeout_seconds=0.05)})
        assert result.results.budget_remaining == 2

    @pytest.mark.req("R7")
    def test_a_refusal_after_an_answer_costs_a_call(self, bench):
        """A connection that is refused after a request of the same call was answered does not make it free."""

        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            await writer.drain()
            writer.close()

        async def twice(_query, context):
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            assert (await context.http.get(address)).text == "hi"
            server.close()
            await server.wait_closed()
            await context.http.get(address)

        result = bench.result({"a": Given(twice, external=True)})
        assert result.results.sources_consulted[0].status == "unavailable"
        assert result.results.budget_remaining == 2


class TestTime:
    @pytest.mark.req("R8")
    def test_each_source_has_its_own_limit(self, bench):
        """The source's suggestion holds where nothing is configured, ten minutes at most."""
        short, long = Given(Finding(outcome="empty"), timeout_seconds=7), Given(found(), timeout_seconds=9999)
        bench.configure("defaults: {agent_timeout_seconds: {knowledge_research: 5000}}")
        bench.ask({"a": short, "b": long})
        assert 6 < short.deadline <= 7
        assert 599 < long.deadline <= 600

    @pytest.mark.req("R8")
    def test_configuration_and_request_override(self, bench):
        """A configured limit holds for all sources, and that of the request before it."""
        bench.configure("knowledge_research: {timeout_seconds: 30}")
        source = Given(found(), timeout_seconds=7)
        bench.ask({"a": source})
        assert 29 < source.deadline <= 30
        bench.ask({"a": source}, bench.request(topic="other", tags=["x"], overrides={"timeout_seconds": 45}))
        assert 44 < source.deadline <= 45

    @pytest.mark.req("R8")
    def test_a_dropped_call_is_cancelled(self, bench):
        """The call is not left running: its clean-up has happened before the next source is asked."""
        seen = []

        async def slow(_query, _context):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
            finally:
                seen.append("cleaned up")

        async def quick(_query, _context):
            seen.append("next")
            return found()

        bench.ask({"a": Given(slow, timeout_seconds=0.05), "b": Given(quick)})
        assert seen == ["cancelled", "cleaned up", "next"]

    @pytest.mark.req("R8")
    @pytest.mark.parametrize("ending", ["return", "raise"])
    def test_a_call_that_swallows_its_cancellation(self, bench, ending):
        """What a dropped call returns or raises too late is not an answer."""

        async def swallow(_query, _context):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if ending == "raise":
                    raise ValueError("too late") from None
            return found()

        result = bench.result({"a": Given(swallow, timeout_seconds=0.05)})
        assert result.status == "degraded"
        assert result.results.sources_consulted[0].status == "timeout"

    @pytest.mark.req("R8")
    def test_a_call_that_never_stops(self, bench):
        """A call that ignores every cancellation is left behind after a second, and noted; the run goes on."""
        stop = []

        async def stubborn(_query, _context):
            while not stop:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    continue

        begun = time.monotonic()
        result = bench.result({"a": Given(stubborn, timeout_seconds=0.05), "b": Given(found())})
        stop.append(True)
        assert time.monotonic() - begun < 60  # it would go on for ever
        assert result.status == "timeout"
        assert "a: did not stop when cancelled" in result.results.degradation_notes

    @pytest.mark.req("R8")
    def test_the_whole_run_is_limited(self, bench):
        """After its limit what was gathered is returned; the rest is skipped; a human is asked for."""
        bench.configure("defaults: {agent_timeout_seconds: {knowledge_research: 1}}")
        weak, last = found("Parcels have a timeout.", coverage=0.2), Given(found())
        result = bench.result({"a": Given(weak), "b": Given(forever), "c": last})
        assert result.status == "timeout"
        assert result.needs_intervention
        assert "needs-intervention" in bench.kinds()
        assert [line.status for line in result.results.sources_consulted] == ["success", "timeout", "skipped"]
        assert result.results.degradation_notes == ("b: timeout after 1 s", "run: timeout after 1 s")
        assert result.results.citations
        assert last.asked == 0

    @pytest.mark.req("R8")
    def test_skip_asks_for_nobody(self, bench):
        """With `skip` the run ends there; with nothing gathered it is degraded."""
        bench.configure(
            "defaults: {agent_timeout_seconds: {knowledge_research: 1}, agent_timeout_action: skip}"
        )
        result = bench.result({"a": Given(forever)})
        assert result.status == "degraded"
        assert not result.needs_intervention
        assert "needs-intervention" not in bench.kinds()

    @pytest.mark.req("R8", "R7")
    def test_retry_once(self, bench):
        """With `retry_once` only what did not come to an end is asked again, and the new call counts."""
        bench.configure(
            "defaults: {agent_timeout_seconds: {knowledge_research: 1}, agent_timeout_action: retry_once}"
        )

        async def second_time(query, context):
            if again.asked == 1:
                await forever(query, context)
            return found()

        weak = Given(found("Parcels have a timeout.", coverage=0.2), external=True)
        again = Given(second_time, external=True)
        result = bench.result({"a": weak, "b": again})
        assert (weak.asked, again.asked) == (1, 2)
        assert result.status == "success"
        assert result.results.budget_remaining == 0
        assert "run: timeout after 1 s, retried once" in result.results.degradation_notes
        assert not result.needs_intervention

    @pytest.mark.req("R8")
    def test_a_source_that_says_timeout_does_not_end_the_run(self, bench):
        """A timeout that a source reports itself, with the limit of the run near its own, is the source's alone."""
        bench.configure("knowledge_research: {timeout_seconds: 600}")
        result = bench.result({"a": Given(Finding(outcome="timeout")), "b": Given(found())})
        assert [line.status for line in result.results.sources_consulted] == ["timeout", "success"]

    @pytest.mark.req("R8")
    def test_a_run_that_is_cancelled(self, bench):
        """Cancelling the caller cancels the call in hand, records it, and passes through."""
        seen = []

        async def slow(_query, _context):
            try:
                await asyncio.sleep(3600)
            finally:
                seen.append("cleaned up")

        async def cancelled():
            pipeline = bench.pipeline({"a": Given(slow)})
            task = asyncio.create_task(pipeline.aresearch(pipeline.read_request(bench.request())))
            while "source.started" not in bench.kinds():  # noqa: ASYNC110  told by an observer
                await asyncio.sleep(0.01)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
        assert seen == ["cleaned up"]
        assert bench.kinds()[-1] == "run.cancelled"

    def test_inside_an_event_loop(self, bench):
        """`research` inside a running loop says what to call instead."""
        pipeline = bench.pipeline({"a": Given(found())})

        async def wrong():
            pipeline.research(pipeline.read_request(bench.request()))

        with pytest.raises(RuntimeError, match="aresearch"):
            asyncio.run(wrong())


class TestRequests:
    @pytest.mark.req("R2")
    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"story_key": "3"}, "story_key"),
            ({"story_key": "3-1\n"}, "story_key"),
            ({"story_key": "٣-١"}, "story_key"),
            ({"story_key": None}, "story_key"),
            ({"session_id": " "}, "session_id"),
            ({"session_id": None}, "session_id"),
            ({"session_id": "\ud800"}, "session_id"),
            ({"mode": "reserach"}, "mode"),
            ({"mode": None}, "mode"),
            ({"research_query": None}, "research_query"),
            ({"research_query": []}, "research_query"),
            ({"research_qery": {}}, "research_qery"),
            ({"research_query.framework": ""}, "research_query.framework"),
            ({"research_query.framework": "../../etc"}, "research_query.framework"),
            ({"research_query.framework": "a\0b"}, "research_query.framework"),
            ({"research_query.framework": "x" * 300}, "research_query.framework"),
            ({"research_query.framework": "\udcff"}, "research_query.framework"),
            ({"research_query.framework": ["a"]}, "research_query.framework"),
            ({"research_query.framework_version": None}, "research_query.framework_version"),
            ({"research_query.topic": " "}, "research_query.topic"),
            ({"research_query.tags": []}, "research_query.tags"),
            ({"research_query.tags": "timeout"}, "research_query.tags"),
            ({"research_query.tags": [""]}, "research_query.tags"),
            ({"research_query.question": ""}, "research_query.question"),
            ({"research_query.question": "x" * 100_000}, "research_query.question"),
            ({"research_query.question": "a\0b"}, "research_query.question"),
            ({"research_query.question": "\ud800"}, "research_query.question"),
            ({"research_query.answer": "42"}, "research_query.answer"),
        ],
    )  # fmt: skip
    def test_an_invalid_field(self, bench, changes, field):
        """An invalid field is a failure that names it; nothing is written and no source is asked."""
        request = bench.request()
        for key, value in changes.items():
            first, _, second = key.partition(".")
            if second:
                request[first][second] = value
            else:
                request[first] = value
        source = Given(found())
        result = bench.result({"a": source}, request)
        assert result.status == "failure"
        assert [(fault.type, fault.field) for fault in result.errors] == [("validation_error", field)]
        assert result.errors[0].message.startswith(
            "Invalid mode" if field == "mode" else "Validation failed: "
        )
        assert len(result.errors[0].message) < 300
        assert source.asked == 0
        assert bench.files == []
        json.dumps(result.to_dict())

    @pytest.mark.req("R2")
    def test_all_faults_at_once(self, bench):
        """Every fault is told in one go; a request that is no mapping is one."""
        result = bench.result({}, {"mode": "x"})
        assert [fault.field for fault in result.errors] == [
            "mode",
            "story_key",
            "session_id",
            "research_query",
        ]
        for raw in ([], "text", None, 7):
            assert bench.result({}, raw if raw is not None else 0).errors[0].field == "request"

    @pytest.mark.req("R2")
    def test_mode_in_exact_words(self, bench):
        """Another mode is told in the published words."""
        result = bench.result({}, {**bench.request(), "mode": "guess"})
        assert [fault.message for fault in result.errors] == ["Invalid mode"]

    @pytest.mark.req("R2")
    @pytest.mark.parametrize("value", [0, -1, 1.5, "1.5", "many", True, [], {}])
    @pytest.mark.parametrize("key", ["max_calls", "timeout_seconds"])
    def test_an_invalid_override_falls_back(self, bench, key, value):
        """An override that is no positive whole number is the default, with a note."""
        source = Given(found(), external=True)
        result = bench.result({"a": source}, bench.request(overrides={key: value}))
        assert result.status == "success"
        assert result.results.budget_remaining == 2
        assert result.results.degradation_notes == (
            f"config_overrides.{key}: {value!r} is not a positive whole number, default used",
        )
        assert source.deadline <= 5

    @pytest.mark.req("R2")
    def test_overrides_that_are_none(self, bench):
        """Overrides that are no mapping, or have other keys, are noted and not obeyed."""
        sources = {"a": Given(found())}
        assert "not a mapping" in str(
            bench.result(sources, bench.request(overrides=7)).results.degradation_notes
        )
        request = bench.request(overrides={"max_cals": 3}, topic="other", tags=["o"])
        assert "max_cals: unknown" in str(bench.result(sources, request).results.degradation_notes)

    @pytest.mark.req("R1")
    def test_a_person_gives_only_a_question(self, bench):
        """Story, session, topic and tags have defaults; null is as good as nothing."""
        pipeline = bench.pipeline({"a": Given(found())})
        request = pipeline.read_request(
            {
                "question": "How do I set a timeout in parcel?",
                "framework": "parcel",
                "tags": None,
                "story_key": None,
            }
        )
        assert (request.story_key, request.query.framework, request.query.framework_version) == (
            "0-0",
            "parcel",
            "latest",
        )
        assert request.session_id
        assert request.query.topic == "set a timeout"
        assert request.query.tags == ("set", "timeout")
        assert request.query.inferred == {"framework_version", "topic", "tags"}
        assert pipeline.research(request).result.status == "success"

    @pytest.mark.req("R2")
    @pytest.mark.parametrize(
        ("more", "field"),
        [({"framwork": "x"}, "framwork"), ({"mode": "x"}, "mode"), ({"question": []}, "question")],
    )
    def test_a_bare_question_is_checked_too(self, bench, more, field):
        """A misspelt field beside a bare question is told, not ignored."""
        result = bench.result({}, {"question": "a timeout?", "framework": "parcel", **more})
        assert [fault.field for fault in result.errors] == [field]

    @pytest.mark.req("R3")
    def test_disabled_is_told_after_what_is_invalid(self, bench):
        """What is wrong with a request is told whether research is enabled or not."""
        bench.configure("knowledge_research: {enabled: false}")
        assert bench.result({}, {**bench.request(), "session_id": ""}).errors[0].field == "session_id"


class TestResult:
    @pytest.mark.req("R14")
    @pytest.mark.parametrize("kind", ["success", "failure", "degraded", "cache-hit"])
    def test_the_published_keys_in_their_order(self, bench, kind):
        """All keys of the schema, in its order, also on failure; further ones follow."""
        sources = {"a": Given(DOWN if kind == "degraded" else found())}
        request = {} if kind == "failure" else None
        if kind == "cache-hit":
            bench.ask(sources)
        result = bench.result(sources, request)
        value = result.to_dict()
        assert value["status"] == kind
        assert list(value)[:6] == KEYS
        assert list(value["results"])[:10] == RESULT_KEYS
        assert set(list(value["results"])[10:]) == {
            "summary",
            "score",
            "reasons",
            "match",
            "citations",
            "passages",
            "report",
            "written_by",
        }
        for line in value["results"]["sources_consulted"]:
            assert list(line)[:3] == ["source", "status", "url"]
        assert json.loads(json.dumps(value)) == value
        assert yaml.safe_load(yaml_text.dump(value)) == value
        assert ResearchResult.model_validate(value) == result

    @pytest.mark.req("R13")
    def test_a_scorer_that_fails(self, bench):
        """A scorer that raises, or returns no score, gives `low` and a note."""

        class Raising:
            def score(self, *_):
                raise ZeroDivisionError

        class Silent:
            def score(self, *_):
                return None

        for number, scorer in enumerate((Raising(), Silent())):
            result = bench.result(
                {"a": Given(found())}, bench.request(topic=f"t{number}", tags=[f"t{number}"]), scorer=scorer
            )
            assert result.results.confidence == "low"
            assert result.results.score == 0
            assert any(
                note.startswith(f"scorer {type(scorer).__name__}: ")
                for note in result.results.degradation_notes
            )

    @pytest.mark.req("R12")
    def test_a_renderer_that_fails(self, bench):
        """A renderer that raises, or renders nothing, gives plain text and a note; the report is kept."""

        class Raising:
            def render(self, _report):
                raise ZeroDivisionError

        class Silent:
            def render(self, _report):
                return ""

        for number, renderer in enumerate((Raising(), Silent())):
            request = bench.request(topic=f"t{number}", tags=[f"t{number}"])
            answer = bench.ask({"a": Given(found())}, request, renderer=renderer)
            assert answer.report.startswith(
                f"# parcel - t{number}\n\n**Framework:** parcel\n**Version:** 1.4.0\n"
            )
            assert any(
                note.startswith(f"renderer {type(renderer).__name__}: ")
                for note in answer.result.results.degradation_notes
            )
            assert answer.result.results.index_updated

    @pytest.mark.req("R12")
    def test_the_project_overrides_the_template(self, bench):
        """A trusted template of the project's own is used; one that is wrong costs its looks, not the answer."""
        template = bench.folder / "templates/reports/research.md.j2"
        template.parent.mkdir(parents=True)
        template.write_text("# {{ framework }} in our house\n")
        template_trust.trust(bench.folder, template_trust.found(bench.folder))
        assert bench.ask({"a": Given(found())}).report == "# parcel in our house\n"
        template.write_text("{{ framework.__class__.__mro__ }}")
        template_trust.trust(bench.folder, template_trust.found(bench.folder))
        answer = bench.ask({"a": Given(found())}, bench.request(topic="x", tags=["x"]))
        assert answer.report.startswith("# parcel - x\n")
        assert any("renderer markdown: " in note for note in answer.result.results.degradation_notes)

    @pytest.mark.req("R12", "R18")
    @pytest.mark.parametrize(
        "title",
        [
            "# How we use {{ framework }}",
            "How we use {{ framework }}\n=======",
            "---\ntags: [parcels]\n---\n\n# How we use {{ framework }}",
        ],
        ids=["marked", "underlined", "below front matter"],
    )
    def test_the_projects_own_title_is_verified(self, bench, title):
        """`kr verify` takes the title that the project's template printed, and no other."""
        own = (
            (bundled_folder() / "reports/research.md.j2")
            .read_text()
            .replace("# {{ framework }} - {{ topic }}", title)
        )
        template = bench.folder / "templates/reports/research.md.j2"
        template.parent.mkdir(parents=True)
        template.write_text(own)
        template_trust.trust(bench.folder, template_trust.found(bench.folder))
        report = bench.ask({"a": Given(found())}).report
        assert report.startswith(title.replace("{{ framework }}", "parcel"))
        file = next(bench.folder.glob("knowledge-base/frameworks/parcel/*.evidence.json"))
        evidence = json.loads(file.read_text())
        assert verify(report, evidence) == []
        assert verify(report.replace("How we", "Why we never"), evidence) != []

    @pytest.mark.req("R9", "R13")
    def test_a_bad_hour_is_not_kept_for_a_month(self, bench):
        """A low report from a run in which a source failed is stored stale, so that the next run tries again."""
        weak = found("Parcels have a timeout.", coverage=0.2)
        bench.ask({"a": Given(OSError("down")), "b": Given(weak)})
        assert [entry["status"] for entry in bench.index] == ["stale"]
        result = bench.result({"a": Given(found())})
        assert result.status == "success"
        assert [entry["status"] for entry in bench.index] == ["fresh"]

    @pytest.mark.req("R14", "P6")
    def test_every_step_is_an_event(self, bench):
        """The journal tells the run from its start to its end, durably, before the caller has the answer."""
        bench.ask({"a": Given(found())})
        assert bench.kinds() == [
            "run.started",
            "lookup.started",
            "lookup.finished",
            "route.started",
            "route.finished",
            "consult.started",
            "source.started",
            "source.finished",
            "consult.finished",
            "compose.started",
            "compose.finished",
            "score.started",
            "score.finished",
            "render.started",
            "render.finished",
            "keep.started",
            "keep.finished",
            "run.finished",
        ]
        kept = [event.kind for _, event in bench.pipeline().journal.read(0, 100)]
        assert kept == bench.kinds()

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        "values",
        [
            {"text": "\x00\x1b[31m\u202e" * 50},
            {"text": "x" * 300_000},
            {"text": "```\n" * 99},
            {"text": "[1][2]", "title": "[3]"},
            {"text": "{{ 7 * 7 }}{% include 'x' %}"},
            {"text": "a\ud800b"},
            {"text": "a", "coverage": float("nan")},
            {"text": "a", "coverage": 1e9, "covered": frozenset("ab")},
            {"text": "a", "lines": ((5, -1), (99, 7)), "locator": ""},
            {"text": "a", "kind": "parameter", "parameter": "p", "symbol": None},
            {"text": "a", "kind": "symbol", "symbol": "s.t", "signature": "not a signature ((("},
            {"text": "a", "kind": "parameter", "symbol": "s", "parameter": "p", "default": "\n\n", "annotation": ""},
            {"text": "a", "code": ("", "not in the text")},
            {"text": "a", "url": "", "title": "\n# x\n"},
        ],
    )  # fmt: skip
    def test_strange_passages(self, bench, values):
        """Whatever a source puts into its passages, there is a result and a report, and the report can be verified."""
        from kr_core.evidence.verification import verify

        answer = bench.ask({"a": Given(found(**values))})
        assert answer.result.status in {"success", "partial"}
        assert answer.report.startswith("# parcel - timeout of a parcel\n")
        if answer.result.status == "success":
            path = bench.folder / "knowledge-base" / answer.result.results.report_path
            evidence = json.loads(path.with_suffix(".evidence.json").read_text())
            assert verify(path.read_text(), evidence) == []
