"""First come, first served."""

import os
import signal
import threading
import time

import pytest
from support.files_store import REPORT, entry

from kr_core.plugin import Setup
from kr_plugins.stores.files import Files, kr_store
from kr_plugins.stores.files.ticket_lock import in_turn


@pytest.mark.req("K8")
def test_in_the_order_of_arrival(tmp_path):
    """Those who wait are served in the order in which they came, and nobody is served twice at once."""
    served, threads = [], []

    def wait(number):
        with in_turn(tmp_path):
            served.append(number)
            time.sleep(0.002)
            served.append(number)

    with in_turn(tmp_path):
        for number in range(12):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            while len(list(tmp_path.iterdir())) < number + 2:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert served == [number for number in range(12) for _ in range(2)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("K8")
@pytest.mark.parametrize("when", ["it holds", "it waits"])
def test_the_dead_hold_nobody_up(tmp_path, when):
    """A process that is killed while it holds its turn, or waits for it, lets the next ones pass."""
    reading, writing = os.pipe()

    def hold():
        child = os.fork()
        if child == 0:
            with in_turn(tmp_path):
                os.write(writing, b".")
                time.sleep(60)
        return child

    first = hold()
    os.read(reading, 1)
    second = hold()
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.001)
    dead, other = (first, second) if when == "it holds" else (second, first)
    os.kill(dead, signal.SIGKILL)
    os.waitpid(dead, 0)
    if when == "it holds":
        assert os.read(reading, 1) == b"."
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    with in_turn(tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    os.close(reading)
    os.close(writing)


@pytest.mark.req("K8")
@pytest.mark.parametrize(("parallel", "queues"), [(1, False), (2, True)])
def test_only_where_several_work_at_once(tmp_path, parallel, queues):
    """Tickets are drawn where the configuration says that several work at once, in the state folder, which git ignores."""
    setup = Setup(
        "files",
        None,
        tmp_path / "kb",
        tmp_path / ".kr",
        tmp_path,
        (),
        lambda: entry().created,
        parallel=parallel,
    )
    store = kr_store().build(None, setup)
    assert isinstance(store, Files)
    store.write(REPORT, {}, entry())
    assert (tmp_path / ".kr/turns").exists() == queues


@pytest.mark.req("K8")
def test_tickets_stay_out_of_git(tmp_path):
    """The first writer of a project makes the state folder, which keeps itself out of git."""
    with in_turn(tmp_path / ".kr" / "turns"):
        assert (tmp_path / ".kr" / ".gitignore").read_text().startswith("*\n")
