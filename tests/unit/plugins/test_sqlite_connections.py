"""Writers take turns at the journal, and none depends on it that another gives its turn back."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import threading

import pytest

from kr_core import Event
from kr_plugins.journals.sqlite.connections import FairLock
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

pytestmark = pytest.mark.req("Z7")


def test_one_has_the_turn_at_a_time(tmp_path):
    """Threads of one process and a file that another one has locked: nobody is inside together with another."""
    turns, inside, most = [FairLock(tmp_path / "turn"), FairLock(tmp_path / "turn")], [], []

    def work(mine):
        for _ in range(50):
            with mine.turn():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work, args=(turns[number % 2],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 200


def test_a_turn_that_is_never_given_back_holds_up_nobody_for_long(tmp_path):
    """A stopped process may have it; what is written then is kept all the same."""
    journal = SQLite(tmp_path)
    handle = os.open(tmp_path / "journal.turn", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        journal.append([Event("run.started", "r1", {})]).result()
    finally:
        os.close(handle)
    assert [event.run for _, event in journal.read(0, 10)] == ["r1"]
    journal.close()


def test_a_forked_child_has_a_turn_of_its_own(tmp_path):
    """Its parent's turn is not its own, though it inherits the open file."""
    turns = FairLock(tmp_path / "turn")
    fork = multiprocessing.get_context("fork")
    told = fork.SimpleQueue()

    def child():
        handle = os.open(tmp_path / "turn", os.O_RDWR)
        with turns.turn():
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                told.put("mine")
            else:
                told.put("nobody's")

    with turns.turn():
        pass  # the file is open now
    process = fork.Process(target=child)
    process.start()
    assert told.get() == "mine"
    process.join()
    turns.close()
