"""The record in the SQLite journal: its chain of hashes, its features and exchanges, numbers and documents."""

import sqlite3
import threading

import pytest

from kr_core import Event, StorageError
from kr_core.plugin import Document
from kr_plugins.journals import event_rows, group_commit
from kr_plugins.journals.sqlite import sqlite_journal
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

FORM_1 = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, run TEXT NOT NULL,
    kind TEXT NOT NULL, data TEXT NOT NULL
);
CREATE TABLE steps (
    run TEXT NOT NULL, key TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE grants (
    grant_id TEXT PRIMARY KEY, session TEXT NOT NULL, story TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX grants_by_story ON grants (session, story);
CREATE TABLE cursors (log TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""
INTO_FORM_1 = (
    "INSERT INTO events (id, time, run, kind, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".kr"


@pytest.fixture
def journal(folder):
    journal = SQLite(folder)
    yield journal
    journal.close()


def asked(feature="login", run="r1", **data):
    return Event("question.asked", run, {"feature_id": feature, **data})


def kept(journal, count, **values):
    journal.append([asked(n=n, **values) for n in range(count)]).result()


def places(journal):
    return [(flaw.kind, flaw.location) for flaw in journal.verify()]


def changed(folder, *statements):
    """Change the file behind the journal's back."""
    connection = sqlite3.connect(folder / "journal.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.req("G1")
class TestChain:
    def test_a_record_that_nobody_touched(self, journal):
        """Whatever was appended, in groups of any size, by any number of threads, verifies."""
        assert journal.verify() == []
        kept(journal, 250)
        threads = [
            threading.Thread(target=kept, args=(journal, 60), kwargs={"run": f"r{n}"}) for n in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.append([Event("no.feature", "r9", {"feature_id": 7}), Event("nor.this", "r9", {})]).result()
        assert len(journal.read(0, 1000)) == 612
        assert journal.verify() == []

    def test_two_journals_make_one_chain(self, journal, folder):
        """The hash is made in the transaction that gives the number, whoever writes."""
        with_it = SQLite(folder)
        for _ in range(20):
            kept(journal, 2)
            kept(with_it, 3)
        assert with_it.verify() == []
        with_it.close()

    @pytest.mark.parametrize("column", ["id", "time", "run", "kind", "data"])
    def test_altered(self, journal, folder, column):
        """An entry that was altered is named, whatever of it was."""
        kept(journal, 9)
        changed(folder, f"UPDATE events SET {column} = {column} || ' ' WHERE number = 4")
        assert places(journal) == [("altered", "entry 4")]

    def test_moved_from_one_column_to_the_next(self, journal, folder):
        """Two columns that hold the same text together as before are an alteration."""
        kept(journal, 3)
        changed(
            folder,
            "UPDATE events SET run = run || substr(kind, 1, 1), kind = substr(kind, 2) WHERE number = 2",
        )
        assert places(journal) == [("altered", "entry 2")]

    def test_altered_with_a_hash_that_suits(self, journal, folder):
        """Whoever makes the hash of an altered entry anew is shown by the entry after it."""
        kept(journal, 5)
        connection = sqlite3.connect(folder / "journal.sqlite")
        with connection:
            before = connection.execute("SELECT hash FROM events WHERE number = 2").fetchone()[0]
            row = connection.execute(
                "SELECT id, time, run, kind, data FROM events WHERE number = 3"
            ).fetchone()
            forged = event_rows.link(before, *row[:4], "{}")
            connection.execute(
                "UPDATE events SET data = '{}', feature = NULL, hash = ? WHERE number = 3", [forged]
            )
        connection.close()
        assert places(journal) == [("altered", "entry 4")]

    def test_hidden_from_its_feature(self, journal, folder):
        """An entry that is listed by another feature than its own is a flaw, though its data is as it was."""
        kept(journal, 4)
        changed(folder, "UPDATE events SET feature = 'another' WHERE number = 2")
        changed(folder, "UPDATE events SET feature = NULL WHERE number = 3")
        assert places(journal) == [("altered", "entry 2"), ("altered", "entry 3")]

    def test_taken_out(self, journal, folder):
        """Entries that are missing in between are named, and the next one does not follow."""
        kept(journal, 9)
        changed(folder, "DELETE FROM events WHERE number IN (4, 5)")
        assert places(journal) == [("missing", "entry 4"), ("altered", "entry 6")]
        assert "up to entry 5" in journal.verify()[0].message

    def test_taken_out_and_closed_up(self, journal, folder):
        """Who gives the later entries lower numbers is shown by the hash of the first of them, and by the last number."""
        kept(journal, 6)
        changed(
            folder,
            "DELETE FROM events WHERE number = 3",
            "UPDATE events SET number = number - 1 WHERE number > 3",
        )
        assert places(journal) == [("altered", "entry 3"), ("missing", "entry 6")]

    def test_put_in_between(self, journal, folder):
        """An entry that was put in is named."""
        kept(journal, 5)
        changed(
            folder,
            "UPDATE events SET number = -number WHERE number > 3",
            "UPDATE events SET number = 1 - number WHERE number < 0",
            "INSERT INTO events (number, id, time, run, kind, data, hash) SELECT 4, 'new', time, run, kind, '{}', hash"
            " FROM events WHERE number = 3",
        )
        assert ("altered", "entry 4") in places(journal)

    def test_put_in_at_the_end(self, journal, folder):
        """An entry that somebody else wrote behind the last one is named."""
        kept(journal, 2)
        changed(
            folder,
            "INSERT INTO events (id, time, run, kind, data, hash) SELECT 'new', time, run, kind, '{}', hash"
            " FROM events WHERE number = 2",
        )
        assert places(journal) == [("altered", "entry 3")]

    def test_in_another_order(self, journal, folder):
        """Two entries that changed their places are named."""
        kept(journal, 6)
        changed(
            folder,
            "UPDATE events SET number = 100 WHERE number = 3",
            "UPDATE events SET number = 3 WHERE number = 4",
            "UPDATE events SET number = 4 WHERE number = 100",
        )
        assert {("altered", "entry 3"), ("altered", "entry 4")} <= set(places(journal))

    def test_a_tail_that_was_cut_off(self, journal, folder):
        """Missing entries at the end show, also all of them, and also once others have been appended."""
        kept(journal, 5)
        changed(folder, "DELETE FROM events WHERE number > 3")
        assert places(journal) == [("missing", "entry 4")]
        kept(journal, 1)
        assert places(journal) == [("missing", "entry 4")]
        changed(folder, "DELETE FROM events")
        assert places(journal) == [("missing", "entry 1")]

    def test_an_event_that_comes_twice_leaves_no_gap(self, journal):
        """Events that are there already take no number, in whatever group they come."""
        events = [asked(n=n) for n in range(300)]
        journal.append(events[:150]).result()
        journal.append([*events[100:], *events]).result()
        kept(journal, 1)
        assert [number for number, _ in journal.read(0, 1000)] == list(range(1, 302))
        assert [event for _, event in journal.read(0, 300)] == events
        assert journal.verify() == []

    def test_so_many_flaws(self, journal, folder):
        """However much is wrong, at most 1000 flaws are told."""
        kept(journal, 1200)
        changed(folder, "UPDATE events SET data = '{}'")
        assert len(journal.verify()) == 1000


class TestOlderForm:
    @pytest.fixture
    def old(self, folder):
        """A file of form 1 with five events, the numbers 3 and 4 left out, and all else that it can hold."""
        folder.mkdir()
        connection = sqlite3.connect(folder / "journal.sqlite", isolation_level=None)
        connection.executescript(FORM_1)
        time = "2026-02-05T10:00:00+00:00"
        for name in ("a", "b", "a", "b", "c", "d", "e"):
            connection.execute(INTO_FORM_1, (name, time, "r1", "k.v", '{"feature_id":"login"}'))
        connection.execute("INSERT INTO cursors VALUES ('jsonl', 6)")
        connection.execute("INSERT INTO steps VALUES ('r1', 'fetch', '1')")
        connection.execute("INSERT INTO grants VALUES ('g', 's', '3-1')")
        yield connection
        connection.close()

    @pytest.mark.req("G1", "G2")
    def test_brought_up_to_date(self, old, folder):
        """Events keep their numbers, get their hashes and features; numbers that were left out are no flaw."""
        journal = SQLite(folder)
        assert [(number, event.id) for number, event in journal.read(0, 10)] == [
            (1, "a"), (2, "b"), (5, "c"), (6, "d"), (7, "e"),
        ]  # fmt: skip
        assert [number for number, _ in journal.entries(feature="login")] == [1, 2, 5, 6, 7]
        assert (journal.cursor("jsonl"), journal.step("r1", "fetch"), journal.spent("s", "3-1")) == (6, 1, 1)
        assert journal.verify() == []
        kept(journal, 2)
        assert [number for number, _ in journal.read(7, 10)] == [8, 9]
        assert journal.verify() == []
        changed(folder, "DELETE FROM events WHERE number = 6")
        assert places(journal) == [("altered", "entry 7")]
        changed(folder, "DELETE FROM events WHERE number = 9")
        kept(journal, 1)
        assert places(journal) == [("altered", "entry 7"), ("missing", "entry 9")]
        journal.close()

    @pytest.mark.req("Z7")
    def test_all_of_it_or_nothing(self, old, folder, monkeypatch):
        """Where it could not be brought up to date the file is as it was."""
        before = list(old.iterdump())
        monkeypatch.setattr(
            event_rows, "link", lambda *_: None
        )  # as a full disk would, it breaks off in the midst
        with pytest.raises(StorageError, match="NOT NULL"):
            SQLite(folder)
        assert list(old.iterdump()) == before
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        monkeypatch.undo()
        journal = SQLite(folder)
        assert len(journal.read(0, 10)) == 5
        journal.close()

    def test_an_older_program_that_has_it_open(self, old, folder):
        """A program that still writes form 1 can write no more: its events would have no hash."""
        SQLite(folder).close()
        with pytest.raises(sqlite3.IntegrityError):
            old.execute(INTO_FORM_1, ("z", "t", "r", "k", "{}"))


@pytest.mark.req("G4")
class TestEntries:
    def test_by_feature_and_exchange(self, journal):
        """The entries of a feature, of an exchange, of both, or all that have a feature, in order."""
        journal.append(
            [
                asked("login", "r1", n=1),
                Event("run.started", "r1", {"n": 2}),
                asked("search", "r1", n=3),
                asked("login", "r2", n=4),
                asked("", "r2", n=5),
            ]
        ).result()

        def found(**wanted):
            return [number for number, _ in journal.entries(**wanted)]

        assert found(feature="login") == [1, 4]
        assert found(exchange="r1") == [1, 2, 3]
        assert found(feature="login", exchange="r1") == [1]
        assert found() == [1, 3, 4]
        assert found(feature="another") == found(exchange="r3") == []
        assert found(after=1) == [3, 4]
        assert found(after=1, limit=1) == [3]
        assert journal.entries(feature="login", after=1) == [journal.read(3, 1)[0]]

    def test_no_other_feature_is_read(self, journal):
        """A feature's entries are found by an index, and so are an exchange's."""
        for query in ("feature = 'a' AND number > 5", "run = 'a' AND number > 5"):
            plan = journal._rows(f"EXPLAIN QUERY PLAN SELECT * FROM events WHERE {query} ORDER BY number", ())
            assert [row[-1].split(" (")[0].startswith("SEARCH events USING INDEX") for row in plan] == [
                True
            ], plan


class TestDocuments:
    def test_numbers(self, journal, folder):
        """Each kind has numbers of its own, given once, whoever asks."""
        other = SQLite(folder)
        given = [one.number("E") for one in (journal, other, journal, other)]
        assert given == [1, 2, 3, 4]
        assert other.number("T") == 1
        other.close()

    @pytest.mark.req("G1")
    def test_changed_in_turn(self, journal):
        """A document is kept with its events; the next version replaces it."""
        assert journal.document("escalation", "E1") is None
        first = Document("escalation", "E1", "open", 1, {"text": "虚拟", "n": [1, None]})
        assert journal.change(first, [asked(n=1)])
        assert journal.document("escalation", "E1") == first
        second = first._replace(status="closed", version=2, data={})
        assert journal.change(second)
        assert journal.document("escalation", "E1") == second
        assert journal.document("other", "E1") is None
        assert len(journal.read(0, 10)) == 1

    @pytest.mark.req("G1")
    @pytest.mark.parametrize("version", [1, 2, 4])
    def test_somebody_was_first(self, journal, version):
        """A change that is not about the version that is kept changes nothing and appends nothing."""
        one = Document("escalation", "E1", "open", 1, {})
        assert journal.change(one)
        assert journal.change(one._replace(version=2, data={"kept": True}))
        assert not journal.change(one._replace(version=version, data={}), [asked()])
        assert journal.document("escalation", "E1").data == {"kept": True}
        assert journal.read(0, 10) == []
        assert not journal.change(Document("escalation", "E2", "open", 2, {}), [asked()])
        assert journal.document("escalation", "E2") is None

    def test_events_of_a_change_come_after_what_was_appended(self, journal):
        """What a process appended before it made a change stands before the change's own events."""
        for n in range(5):
            journal.append([asked(n=n)])
        journal.change(Document("escalation", "E1", "open", 1, {}), [asked(n=5)])
        assert [event.data["n"] for _, event in journal.read(0, 10)] == list(range(6))
        assert journal.verify() == []

    def test_listed(self, journal):
        """Documents are listed by kind and status, in the order in which they were new."""
        for name in ("E2", "E1", "E3"):
            journal.change(Document("escalation", name, "open", 1, {}))
        journal.change(Document("escalation", "E2", "closed", 2, {}))
        journal.change(Document("task", "T1", "open", 1, {}))

        def found(*wanted, **limited):
            return [one.key for one in journal.documents(*wanted, **limited)]

        assert found("escalation") == ["E2", "E1", "E3"]
        assert found("escalation", "open") == ["E1", "E3"]
        assert found("escalation", limit=2) == ["E2", "E1"]
        assert found("escalation", "none") == []
        assert found("task") == ["T1"]

    def test_what_cannot_be_kept(self, journal):
        """A document or an event that JSON has no form for keeps neither."""
        with pytest.raises(StorageError, match="escalation 'E1'"):
            journal.change(Document("escalation", "E1", "open", 1, {"x": {1, 2}}))
        with pytest.raises(StorageError, match="JSON"):
            journal.change(Document("escalation", "E1", "open", 1, {}), [asked(x={1})])
        assert journal.document("escalation", "E1") is None

    def test_closed(self, folder):
        """A closed journal takes no change."""
        journal = SQLite(folder)
        journal.close()
        with pytest.raises(StorageError, match="closed"):
            journal.change(Document("escalation", "E1", "open", 1, {}))

    @pytest.mark.req("K8")
    def test_one_winner(self, journal, folder):
        """Of threads of two journals that change one document at once, one makes each version."""
        journals = [journal, SQLite(folder)]
        won = []

        def work(n):
            for version in range(1, 21):
                while (one := journals[n % 2].document("d", "k")) is None or one.version < version:
                    document = Document("d", "k", "open", version, {"by": n})
                    if journals[n % 2].change(document, [asked(by=n, version=version)]):
                        won.append((version, n))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [version for version, _ in sorted(won)] == list(range(1, 21))
        events = [(event.data["version"], event.data["by"]) for _, event in journal.read(0, 100)]
        assert events == sorted(won)
        journals[1].close()


@pytest.mark.req("G1", "G2")
def test_more_than_a_statement_can_have(journal, monkeypatch):
    """However many events come at once, and however many of them are there already, all are kept, in one chain."""
    monkeypatch.setattr(sqlite_journal, "_most", lambda _: 40)
    events = [asked(n=n) for n in range(300)]
    journal.append(events[100:110]).result()
    journal.append(events[120:230]).result()
    journal.append(events).result()
    assert [event.data["n"] for _, event in journal.read(0, 1000)] == [
        *range(100, 110), *range(120, 230), *range(100), *range(110, 120), *range(230, 300),
    ]  # fmt: skip
    assert [number for number, _ in journal.read(0, 1000)] == list(range(1, 301))
    assert journal.verify() == []


@pytest.mark.req("G2")
def test_who_waits_commits_what_was_before(journal, monkeypatch):
    """The thread that waits commits its group and those before it; an interruption of it loses nothing."""
    monkeypatch.setattr(group_commit, "OPEN_SECONDS", 3600.0)
    commit = journal._commit
    stops = [KeyboardInterrupt, None]

    def interrupted(group):
        commit(group)
        if stop := stops.pop(0):
            raise stop

    monkeypatch.setattr(journal._groups, "_commit", interrupted)
    future = journal.append([asked(n=1)])
    with pytest.raises(KeyboardInterrupt):
        future.result()
    assert not future.done()
    future.result()
    assert len(journal.read(0, 10)) == 1
    assert journal.verify() == []


@pytest.mark.req("G1", "Z7")
def test_a_damaged_row_is_named(journal, folder):
    """With what to do; the check of the record goes on, also where it is not known since when its numbers are dense."""
    journal.append([Event("answer.received", "r1", {"n": number}) for number in range(3)]).result()
    assert journal.change(Document("escalation", "E8", "open", 1, {"a": 1}))
    changed(
        folder,
        "UPDATE events SET data = 'nojson' WHERE number = 2",
        "UPDATE documents SET data = 'nojson'",
        "DELETE FROM chain",
    )
    with pytest.raises(StorageError, match=r"entry 2 of the record cannot be read: .*--verify"):
        journal.read(0, 10)
    for look in (lambda: journal.document("escalation", "E8"), lambda: journal.documents("escalation")):
        with pytest.raises(StorageError, match="escalation E8 cannot be read"):
            look()
    assert places(journal) == [("altered", "entry 2"), ("altered", "table chain")]
