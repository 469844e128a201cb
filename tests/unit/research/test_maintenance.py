"""Entries that a newer major version overtakes are marked stale, and only those."""

from datetime import UTC, datetime

import pytest
from support.files_store import REPORT, TODAY, entry, given_index, query

from kr_core import Finding, Outcome
from kr_core.research.maintenance import mark_overtaken
from kr_core.toolkit import LocalProject
from kr_plugins.stores.files import Files

ASKED = query("httpx").model_copy(update={"framework_version": "latest"})
FOUND = [Finding(outcome=Outcome.empty, newest="2.0.1")]


@pytest.fixture
def store(tmp_path):
    """A knowledge base with answers for httpx 1.4, for httpx 2.0, and for another library."""
    base = Files(
        tmp_path / "kb", today=lambda: TODAY, now=lambda: datetime(2026, 2, 5, 12, 30, 1, tzinfo=UTC)
    )
    for topic, framework, version in (
        ("old", "HTTPX", "1.4"),
        ("new", "httpx", "2.0"),
        ("old", "parcel", "1.4"),
    ):
        base.write(REPORT, {}, entry(topic, framework, framework_version=version))
    return base


@pytest.fixture
def project(tmp_path):
    return LocalProject(tmp_path, tmp_path, {}, own_prefix=None)


def stale(store):
    return [(one.framework, one.topic) for one in store.entries() if one.status == "stale"]


@pytest.mark.req("K9")
def test_answers_about_an_earlier_major_version_are_marked_and_noted(store, project):
    """The name of the library counts in any case; the same release marks nothing twice."""
    (note,) = mark_overtaken(store, project, ASKED, FOUND)
    assert note == "httpx 2.0.1 was released: 1 earlier answer marked stale"
    assert stale(store) == [("HTTPX", "old")]
    assert mark_overtaken(store, project, ASKED, FOUND) == ()


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    "case", ["no source knows the newest", "the project pins a version", "an earlier one is asked for"]
)
def test_a_release_that_the_question_is_not_about_marks_nothing(store, project, tmp_path, case):
    """An answer for the version in use is not stale because there is a newer one."""
    findings, asked = FOUND, ASKED
    if case == "no source knows the newest":
        findings = [Finding(outcome=Outcome.empty)]
    elif case == "the project pins a version":
        (tmp_path / "requirements.txt").write_text("httpx==1.4.0\n")
    else:
        asked = ASKED.model_copy(update={"framework_version": "1.4"})
    assert mark_overtaken(store, project, asked, findings) == ()
    assert stale(store) == []


@pytest.mark.req("K9", "Z1")
def test_an_index_that_cannot_be_read_is_noted_and_the_answer_holds(store, project, tmp_path):
    """The note says why nothing was marked."""
    given_index(tmp_path / "kb", "entries: 5\n")
    (note,) = mark_overtaken(store, project, ASKED, FOUND)
    assert note.startswith("answers about earlier versions were not marked stale: ")
    assert "index.yaml" in note
