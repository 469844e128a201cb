"""Indexes that people, merges and other programs spoil: each is told with its line, and nothing is overwritten with less."""

import time
from datetime import timedelta

import pytest
from support.files_store import HEADER, REPORT, TODAY, entry, given_index, given_report, on_disk, query

from kr_core import StorageError
from kr_plugins.stores.files import Files

ITEM = "- id: {0}\n  framework: httpx\n  framework_version: '0.28'\n  topic: {0}\n  tags: [{0}]\n  path: {1}\n  created: '2026-01-01'\n  last_accessed: '2026-01-02'\n  status: fresh\n"


def item(name, path=None):
    return ITEM.format(name, path or f"frameworks/httpx/{name}.md")


def places(store):
    return [
        (flaw.kind, flaw.location.rpartition("/")[2]) for flaw in store.check() if flaw.kind != "dangling"
    ]


def test_two_entries_of_one_id(store, folder):
    """Both stay, and the second is named; each is touched by its own path."""
    given_index(folder, HEADER + "entries:\n" + item("a") + item("b") + item("a", "frameworks/httpx/a2.md"))
    found = store.candidates(query())
    assert found.warnings == ("index.yaml:25: entry 3 has the id of entry 1, a; both are kept",)
    second = found.entries[2]
    store.touch(second, TODAY)
    assert [one.last_accessed == TODAY for one in store.entries()] == [False, False, True]
    assert places(store) == [("duplicate", "index.yaml:25")]


@pytest.mark.req("K5", "K6", "K7", "K9")
def test_two_entries_on_one_report(store, folder):
    """Of two items that a merge left on one report each is used, marked and archived for itself; `rebuild` leaves one."""
    used, old = item("a"), item("a").replace("'0.28'", "'0.21'").replace("2026-01-02", "2025-09-01")
    given_index(folder, HEADER + "entries:\n" + used + old)
    given_report(folder, "frameworks/httpx/a.md")
    marked = store.mark_stale(lambda entries: [entries[1]])
    assert [one.framework_version for one in marked.entries] == ["0.21"]
    assert [one.status for one in store.entries()] == ["fresh", "stale"]
    (said,) = store.rebuild().message
    assert "1 left out, since another leads to the same report" in said
    given_index(folder, HEADER + "entries:\n" + used + old)
    gone = store.archive(lambda entries: [entries[1]])
    assert [str(one.last_accessed) for one in gone.entries] == ["2025-09-01"]
    assert [str(one.last_accessed) for one in store.entries()] == ["2026-01-02"]


@pytest.mark.req("K7")
def test_what_rebuild_cannot_mend_is_told_so(store, folder):
    """`check` names `rebuild` for an item whose report says what it lacks, and for no other."""
    given_index(folder, HEADER + "entries:\n" + item("a").replace("  topic: a\n", "") + "- a text\n- id: b\n")
    given_report(folder, "frameworks/httpx/a.md")
    todos = [flaw.hint for flaw in store.check() if flaw.kind == "unreadable"]
    assert todos == ["mend it, or `kr cache rebuild`", "mend it, or remove it", "mend it, or remove it"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("  created: soon\n", "`created` is no date"),
        ("  last_accessed: {a: b}\n", "`last_accessed` is no date"),
        ("  created: '2999-01-01'\n", "`created` lies in the future (2999-01-01)"),
        ("  tags: {a: b}\n", "`tags` is no list"),
        ("  status: wilted\n", "`status` is none of fresh, stale, archived, and so counts as stale"),
    ],
)
def test_values_that_cannot_be_meant(store, folder, line, said):
    """A value of the wrong type, or a date of the future, is read as something safe, and `check` names it."""
    key = line.split(":")[0]
    lines = [one for one in item("a").splitlines(keepends=True) if not one.startswith(f"{key}:")]
    given_index(folder, HEADER + "entries:\n" + "".join(lines) + line)
    given_report(folder, "frameworks/httpx/a.md")
    assert len(store.entries()) == 1
    (flaw,) = store.check()
    assert (flaw.kind, flaw.location.rpartition("/")[2]) == ("value", "index.yaml:7")
    assert said in flaw.message


def test_a_date_of_the_future_is_mended(store, folder):
    """`rebuild` sets a date of the future to today, and nothing else."""
    given_index(folder, HEADER + "entries:\n" + item("a").replace("2026-01-02", "2999-01-02"))
    given_report(folder, "frameworks/httpx/a.md")
    before = (folder / "index.yaml").read_text()
    assert "1 mended" in store.rebuild().message[0]
    assert (folder / "index.yaml").read_text() == before.replace("2999-01-02", TODAY.isoformat())


@pytest.mark.req("Z1")
@pytest.mark.parametrize(
    "path", ["../../evil.md", "/etc/passwd", "lessons/x.md", "frameworks/.x.md", "x.txt"]
)
def test_paths_that_leave(store, folder, path):
    """A path where no report can lie is named with its line; nothing is read there, and `rebuild` leaves the entry out."""
    given_index(folder, HEADER + "entries:\n" + item("a", path) + item("b"))
    given_report(folder, "frameworks/httpx/b.md")
    assert store.candidates(query()).warnings == (
        f"index.yaml:7: entry 1 names {path!r}, where no report can lie; none is read there",
    )
    assert store.read(store.entries()[0]) is None
    assert places(store) == [("path", "index.yaml:7")]
    store.rebuild()
    assert [one.id for one in store.entries()] == ["b"]


def test_many_flaws_are_told_in_few_lines(store, folder):
    """Of very many flaws a look-up tells the first and how many there are; `check` lists all."""
    given_index(folder, "entries:\n" + "- id: x\n" * 300)
    warnings = store.candidates(query()).warnings
    assert len(warnings) == 6
    assert warnings[5] == "index.yaml: 295 more such entries; `kr cache check` lists them"
    assert len(store.check()) == 300


BOMBS = {
    "aliases": "a: &a [x]\n" + "".join(f"b{n}: &b{n} [{', '.join(['*a'] * 10)}]\n" for n in range(1000)) + "entries: []\n",
    "merges": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 12)}]}}\n" for n in range(1, 1000)) + "entries: []\n",
    "nesting": "entries: " + "[" * 5000,
    "a long line": "entries:\n- id: a" + " " * 1_000_000 + "\x01\n",
}  # fmt: skip


@pytest.mark.req("Z3", "K7")
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_bombs(store, folder, text):
    """A text that would take for ever, or all memory, is refused at once, and is kept when a report is written."""
    given_index(folder, text)
    started = time.process_time()
    assert "cannot be read" in store.candidates(query()).warnings[0]
    assert time.process_time() - started < 5
    store.write(REPORT, {}, entry())
    assert (folder / "index.yaml.corrupt-20260205T123001").read_text() == text


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HEADER + "entries:\n" + item("a") + "<<<<<<< HEAD\n" + item("b") + "=======\n" + item("c") + ">>>>>>> theirs\n", 16),
        (HEADER + "entries:\n" + item("a") + "\t- id: b\n" + item("c"), 16),
        (HEADER + "entries:\n" + item("a").replace("  status: fresh\n", "  status: 'cut"), 15),
        (HEADER + "entries:\n" + item("a") + "entries:\n" + item("b"), 16),
        (HEADER + "# 中文\nentries:\n" + item("a") + "\0\0\n", 17),
    ],
    ids=["conflict", "tab", "cut off", "two lists", "no character"],
)  # fmt: skip
def test_what_a_broken_index_still_tells(store, folder, text, line):
    """An index that cannot be read is named with its line; ids, dates and reports of its entries survive the next write."""
    given_index(folder, text)
    for name in "abc":
        given_report(folder, f"frameworks/httpx/{name}.md", REPORT.replace("retry requests", name))
    (warning,) = store.candidates(query()).warnings
    assert f"index.yaml:{line} cannot be read" in warning
    assert "sets it aside" in warning
    with pytest.raises(StorageError, match=rf"index\.yaml:{line}: "):
        store.entries()
    store.write(REPORT, {}, entry())
    found = {one.topic: one for one in Files(folder).entries()}
    assert set(found) == {"a", "b", "c", "retry requests"}
    told = {name: str(one.created) for name, one in found.items() if f"- id: {name}\n" in text}
    assert told.get("a", "2026-01-01") == "2026-01-01"
    assert on_disk(folder)["max_entries"] == 200


@pytest.mark.req("K6", "K7")
def test_a_broken_archive_is_not_overwritten(store, folder):
    """Where the archive cannot be read nothing is archived: an entry that left the index would be nowhere."""
    store.write(REPORT, {}, entry())
    (folder / "_archived-index.yaml").write_text("archived_entries: [}\n")
    with pytest.raises(StorageError, match=r"_archived-index\.yaml:1: "):
        store.archive(lambda entries: entries)
    assert len(store.entries()) == 1
    assert (folder / "_archived-index.yaml").read_text() == "archived_entries: [}\n"


@pytest.mark.req("K1", "K8")
def test_tens_of_thousands_of_entries(store, folder):
    """An index of 20,000 entries is listed, searched and written in seconds, and a change is one line."""
    given_index(
        folder, HEADER + "entries:\n" + "".join(map(item, (f"n{number}" for number in range(20_000))))
    )
    before = (folder / "index.yaml").read_text()
    started = time.process_time()
    assert len(store.entries()) == 20_000
    assert len(store.candidates(query()).entries) == 20_000
    assert time.process_time() - started < 12
    one = store.entries()[15_000]
    started = time.process_time()
    store.touch(one, TODAY + timedelta(days=1))
    store.write(REPORT, {}, entry())
    store.archive(lambda entries: entries[:10])
    assert time.process_time() - started < 6
    after = (folder / "index.yaml").read_text()
    assert len(store.entries()) == 20_000 + 1 - 10
    changed = set(before.splitlines(keepends=True)) ^ set(after.splitlines(keepends=True))
    assert len(changed) < 60


@pytest.mark.req("K1")
@pytest.mark.parametrize("topic", ["超时设置", "إعادة المحاولة", "⏱️ 🚚", "x" * 500, "a\tb", "- {}: [#]"])
def test_topics_of_any_kind(store, topic):
    """A topic in any script, or of any length, is written, read, touched, archived and restored as it is."""
    one = entry(topic, id="httpx-topic", path="frameworks/httpx/topic.md", tags=(topic,))
    store.write(REPORT, {}, one)
    store.touch(one, TODAY + timedelta(days=1))
    store.archive(lambda entries: entries)
    (archived,) = store.archived()
    assert (archived.topic, archived.tags) == (topic, (topic,))
    store.restore(one)
    assert list(store.entries()) == [one]
