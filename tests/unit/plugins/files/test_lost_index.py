"""An index that cannot be read is rebuilt from the reports."""

import re
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.files_store import HEADER, REPORT, TODAY, entry, files_in, given_index, given_report, query

from kr_core.errors import StorageError
from kr_core.knowledge.ids import report_path
from kr_core.model import SKELETON_MARK
from kr_plugins.stores.files import Files
from kr_plugins.stores.files.reports import entry_of

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

OTHER_LANGUAGES = {
    "Chinese": "# vue-easytable - 虚拟滚动\n\n**框架：** vue-easytable\n**版本：** 2.10\n**研究日期：** 2026年1月20日\n"
    "**置信度：** 高\n\n## 摘要\n\n使用 `virtual-scroll`。\n",
    "German": "# vue-easytable - Virtuelles Scrollen\n\n- **Rahmenwerk**: `vue-easytable 2.10`\n- **Recherchiert am**: 20.1.2026\n"
    "\n## Zusammenfassung\n\nSetze `virtual-scroll`.\n",
    "Japanese": "# 仮想スクロール\n\n**フレームワーク:** vue-easytable\n**バージョン:** 2.10\n**調査日:** 2026/01/20\n\n## 概要\n\nx\n",
    "title alone": "# 가상 스크롤\n\n**버전:** 2.10\n**조사일:** 2026-01-20\n\n## 요약\n\nx\n",
}  # fmt: skip

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
        undated, warning = store.candidates(query()).warnings
        assert undated.startswith("3 reports tell no day")
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
        framework, version, topic, day, status = expected
        folder = framework.replace(" ", "-").lower()
        found = entry_of(f"frameworks/{folder}/the-topic.md", text, undated=TODAY)
        assert (found.framework, found.framework_version, found.topic) == (framework, version, topic)
        assert (found.created, found.last_accessed, found.status) == (day, day, status)
        assert (found.id, found.path) == (f"{folder}-the-topic", f"frameworks/{folder}/the-topic.md")
        assert found.tags

    @pytest.mark.req("K7")
    @pytest.mark.parametrize(
        ("folder", "text", "expected"),
        [
            ("react", "# Hooks\n\n**Framework:** React + TypeScript\n**Version:** 19.1\n", ("React", "19.1", "Hooks")),
            ("tauri", "# Dialogs\n\n**Framework:** Tauri v2 / tauri-plugin-dialog\n", ("Tauri", "v2", "Dialogs")),
            ("vue", "# React + TypeScript - state\n\n**Framework:** React + TypeScript\n", ("vue", "latest", "state")),
            ("parcel", "# Sending - a guide\n\n**Version:** 2.1\n", ("parcel", "2.1", "Sending - a guide")),
            ("spring-boot", "# Spring Boot - logs\n", ("Spring Boot", "latest", "logs")),
            (report_path("C++", "x").split("/")[1], "# C++ - ranges\n\n**Framework:** C++ 23.0\n", ("C++", "23.0", "ranges")),
        ],
    )  # fmt: skip
    def test_the_folder_says_what_framework_it_is(self, folder, text, expected):
        """A report belongs to the framework of its folder, whatever its own lines name besides."""
        found = entry_of(f"frameworks/{folder}/the-topic.md", text, undated=TODAY)
        assert (found.framework, found.framework_version, found.topic) == expected

    @pytest.mark.req("K7", "K2")
    @pytest.mark.parametrize("lines", OTHER_LANGUAGES.values(), ids=OTHER_LANGUAGES)
    def test_a_report_in_another_language(self, store, folder, lines):
        """Facts in another language are read by their values: the framework, its version and the day."""
        path = "frameworks/vue-easytable/virtual-scroll.md"
        given_report(folder, path, lines)
        store.rebuild()
        (found,) = store.entries()
        assert (found.framework, found.framework_version) == ("vue-easytable", "2.10")
        assert (found.created, found.path) == (date(2026, 1, 20), path)
        assert store.read(found) == (lines, {})

    @given(st.text())
    @pytest.mark.req("K7")
    def test_any_text(self, text):
        """Whatever stands in a report, it is an entry or none."""
        found = entry_of("frameworks/a/b.md", text, undated=TODAY)
        assert found is None or found.id == "a-b"
