"""The journal and its log under killed processes, races and full disks."""

import json
import random
import sqlite3
from contextlib import suppress

import pytest

from kr_core.errors import StorageError
from kr_core.model import Event
from kr_core.protocols import LogRecord
from kr_core.qalog.delivery import log_flaws
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.journals.sqlite_append import read_head
from kr_plugins.logs.jsonl import JSONLines

pytestmark = pytest.mark.faults


def kept_ids(folder):
    journal = SQLite(folder)
    ids = {event.id for _, event in journal.read(0, 10_000_000)}
    assert journal.verify() == []
    assert read_head(str(folder / "journal.sqlite"))[0] > len(ids) - 1000, (
        "it falls behind by one group at most"
    )
    journal.close()
    return ids


@pytest.mark.req("G2", "Z7")
def test_nothing_acknowledged_is_lost(killed, tmp_path):
    """After 40 kills at random instants, two of three while it writes, every acknowledged event is there, and no alarm is false."""
    instants = random.Random(1)
    acknowledged = set()
    for number in range(40):
        starting = number % 3 == 0
        seconds = -instants.uniform(0.1, 0.6) if starting else instants.uniform(0, 0.15)
        acknowledged.update(killed(seconds, "append", tmp_path))
    assert len(acknowledged) > 100
    assert acknowledged <= kept_ids(tmp_path)
    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.req("Z7")
def test_killed_while_it_is_made(killed, tmp_path):
    """A journal whose maker was killed can be opened and used."""
    instants = random.Random(2)
    for number in range(15):
        folder = tmp_path / str(number)
        killed(-instants.uniform(0.15, 0.5), "append", folder)
        journal = SQLite(folder)
        journal.append([Event(kind="k", run="r")]).result()
        journal.close()


@pytest.mark.req("G3", "Z7")
def test_delivered_once(killed, tmp_path):
    """However often delivery is killed, the log has each event of the journal once, in order."""
    instants = random.Random(3)
    for _ in range(15):
        killed(instants.uniform(0, 0.1), "deliver", tmp_path)
        journal = SQLite(tmp_path)
        assert [*journal.verify(), *log_flaws(journal, {"jsonl": JSONLines(tmp_path)})] == []
        journal.close()
    journal = SQLite(tmp_path)
    records = [LogRecord(*found) for found in journal.read(journal.cursor("jsonl"), 1_000_000)]
    JSONLines(tmp_path).write(records)
    expected = [(number, event.id) for number, event in journal.read(0, 1_000_000)]
    journal.close()
    lines = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert [(line["number"], line["id"]) for line in lines] == expected
    assert len(expected) > 100


@pytest.mark.req("G1", "Z7")
def test_steps_and_budgets_raise_no_false_alarm(killed, tmp_path):
    """However often a process is killed between a row and the head that counts it, nothing is said to be missing."""
    instants = random.Random(4)
    for _ in range(25):
        killed(instants.uniform(0, 0.1), "tables", tmp_path)
        journal = SQLite(tmp_path)
        assert journal.verify() == []
        journal.close()


@pytest.mark.req("R7", "K8")
@pytest.mark.parametrize("attempt", range(4))
def test_a_budget_is_exact(driver, tmp_path, attempt):
    """Of 16 calls that eight processes ask for each story at once, in a journal that is new, three are granted."""
    processes = [driver("spend", tmp_path, name) for name in range(8)]
    assert {process.stdout.readline() for process in processes} == {b"ready\n"}
    for process in processes:
        process.stdin.close()
        process.stdin = None  # `communicate` would flush it
    outcomes = [process.communicate(timeout=300) for process in processes]
    assert [error for _, error in outcomes] == [b""] * 8
    assert sum(int(out) for out, _ in outcomes) == 90
    journal = SQLite(tmp_path)
    assert {journal.spent("s", f"3-{story}") for story in range(30)} == {3}
    journal.close()


@pytest.mark.req("G2")
def test_full_disk(mounted):
    """On a full disk an event fails with what to do; what was kept stays, and room makes it work again."""
    folder = mounted("1m")
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    journal = SQLite(folder / ".kr")
    acknowledged = set()

    def fill():
        for _ in range(10_000):
            event = Event(kind="k", run="r", data={"text": "x" * 3000})
            journal.append([event]).result()
            acknowledged.add(event.id)

    with pytest.raises(StorageError, match="make room"):
        fill()
    log = JSONLines(folder / ".kr")
    before = len(acknowledged)
    ballast.unlink()
    event = Event(kind="k", run="r")
    journal.append([event]).result()
    acknowledged.add(event.id)
    assert len(acknowledged) == before + 1
    assert {found.id for _, found in journal.read(0, 10_000)} == acknowledged
    log.write([LogRecord(*found) for found in journal.read(0, 3)])
    size = (folder / ".kr/log.jsonl").stat().st_size
    with pytest.raises(StorageError, match="No space left"):
        log.write(
            [LogRecord(n, Event(kind="k", run="r", data={"text": "x" * 100_000})) for n in range(10, 30)]
        )
    assert (folder / ".kr/log.jsonl").stat().st_size == size
    journal.close()


@pytest.mark.req("G2")
def test_read_only(mounted, read_only):
    """On a read-only file system the journal says that it cannot be written."""
    folder = mounted("1m")
    read_only(folder)
    with pytest.raises(StorageError, match="Read-only"):
        SQLite(folder / ".kr")


@pytest.mark.req("G2")
def test_turned_read_only(mounted, read_only):
    """A journal whose file system turns read-only is an error, not a loss."""
    folder = mounted("1m")
    journal = SQLite(folder)
    journal.append([Event(kind="k", run="r")]).result()
    journal.close()
    read_only(folder)
    with pytest.raises(StorageError) as caught:
        SQLite(folder).append([Event(kind="k", run="r")]).result()
    assert caught.value.where == str(folder / "journal.sqlite")


@pytest.mark.req("G1", "Z7")
def test_read_where_nothing_can_be_written(mounted, read_only):
    """A record on a read-only medium, or a full disk, is read and checked; with room again it is written again."""
    folder = mounted("1m")
    journal = SQLite(folder)
    journal.append([Event(kind="k", run="r", data={"feature_id": "login"})]).result()
    journal.close()
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    journal = SQLite(folder)
    assert [number for number, _event in journal.entries(feature="login")] == [1]
    assert journal.verify() == []
    with pytest.raises(StorageError, match=r"can be read, and not written|make room"):
        journal.append([Event(kind="k", run="r")]).result()
    ballast.unlink()
    journal.append([Event(kind="k", run="r")]).result()
    assert [number for number, _event in journal.read(0, 9)] == [1, 2]
    journal.close()
    read_only(folder)
    journal = SQLite(folder)
    assert [number for number, _event in journal.read(0, 9)] == [1, 2]
    assert journal.verify() == []
    journal.close()
