"""The knowledge base as files."""

import json
import re
import subprocess
import sys
import threading
from datetime import UTC, date, datetime, timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kr_core.errors import StorageError
from kr_core.hookspecs import Settings
from kr_core.model import SKELETON_MARK, Entry, ResearchQuery
from kr_plugins.stores.files import Files, kr_store
from kr_plugins.stores.files.index import parse
from kr_plugins.stores.files.reports import entry_of

TODAY = date(2026, 2, 5)
REPORT = "# httpx - retry requests\n\n**Framework:** httpx\n\n## Summary\n\nPass `retries`.\n"
HEADER = "schema_version: 1\nbso_module_version: '1.0.0'\ncreated: '2026-01-01'\nmax_entries: 200\ncache_ttl_days: 30\n"
WILD = """\
- id: "vue-easytable-virtual-scroll"        # Unique identifier (framework-topic kebab-case)
  framework: "vue-easytable"
  framework_version: "2.x"
  topic: "virtual scrolling configuration"
  tags: ["virtual-scroll", "row-height", "performance"]
  path: "frameworks/vue-easytable/virtual-scroll.md"
  created: "2026-01-20"
  last_accessed: "2026-02-05"
  status: "fresh"
"""


PUBLISHED = """\
# vue-easytable - virtual scrolling

**Framework:** vue-easytable
**Version:** 2.10
**Research Date:** 2026-01-20
**Confidence:** high
**Sources:** https://example.org

## Summary
"""
INLINE = """\
# Virtual scrolling

**Framework:** vue-easytable 2.x\x20\x20
**Topic:** virtual scroll
**Source:** https://example.org
**Researched:** 2026-01-21 (updated)
"""
LISTED = """\
# Spring Boot – request logging

- **Framework**: Spring Boot (v3.2.1)
- **Version**: v3.2.1
"""
UNTITLED = """\
# Phase 8: SSR & Build Modes - Research

**Framework:** `Log4j 2`
**Version:** `2.24.1`
**Researched:** 2026-99-99
"""
STALE = """\
# x - y

[Based on stale cache, re-research recommended]

## Notes

**Framework:** not-this 1
"""


def entry(topic="retry requests", framework="httpx", **changes):
    slug = topic.replace(" ", "-")
    values = {
        "id": f"{framework}-{slug}",
        "framework": framework,
        "framework_version": "0.28",
        "topic": topic,
        "tags": tuple(topic.split()),
        "path": f"frameworks/{framework}/{slug}.md",
        "created": TODAY,
        "last_accessed": TODAY,
    }
    return Entry(**(values | changes))


def query(framework="httpx"):
    return ResearchQuery(
        framework=framework,
        framework_version="0.28",
        topic="retry",
        tags=("retry",),
        question="How do I retry?",
    )


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "knowledge-base"


@pytest.fixture
def store(folder):
    return Files(folder, today=lambda: TODAY, now=lambda: datetime(2026, 2, 5, 12, 30, 1, tzinfo=UTC))


def given_index(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "index.yaml").write_text(text, encoding="utf-8")


def given_report(folder, path, text=REPORT):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def files_in(folder):
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def on_disk(folder):
    return yaml.safe_load((folder / "index.yaml").read_text(encoding="utf-8"))


class TestForm:
    @pytest.mark.req("K1")
    def test_reading_creates_nothing(self, store, folder):
        """A knowledge base that does not exist is empty, and reading it does not make it."""
        assert store.candidates(query()).entries == ()
        assert store.candidates(query()).warnings == ()
        assert list(store.entries()) == []
        assert store.read(entry()) is None
        assert store.touch(entry(), TODAY) == 0
        store.drop(entry())
        assert not folder.exists()

    @pytest.mark.req("K1")
    def test_first_write_makes_everything(self, store, folder):
        """The first write makes the folders and files that a knowledge base has."""
        kept = store.write(REPORT, {"score": 85}, entry())
        assert kept[:4] == (entry(), "frameworks/httpx/retry-requests.md", 1, 0)
        assert sorted(file.relative_to(folder).as_posix() for file in kept.files) == files_in(folder)
        assert files_in(folder) == [
            "_archived-index.yaml",
            "frameworks/httpx/retry-requests.evidence.json",
            "frameworks/httpx/retry-requests.md",
            "index.yaml",
            "lessons/_lessons-learned.md",
        ]
        archive = yaml.safe_load((folder / "_archived-index.yaml").read_text())
        assert archive == {"schema_version": 1, "archived_entries": []}
        assert store.read(entry()) == (REPORT, {"score": 85})

    @pytest.mark.req("K2")
    def test_new_index(self, store, folder):
        """A new index has its header and its entries' keys in the published order, dates as text."""
        store.write(REPORT, {}, entry(framework_version="2.10"))
        index = on_disk(folder)
        assert list(index) == [
            "schema_version",
            "bso_module_version",
            "created",
            "max_entries",
            "cache_ttl_days",
            "entries",
        ]
        assert index["schema_version"] == 1
        assert index["bso_module_version"] == "1.0.0"
        assert index["created"] == "2026-02-05"
        assert (index["max_entries"], index["cache_ttl_days"]) == (200, 30)
        assert list(index["entries"][0].items()) == [
            ("id", "httpx-retry-requests"),
            ("framework", "httpx"),
            ("framework_version", "2.10"),
            ("topic", "retry requests"),
            ("tags", ["retry", "requests"]),
            ("path", "frameworks/httpx/retry-requests.md"),
            ("created", "2026-02-05"),
            ("last_accessed", "2026-02-05"),
            ("status", "fresh"),
        ]

    @pytest.mark.req("K2")
    def test_bare_list(self, store, folder):
        """An index that is a bare list is read, and stays one."""
        given_index(folder, WILD)
        assert [found.id for found in store.entries()] == ["vue-easytable-virtual-scroll"]
        assert store.write(REPORT, {}, entry()).index_count == 2
        assert [item["id"] for item in on_disk(folder)] == [
            "vue-easytable-virtual-scroll",
            "httpx-retry-requests",
        ]

    @pytest.mark.req("K2")
    def test_what_is_not_understood_survives(self, store, folder):
        """The comment at the head, unknown keys and items that are no entries survive a rewrite."""
        comment = "# BSO Knowledge Base Index\n# 由 BSO Module Installer 自动生成\n\n"
        extra = "  reviewed_by: ops\n"
        given_index(
            folder,
            comment
            + HEADER
            + "owner: {team: data}\nentries:\n"
            + WILD
            + extra
            + "- just a note\n- {id: lame}\n",
        )
        store.touch(store.entries()[0], TODAY + timedelta(days=1))
        store.write(REPORT, {}, entry())
        text = (folder / "index.yaml").read_text(encoding="utf-8")
        assert text.startswith(comment)
        index = on_disk(folder)
        assert index["owner"] == {"team": "data"}
        assert list(index["entries"][0])[-2:] == ["status", "reviewed_by"]
        assert index["entries"][0]["last_accessed"] == "2026-02-06"
        assert index["entries"][1:3] == ["just a note", {"id": "lame"}]
        assert [found.id for found in store.entries()] == [
            "vue-easytable-virtual-scroll",
            "httpx-retry-requests",
        ]

    @pytest.mark.req("K2", "K7")
    def test_items_that_are_no_entries_are_named(self, store, folder):
        """An entry that lacks what it needs is skipped with a warning that says which and what."""
        given_index(folder, HEADER + "entries:\n- {id: a, framework: httpx, topic: t}\n" + WILD)
        found = store.candidates(query("vue-easytable"))
        assert [match.id for match in found.entries] == ["vue-easytable-virtual-scroll"]
        assert found.warnings == ("index.yaml:7: entry 1 lacks path; it is skipped, and kept as it is",)

    @pytest.mark.req("K2", "K5")
    @pytest.mark.parametrize(
        ("keys", "expected"),
        [
            ("created: 2026-01-20, last_accessed: 2026-02-01, status: fresh", (20, 32, "fresh")),
            ("created: '2026-01-20T10:00:00Z', status: Fresh", (20, 20, "fresh")),
            ("created: 2026-01-20, last_accessed: soon, status: wilted", (20, 20, "stale")),
            ("created: 2026/01/20", (20, 20, "stale")),
            ("last_accessed: 2026-02-01, status: archived", (None, 32, "archived")),
        ],
    )
    def test_tolerant_reading(self, store, folder, keys, expected):
        """Missing and unknown values of an entry are read with care: no access is the creation, no status stale."""
        given_index(
            folder, f"entries:\n- {{id: 7, framework: f, topic: t, path: frameworks/f/t.md, {keys}}}\n"
        )
        (found,) = store.entries()
        created, used, status = expected
        if created is not None:
            assert found.created == date(2025, 12, 31) + timedelta(days=created)
        assert found.last_accessed == date(2025, 12, 31) + timedelta(days=used)
        assert found.status == status
        assert found.id == "7"

    @pytest.mark.req("K2")
    def test_undated_entry(self, store, folder):
        """An entry without a date is as old as the file."""
        given_index(folder, "- {id: a, framework: f, topic: t, path: frameworks/f/t.md, tags: 'x, y'}\n")
        (found,) = store.entries()
        written = datetime.fromtimestamp((folder / "index.yaml").stat().st_mtime, UTC).date()
        assert found.created == found.last_accessed == written
        assert found.tags == ("x", "y")

    @pytest.mark.req("K2")
    def test_version_stays_text(self, store, folder):
        """A version written without quotes is the text that stands there."""
        given_index(
            folder, "- {id: a, framework: f, framework_version: 2.10, topic: t, path: frameworks/f/t.md}\n"
        )
        assert store.entries()[0].framework_version == "2.10"
        store.touch(store.entries()[0], TODAY)
        assert on_disk(folder)[0]["framework_version"] == "2.10"

    @pytest.mark.req("K2")
    @pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}\n", HEADER + "entries:\n", "[]\n"])
    def test_empty_index(self, store, folder, text):
        """An index without entries is an empty one."""
        given_index(folder, text)
        assert store.candidates(query()) == ((), (), (folder / "index.yaml",))
        assert store.write(REPORT, {}, entry()).index_count == 1
        assert [found.id for found in Files(folder).entries()] == ["httpx-retry-requests"]

    @given(
        st.lists(
            st.builds(
                Entry,
                id=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
                    lambda t: t == t.strip() != ""
                ),
                framework=st.sampled_from(["vue", "2.10", "null", "ほげ", "yes", "a: b #"]),
                framework_version=st.sampled_from(["2.10", "1e5", "", "latest", "2026-01-01", "0x1F", "~"]),
                topic=st.sampled_from(["a: b", "'quoted'", "虚拟滚动", "- x", "on", "1_000"]),
                tags=st.lists(st.sampled_from(["true", "12:30", "x", "ñ"])).map(tuple),
                path=st.just("frameworks/vue/x.md"),
                created=st.dates(),
                last_accessed=st.dates(),
                status=st.sampled_from(["fresh", "stale", "archived"]),
            ),
            max_size=4,
        )
    )
    @pytest.mark.req("K2")
    def test_round_trip(self, entries):
        """Whatever an entry holds, it is read as it was written."""
        index = parse("", header={"schema_version": 1}, undated=TODAY)
        for one in entries:
            index = index.with_entry(one, None)
        assert list(parse(index.text(), header={}, undated=TODAY).entries) == entries


class TestCandidates:
    @pytest.mark.req("K3")
    @pytest.mark.parametrize("name", ["vue-easytable", "Vue_EasyTable", "vue.easytable", "VUE easytable"])
    def test_framework_is_folded(self, store, folder, name):
        """The framework is compared without regard to case and separators."""
        given_index(folder, WILD)
        store.write(REPORT, {}, entry())
        assert [found.id for found in store.candidates(query(name)).entries] == [
            "vue-easytable-virtual-scroll"
        ]
        assert store.candidates(query("vue")).entries == ()

    def test_files(self, store, folder):
        """The answer names the file that it rests on."""
        assert store.candidates(query()).files == (folder / "index.yaml",)

    @pytest.mark.req("K8")
    def test_another_writer_is_seen(self, store, folder):
        """What another process wrote is seen at once, though the parsed index is remembered."""
        store.write(REPORT, {}, entry())
        assert len(store.candidates(query()).entries) == 1
        Files(folder).write(REPORT, {}, entry("stream responses"))
        assert len(store.candidates(query()).entries) == 2


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


class TestRead:
    @pytest.mark.req("K7")
    @pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe\x00", b"# a\0b", None])
    def test_no_report(self, store, folder, content):
        """A report that is gone, empty or not text is no report."""
        kept = store.write(REPORT, {}, entry())
        (folder / kept.path).unlink()
        if content is not None:
            (folder / kept.path).write_bytes(content)
        assert store.read(kept.entry) is None

    @pytest.mark.parametrize("evidence", ["{", "[1]", "\x00", "[" * 100_000])
    def test_broken_evidence(self, store, folder, evidence):
        """Evidence that cannot be read is none."""
        kept = store.write(REPORT, {"score": 1}, entry())
        (folder / kept.path).with_suffix(".evidence.json").write_text(evidence)
        assert store.read(kept.entry) == (REPORT, {})

    def test_evidence_is_readable(self, store, folder):
        """Evidence is JSON that people can read, in any script."""
        kept = store.write(REPORT, {"quote": "虚拟滚动"}, entry())
        text = (folder / kept.path).with_suffix(".evidence.json").read_text(encoding="utf-8")
        assert "虚拟滚动" in text
        assert json.loads(text) == {"quote": "虚拟滚动"}

    @pytest.mark.req("Z1")
    @pytest.mark.parametrize(
        "path",
        [
            "../secret.md",
            "frameworks/../../secret.md",
            "/etc/passwd",
            "frameworks/link.md",
            "out/secret.md",
            "frameworks/loop.md",
            "frameworks/a\0.md",
            "index.yaml",
            ".hidden/x.md",
            "frameworks\\x.md",
        ],
    )
    def test_paths_stay_inside(self, store, folder, path):
        """A path that leads out of the knowledge base is neither read nor written, links included."""
        secret = folder.parent / "secret.md"
        secret.write_text("# secret\n")
        given_report(folder, "frameworks/a/b.md")
        (folder / "frameworks/link.md").symlink_to(secret)
        (folder / "frameworks/loop.md").symlink_to(folder / "frameworks/loop.md")
        (folder / "out").symlink_to(folder.parent)
        assert store.read(entry(path=path)) is None
        with pytest.raises(StorageError, match="outside the knowledge base"):
            store.write(REPORT, {}, entry(path=path))
        assert secret.read_text() == "# secret\n"

    @pytest.mark.req("Z1")
    def test_a_path_in_the_index_that_leads_out(self, store, folder):
        """An entry on disk whose path leads out of the knowledge base gets one that does not."""
        given_index(folder, "- {id: httpx-retry-requests, framework: httpx, topic: t, path: ../evil.md}\n")
        kept = store.write(REPORT, {}, entry())
        assert kept.path == entry().path
        assert not (folder.parent / "evil.md").exists()

    @pytest.mark.req("Z1")
    def test_the_lessons_are_not_a_report(self, store, folder):
        """An entry that names the file of lessons does not overwrite it."""
        lessons = given_report(folder, "lessons/_lessons-learned.md", "# Lessons\n")
        given_index(
            folder,
            "- {id: httpx-retry-requests, framework: httpx, topic: t, path: lessons/_lessons-learned.md}\n",
        )
        store.write(REPORT, {}, entry())
        assert lessons.read_text() == "# Lessons\n"

    @pytest.mark.req("Z1")
    def test_linked_evidence_stays_inside(self, store, folder):
        """Evidence that is a link out of the knowledge base is not read."""
        kept = store.write(REPORT, {}, entry())
        (folder.parent / "secret.json").write_text('{"token": 1}')
        evidence = (folder / kept.path).with_suffix(".evidence.json")
        evidence.unlink()
        evidence.symlink_to(folder.parent / "secret.json")
        assert store.read(kept.entry) == (REPORT, {})


BROKEN = {
    "not YAML": "entries: [}\n",
    "a conflict": "<<<<<<< HEAD\nentries: []\n=======\nentries: []\n>>>>>>> other\n",
    "cut off": HEADER + 'entries:\n- id: "vue',
    "no list": "entries: {a: b}\n",
    "prose": "hello\n",
    "an object": "!!python/object/apply:os.system ['true']\n",
}


class TestLostIndex:
    @pytest.mark.req("K7", "Z3")
    @pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
    def test_unparsable_is_a_miss_with_a_warning(self, store, folder, text):
        """An index that cannot be parsed is a miss with a warning; reading changes nothing."""
        given_index(folder, text)
        found = store.candidates(query())
        assert found.entries == ()
        assert re.search(r"index.yaml(:\d+)? cannot be read", found.warnings[0])
        with pytest.raises(StorageError, match="rebuilds it from the reports"):
            store.entries()
        with pytest.raises(StorageError):
            store.touch(entry(), TODAY)
        with pytest.raises(StorageError):
            store.drop(entry())
        assert files_in(folder) == ["index.yaml"]

    @pytest.mark.req("K7")
    @pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b"\x00" * 4096], ids=["not UTF-8", "zeros"])
    def test_not_text(self, store, folder, raw):
        """Bytes that are not text are an index that cannot be parsed."""
        folder.mkdir()
        (folder / "index.yaml").write_bytes(raw)
        assert len(store.candidates(query()).warnings) == 1
        store.write(REPORT, {}, entry())
        assert (folder / "index.yaml.corrupt-20260205T123001").read_bytes() == raw

    @pytest.mark.req("K7")
    @pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
    def test_set_aside_and_rebuilt(self, store, folder, text):
        """The next write sets the index aside and rebuilds it from the reports; nothing is lost."""
        topics = ["retry requests", "stream responses", "set timeouts"]
        for topic in topics:
            store.write(f"# httpx - {topic}\n\n**Framework:** httpx\n**Version:** 0.28\n", {}, entry(topic))
        given_index(folder, text)
        kept = store.write(REPORT, {"score": 9}, entry())
        assert kept.index_count == 3
        assert kept.path == entry().path
        assert (folder / "index.yaml.corrupt-20260205T123001").read_text() == text
        assert sorted(found.topic for found in Files(folder).entries()) == sorted(topics)
        assert {found.framework_version for found in store.entries()} == {"0.28"}
        (warning,) = store.candidates(query()).warnings
        assert "set aside as index.yaml.corrupt-20260205T123001 and rebuilt" in warning
        assert store.candidates(query()).warnings == ()

    @pytest.mark.req("K7")
    def test_twice_in_a_second(self, store, folder):
        """A second broken index does not overwrite the first that was set aside."""
        for text in ("{1", "{2"):
            given_index(folder, text)
            store.write(REPORT, {}, entry())
        assert (folder / "index.yaml.corrupt-20260205T123001").read_text() == "{1"
        assert (folder / "index.yaml.corrupt-20260205T123001-2").read_text() == "{2"

    @pytest.mark.req("K7")
    def test_what_is_not_rebuilt(self, store, folder):
        """Skeletons, unreadable files, archived reports and files outside are left out."""
        store.write(REPORT, {}, entry())
        archived = {"schema_version": 1, "archived_entries": [entry().model_dump(mode="json")]}
        (folder / "_archived-index.yaml").write_text(yaml.safe_dump(archived))
        given_report(folder, "frameworks/a/skeleton.md", f"# a - b\n\n{SKELETON_MARK}\n")
        given_report(folder, "frameworks/a/empty.md", "")
        given_report(folder, "frameworks/a/plain.md", "only words\n")
        given_report(folder, "frameworks/README.md", "# Frameworks\n")
        (folder / "frameworks/a/binary.md").write_bytes(b"\x00\xff")
        (folder.parent / "secret.md").write_text("# a - secret\n")
        (folder / "frameworks/a/link.md").symlink_to(folder.parent / "secret.md")
        given_index(folder, "{")
        store.write(REPORT, {}, entry("stream responses"))
        assert [found.topic for found in store.entries()] == ["stream responses"]

    @pytest.mark.req("K7")
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (PUBLISHED, ("vue-easytable", "2.10", "virtual scrolling", date(2026, 1, 20), "fresh")),
            (INLINE, ("vue-easytable", "2.x", "virtual scroll", date(2026, 1, 21), "fresh")),
            (LISTED, ("Spring Boot", "v3.2.1", "request logging", TODAY, "fresh")),
            (UNTITLED, ("Log4j 2", "2.24.1", "Phase 8: SSR & Build Modes - Research", TODAY, "fresh")),
            (STALE, ("x", "latest", "y", TODAY, "stale")),
            ("# pytest - \\--lf\n\n**Framework:** pytest\n", ("pytest", "latest", "--lf", TODAY, "fresh")),
            ("**Framework:** httpx\n", ("httpx", "latest", "the topic", TODAY, "fresh")),
            ("# 虚拟滚动\n", ("folder", "latest", "虚拟滚动", TODAY, "fresh")),
        ],
    )
    def test_reports_in_the_wild(self, text, expected):
        """A report says what its entry was: in its title, in bold lines, and else by its place."""
        found = entry_of("frameworks/folder/the-topic.md", text, undated=TODAY)
        framework, version, topic, day, status = expected
        assert (found.framework, found.framework_version, found.topic) == (framework, version, topic)
        assert (found.created, found.last_accessed, found.status) == (day, day, status)
        assert (found.id, found.path) == ("folder-the-topic", "frameworks/folder/the-topic.md")
        assert found.tags

    @given(st.text())
    @pytest.mark.req("K7")
    def test_any_text(self, text):
        """Whatever stands in a report, it is an entry or none."""
        found = entry_of("frameworks/a/b.md", text, undated=TODAY)
        assert found is None or found.id == "a-b"


class TestFailure:
    @pytest.mark.req("R15", "K8")
    def test_a_file_where_the_folder_should_be(self, store, folder):
        """A knowledge base that cannot be made is an error that says where, what and what to do."""
        folder.write_text("a file")
        with pytest.raises(StorageError) as caught:
            store.write(REPORT, {}, entry())
        assert str(folder) in str(caught.value)
        assert caught.value.todo
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


class TestPlugin:
    def test_hook(self, tmp_path):
        """The hook hands over a provider without settings of its own."""
        provider = kr_store()
        assert provider.settings is Settings

    @pytest.mark.parametrize(
        "module", ["kr_plugins.stores.files", "kr_plugins.journals.sqlite", "kr_plugins.logs.jsonl"]
    )
    def test_imports_stay_small(self, module):
        """What a cache hit needs starts no event loop and loads no HTTP client or template engine."""
        heavy = "{'asyncio', 'httpx', 'jinja2', 'Stemmer'}"
        code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout == "[]\n"
