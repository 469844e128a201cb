"""The head of the record, beside the database: what it shows of a journal that lost something, and that it cries for nothing else."""

import os
import shutil
import sqlite3

import pytest

from kr_core import Event, StorageError
from kr_core.plugin import Document
from kr_plugins.journals import sqlite_append
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

pytestmark = pytest.mark.req("G1")
FILES = ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-head")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".kr"


@pytest.fixture
def journal(folder):
    journal = SQLite(folder)
    yield journal
    journal.close()


def kept(journal, count):
    for n in range(count):
        journal.append([Event("question.asked", "r1", {"feature_id": "login", "n": n})]).result()


def filled(journal):
    """All that a journal holds."""
    kept(journal, 3)
    for n in range(4):
        journal.keep_step("r1", f"step {n}", {"n": n})
        journal.spend("s1", "3-1", f"g{n}", 9)
        journal.change(Document("escalation", f"E{journal.number('escalation')}", "open", 1, {}))
    journal.refund("g1")
    journal.advance("jsonl", 3)


def places(journal):
    return [(flaw.kind, flaw.location) for flaw in journal.verify()]


def changed(folder, *statements):
    """Change the file behind the journal's back."""
    connection = sqlite3.connect(folder / "journal.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def copied(folder, to):
    """The files as a killed process leaves them, elsewhere."""
    to.mkdir()
    for name in FILES:
        if (folder / name).exists():
            shutil.copy(folder / name, to / name)
    return to


@pytest.fixture
def cut(journal, folder, tmp_path):
    """A journal with nine entries, of whose write-ahead log all was cut off but the first."""
    kept(journal, 1)
    size = (folder / "journal.sqlite-wal").stat().st_size
    kept(journal, 8)
    there = copied(folder, tmp_path / "cut")
    os.truncate(there / "journal.sqlite-wal", size)
    journal = SQLite(there)
    assert len(journal.read(0, 10)) == 1
    yield journal
    journal.close()


def test_a_write_ahead_log_that_was_cut_off(cut):
    """Entries that went with it are named, with what to do."""
    (flaw,) = cut.verify()
    assert flaw.location == "entry 2"
    assert "those up to entry 9 are missing" in flaw.message
    assert "backup" in flaw.hint
    assert "remove .kr/journal.sqlite-head" in flaw.hint


def test_a_loss_stays_known_when_entries_follow(cut, tmp_path):
    """Neither the next entries nor the next processes hide that a journal was set back."""
    kept(cut, 3)
    assert places(cut) == [("missing", "entry 5")]
    cut.close()
    again = SQLite(tmp_path / "cut")
    kept(again, 20)
    assert places(again) == [("altered", "entry 9")]
    assert sqlite_append.append(str(tmp_path / "cut/journal.sqlite"), "k.v", "{}")
    assert places(again) == [("altered", "entry 9")]
    again.close()


def test_a_loss_that_is_accepted(cut, tmp_path):
    """Who removes the file goes on without what is lost: the next process makes a new one."""
    cut.close()
    (tmp_path / "cut/journal.sqlite-head").unlink()
    for count in (0, 5):
        again = SQLite(tmp_path / "cut")
        kept(again, count)
        assert places(again) == []
        again.close()
    assert sqlite_append.read_head(str(tmp_path / "cut/journal.sqlite"))[0] == 6


def test_an_older_copy_of_the_whole_file(journal, folder, tmp_path):
    """A backup that replaces the journal lacks what came after it."""
    kept(journal, 3)
    journal.close()
    shutil.copy(folder / "journal.sqlite", tmp_path / "backup")
    journal = SQLite(folder)
    kept(journal, 3)
    journal.close()
    shutil.copy(tmp_path / "backup", folder / "journal.sqlite")
    journal = SQLite(folder)
    assert places(journal) == [("missing", "entry 4")]
    journal.close()


def test_a_journal_that_is_gone(journal, folder):
    """A journal that was removed without its head is missed; one that is moved aside with all its files is not."""
    kept(journal, 5)
    journal.close()
    (folder / "journal.sqlite").unlink()
    journal = SQLite(folder)
    assert places(journal) == [("missing", "entry 1")]
    journal.close()
    for file in folder.glob("journal.sqlite*"):
        file.unlink()
    journal = SQLite(folder)
    kept(journal, 2)
    assert journal.verify() == []
    journal.close()


def test_all_that_a_journal_holds_is_in_order(journal, folder):
    """A journal that nobody touched has no flaws, whatever it holds, also when it is opened again."""
    filled(journal)
    assert journal.verify() == []
    journal.close()
    journal = SQLite(folder)
    assert journal.verify() == []
    journal.close()


@pytest.mark.parametrize(
    ("table", "flaws"),
    [
        ("steps", [("missing", "table steps")]),
        ("grants", [("missing", "table grants")]),
        ("documents", [("missing", "table documents")]),
        ("chain", [("altered", "table chain")]),
        ("cursors", [("altered", "log jsonl")]),
        ("counters", [("altered", f"counter {name}") for name in ("documents", "grants", "refunds", "steps", "escalation")]),
    ],
)  # fmt: skip
def test_an_emptied_table(journal, folder, table, flaws):
    """A table beside the entries that was emptied is named, also when the next row is written."""
    filled(journal)
    changed(folder, f"DELETE FROM {table}")
    assert places(journal) == flaws
    assert all(flaw.hint for flaw in journal.verify())
    journal.keep_step("r1", "another", 1)
    assert set(places(journal)) & set(flaws)


def test_one_row_that_is_gone(journal, folder):
    """A row that is missing is told with how many there were."""
    filled(journal)
    changed(folder, "DELETE FROM steps WHERE key = 'step 2'", "DELETE FROM grants WHERE grant_id = 'g3'")
    assert [flaw.message.partition(":")[0] for flaw in journal.verify()] == [
        "1 of 4 rows are missing",
        "1 of 3 rows are missing",
    ]


def test_all_tables_emptied_at_once(journal, folder):
    """The counters outside of the database tell what those within it told."""
    filled(journal)
    changed(folder, *(f"DELETE FROM {table}" for table in ("steps", "grants", "counters", "chain")))
    found = places(journal)
    assert {("missing", "table steps"), ("missing", "table grants"), ("altered", "table chain")} <= set(found)
    assert ("altered", "counter escalation") in found


@pytest.mark.parametrize("statement", ["DELETE FROM counters", "UPDATE counters SET number = 1"])
def test_a_counter_that_was_set_back(journal, folder, statement):
    """It is named, and goes on above the numbers that documents have: no number is given twice."""
    for _ in range(5):
        journal.change(Document("escalation", f"E{journal.number('escalation')}", "open", 1, {}))
    changed(folder, statement)
    assert ("altered", "counter escalation") in places(journal)
    assert journal.number("escalation") == 6
    assert journal.number("escalation") == 7


def test_a_process_that_ends_between_entry_and_head(journal, folder):
    """A head that names less than the journal has is no flaw, and is brought up with the next entry."""
    filled(journal)
    older = (folder / "journal.sqlite-head").read_bytes()
    filled_again = Document("escalation", "E9", "open", 1, {})
    journal.change(filled_again, [Event("k.v", "r2", {})])
    journal.keep_step("r2", "step", 1)
    journal.close()
    (folder / "journal.sqlite-head").write_bytes(older)
    journal = SQLite(folder)
    assert journal.verify() == []
    kept(journal, 1)
    journal.keep_step("r2", "another step", 1)
    assert journal.verify() == []
    assert sqlite_append.read_head(str(folder / "journal.sqlite"))[0] == 5
    journal.close()


@pytest.mark.parametrize("start", [0, 128, 256, 256 + 1024])
def test_a_slot_that_was_torn(journal, folder, start):
    """A machine that stops while a slot is written leaves the other one, which names less: no flaw."""
    filled(journal)
    journal.close()
    with (folder / "journal.sqlite-head").open("r+b") as file:
        file.seek(start + 20)
        file.write(bytes(10))
    journal = SQLite(folder)
    assert journal.verify() == []
    filled_more = [Event("k.v", "r2", {"n": n}) for n in range(2)]
    journal.append(filled_more).result()
    assert journal.verify() == []
    journal.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(5000),
        b"\xff" * 5000,
        b"head",
        sqlite_append.pack("x 00", 128) + sqlite_append.pack("7 zz", 128) + sqlite_append.pack("1 []", 1024),
        sqlite_append.pack(f"{'9' * 90} 00", 128) * 2
        + sqlite_append.pack('1 {"a":"b"}', 1024)
        + sqlite_append.pack("2 {", 1024),
    ],
)
def test_a_file_that_tells_nothing(journal, folder, content):
    """A head that was lost with the machine's memory is written again."""
    kept(journal, 3)
    journal.close()
    (folder / "journal.sqlite-head").write_bytes(content)
    journal = SQLite(folder)
    assert journal.verify() == []
    kept(journal, 1)
    assert sqlite_append.read_head(str(folder / "journal.sqlite"))[0] == 4
    journal.close()


def test_a_journal_of_before_there_were_heads(journal, folder):
    """It gets a head when it is opened, and what was in its tables is counted from then on."""
    filled(journal)
    journal.close()
    changed(folder, "DELETE FROM counters WHERE kind LIKE '@%'")
    (folder / "journal.sqlite-head").unlink()
    journal = SQLite(folder)
    assert journal.verify() == []
    journal.refund("g2")
    journal.keep_step("r2", "first", 1)
    journal.spend("s2", "3-1", "first", 3)
    journal.refund("first")
    assert journal.verify() == []
    changed(folder, "DELETE FROM steps", "DELETE FROM events")
    assert places(journal) == [("missing", "entry 1"), ("missing", "table steps")]
    journal.close()


def test_two_processes_write_it_in_turn(journal, folder):
    """Whoever writes last names the last entry; who comes later by accident takes nothing back."""
    other = SQLite(folder)
    for _ in range(10):
        kept(journal, 1)
        kept(other, 2)
        other.keep_step(f"r{len(other.read(0, 99))}", "a", 1)
        journal.spend("s", "3-1", f"g{len(other.read(0, 99))}", 99)
    assert other.verify() == []
    assert sqlite_append.read_head(str(folder / "journal.sqlite"))[0] == 30
    other.close()


def test_an_event_of_a_process_that_loads_nothing(journal, folder):
    """A repeated answer is named too."""
    kept(journal, 2)
    journal.close()
    assert sqlite_append.append(str(folder / "journal.sqlite"), "k.v", "{}")
    assert sqlite_append.read_head(str(folder / "journal.sqlite"))[0] == 3
    journal = SQLite(folder)
    assert journal.verify() == []
    journal.close()


@pytest.mark.req("Z8")
def test_a_link_in_its_place_is_not_followed(journal, folder, tmp_path):
    """Nothing is read from or written to the file that a link leads to, and the journal works."""
    kept(journal, 2)
    journal.close()
    (tmp_path / "mine").write_text("mine")
    (folder / "journal.sqlite-head").unlink()
    (folder / "journal.sqlite-head").symlink_to(tmp_path / "mine")
    journal = SQLite(folder)
    kept(journal, 2)
    journal.keep_step("r", "a", 1)
    assert journal.verify() == []
    journal.close()
    assert (tmp_path / "mine").read_text() == "mine"
    assert not sqlite_append.append(str(folder / "journal.sqlite"), "k.v", "{}")


@pytest.mark.parametrize("table", ["steps", "grants", "counters", "cursors", "chain", "documents"])
def test_a_table_that_was_dropped(journal, folder, table):
    """A journal without one of its tables is refused by name, with what to do; so is one that loses it while it is open."""
    filled(journal)
    changed(folder, f"DROP TABLE {table}")
    with pytest.raises(StorageError, match=rf"lacks the table `{table}`") as caught:
        SQLite(folder)
    assert "backup" in caught.value.hint
    assert "-head" in caught.value.hint
    with pytest.raises(StorageError, match=rf"lacks a table \(no such table: {table}\)"):
        journal.verify()
