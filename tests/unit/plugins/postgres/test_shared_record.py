"""A record that machines share: one chain, exact budgets, leases that end with their holders, and nothing lost with an answer."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kr_core import StorageError
from kr_core.plugin import Document
from kr_core.testing import samples
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.postgres import lease_table
from kr_plugins.postgres.shared_journal import SharedJournal

pytestmark = pytest.mark.req("S3", "G2")


@pytest.fixture
def journals(opened):
    """Opens journals of one project; each is another machine's."""
    made = []

    def open_it(**other):
        made.append(SharedJournal(opened(**other)))
        return made[-1]

    yield open_it
    for one in made:
        one.close()


def lost_answers(journal, monkeypatch, times=1):
    """The server does what it is asked, and the connection is lost before its answer comes."""
    import psycopg

    database, left = journal.database, [times]
    once = database._once

    def losing(work, *, again):
        def lost(connection, again):
            result = work(connection, again)
            if left[0]:
                left[0] -= 1
                raise psycopg.OperationalError("server closed the connection unexpectedly")
            return result

        return once(lost, again=again)

    monkeypatch.setattr(database, "_once", losing)


def test_32_clients_share_one_budget_exactly(journals):
    """Each of four journals is asked by eight threads; together they get the limit, whoever is first."""
    machines = [journals() for _ in range(4)]

    def spend(client):
        return sum(machines[client % 4].spend("s", "story", f"{client}-{n}", 50) for n in range(4))

    with ThreadPoolExecutor(32) as pool:
        given = sum(pool.map(spend, range(32)))
    assert (given, machines[0].spent("s", "story")) == (50, 50)


def test_machines_share_one_chain(journals):
    """Eight threads on two machines append events and change documents; the record is whole, and no number is left out."""
    machines = [journals() for _ in range(2)]

    def work(client):
        journal = machines[client % 2]
        for n in range(10):
            journal.append(samples.events(3, f"run-{client}")).result()
            assert journal.change(
                Document("letter", f"{client}-{n}", "open", 1, {}), samples.events(1, "change")
            )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    numbers = [number for number, _ in machines[0].read(0, 1000)]
    assert numbers == list(range(1, 8 * 10 * 4 + 1))
    assert not machines[1].verify()


def test_projects_are_apart(journals):
    """Two projects of one schema share nothing."""
    one, other = journals(project="one-of-two"), journals(project="two-of-two")
    one.append(samples.events(2)).result()
    one.keep_step("run", "key", 1)
    assert not other.read(0, 10)
    assert other.step("run", "key") is None
    assert other.number("letter") == 1


def test_what_was_done_unheard_is_not_done_twice(journals, monkeypatch):
    """An event, a change and a call of a budget whose answer was lost are there once, and the caller hears of it."""
    journal = journals()
    lost_answers(journal, monkeypatch)
    journal.append(samples.events(3)).result()
    lost_answers(journal, monkeypatch)
    assert journal.change(Document("letter", "one", "open", 1, {"a": 1}), samples.events(1, "change")) is True
    lost_answers(journal, monkeypatch)
    assert journal.spend("s", "story", "grant", 1) is True
    lost_answers(journal, monkeypatch)
    journal.keep_step("run", "key", 1)
    assert [number for number, _ in journal.read(0, 10)] == [1, 2, 3, 4]
    assert journal.spent("s", "story") == 1
    assert journal.step("run", "key") == 1
    assert not journal.verify()


def test_a_change_by_another_is_none_of_ours(journals, monkeypatch):
    """Where the answer was lost and the document is another's, the change was not made."""
    journal, other = journals(), journals()
    other.change(Document("letter", "one", "open", 1, {"by": "other"}))
    lost_answers(journal, monkeypatch)
    assert journal.change(Document("letter", "one", "open", 1, {"by": "me"}), samples.events(1)) is False
    assert not journal.read(0, 10)


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM kr.events WHERE project = {0} AND number = 5",
        "DELETE FROM kr.events WHERE project = {0} AND number = 2",
        "UPDATE kr.events SET data = '{{}}' WHERE project = {0} AND number = 3",
        "UPDATE kr.events SET feature = 'other' WHERE project = {0} AND number = 3",
        "UPDATE kr.projects SET last_number = 4 WHERE id = {0}",
        "UPDATE kr.projects SET last_hash = 'x' WHERE id = {0}",
    ],
)
def test_what_was_taken_out_or_altered_shows(journals, server, harm):
    journal = journals()
    journal.append(samples.events(5, feature="login")).result()
    assert not journal.verify()
    server.sql(harm.format(journal.database.project))
    assert journal.verify()


class TestLeases:
    def test_one_machine_holds_a_name(self, journals):
        """It is free again when it is let go, and another name is another lease."""
        one, other = journals(), journals()
        with one.lease("channel") as mine, other.lease("channel") as theirs, other.lease("another") as free:
            assert (mine, theirs, free) == (True, False, True)
        with other.lease("channel") as theirs:
            assert theirs

    def test_a_holder_that_is_gone_loses_it(self, journals, monkeypatch):
        """It renews as long as it works; one that was killed or stopped does not."""
        monkeypatch.setattr(lease_table, "LEASE_SECONDS", 0.4)
        one, other = journals(), journals()
        lease = one.lease("channel")
        assert lease.__enter__()
        until = time.monotonic() + 0.8
        while time.monotonic() < until:
            with other.lease("channel") as theirs:
                assert not theirs
            time.sleep(0.1)
        one._leases.close()  # as if its process had ended
        time.sleep(0.5)
        with other.lease("channel") as theirs:
            assert theirs
            lease.__exit__(None, None, None)  # who comes back late takes nothing away
            with journals().lease("channel") as third:
                assert not third

    def test_of_many_that_come_at_once_one_has_it(self, journals):
        machines, had = [journals() for _ in range(3)], []
        barrier = threading.Barrier(12)

        def take(number):
            barrier.wait()
            with machines[number % 3].lease("one") as mine:
                had.append(mine)
                barrier.wait()

        with ThreadPoolExecutor(12) as pool:
            list(pool.map(take, range(12)))
        assert had.count(True) == 1


class TestMoving:
    def fill(self, journal):
        journal.append(samples.events(40, feature="login", text="\0 \ud800 '")).result()
        journal.change(Document("letter", "b", "open", 1, {"x": [1]}), samples.events(1))
        journal.change(Document("letter", "a", "open", 1, {}))
        journal.change(Document("letter", "b", "closed", 2, {"x": [2]}))
        journal.keep_step("run", "key", {"a": None})
        journal.spend("s", "story", "g1", 5)
        journal.spend("s", "story", "g2", 5)
        journal.refund("g2")
        journal.number("letter")
        journal.advance("jsonl", 12)

    def test_there_and_back_everything_stays(self, journals, tmp_path):
        """From SQLite to PostgreSQL and back: the same rows, the same hashes, and each goes on where the other ended."""
        first = SQLite(tmp_path / "first")
        self.fill(first)
        rows = list(first.dump())
        shared = journals()
        shared.restore(iter(rows))
        assert list(shared.dump()) == rows
        assert not shared.verify()
        shared.append(samples.events(2, "later")).result()
        assert shared.number("letter") == first.number("letter")
        assert [one.key for one in shared.documents("letter")] == ["b", "a"]
        assert not shared.verify()
        back = SQLite(tmp_path / "back")
        back.restore(shared.dump())
        assert list(back.dump()) == list(shared.dump())
        back.append(samples.events(1, "last")).result()
        back.keep_step("run", "another", 1)
        back.spend("s", "story", "g3", 5)
        assert [number for number, _ in back.read(40, 10)] == [41, 42, 43, 44]
        assert not back.verify()
        for one in (first, back):
            one.close()
        again = SQLite(tmp_path / "back")
        assert not again.verify()
        again.close()

    def test_a_record_takes_no_other(self, journals, tmp_path):
        """Two records cannot become one, on either side; what is there stays."""
        mine, shared = SQLite(tmp_path), journals()
        for one in (mine, shared):
            one.append(samples.events(2)).result()
            before = list(one.dump())
            with pytest.raises(
                StorageError, match=r"there is a record already|has a record already"
            ) as error:
                one.restore(iter(before))
            assert "nothing was imported" in error.value.hint
            assert list(one.dump()) == before
        mine.close()

    def test_what_fails_in_the_midst_leaves_nothing(self, journals, tmp_path):
        """An error while rows are read, such as a file that was cut off, takes back those before it."""
        source = SQLite(tmp_path / "source")
        self.fill(source)
        rows = list(source.dump())
        source.close()

        def cut():
            yield from rows[:20]
            raise StorageError("was cut off")

        mine, shared = SQLite(tmp_path / "mine"), journals()
        for one in (mine, shared):
            empty = list(one.dump())
            with pytest.raises(StorageError, match="cut off"):
                one.restore(cut())
            assert list(one.dump()) == empty
            one.restore(iter(rows))
            assert not one.verify()
        mine.close()
