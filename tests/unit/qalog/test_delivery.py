"""Delivery to logs: each gets every event once, whoever delivers, and nobody waits for another."""

import threading

import pytest

from kr_core import Event, StorageError
from kr_core.qalog import delivery
from kr_core.qalog.delivery import deliver
from kr_core.turns import Turns
from kr_plugins.journals.sqlite.sqlite_journal import SQLite


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".kr"


@pytest.fixture
def journal(folder):
    journal = SQLite(folder)
    yield journal
    journal.close()


class Kept:
    """A log that knows nothing of what it had: what comes twice is there twice."""

    def __init__(self):
        self.numbers = []

    def write(self, records):
        self.numbers += [record.number for record in records]


class Held(Kept):
    """The same, which is held up in its first batch until it is let go."""

    def __init__(self):
        super().__init__()
        self.writing, self.go_on = threading.Event(), threading.Event()

    def write(self, records):
        self.writing.set()
        assert self.go_on.wait(30)
        super().write(records)


def happen(journal, count):
    journal.append([Event("k.v", "r") for _ in range(count)]).result()


@pytest.mark.req("G2", "G3")
def test_each_log_has_a_cursor_of_its_own(journal, folder, monkeypatch):
    """Each log is handed what it does not have yet, in batches, in order."""
    monkeypatch.setattr(delivery, "_BATCH", 4)
    one, other = Kept(), Kept()
    happen(journal, 5)
    assert deliver(journal, {"one": one}, Turns(lambda: journal, folder)) == []
    happen(journal, 5)
    for _ in range(2):
        assert deliver(journal, {"one": one, "other": other}, Turns(lambda: journal, folder)) == []
    assert one.numbers == other.numbers == list(range(1, 11))


@pytest.mark.req("G3")
def test_a_log_that_fails(journal, folder):
    """What a log does not take comes again later, and the other logs go on."""

    class Failing:
        def write(self, _records):
            raise StorageError("the disk is full")

    kept, late = Kept(), Kept()
    happen(journal, 2)
    [note] = deliver(journal, {"late": Failing(), "kept": kept}, Turns(lambda: journal, folder))
    assert note == "log late: the disk is full; its events wait in the journal"
    happen(journal, 1)
    assert deliver(journal, {"late": late, "kept": kept}, Turns(lambda: journal, folder)) == []
    assert late.numbers == kept.numbers == [1, 2, 3]


@pytest.mark.req("G3")
def test_who_comes_second_waits_for_nobody(journal, folder):
    """While one delivers, another leaves its events to it; they are delivered, once, by the one who has the log."""
    happen(journal, 2)
    held = Held()
    first = threading.Thread(target=deliver, args=(journal, {"log": held}, Turns(lambda: journal, folder)))
    first.start()
    assert held.writing.wait(30)
    happen(journal, 3)
    second = SQLite(folder)
    assert deliver(second, {"log": held}, Turns(lambda: second, folder)) == []
    assert held.numbers == []
    assert second.cursor("log") == 0
    second.close()
    held.go_on.set()
    first.join()
    assert held.numbers == [1, 2, 3, 4, 5]


@pytest.mark.req("G3")
def test_what_comes_right_before_it_lets_go(journal, folder, monkeypatch):
    """Events of one who came in vain are delivered, however late in the other's turn that was."""
    kept = Kept()
    happen(journal, 1)
    read = SQLite.read
    came = []

    def read_and_come(self, after, limit):
        found = read(self, after, limit)
        if self is journal and not found and not came:  # it has read all that there is, and still has the log
            came.append(True)
            other = SQLite(folder)
            happen(other, 1)
            deliver(other, {"log": kept}, Turns(lambda: other, folder))
            other.close()
        return found

    monkeypatch.setattr(SQLite, "read", read_and_come)
    deliver(journal, {"log": kept}, Turns(lambda: journal, folder))
    assert came
    assert kept.numbers == [1, 2]


@pytest.mark.req("G3")
def test_a_log_that_is_held_up_holds_up_no_other(journal, folder):
    """Each log is taken for itself."""
    happen(journal, 1)
    held, kept = Held(), Kept()
    first = threading.Thread(target=deliver, args=(journal, {"held": held}, Turns(lambda: journal, folder)))
    first.start()
    assert held.writing.wait(30)
    deliver(journal, {"held": held, "kept": kept}, Turns(lambda: journal, folder))
    assert kept.numbers == [1]
    held.go_on.set()
    first.join()


@pytest.mark.req("G3", "K8")
def test_many_deliver_at_once(journal, folder):
    """However many append and deliver at once, a log that recognises nothing has every event once, in order."""
    kept = Kept()

    def work():
        own = SQLite(folder)
        for _ in range(15):
            happen(own, 2)
            deliver(own, {"log": kept}, Turns(lambda: own, folder))
        own.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept.numbers == list(range(1, 181))


@pytest.mark.req("G3")
def test_where_it_cannot_be_marked(journal, tmp_path):
    """A folder in which nothing can be marked is a note; nothing is delivered without."""
    (tmp_path / "file").write_text("")
    happen(journal, 1)
    [note] = deliver(journal, {"log": Kept()}, Turns(lambda: journal, tmp_path / "file"))
    assert "its events wait in the journal" in note
