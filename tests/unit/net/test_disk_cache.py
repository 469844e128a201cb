"""What is remembered on disk: JSON alone, bounded in time, shared, and never the reason that anything fails."""

import asyncio
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import diskcache
import pytest

from kr_core.net.disk_cache import CacheNamespace, DiskCache


@pytest.fixture
def memory(tmp_path):
    made = DiskCache(tmp_path / "answers")
    yield made
    made.close()


def get(memory, key):
    return asyncio.run(memory.get(key))


def keep(memory, key, value, seconds=60.0):
    asyncio.run(memory.set(key, value, seconds))


def rows(folder, statement, *values):
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute(statement, values)
    database.close()


class Planted:
    """Runs a program when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (str(self.file),)


@pytest.mark.req("K11")
def test_values_are_json(memory):
    """What JSON has comes back as it was; what was never kept, or is over, is None."""
    value = {"text": "Zeit \u2192 Ende", "numbers": [1, 2.5, None, True]}
    keep(memory, "a", value)
    keep(memory, "over", 1, seconds=-1.0)
    assert (get(memory, "a"), get(memory, "b"), get(memory, "over")) == (value, None, None)


@pytest.mark.req("K11")
@pytest.mark.parametrize("as_file", [False, True])
def test_a_planted_pickle_is_refused(memory, tmp_path, as_file):
    """A row that asks to be unpickled, from the row or from a file, is no value; nothing of it runs."""
    keep(memory, "a", 1)
    trace = tmp_path / "unpickled"
    packed = pickle.dumps(Planted(trace))
    (tmp_path / "packed").write_bytes(packed)
    filename = str(tmp_path / "packed") if as_file else None
    rows(
        memory._folder,
        "UPDATE Cache SET mode = ?, value = ?, filename = ?",
        diskcache.core.MODE_PICKLE, None if as_file else packed, filename,
    )  # fmt: skip
    assert get(memory, "a") is None
    assert not trace.exists()
    rows(memory._folder, "UPDATE Cache SET mode = ?, value = 'x'", diskcache.core.MODE_RAW)
    assert get(memory, "a") is None, "what is no JSON is no value"
    keep(memory, "a", 2)
    assert (get(memory, "a"), (tmp_path / "packed").exists()) == (2, True)


@pytest.mark.req("K11")
def test_a_planted_pickle_would_run_in_diskcache_itself(tmp_path):
    """The test above can fail: the library as it comes runs what is planted."""
    trace = tmp_path / "unpickled"
    with diskcache.Cache(tmp_path / "plain") as cache:
        cache.set("a", Planted(trace))
        cache.get("a")
    assert trace.exists()


@pytest.mark.req("K11")
def test_a_planted_path_is_neither_read_nor_removed(memory, tmp_path):
    """A row with a file of somebody's leaves the file alone, also when the row goes."""
    keep(memory, "a", 1)
    precious = tmp_path / "precious"
    precious.write_text('"secret"')
    rows(
        memory._folder,
        "UPDATE Cache SET mode = ?, filename = ?, expire_time = NULL",
        diskcache.core.MODE_TEXT, str(precious),
    )  # fmt: skip
    assert get(memory, "a") is None
    keep(memory, "a", 2, seconds=-1.0)
    assert get(memory, "a") is None
    assert precious.read_text() == '"secret"'


@pytest.mark.req("K11")
def test_two_processes_share_it(memory):
    """What another process has kept is there at once."""
    program = """
import asyncio, sys
from pathlib import Path
from kr_core.net.disk_cache import DiskCache
memory = DiskCache(Path(sys.argv[1]))
asyncio.run(memory.set("a", [1], 60.0))
memory.close()
"""
    subprocess.run([sys.executable, "-c", program, str(memory._folder)], check=True)
    assert get(memory, "a") == [1]


@pytest.mark.req("K11", "S4")
def test_threads_that_begin_at_once_are_served_by_one(tmp_path):
    """However many ask first: a second worker would be left behind when the memory is closed."""

    def begun_twice(memory):
        def ask(number):
            ready.wait()
            keep(memory, str(number), number)

        ready = threading.Barrier(4)
        list(threads.map(ask, range(4)))
        workers = [thread for thread in threading.enumerate() if thread.name == "kr-memory"]
        memory.close()
        return len(workers) > 1 or any(worker.is_alive() for worker in workers)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            seen = [begun_twice(DiskCache(tmp_path / "answers")) for _ in range(20)]
    finally:
        sys.setswitchinterval(before)
    assert not any(seen), seen


@pytest.mark.req("K11")
@pytest.mark.parametrize("content", [b"", b"no database", os.urandom(5000)])
def test_a_broken_file_is_begun_anew(tmp_path, content):
    """It is only a cache: nothing fails, and from then on it remembers again."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "cache.db").write_bytes(content)
    memory = DiskCache(folder)
    try:
        assert get(memory, "a") is None
        keep(memory, "a", 1)
        assert get(memory, "a") == 1
    finally:
        memory.close()


@pytest.mark.req("K11")
def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path):
    """A file in place of the folder: no value, no error, and the reason at hand."""
    (tmp_path / "answers").write_text("")
    memory = DiskCache(tmp_path / "answers")
    try:
        keep(memory, "a", 1)
        assert get(memory, "a") is None
        assert memory.failure
    finally:
        memory.close()


@pytest.mark.req("K11")
def test_sources_do_not_see_each_others(memory):
    """The same key of two sources is two values; no name reaches into another's."""
    one, other = CacheNamespace(memory, "of one"), CacheNamespace(memory, "of one\0x")

    async def go():
        await one.set("x\0k", 1, 60.0)
        await other.set("k", 2, 60.0)
        return await one.get("x\0k"), await other.get("k")

    assert asyncio.run(go()) == (1, 2)


@pytest.mark.req("K11", "R8")
def test_a_lock_of_another_process_holds_nothing_up(memory, monkeypatch):
    """What waits too long is not remembered, and from then on nobody waits again."""
    keep(memory, "a", 1)
    monkeypatch.setattr("kr_core.net.disk_cache.MAX_WAIT_SECONDS_LENGTH", 0.2)
    with sqlite3.connect(memory._folder / "cache.db", isolation_level=None) as database:
        database.execute("BEGIN EXCLUSIVE")
        keep(memory, "b", 2)
        assert memory.failure
        assert get(memory, "a") is None
        memory.close()
    database.close()
