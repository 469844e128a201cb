"""The journal in SQLite."""

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import wait
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.errors import StorageError
from kr_core.hookspecs import Settings
from kr_core.model import Event
from kr_plugins.journals import group_commit
from kr_plugins.journals.sqlite import kr_journal, tables
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".kr"


@pytest.fixture
def journal(folder):
    journal = SQLite(folder)
    yield journal
    journal.close()


@pytest.fixture(scope="module")
def long_journal(tmp_path_factory):
    """One for all examples of a test: to make a journal takes longer than what is tried with it."""
    journal = SQLite(tmp_path_factory.mktemp("journal"))
    yield journal
    journal.close()


def event(kind="keep.finished", **values):
    return Event(kind=kind, run="r1", **values)


def in_threads(work, count=8):
    """What `work(n)` returns, or the exception it raised, for each of the threads."""
    results = [None] * count

    def run(n):
        try:
            results[n] = work(n)
        except Exception as error:
            results[n] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class TestFile:
    def test_state_folder(self, journal, folder):
        """The state folder is made on first use and keeps itself out of git."""
        assert (folder / ".gitignore").read_text().startswith("*\n")
        assert (folder / "journal.sqlite").exists()

    @pytest.mark.req("Z7")
    def test_durability(self, journal, folder):
        """The file is in WAL mode, and every connection waits for the disk."""
        with journal._connections.one() as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
            assert connection.execute("PRAGMA user_version").fetchone() == (tables.VERSION,)

    @pytest.mark.req("G2")
    def test_everything_is_there_when_it_is_opened_again(self, folder):
        """Events, steps, grants and cursors are there when the file is opened again."""
        first = SQLite(folder)
        first.append([event(data={"n": 1})]).result()
        first.keep_step("r1", "fetch", {"text": "虚拟"})
        assert first.spend("s", "3-1", "g1", 3)
        first.advance("jsonl", 1)
        first.close()
        again = SQLite(folder)
        assert [(number, kept.data) for number, kept in again.read(0, 10)] == [(1, {"n": 1})]
        assert again.step("r1", "fetch") == {"text": "虚拟"}
        assert again.spent("s", "3-1") == 1
        assert again.cursor("jsonl") == 1
        again.close()

    @pytest.mark.req("Z7")
    @pytest.mark.parametrize(
        "content", [b"this is not a database" * 500, b"SQLite format 3\0" + b"\xff" * 4096]
    )
    def test_damaged(self, folder, content):
        """A file that is not a database is named, with what to do, and is left as it is."""
        folder.mkdir()
        (folder / "journal.sqlite").write_bytes(content)
        with pytest.raises(StorageError, match="move it aside") as caught:
            SQLite(folder)
        assert caught.value.where == str(folder / "journal.sqlite")
        assert (folder / "journal.sqlite").read_bytes() == content

    @pytest.mark.req("Z7")
    def test_damaged_inside(self, folder):
        """A database that was damaged after it was made is named, with what to do."""
        journal = SQLite(folder)
        wait([journal.append([event(data={"n": n, "text": "x" * 300})]) for n in range(500)])
        journal.close()
        with (folder / "journal.sqlite").open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 100_000)
        journal = SQLite(folder)
        with pytest.raises(StorageError, match="damaged"):
            journal.read(0, 500)
        with pytest.raises(StorageError, match="damaged"):
            journal.append([event()]).result()
        journal.close()

    def test_from_the_future(self, folder):
        """A journal of a newer KR is refused, and not changed."""
        SQLite(folder).close()
        with sqlite3.connect(folder / "journal.sqlite") as connection:
            connection.execute(f"PRAGMA user_version = {tables.VERSION + 1}")
        connection.close()
        with pytest.raises(StorageError, match="newer KR"):
            SQLite(folder)

    def test_a_file_where_the_folder_should_be(self, folder):
        """A state folder that cannot be made is an error that says so."""
        folder.write_text("a file")
        with pytest.raises(StorageError, match="cannot be made") as caught:
            SQLite(folder)
        assert caught.value.where == str(folder)
        assert caught.value.hint

    def test_a_folder_where_the_file_should_be(self, folder):
        """A journal that cannot be opened is an error that says so."""
        (folder / "journal.sqlite").mkdir(parents=True)
        with pytest.raises(StorageError, match="unable to open"):
            SQLite(folder)

    @pytest.mark.req("K8")
    def test_opened_while_another_makes_it(self, folder):
        """A file that another process is making, and holds locked, is waited for."""
        folder.mkdir()
        other = sqlite3.connect(folder / "journal.sqlite", isolation_level=None, check_same_thread=False)
        other.executescript("CREATE TABLE half (made); DROP TABLE half")
        other.execute("BEGIN IMMEDIATE")
        let_go = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        let_go.start()
        SQLite(folder).close()
        let_go.join()
        other.close()

    @pytest.mark.req("K8")
    def test_many_open_it_at_once(self, folder):
        """Any number may make and open the file at the same time."""
        journals = in_threads(lambda _: SQLite(folder), count=16)
        assert [type(journal) for journal in journals] == [SQLite] * 16
        in_threads(lambda n: journals[n].append([event()]).result(), count=16)
        assert len(journals[0].read(0, 100)) == 16
        for journal in journals:
            journal.close()


class TestEvents:
    @pytest.mark.req("G1", "G2")
    def test_append_and_read(self, journal):
        """Events are read in the order in which they were appended, as they were."""
        eastward = timezone(timedelta(hours=9))
        events = [
            event("run.started", time=datetime(2026, 2, 5, 10, tzinfo=UTC)),
            event("source.started", data={"source": "context7", "n": [1, 2.5, None, True]}),
            event("keep.finished", time=datetime(2026, 2, 5, 10, 0, 0, 123456, tzinfo=eastward)),
        ]
        journal.append(events[:2]).result()
        journal.append(events[2:]).result()
        assert journal.read(0, 10) == list(enumerate(events, 1))
        assert journal.read(1, 1) == [(2, events[1])]
        assert journal.read(3, 10) == []

    @given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
    @pytest.mark.req("G2")
    def test_any_json(self, long_journal, datas):
        """Whatever JSON an event holds, it is read as it was."""
        last = long_journal.cursor("test")
        long_journal.append([event(data=data) for data in datas]).result()
        assert [kept.data for _, kept in long_journal.read(last, 10)] == datas
        long_journal.advance("test", last + len(datas))

    @pytest.mark.req("G2")
    def test_the_same_event_twice(self, journal):
        """An event that the journal has already is not added again."""
        one = event()
        journal.append([one]).result()
        journal.append([one, event()]).result()
        assert len(journal.read(0, 10)) == 2

    def test_nothing(self, journal):
        """Appending nothing succeeds at once."""
        assert journal.append([]).done()

    @pytest.mark.req("G2")
    def test_only_what_cannot_be_kept_fails(self, journal):
        """An event that JSON has no form for fails its own future, and no other."""
        good = [journal.append([event(data={"n": n})]) for n in range(5)]
        bad = journal.append([event(data={"when": datetime.now(UTC)})])
        nan = journal.append([event(data={"x": float("nan")})])
        good += [journal.append([event(data={"n": n})]) for n in range(5)]
        assert {future.result() for future in good} == {None}
        for future in (bad, nan):
            with pytest.raises(StorageError, match="holds a value that JSON has none for"):
                future.result()
        assert len(journal.read(0, 100)) == 10

    @pytest.mark.req("G2")
    def test_a_commit_that_fails(self, journal, folder):
        """A commit that fails is told to those who wait for it; the next one is tried anew."""
        journal.append([event()]).result()
        with sqlite3.connect(folder / "journal.sqlite") as other:
            other.execute("ALTER TABLE events RENAME TO hidden")
        failed = journal.append([event()])
        with pytest.raises(StorageError, match="no such table") as caught:
            failed.result()
        assert str(folder / "journal.sqlite") in str(caught.value)
        with sqlite3.connect(folder / "journal.sqlite") as other:
            other.execute("ALTER TABLE hidden RENAME TO events")
        other.close()
        journal.append([event()]).result()
        assert len(journal.read(0, 10)) == 2

    @pytest.mark.req("G2")
    def test_an_event_outlives_who_waits_for_it(self, journal):
        """A future cannot be cancelled: what was queued is kept."""
        future = journal.append([event()])
        assert not future.cancel()
        future.result()
        assert len(journal.read(0, 10)) == 1

    @pytest.mark.req("G2")
    def test_what_nobody_waits_for_is_kept_too(self, journal):
        """An event is durable some milliseconds later, though nobody asked for its future."""
        for n in range(3):
            journal.append([event(data={"n": n})])
        until = time.monotonic() + 30
        while len(kept := journal.read(0, 10)) < 3 and time.monotonic() < until:
            time.sleep(0.001)
        assert [found.data["n"] for _, found in kept] == [0, 1, 2]

    @pytest.mark.req("G2")
    @pytest.mark.parametrize("ask", ["result", "exception", "add_done_callback"])
    def test_who_waits_has_it_committed_at_once(self, journal, ask, monkeypatch):
        """The time for which a group is open ends when somebody wants to know."""
        monkeypatch.setattr(group_commit, "OPEN_SECONDS", 3600.0)
        future = journal.append([event()])
        if ask == "add_done_callback":
            told = threading.Event()
            future.add_done_callback(lambda _: told.set())
            assert told.wait(30)
        else:
            assert getattr(future, ask)(30) is None
        assert len(journal.read(0, 10)) == 1

    @pytest.mark.req("G2")
    def test_more_than_a_group(self, journal):
        """However many are appended before anybody waits, all are kept, in their order."""
        futures = [journal.append([event(data={"n": n})]) for n in range(2500)]
        futures[-1].result()
        assert all(future.done() for future in futures)
        assert [found.data["n"] for _, found in journal.read(0, 3000)] == list(range(2500))

    @pytest.mark.req("G2")
    def test_a_program_that_closes_nothing(self, folder):
        """What was appended is kept when the program comes to its end, waited for or not."""
        program = (
            "import sys, pathlib; from kr_core import Event; from kr_plugins.journals.sqlite.sqlite_journal import SQLite\n"
            "journal = SQLite(pathlib.Path(sys.argv[1]))\n"
            "for n in range(50): journal.append([Event('keep.finished', 'r1', {'n': n})])\n"
        )
        subprocess.run([sys.executable, "-c", program, str(folder)], check=True)
        again = SQLite(folder)
        assert [found.data["n"] for _, found in again.read(0, 100)] == list(range(50))
        again.close()

    @pytest.mark.req("G2", "K8")
    def test_threads(self, journal):
        """Threads append at once, each in its own order, and nothing is lost."""
        futures = in_threads(lambda t: [journal.append([event(data={"t": t, "n": n})]) for n in range(50)])
        for future in chain.from_iterable(futures):
            future.result()
        kept = [(found.data["t"], found.data["n"]) for _, found in journal.read(0, 1000)]
        assert len(kept) == 400
        for thread in range(8):
            assert [n for t, n in kept if t == thread] == list(range(50))

    @pytest.mark.req("G2")
    def test_close_waits(self, folder):
        """Closing waits until everything queued is durable; afterwards nothing is taken."""
        journal = SQLite(folder)
        futures = [journal.append([event()]) for _ in range(200)]
        journal.close()
        assert all(future.done() and future.exception() is None for future in futures)
        with pytest.raises(StorageError, match="closed"):
            journal.append([event()]).result()
        journal.close()
        again = SQLite(folder)
        assert len(again.read(0, 1000)) == 200
        again.close()


class TestSteps:
    @given(JSON)
    def test_any_result(self, long_journal, result):
        """The result of a step is kept as it was."""
        run = uuid4().hex
        long_journal.keep_step(run, "fetch", result)
        assert long_journal.step(run, "fetch") == result

    def test_the_first_result_stays(self, journal):
        """A second result for the same step is ignored; steps of other runs are their own."""
        journal.keep_step("r1", "fetch", 1)
        journal.keep_step("r1", "fetch", 2)
        journal.keep_step("r2", "fetch", 3)
        assert (journal.step("r1", "fetch"), journal.step("r2", "fetch")) == (1, 3)
        assert journal.step("r1", "other") is None

    def test_no_json(self, journal):
        """A result that JSON has no form for is refused."""
        with pytest.raises(StorageError, match="step 'fetch'"):
            journal.keep_step("r1", "fetch", {1, 2})


class TestBudget:
    @pytest.mark.req("R7")
    def test_limit(self, journal):
        """A story has so many calls in a session, and no more; other stories have their own."""
        assert [journal.spend("s", "3-1", f"g{n}", 3) for n in range(5)] == [True, True, True, False, False]
        assert journal.spend("s", "3-2", "other", 3)
        assert journal.spend("t", "3-1", "another", 3)
        assert (journal.spent("s", "3-1"), journal.spent("s", "3-2"), journal.spent("x", "3-1")) == (3, 1, 0)
        assert not journal.spend("s", "4-1", "none", 0)

    @pytest.mark.req("R7")
    def test_a_grant_is_charged_once(self, journal):
        """A grant that was already given is not charged again, also when the budget is spent."""
        assert journal.spend("s", "3-1", "g", 1)
        assert journal.spend("s", "3-1", "g", 1)
        assert journal.spent("s", "3-1") == 1

    @pytest.mark.req("R7")
    def test_refund(self, journal):
        """A call that was never sent is given back."""
        journal.spend("s", "3-1", "g", 1)
        journal.refund("g")
        journal.refund("unknown")
        assert journal.spent("s", "3-1") == 0
        assert journal.spend("s", "3-1", "h", 1)

    @pytest.mark.req("R7")
    def test_exact_with_threads(self, journal):
        """However many spend at once, exactly the limit is granted."""
        granted = in_threads(lambda n: sum(journal.spend("s", "3-1", f"{n}-{i}", 3) for i in range(3)))
        assert sum(granted) == journal.spent("s", "3-1") == 3


class TestCursors:
    @pytest.mark.req("G3")
    def test_cursor(self, journal):
        """Each log has a cursor of its own that starts at 0 and never goes back."""
        assert journal.cursor("jsonl") == 0
        journal.advance("jsonl", 7)
        journal.advance("jsonl", 5)
        journal.advance("otel", 2)
        assert (journal.cursor("jsonl"), journal.cursor("otel")) == (7, 2)


def test_hook():
    """The hook hands over a provider without settings of its own."""
    assert kr_journal().settings is Settings
