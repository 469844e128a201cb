"""Reports and entries are kept, and what stops that is told."""

import errno
import os
import threading
from datetime import timedelta

import pytest
import yaml
from support.files_store import (
    REPORT,
    TODAY,
    WILD,
    entry,
    files_in,
    given_index,
    given_report,
    on_disk,
    query,
)

from kr_core.errors import StorageError
from kr_core.model import SKELETON_MARK
from kr_plugins.stores.files import Files


class TestWrite:
    @pytest.mark.req("K2")
    def test_research_anew(self, store, folder):
        """An entry that is researched anew stays where it is, with its id, path, creation date and own keys."""
        given_index(folder, WILD.replace('"fresh"', '"stale"') + "  note: mine\n")
        store.write(REPORT, {}, entry())
        (old, _) = store.entries()
        new = old.model_copy(
            update={
                "framework_version": "3.0",
                "created": TODAY,
                "path": "frameworks/vue-easytable/other.md",
                "status": "fresh",
            }
        )
        kept = store.write("# new\n", {"score": 70}, new)
        assert kept.path == "frameworks/vue-easytable/virtual-scroll.md"
        assert kept.index_count == 2
        first = on_disk(folder)[0]
        assert (first["id"], first["framework_version"], first["created"]) == (old.id, "3.0", "2026-01-20")
        assert (first["path"], first["status"], first["note"]) == (old.path, "fresh", "mine")
        assert store.read(kept.entry) == ("# new\n", {"score": 70})

    @pytest.mark.req("K2")
    def test_the_same_subject_in_the_same_file(self, store):
        """An entry on the same subject in the same report keeps the id that stands in the index."""
        store.write(REPORT, {}, entry(id="retrying"))
        kept = store.write(REPORT, {}, entry())
        assert kept.entry.id == "retrying"
        assert kept.index_count == 1

    @pytest.mark.req("K2")
    def test_the_same_id_in_two_frameworks(self, store, folder):
        """Two frameworks may have entries of the same id; each keeps its own."""
        one = entry("router guards", "vue")
        other = entry("guards", "vue-router")
        assert one.id == other.id
        store.write("# one\n", {}, one)
        store.write("# other\n", {}, other)
        store.touch(other, TODAY + timedelta(days=1))
        (folder / one.path).unlink()
        store.drop(one)
        (left,) = store.entries()
        assert (left.framework, left.last_accessed) == ("vue-router", TODAY + timedelta(days=1))
        assert store.read(left)[0] == "# other\n"

    @pytest.mark.req("K2")
    def test_nothing_changes(self, store, folder):
        """Where nothing changes, the index is not written."""
        store.write(REPORT, {}, entry())
        # hand-made layout that a rewrite would not keep
        text = (folder / "index.yaml").read_text().replace("- id:", "-  id:").replace("\n  ", "\n   ")
        given_index(folder, text)
        before = (folder / "index.yaml").stat()
        store.write(REPORT, {}, entry())
        store.touch(entry(), TODAY)
        assert (folder / "index.yaml").read_text() == text
        assert (folder / "index.yaml").stat().st_mtime_ns == before.st_mtime_ns

    @pytest.mark.req("K2")
    def test_touch_writes_once_a_day(self, store, folder):
        """The first use of a day is noted, a second one writes nothing."""
        store.write(REPORT, {}, entry())
        tomorrow = TODAY + timedelta(days=1)
        assert store.touch(entry(), tomorrow) == 1
        assert store.entries()[0].last_accessed == tomorrow
        before = (folder / "index.yaml").stat()
        assert store.touch(entry(), tomorrow) == 1
        after = (folder / "index.yaml").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    @pytest.mark.req("K7")
    def test_drop(self, store, folder):
        """An entry whose report is gone is removed; one whose report is there again stays."""
        kept = store.write(REPORT, {}, entry())
        store.write(REPORT, {}, entry("stream responses"))
        store.drop(kept.entry)
        assert len(store.entries()) == 2
        (folder / kept.path).unlink()
        store.drop(kept.entry)
        assert [found.topic for found in store.entries()] == ["stream responses"]

    @pytest.mark.req("K7")
    @pytest.mark.parametrize(
        ("spoil", "why"),
        [
            (lambda file: os.truncate(file, 20_000_001), "larger than 20 MB"),
            (lambda file: file.write_bytes(b"\xff\x00"), "not text"),
            (lambda file: (file.unlink(), os.mkfifo(file)), "not a plain file"),
        ],
        ids=["large", "binary", "pipe"],
    )
    def test_an_entry_whose_report_cannot_be_read_stays(self, store, folder, spoil, why):
        """The error gives the reason; a new report goes to another path, so that the file stays too."""
        kept = store.write(REPORT, {}, entry())
        file = folder / kept.path
        spoil(file)
        before = file.lstat()
        with pytest.raises(StorageError, match=f"its report cannot be read: {why}"):
            store.drop(kept.entry)
        assert store.entries() == (kept.entry,)
        again = store.write("# again\n", {}, entry())
        assert (again.entry.id, again.path != kept.path) == (kept.entry.id, True)
        assert file.lstat() == before
        assert [store.read(one) for one in store.entries()] == [("# again\n", {})]

    @pytest.mark.req("K7", "Z1")
    def test_an_entry_whose_report_is_a_link_that_leads_out_stays(self, store, folder):
        """It is not followed."""
        kept = store.write(REPORT, {}, entry())
        (folder / kept.path).unlink()
        (folder / kept.path).symlink_to("/etc/passwd")
        with pytest.raises(StorageError, match="its report cannot be read: not in the knowledge base"):
            store.drop(kept.entry)
        assert store.entries() == (kept.entry,)

    @pytest.mark.req("K7")
    @pytest.mark.parametrize("failing", [errno.EACCES, errno.EIO])
    def test_an_entry_whose_report_the_system_refuses_stays(self, store, folder, monkeypatch, failing):
        """Who runs the tests as root may read all."""
        kept = store.write(REPORT, {}, entry())

        def refused(path, *args, usual=os.open, **named):
            if str(path).endswith(".md"):
                raise OSError(failing, os.strerror(failing))
            return usual(path, *args, **named)

        with monkeypatch.context() as patched:
            patched.setattr(os, "open", refused)
            with pytest.raises(StorageError, match=os.strerror(failing)):
                store.drop(kept.entry)
        assert store.read(store.entries()[0]) == (REPORT, {})

    @pytest.mark.req("K1")
    def test_two_topics_never_share_a_report(self, store):
        """A new entry whose path belongs to another one gets a path of its own."""
        first = store.write("# C\n", {}, entry("c", path="frameworks/httpx/c.md"))
        second = store.write("# C++\n", {}, entry("c++", path="frameworks/httpx/c.md"))
        assert second.path != first.path
        assert second.path.startswith("frameworks/httpx/c-")
        assert [store.read(one)[0] for one in store.entries()] == ["# C\n", "# C++\n"]

    @pytest.mark.req("Z1")
    def test_a_foreign_report_is_not_overwritten(self, store, folder):
        """A file that no entry names stays as it is."""
        file = given_report(folder, entry().path, "# My own notes\n")
        kept = store.write(REPORT, {}, entry())
        assert file.read_text() == "# My own notes\n"
        assert store.read(kept.entry)[0] == REPORT

    @pytest.mark.req("K6", "Z1")
    def test_an_archived_report_is_not_overwritten(self, store, folder):
        """A report that an archived entry names stays as it is."""
        store.write(REPORT, {}, entry())
        (folder / "index.yaml").unlink()
        archived = {"schema_version": 1, "archived_entries": [entry().model_dump(mode="json")]}
        (folder / "_archived-index.yaml").write_text(yaml.safe_dump(archived))
        kept = store.write("# new\n", {}, entry())
        assert kept.path != entry().path
        assert (folder / entry().path).read_text() == REPORT

    @pytest.mark.req("K8")
    def test_a_report_without_its_entry_is_taken_up(self, store, folder):
        """A report whose writer was killed before the index was written makes way for a new one."""
        store.write(REPORT, {}, entry())
        (folder / "index.yaml").unlink()
        assert store.write("# new\n", {}, entry()).path == entry().path

    @pytest.mark.req("R9")
    def test_a_skeleton_is_not_indexed(self, store, folder):
        """A skeleton is written but has no entry; research later takes its place."""
        skeleton = REPORT + SKELETON_MARK
        kept = store.write(skeleton, {"score": 0}, entry(), index=False)
        assert kept[:4] == (None, entry().path, 0, 0)
        assert folder / entry().path in kept.files
        assert "frameworks/httpx/retry-requests.evidence.json" not in files_in(folder)
        assert on_disk(folder)["entries"] == []
        assert store.write(REPORT, {}, entry()).path == entry().path
        assert (folder / entry().path).read_text() == REPORT

    @pytest.mark.req("R9")
    def test_a_skeleton_overwrites_nothing(self, store, folder):
        """A skeleton is never written over a file that is there."""
        store.write(REPORT, {}, entry())
        foreign = given_report(folder, "frameworks/httpx/notes.md", "# mine\n")
        assert store.write(SKELETON_MARK, {}, entry(), index=False).path != entry().path
        again = entry("notes")
        first = store.write(SKELETON_MARK, {}, again, index=False)
        assert store.write("other " + SKELETON_MARK, {}, again, index=False).path == first.path
        assert (folder / first.path).read_text() == SKELETON_MARK
        assert foreign.read_text() == "# mine\n"
        assert store.read(entry())[0] == REPORT

    @pytest.mark.req("K8")
    def test_leftovers_of_a_killed_writer_go(self, store, folder):
        """A temporary file that a killed writer left is removed by the next process that writes there."""
        Files(folder).write(REPORT, {}, entry())
        left = [folder / ".index.yaml.abcd1234.tmp", folder / "frameworks/httpx/.x.md.abcd_234.tmp"]
        for file in left:
            file.touch()
        store.write(REPORT, {}, entry("stream responses"))
        assert not any(file.exists() for file in left)

    @pytest.mark.req("K8")
    def test_writers_at_once(self, store, folder):
        """Threads that write, touch and read at once lose nothing."""
        topics = [f"topic {n}" for n in range(24)]
        faults = []

        def work(mine):
            try:
                for topic in mine:
                    kept = store.write(f"# {topic}\n", {}, entry(topic))
                    store.touch(kept.entry, TODAY + timedelta(days=1))
                    assert store.candidates(query()).warnings == ()
            except Exception as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(topics[n::4],)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert sorted(found.topic for found in store.entries()) == sorted(topics)
        assert {found.last_accessed for found in store.entries()} == {TODAY + timedelta(days=1)}

    def test_a_report_with_a_nul_can_be_read_again(self, store):
        """A NUL in a report is replaced, since a report that holds one counts as binary."""
        kept = store.write("# a\0b\n", {}, entry())
        assert store.read(kept.entry)[0] == "# a\N{REPLACEMENT CHARACTER}b\n"


class TestFailure:
    @pytest.mark.req("R15", "K8")
    def test_a_file_where_the_folder_should_be(self, store, folder):
        """A knowledge base that cannot be made is an error that says where, what and what to do."""
        folder.write_text("a file")
        with pytest.raises(StorageError) as caught:
            store.write(REPORT, {}, entry())
        assert str(folder) in str(caught.value)
        assert caught.value.hint
        assert len(store.candidates(query()).warnings) == 1

    @pytest.mark.req("R15", "K8")
    def test_a_folder_where_the_index_should_be(self, store, folder):
        """An index that cannot be read at all is left alone; nothing is written."""
        (folder / "index.yaml").mkdir(parents=True)
        assert "Is a directory" in store.candidates(query()).warnings[0]
        with pytest.raises(StorageError, match="Is a directory"):
            store.write(REPORT, {}, entry())
        assert files_in(folder) == []

    @pytest.mark.req("R15", "K8")
    def test_the_report_stays_when_the_rest_fails(self, store, folder):
        """Where evidence or index cannot be written, the report is there, and the error says so."""
        store.write(REPORT, {}, entry("stream responses"))
        before = (folder / "index.yaml").read_bytes()
        (folder / "frameworks/httpx/retry-requests.evidence.json/x").mkdir(parents=True)
        with pytest.raises(StorageError, match="the report was kept"):
            store.write(REPORT, {}, entry())
        assert (folder / entry().path).read_text() == REPORT
        assert (folder / "index.yaml").read_bytes() == before
        assert not [name for name in files_in(folder) if name.endswith(".tmp")]

    @pytest.mark.req("K8")
    def test_what_is_beside_the_point_is_a_warning(self, store, folder):
        """That the file of lessons cannot be made does not stop a report from being kept."""
        folder.mkdir()
        (folder / "lessons").write_text("a file")
        assert store.write(REPORT, {}, entry()).index_count == 1
        assert "_lessons-learned.md cannot be made" in store.candidates(query()).warnings[0]

    def test_evidence_that_is_no_json(self, store, folder):
        """Evidence that JSON has no form for is refused before anything is written."""
        with pytest.raises(StorageError, match="JSON"):
            store.write(REPORT, {"when": TODAY}, entry())
        assert not folder.exists()

    @pytest.mark.req("K8")
    def test_text_that_is_no_text(self, store, folder):
        """A report with half a character is refused, and leaves nothing behind."""
        with pytest.raises(StorageError):
            store.write("\udc80", {}, entry())
        assert files_in(folder) == []


class TestLeftovers:
    """What a killed writer leaves beside the reports."""

    @pytest.mark.req("K2", "Z4")
    @pytest.mark.parametrize(
        "left", [".other.md.new", ".other.evidence.json.new", ".index.yaml.abcdefgh.tmp"]
    )
    def test_the_next_write_removes_it_from_any_folder(self, store, folder, left):
        """Whichever framework's folder the writer was killed in, and whatever this process has written before."""
        store.write(REPORT, {}, entry())
        other = folder / "frameworks" / "never-written-again" / "deep"
        other.mkdir(parents=True)
        (other / left).write_text("# half")
        store.write("# new\n", {}, entry("timeouts", "httpx"))
        assert list(other.iterdir()) == []
        (other / left).write_text("# half")
        store.write("# newer\n", {}, entry("timeouts", "httpx"))
        assert list(other.iterdir()) == []

    @pytest.mark.req("K2", "Z1")
    def test_a_link_to_a_folder_elsewhere_is_left_alone(self, store, folder, tmp_path):
        """What lies in it is not of this knowledge base."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / ".other.md.new").write_text("mine")
        (folder / "frameworks").mkdir(parents=True)
        (folder / "frameworks" / "linked").symlink_to(elsewhere)
        store.write(REPORT, {}, entry())
        assert (elsewhere / ".other.md.new").read_text() == "mine"


@pytest.mark.req("K8")
def test_of_many_reports_those_before_one_that_cannot_be_written_are_kept(store, folder):
    """They are in the index; an entry that comes twice is there once, as it came last."""
    writes = [(f"# {topic}\n", {"n": n}, entry(topic)) for n, topic in enumerate(("a", "b", "a"))]
    changed = store.write_all(writes)
    assert [one.topic for one in changed.entries] == ["a", "b", "a"]
    assert {one.topic: store.read(one) for one in store.entries()} == {
        "a": ("# a\n", {"n": 2}),
        "b": ("# b\n", {"n": 1}),
    }
    outside = entry("d").model_copy(update={"path": "../d.md"})
    with pytest.raises(StorageError, match="would lie outside"):
        store.write_all([("# c\n", {}, entry("c")), ("# d\n", {}, outside), ("# e\n", {}, entry("e"))])
    assert [one.topic for one in store.entries()] == ["a", "b", "c"]
    assert store.read(entry("e")) is None
