"""Entries go to the archive and come back, killed in between or not; reports stay where they are."""

import threading

import pytest
import yaml
from support.files_store import REPORT, TODAY, entry, given_report

from kr_core import StorageError
from kr_plugins.stores.files import Files, report_files


@pytest.fixture
def kept(store):
    """A store with two entries."""
    for topic in ("retries", "timeouts"):
        store.write(REPORT, {"topic": topic}, entry(topic))
    return store


def only(topic):
    return lambda entries: [one for one in entries if one.topic == topic]


@pytest.mark.req("K6", "K2")
def test_the_archive_has_its_form(kept, folder):
    """The archive is a list of whole entries under its key, with the status `archived`."""
    kept.archive(only("retries"))
    archive = yaml.safe_load((folder / "_archived-index.yaml").read_text())
    assert list(archive) == ["schema_version", "archived_entries"]
    (one,) = archive["archived_entries"]
    assert list(one) == list(entry().model_dump())
    assert (one["id"], one["status"]) == ("httpx-retries", "archived")
    assert [one.topic for one in kept.entries()] == ["timeouts"]


@pytest.mark.req("K6")
def test_the_archive_of_one_framework_is_found_alone(kept, folder):
    """Its name counts in any case; what went back into the index has left it, and no entry of another framework is read."""
    kept.write(REPORT, {}, entry("retries", "parcel"))
    kept.archive(lambda entries: entries)
    kept.restore(entry("timeouts"))
    again = Files(folder)
    assert [one.topic for one in again.archived_of("HTTPX")] == ["retries"]
    assert again.archived_of("letters") == []
    assert [row.key[1] for row in again._archive.readable().rows if not row.was_read] == ["parcel"]


@pytest.mark.req("K6", "K8")
def test_killed_between_the_two_files(kept, folder):
    """An entry that stands in both files, since a writer was killed, has not gone; archiving it again mends that."""
    index = (folder / "index.yaml").read_text()
    kept.archive(only("retries"))
    (folder / "index.yaml").write_text(index)
    assert len(kept.entries()) == 2
    assert kept.archived() == []
    kept.archive(only("retries"))
    assert [one.topic for one in kept.archived()] == ["retries"]
    assert len(yaml.safe_load((folder / "_archived-index.yaml").read_text())["archived_entries"]) == 1


@pytest.mark.req("K6", "Z1")
def test_researched_anew_beside_the_archive(kept):
    """New research leaves the archived report alone; to restore that, the newer entry has to go first."""
    kept.archive(only("retries"))
    (old,) = kept.archived()
    new = kept.write("# new\n", {}, entry("retries"))
    assert new.path != old.path
    with pytest.raises(StorageError, match="a newer report on this is there"):
        kept.restore(entry("retries"))
    kept.archive(only("retries"))
    assert sorted(one.path for one in kept.archived()) == sorted([old.path, new.path])
    assert kept.restore(old).path == old.path
    assert kept.read(old) == (REPORT, {"topic": "retries"})


@pytest.mark.req("K8")
@pytest.mark.parametrize("killed", ["staging", "staged", "between", "done"])
def test_a_report_and_its_evidence_are_of_one_write(kept, folder, killed):
    """Wherever a writer is killed, readers see report and evidence of the same write, and the next writer tidies up."""
    report = folder / entry("retries").path
    if killed == "staging":
        (folder / "frameworks/httpx/.retries.md.new").write_text("# ne")
    else:
        report_files.stage(report, "# new\n", '{"topic": "new"}\n')
    if killed in {"between", "done"}:
        report_files.move_report(report)
    if killed == "done":
        report_files.move_evidence(report)
    expected = (
        ("# new\n", {"topic": "new"}) if killed in {"between", "done"} else (REPORT, {"topic": "retries"})
    )
    assert kept.read(entry("retries")) == expected
    Files(folder).write(REPORT, {}, entry("other"))
    assert kept.read(entry("retries")) == expected
    assert not [file.name for file in folder.rglob(".*")]


@pytest.mark.req("K8")
def test_readers_beside_a_writer(kept):
    """Whoever reads while a report is written again and again sees its text and evidence of the same write."""
    done = threading.Event()

    def write():
        number = 0
        while not done.is_set():
            number += 1
            kept.write(f"# {number}\n", {"number": number}, entry("retries"))

    writer = threading.Thread(target=write)
    kept.write("# 0\n", {"number": 0}, entry("retries"))
    writer.start()
    try:
        seen = [kept.read(entry("retries")) for _ in range(2000)]
    finally:
        done.set()
        writer.join()
    assert [one for one in seen if one[0] != f"# {one[1]['number']}\n"] == []


@pytest.mark.req("K9")
def test_marking_leaves_all_else(kept, folder):
    """A stale mark is one word in the index; dates, reports and other entries stay."""
    before = (folder / "index.yaml").read_text()
    moved = kept.mark_stale(only("timeouts"))
    assert [one.status for one in moved.entries] == ["stale"]
    at = before.rindex("fresh")
    assert (folder / "index.yaml").read_text() == before[:at] + "stale" + before[at + 5 :]
    assert kept.mark_stale(lambda _: []).files == ()


@pytest.mark.req("K7")
def test_check_and_rebuild(kept, folder):
    """Evidence without a report, a report that says nothing of itself, and one that nobody knows are found."""
    (folder / entry("retries").path).unlink()
    given_report(folder, "frameworks/a/plain.md", "only words\n")
    given_report(folder, "frameworks/a/wild.md", "# a - b\n\n**Framework:** a 1.0\n")
    kinds = [(flaw.kind, flaw.location) for flaw in kept.check()]
    assert kinds == [
        ("dangling", "httpx-retries"),
        ("orphan", "frameworks/a/plain.md"),
        ("orphan", "frameworks/a/wild.md"),
        ("orphan", "frameworks/httpx/retries.evidence.json"),
    ]
    assert all(flaw.message and flaw.hint for flaw in kept.check())
    said, undated = kept.rebuild().message
    assert undated.endswith("counts: frameworks/a/wild.md")
    assert said.startswith(
        "index.yaml: 1 entries kept, 1 made from their reports, 1 without a report left out; set aside"
    )
    assert [one.topic for one in kept.entries()] == ["timeouts", "b"]
    assert kept.entries()[0].created == TODAY
