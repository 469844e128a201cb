"""Entries copied from one store to another: all of each, in order, and nothing of the target lost."""

import json

import pytest

from kr_core.research.knowledge_copy import copy_knowledge
from kr_core.testing import samples
from kr_plugins.stores.files.files_store import Files

pytestmark = pytest.mark.req("S3", "K12")


@pytest.fixture
def stores(tmp_path):
    return Files(tmp_path / "one"), Files(tmp_path / "other")


def write(store, topic, text="Text.", **fields):
    entry = samples.entry("parcel", topic).model_copy(update=fields)
    return store.write(f"# {topic}\n\n{text}\n", {"topic": topic, "b": 1, "a": [2.5, None]}, entry).entry


def held(store):
    return [(one, store.read(one)) for one in [*store.entries(), *store.archived()]]


def test_all_is_copied(stores, tmp_path):
    """Entries, reports and evidence, in order, stale and archived ones too, byte for byte; a second time there is nothing to do."""
    source, target = stores
    for topic in ("timeouts", "retries", "labels", "logs"):
        write(source, topic)
    source.archive(lambda entries: [one for one in entries if one.topic in {"timeouts", "labels"}])
    source.mark_stale(lambda entries: entries[:1])
    write(source, "timeouts", "Newer.")  # beside the archived one, under its id
    assert copy_knowledge(source, target, replace=False) == (5, 0, [])
    assert held(target) == held(source)
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one/frameworks").rglob("*.*")]
    for path in files:
        assert (tmp_path / "other" / path).read_bytes() == (tmp_path / "one" / path).read_bytes()
    assert copy_knowledge(source, target, replace=False) == (0, 5, [])


def test_what_differs_stays_or_gives_way(stores):
    """Into a shared knowledge base nothing is lost; into a folder, which git has, the newer one goes."""
    source, target = stores
    write(source, "timeouts", "Ours.")
    write(target, "timeouts", "Theirs.")
    mine = write(target, "mine")
    result = copy_knowledge(source, target, replace=False)
    assert (result.copied, result.same) == (0, 0)
    assert "parcel-timeouts: the target has another answer" in result.skipped[0]
    assert "Theirs." in target.read(target.entries()[0])[0]
    assert copy_knowledge(source, target, replace=True).copied == 1
    assert "Ours." in target.read(target.entries()[0])[0]
    assert mine in target.entries()


def test_what_was_archived_meanwhile_is_archived(stores):
    """With its newer successor in its place."""
    source, target = stores
    for store in stores:
        write(store, "timeouts", "Old.")
    source.archive(lambda entries: entries)
    assert copy_knowledge(source, target, replace=False).skipped == [
        "parcel-timeouts: archived, and in use in the target"
    ]
    copy_knowledge(source, target, replace=True)
    assert held(target) == held(source)
    assert [one.status for one in target.archived()] == ["archived"]


def test_an_archived_one_makes_no_newer_one_go(stores):
    source, target = stores
    write(source, "timeouts", path="frameworks/parcel/other.md")
    source.archive(lambda entries: entries)
    write(target, "timeouts", "Newer.")
    assert "has a newer report" in copy_knowledge(source, target, replace=True).skipped[0]
    assert "Newer." in target.read(target.entries()[0])[0]


def test_a_report_that_is_gone_is_told(stores, tmp_path):
    source, target = stores
    (tmp_path / "one" / write(source, "timeouts").path).unlink()
    assert copy_knowledge(source, target, replace=False).skipped == [
        "parcel-timeouts: its report is gone or empty"
    ]
    assert json.dumps([str(one) for one in target.entries()]) == "[]"


def test_the_index_is_written_once_for_many(stores, monkeypatch):
    """Else it would grow with each report, and be written as often."""
    source, target = stores
    for number in range(30):
        write(source, f"topic {number}")
    source.archive(lambda entries: entries[:10])
    saved = []
    monkeypatch.setattr(
        target._live,
        "save",
        lambda *args, save=target._live.save, **named: saved.append(save(*args, **named)),
    )
    assert copy_knowledge(source, target, replace=False).copied == 30
    assert len(saved) == 3  # the archived ones come, and go; the others come
    assert held(target) == held(source)


def test_a_copy_that_was_cut_off_is_made_whole_by_the_next_one(stores, monkeypatch):
    """Reports that came before their index are written again; what was not yet archived is archived then."""
    source, target = stores
    for topic in ("timeouts", "retries", "labels"):
        write(source, topic)
    source.archive(lambda entries: entries[:1])
    for cut_off in ("_live", "_archive"):
        with monkeypatch.context() as patched:
            patched.setattr(getattr(target, cut_off), "save", cut)
            with pytest.raises(KeyboardInterrupt):
                copy_knowledge(source, target, replace=False)
    assert copy_knowledge(source, target, replace=False) == (3, 0, [])
    assert held(target) == held(source)


def cut(*_args, **_named):
    raise KeyboardInterrupt


def test_entries_that_share_an_id_or_a_path_are_copied_one_after_the_other(stores, tmp_path):
    """As single writes would leave them."""
    source, target = stores
    for topic in ("timeouts", "retries"):
        write(source, topic)
    index = tmp_path / "one/index.yaml"
    index.write_text(index.read_text().replace("id: parcel-retries", "id: parcel-timeouts"))
    alone = Files(tmp_path / "alone")
    for entry in source.entries():
        alone.write(*source.read(entry), entry)
    copy_knowledge(source, target, replace=False)
    assert held(target) == held(alone)


class WithoutBatches:
    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        if name == "write_all":
            raise AttributeError(name)
        return getattr(self._store, name)


def test_a_store_without_batches_gets_one_after_the_other(stores):
    source, target = stores
    for topic in ("timeouts", "retries"):
        write(source, topic)
    assert copy_knowledge(source, WithoutBatches(target), replace=False).copied == 2
    assert held(target) == held(source)
