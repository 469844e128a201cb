"""The knowledge base through the pipeline: what is found again, what goes stale, what is updated in place."""

import json
import re
from datetime import timedelta

import pytest
from support.projects import DAY, Given, found
from support.regexes import seconds_for

from kr_core import Finding
from kr_core.research.maintenance import check

OK = {"a": Given(found())}


def inferred(bench, question, sources=None, **options):
    """Ask as a person does, with topic and tags inferred."""
    pipeline = bench.pipeline({"a": Given(found())} if sources is None else sources)
    return pipeline.research(pipeline.request(question, framework="parcel", **options))


class TestStale:
    def checked(self, bench):
        pipeline = bench.pipeline(OK)
        settings = pipeline.config.settings.knowledge_research
        return [flaw.kind for flaw in check(pipeline.store, settings, pipeline.project, bench.day)]

    @pytest.mark.req("K4", "K2")
    @pytest.mark.parametrize(
        ("stored", "asked", "stale", "part"),
        [
            ("1.4.0", "1.4.9", False, ""),
            ("1.4.0", "1.5.0", True, "minor"),
            ("1.4.0", "2.0.0", True, "major"),
            ("1.x", "1.9", False, ""),
            ("0.27", "0.28.1", True, "major"),
            ("1.4", "latest", False, ""),
        ],
    )
    def test_by_version(self, bench, stored, asked, stale, part):
        """Another major or minor version is stale: the gap is told, and the same entry is brought up to date."""
        bench.ask(OK, bench.request(framework_version=stored))
        bench.day = DAY + timedelta(days=3)
        result = bench.result(OK, bench.request(framework_version=asked))
        assert result.status == ("success" if stale else "cache-hit")
        assert result.results.match.stale == stale
        (entry,) = bench.index
        assert (entry["created"], entry["last_accessed"]) == ("2026-02-05", "2026-02-08")
        assert entry["framework_version"] == (asked if stale else stored)
        if stale:
            gap = f"written for {stored}, you run {asked} (another {part} version)"
            assert result.results.match.warning == gap
            assert f"an earlier report was replaced: {gap}" in result.results.degradation_notes

    @pytest.mark.req("K4", "R4")
    @pytest.mark.parametrize(("reported", "stale"), [("1.4.2", False), ("1.x", False), ("0.9", True)])
    def test_by_the_version_of_the_report(self, bench, reported, stale):
        """A report for another version than its entry says, as after a merge, is stale, and `check` says so."""
        bench.ask(OK, bench.request(framework_version="1.4.0"))
        (report,) = bench.folder.glob("knowledge-base/frameworks/*/*.md")
        text = report.read_text()
        assert "**Version:** 1.4.0\n" in text
        report.write_text(text.replace("**Version:** 1.4.0\n", f"**Version:** {reported}\n"))
        assert self.checked(bench) == []
        (bench.folder / "requirements.txt").write_text("parcel==1.4.0\n")
        assert self.checked(bench) == (["stale"] if stale else [])
        result = bench.result(OK, bench.request(framework_version="1.4.0"))
        assert result.status == ("success" if stale else "cache-hit")
        if stale:
            assert result.results.match.entry_version == "0.9"
            assert "written for 0.9, you run 1.4.0" in result.results.match.warning

    @pytest.mark.req("K4")
    def test_the_major_version_alone(self, bench):
        """With `version_match: major` another minor version is still a hit."""
        bench.configure("knowledge_research: {version_match: major}")
        bench.ask(OK)
        assert bench.result(OK, bench.request(framework_version="1.9")).status == "cache-hit"

    @pytest.mark.req("K5")
    @pytest.mark.parametrize(
        ("days", "status", "notes"),
        [
            (30, "cache-hit", None),
            (31, "success", "not used for 31 days"),
            (60, "success", "not used for 60 days"),
            (61, "success", "not used for 61 days"),
        ],
    )
    def test_by_the_days_it_was_not_used(self, bench, days, status, notes):
        """Thirty days without use are fresh, one more is stale; after sixty it is a miss; never a second entry."""
        bench.ask(OK)
        bench.day = DAY + timedelta(days=days)
        result = bench.result(OK)
        assert result.status == status
        assert (result.results.match.warning if notes else None) == notes
        assert len(bench.index) == 1
        assert bench.index[0]["last_accessed"] == str(bench.day)

    @pytest.mark.req("K5")
    def test_by_the_age_of_the_research(self, bench):
        """An entry in daily use cannot live for ever: its research date counts too."""
        bench.ask(OK)
        for days in range(20, 181, 20):
            bench.day = DAY + timedelta(days=days)
            assert bench.result(OK).status == "cache-hit"
        bench.day = DAY + timedelta(days=181)
        result = bench.result(OK)
        assert result.status == "success"
        assert result.results.match.warning == "researched 181 days ago"

    @pytest.mark.req("K5", "K2")
    def test_limits_are_configured(self, bench):
        """The configuration says how long."""
        bench.configure("knowledge_research: {cache_ttl_days: 2, max_age_days: off}")
        bench.ask(OK)
        bench.day = DAY + timedelta(days=3)
        assert bench.result(OK).status == "success"


class TestMatch:
    @pytest.mark.req("K3")
    def test_tags_only_carries_a_warning(self, bench):
        """A match by tags keeps its confidence and says that it may be about another topic."""
        first = bench.result(OK).results
        result = bench.result(OK, bench.request(topic="insurance against loss"))
        assert result.status == "cache-hit"
        assert result.results.match.tier == "tags"
        assert result.results.match.warning == "matched by tags only; it may be about another topic"
        assert result.results.confidence == first.confidence

    @pytest.mark.req("R4", "K1")
    def test_what_a_person_corrects_is_the_answer(self, bench):
        """A hit returns the report as it is now: its Summary, not what stood there when it was written."""
        first = bench.result(OK).results.summary
        (report,) = bench.folder.glob("knowledge-base/frameworks/*/*.md")
        text = report.read_text()
        assert first in text
        report.write_text(text.replace(first, "Corrected by hand."))
        again = bench.result(OK)
        assert (again.status, again.results.summary) == ("cache-hit", "Corrected by hand.")

    @pytest.mark.req("K3")
    def test_a_tier_can_be_dropped(self, bench):
        """Without the tier `tags` such a question is a miss, and an entry of its own."""
        bench.configure("knowledge_research: {cache_match_tiers: [full, topic]}")
        bench.ask(OK)
        assert bench.result(OK, bench.request(topic="insurance against loss")).status == "success"
        assert len(bench.index) == 2

    @pytest.mark.req("K3")
    def test_a_stale_match_by_tags_is_not_overwritten(self, bench):
        """New research on another topic that shares a tag never takes the entry of the first."""
        bench.ask(OK)
        bench.day = DAY + timedelta(days=40)
        result = bench.result(OK, bench.request(topic="insurance against loss"))
        assert result.status == "success"
        assert [entry["topic"] for entry in bench.index] == ["timeout of a parcel", "insurance against loss"]

    @pytest.mark.req("K3")
    def test_inferred_topics_need_equal_content_words(self, bench):
        """A question put otherwise hits only if its content words are the same."""
        inferred(bench, "How do I set a timeout for a box?")
        assert inferred(bench, "How can I set the timeout for a box in parcel?").result.status == "cache-hit"
        assert inferred(bench, "set timeouts for boxes").result.status == "cache-hit"
        near = inferred(bench, "How do I log a timeout for a box?").result
        assert near.status == "success"
        assert near.results.match.tier in {"topic", "tags"}
        assert len(bench.index) == 2

    @pytest.mark.req("K3")
    def test_frameworks_are_folded(self, bench):
        """`Parcel_Post` is `parcel-post`; another framework is another matter."""
        bench.ask(OK, bench.request(framework="Parcel_Post"))
        assert bench.result(OK, bench.request(framework="parcel-post")).status == "cache-hit"
        assert bench.result(OK, bench.request(framework="post")).status == "success"

    @pytest.mark.req("K3")
    def test_an_equal_topic_only(self, bench):
        """With `cache_fuzzy_match: false` a topic must be equal."""
        bench.configure("knowledge_research: {cache_fuzzy_match: false}")
        bench.ask(OK)
        assert bench.result(OK, bench.request(topic="timeouts of parcels")).status == "success"
        assert bench.result(OK, bench.request(topic="Timeout of a  parcel")).status == "cache-hit"


class TestWriting:
    @pytest.mark.req("K2")
    def test_refresh_asks_anew_and_updates_in_place(self, bench):
        """`refresh` asks the sources though the answer is known; the entry keeps its id, path and `created`."""
        bench.ask(OK)
        (before,) = bench.index
        bench.day = DAY + timedelta(days=2)
        source = Given(found("Give `timeout=` to `send` for the timeout for a parcel.\n"))
        answer = bench.ask({"a": source}, {**bench.request(), "refresh": True})
        assert source.asked == 1
        assert answer.result.status == "success"
        (after,) = bench.index
        assert after == {**before, "last_accessed": "2026-02-07"}
        assert "Give `timeout=`" in answer.report
        assert bench.result(OK).results.summary == answer.result.results.summary

    @pytest.mark.req("K2", "R9")
    def test_refresh_that_fails_loses_nothing(self, bench):
        """When nobody answers the refresh, the known report serves, marked, and stays as it is."""
        bench.ask(OK)
        before = bench.index
        answer = bench.ask({"a": Given(OSError("down"))}, {**bench.request(), "refresh": True})
        assert answer.result.status == "degraded"
        assert "timeout=" in answer.result.results.summary
        assert bench.index == before
        assert bench.result(OK).status == "cache-hit"

    @pytest.mark.req("K1")
    @pytest.mark.parametrize(
        "topic", ["超时设置", "таймаут", "⏱️", "C++", "a/../../b", "con", "...", "x" * 200]
    )
    def test_topics_in_any_script(self, bench, topic):
        """Every topic has a file of its own inside the knowledge base, and is found again."""
        request = bench.request(topic=topic, tags=[topic])
        result = bench.result(OK, request)
        assert result.status == "success"
        assert result.results.report_path.startswith("frameworks/parcel/")
        assert (bench.folder / "knowledge-base" / result.results.report_path).is_file()
        assert bench.result(OK, request).status == "cache-hit"

    @pytest.mark.req("Z1", "K1")
    @pytest.mark.parametrize(
        "framework", ["🦄", "a b", "CON", "node:fs", "@scope/name", "C#", "..x", "x" * 200]
    )
    def test_frameworks_stay_inside(self, bench, framework):
        """A framework's name never leads out of the knowledge base, whatever it is."""
        result = bench.result(OK, bench.request(framework=framework))
        assert result.status == "success"
        outside = [file for file in bench.files if not file.startswith(("knowledge-base/", ".kr/"))]
        assert outside == []
        assert bench.result(OK, bench.request(framework=framework)).status == "cache-hit"

    @pytest.mark.req("K7")
    @pytest.mark.parametrize("spoil", ["remove", "empty", "binary", "folder"])
    def test_a_report_that_is_gone(self, bench, spoil):
        """KR researches the question again, and drops the entry only if its report is missing or empty."""
        path = bench.folder / "knowledge-base" / bench.result(OK).results.report_path
        path.unlink()
        if spoil == "empty":
            path.write_text(" \n")
        elif spoil == "binary":
            path.write_bytes(b"\xff\x00\x01")
        elif spoil == "folder":
            path.mkdir()
        result = bench.result(OK)
        assert result.status == "success"
        said = {"binary": "cannot be read: not text", "folder": "cannot be read: not a plain file"}
        told = said.get(spoil, "is gone or empty; the entry is dropped")
        assert f"its report {told}" in str(result.results.degradation_notes)
        assert len(bench.index) == 1
        assert bench.result(OK).status == "cache-hit"

    @pytest.mark.req("K7", "Z8")
    def test_very_many_reports_that_are_gone(self, bench):
        """Of 2,000 entries without a report at most twenty are tried for a question, and one line tells of them."""
        bench.result(OK)
        index = bench.folder / "knowledge-base/index.yaml"
        head, mark, item = index.read_text().partition("- id:")
        path = bench.index[0]["path"]
        copies = [f"{mark}{item}".replace(path, path.replace(".md", f"-{n}.md")) for n in range(2_000)]
        index.write_text(head + "".join(copies))
        made = []
        assert seconds_for(lambda: made.append(bench.result(OK)), limit=30) < 30
        (note,) = [one for one in made[0].results.degradation_notes if "gone or empty" in one]
        assert note.endswith("and 19 more: their reports are gone or empty; the entries are dropped")

    @pytest.mark.req("K7", "R4")
    @pytest.mark.parametrize(
        "text", ["", "{", "[1, 2]", "\x00", "[" * 100_000, '{"level": 7, "citations": [7], "score": "x"}']
    )
    def test_evidence_that_is_spoilt(self, bench, text):
        """A hit whose evidence cannot be read still answers, from the report alone."""
        path = bench.folder / "knowledge-base" / bench.result(OK).results.report_path
        path.with_suffix(".evidence.json").write_text(text)
        result = bench.result(OK)
        assert result.status == "cache-hit"
        assert "timeout=" in result.results.summary
        assert result.results.confidence == "high"
        assert result.results.citations == ()

    @pytest.mark.req("K7", "Z8")
    @pytest.mark.parametrize("value", [[], {}, 10**30, -5, 101, True, 1.5, None, "x"])
    def test_a_level_and_a_score_that_kr_never_gives(self, bench, value):
        """A level of another kind, or a score out of 0 to 100, counts as none."""
        path = bench.folder / "knowledge-base" / bench.result(OK).results.report_path
        path.with_suffix(".evidence.json").write_text(json.dumps({"level": value, "score": value}))
        result = bench.result(OK)
        assert result.status == "cache-hit"
        assert (result.results.confidence, result.results.score) == ("high", None)

    @pytest.mark.req("K7")
    @pytest.mark.parametrize(
        "text", ["entries: [", "\x00\x01", "just text", "[" * 100_000, "entries: 7"],
        ids=["cut", "binary", "text", "deep", "number"],
    )  # fmt: skip
    def test_a_corrupt_index(self, bench, text):
        """An index that cannot be read is a miss with a warning; it is set aside, and rebuilt with nothing lost."""
        bench.ask(OK, bench.request(topic="one topic", tags=["one"]))
        index = bench.folder / "knowledge-base/index.yaml"
        index.write_text(text)
        result = bench.result(OK)
        assert result.status == "success"
        assert re.search(r"index.yaml(:\d+)? cannot be read", str(result.results.degradation_notes))
        assert {entry["topic"] for entry in bench.index} == {"one topic", "timeout of a parcel"}
        (aside,) = index.parent.glob("index.yaml.corrupt-*")
        assert aside.read_text() == text

    @pytest.mark.req("R15", "K7")
    def test_a_folder_where_the_index_should_be(self, bench):
        """A folder named `index.yaml` is a miss and a failed write, with the report in the result."""
        (bench.folder / "knowledge-base/index.yaml").mkdir(parents=True)
        answer = bench.ask(OK)
        assert answer.result.status == "partial"
        assert [fault.type for fault in answer.result.errors] == ["write_error"]
        assert "index.yaml" in answer.result.errors[0].message
        assert answer.result.results.report == answer.report

    @pytest.mark.req("R20", "R9")
    def test_nothing_found_is_no_entry(self, bench):
        """A source that found nothing leaves no entry behind."""
        bench.ask({"a": Given(Finding(outcome="empty"))})
        assert not (bench.folder / "knowledge-base").exists()
