"""A stale report: marked where it is kept, too, and not only in the result."""

import json
from datetime import timedelta

import pytest
from support.projects import DAY, Given, found

from kr_core import StorageError
from kr_core.evidence.verification import verify
from kr_core.plugin import STALE_MARK
from kr_plugins.stores.files import Files

DOWN = Given(OSError("down"))


def kept(bench):
    """The only report, as text and evidence."""
    file = bench.folder / "knowledge-base" / bench.index[0]["path"]
    return file.read_text(), json.loads(file.with_suffix(".evidence.json").read_text())


@pytest.fixture
def researched(bench):
    """A project with one good report, about parcel 2."""
    bench.ask({"docs": Given(found())}, bench.request(framework_version="2.1"))
    assert bench.index[0]["status"] == "fresh"
    return bench


def statuses(bench):
    return [entry["status"] for entry in bench.index]


@pytest.mark.req("K5", "R9")
def test_a_stale_stand_in_is_marked_in_its_file_and_in_the_index(researched):
    """A report that is too old and stands in says so itself, and holds before `kr verify`; the next one replaces it."""
    assert "**Confidence:** low" not in kept(researched)[0]
    researched.day = DAY + timedelta(days=40)
    request = researched.request(framework_version="2.1")
    first = researched.ask({"docs": DOWN}, request)
    text, evidence = kept(researched)
    assert statuses(researched) == ["stale"]
    assert text.count(STALE_MARK) == 1
    assert "**Confidence:** low" in text
    assert (evidence["level"], evidence["score"]) == ("low", first.result.results.score)
    assert verify(text, evidence) == []
    again = researched.ask({"docs": DOWN}, request)
    assert again.report.count(STALE_MARK) == 1
    assert again.report.startswith(STALE_MARK)
    assert kept(researched)[0] == text
    assert researched.result({"docs": Given(found())}, request).status == "success"
    assert STALE_MARK not in kept(researched)[0]
    assert statuses(researched) == ["fresh"]


@pytest.mark.req("K4", "K5")
@pytest.mark.parametrize(
    ("days", "version", "status"),
    [
        (40, "2.1", "stale"),
        (0, "3.0", "stale"),
        (0, "2.2", "fresh"),
        (0, "1.9", "fresh"),
    ],
    ids=["too old", "an earlier major version", "another minor version", "a later major version"],
)
def test_a_look_up_marks_what_its_age_or_its_version_makes_stale(researched, days, version, status):
    """The index says so, unless the answer may hold for a project that shares the knowledge base; then its file is left, too."""
    researched.day = DAY + timedelta(days=days)
    answer = researched.ask({"docs": DOWN}, researched.request(framework_version=version))
    assert answer.report.startswith(STALE_MARK)
    assert statuses(researched) == [status]
    assert (STALE_MARK in kept(researched)[0]) == (status == "stale")


@pytest.mark.req("K2", "K4")
def test_two_major_versions_share_one_entry(researched):
    """The format has one entry for a topic: each change of version is a miss that tells why, each repeat a hit."""

    def asked(version):
        results = researched.ask(
            {"docs": Given(found())}, researched.request(framework_version=version)
        ).result.results
        return results.cache_hit, [note for note in results.degradation_notes if "was replaced" in note]

    replaced = "an earlier report was replaced: written for {}, you run {} (another major version)"
    assert asked("3.1") == (False, [replaced.format("2.1", "3.1")])
    assert asked("3.1") == (True, [])
    assert asked("2.1") == (False, [replaced.format("3.1", "2.1")])
    assert asked("2.1") == (True, [])
    assert len(researched.index) == 1


@pytest.mark.req("K4", "R9")
def test_an_entry_that_is_due_to_leave_is_marked_too(researched):
    """Not used for 61 days it answers nothing any more: the index says so at the look-up, also where no source answers."""
    researched.day = DAY + timedelta(days=61)
    answer = researched.ask({"docs": DOWN})
    assert not answer.report.startswith(STALE_MARK)
    assert statuses(researched) == ["stale"]


@pytest.mark.req("K4", "R9")
def test_a_mark_that_cannot_be_written_is_noted(researched):
    """The answer stands, and its notes say what was not marked, and why."""

    store = researched.pipeline().store

    def refuse(*_arguments, **_options):
        raise StorageError("no room", where="kb", hint="make room")

    class Full:
        def __getattr__(self, name):
            return refuse if name in {"write", "write_over", "mark_stale"} else getattr(store, name)

    answer = researched.ask({"docs": DOWN}, researched.request(framework_version="3.0"), store=Full())
    notes = answer.result.results.degradation_notes
    assert answer.result.status == "degraded"
    assert "parcel-timeout-of-a-parcel was not marked stale: kb: no room; make room" in notes
    assert "parcel-timeout-of-a-parcel: its report was not marked as stale: kb: no room; make room" in notes


@pytest.mark.req("R9", "K5")
def test_a_report_that_is_too_old_to_serve_is_named_beside_what_is_missing(researched):
    """Where no source answers, the notes name the report that matches, why it is not used, and how to see it."""
    researched.day = DAY + timedelta(days=284)
    request = researched.request(framework_version="2.1")
    notes = researched.result({"docs": DOWN}, request).results.degradation_notes
    entry = "parcel-timeout-of-a-parcel"
    place = notes.index("all_sources_unavailable: no cached content available")
    assert notes[place + 1] == (
        f"a kept report matches and is not used: {entry}: not used for 284 days; researched 284 days ago; "
        f"`kr cache show {entry}` shows it"
    )
    other = researched.request(topic="insurance of a letter", tags=["insurance"])
    assert "a kept report" not in str(researched.result({"docs": DOWN}, other).results.degradation_notes)


@pytest.mark.req("K2", "R9")
def test_a_report_that_comes_while_a_stand_in_is_marked_is_not_lost(researched):
    """Another process writes a newer report right before the stale one is marked: the newer one stays as it was written."""
    researched.day = DAY + timedelta(days=40)
    newer = ("# parcel - timeout\n\n## Summary\n\nNewer.\n", {"answer": "Newer."})
    store = Files(researched.folder / "knowledge-base")

    class Beside:
        """The store of this process, beside which another one writes as soon as this one is about to."""

        def __getattr__(self, name):
            return getattr(store, name)

        def write(self, *arguments, **options):
            other = Files(researched.folder / "knowledge-base")
            other.write(*newer, other.entries()[0])
            return store.write(*arguments, **options)

        def write_over(self, *arguments):
            other = Files(researched.folder / "knowledge-base")
            other.write(*newer, other.entries()[0])
            return store.write_over(*arguments)

    pipeline = researched.pipeline({"docs": DOWN}, store=Beside())
    pipeline.research(researched.request(framework_version="2.1"))
    assert kept(researched) == newer
