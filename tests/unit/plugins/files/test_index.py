"""The index: its form, what survives a rewrite, and whose entries are candidates."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.files_store import HEADER, REPORT, TODAY, WILD, entry, files_in, given_index, on_disk, query

from kr_core.hookspecs import Settings
from kr_core.model import Entry
from kr_plugins.stores.files import Files, kr_store
from kr_plugins.stores.files.index_edit import written
from kr_plugins.stores.files.index_file import parse


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


class TestReadWhenNeeded:
    """An index of thousands, of which one framework is asked for."""

    @pytest.mark.req("K2", "Z3")
    def test_only_what_is_asked_for_is_read(self):
        """Rows in KR's own form are known by id, framework and path; the others of their values stay unread."""
        rows = "".join(
            written(entry("timeouts", f"lib-{number}").model_dump(mode="json"), "") for number in range(50)
        )
        index = parse(f"entries:\n{rows}", header={}, undated=TODAY)
        (found,) = index.of_framework("LIB_7")
        assert (found.framework, found.topic) == ("lib-7", "timeouts")
        assert [row.key[1] for row in index.rows if row.was_read] == ["lib-7"]
        assert index.text() == f"entries:\n{rows}"

    @pytest.mark.req("K2", "Z3")
    @pytest.mark.parametrize("day", ["2026-02-30", "never", "2199-01-01"])
    def test_a_date_that_cannot_be_is_still_found(self, day):
        """What needs a closer look gets it, as if the whole index had been read."""
        text = written({**entry().model_dump(mode="json"), "last_accessed": day}, "")
        (row,) = parse(f"entries:\n{text}", header={}, undated=TODAY).rows
        assert not row.is_plain(TODAY)
