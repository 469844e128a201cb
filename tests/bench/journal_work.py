"""What it costs to keep events: the journal against bare SQLite that makes the same rows.

Run as a program it prints one JSON object of lists, in seconds for one event: `bare` and `eight` (eight processes that wait for
each event of theirs), `alone` (one question that waits for each event) and `in flight` (two hundred of them in one process);
and in seconds for one call: `qa_log` (the 500 entries of one feature out of a million).
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sqlite3
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kr_core import Event
from kr_core.qalog.reader import qa_log
from kr_core.research.stage_runner import StageRunner
from kr_plugins.journals import event_rows
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.synchronize import Barrier

PROCESSES = 8
EACH = 150
IN_FLIGHT = 200
ROUNDS = 15
TURNS = 7
ENTRIES = 1_000_000
FEATURES = 2_000
_INSERT = "INSERT INTO events (id, time, run, kind, data, feature, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
_Row = tuple[str, str, str, str, str, str, bytes]
_fork = multiprocessing.get_context("fork")


def _data(run: str, feature: str) -> dict[str, Any]:
    """An answer of some length, as the record has it."""
    about = {"exchange_id": run, "parent_id": None, "feature_id": feature, "question_id": "q1"}
    return {**about, "content": "Use the database. " * 12, "confidence": 90, "agent": "baron"}


def _rows(run: str, count: int) -> list[_Row]:
    """The rows that the journal makes of events, but for what their hashes are."""
    events = [Event("answer.received", run, _data(run, "login")) for _ in range(count)]
    return [
        (one.id, one.time.isoformat(), run, one.kind, json.dumps(one.data, separators=(",", ":")), "login", bytes(32))
        for one in events
    ]  # fmt: skip


def _bare(folder: Path, seat: int, ready: Barrier) -> float:
    connection = sqlite3.connect(folder / "journal.sqlite", timeout=30, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    rows = _rows(f"r{seat}", EACH)
    ready.wait()
    start = perf_counter()
    for row in rows:
        connection.execute(_INSERT, row)
    return perf_counter() - start


def _journal(folder: Path, seat: int, ready: Barrier) -> float:
    journal = SQLite(folder)
    events = [Event("answer.received", f"r{seat}", _data(f"r{seat}", "login")) for _ in range(EACH)]
    ready.wait()
    start = perf_counter()
    for event in events:
        journal.append((event,)).result()
    return perf_counter() - start


def _crowd(work: Callable[[Path, int, Barrier], float], folder: Path) -> float:
    """Seconds for each event while so many processes make them: until the last has made its own."""
    base = Path(tempfile.mkdtemp(dir=folder))
    SQLite(base).close()  # the same tables and indexes for both
    ready, told = _fork.Barrier(PROCESSES), _fork.SimpleQueue()
    crowd = [
        _fork.Process(target=lambda seat=seat: told.put(work(base, seat, ready))) for seat in range(PROCESSES)
    ]
    for one in crowd:
        one.start()
    seconds: list[float] = [told.get() for _ in crowd]
    for one in crowd:
        one.join()
    return max(seconds) / (PROCESSES * EACH)


def _questions(count: int, folder: Path) -> float:
    """Seconds for each event of questions that say one after the other, and wait for each."""
    journal = SQLite(Path(tempfile.mkdtemp(dir=folder)))

    async def question() -> None:
        run = StageRunner(journal)
        for _ in range(ROUNDS):
            run.emit("answer.received", _data(run.id, "login"))
            await run.settled()

    async def all_of_them() -> float:
        start = perf_counter()
        await asyncio.gather(*(question() for _ in range(count)))
        return (perf_counter() - start) / (count * ROUNDS)

    seconds = asyncio.run(all_of_them())
    journal.close()
    return seconds


def _million(folder: Path) -> SQLite:
    """A journal with so many entries, of features that took turns; written at once, with the right hashes."""
    base = Path(tempfile.mkdtemp(dir=folder))
    SQLite(base).close()

    def rows() -> Iterator[_Row]:
        before = event_rows.START
        for number in range(ENTRIES):
            feature = f"feature-{number % FEATURES}"
            run = f"{feature}-{number // FEATURES // 12}"
            values = (
                f"{number:016x}",
                "2026-02-05T10:00:00+00:00",
                run,
                "answer.received",
                json.dumps(_data(run, feature)),
            )
            before = event_rows.link(before, *values)
            yield (*values, feature, before)

    connection = sqlite3.connect(base / "journal.sqlite")
    connection.execute("PRAGMA synchronous = OFF")
    waiting = rows()
    while batch := list(islice(waiting, 50_000)):
        connection.executemany(_INSERT, batch)
    connection.commit()
    connection.close()
    return SQLite(base)


def _qa_log(journal: SQLite, feature: str) -> float:
    start = perf_counter()
    found = qa_log(journal, feature)
    seconds = perf_counter() - start
    assert len(found) == ENTRIES // FEATURES
    return seconds


def measure(folder: Path) -> dict[str, list[float]]:
    """All of them in turn, so that what slows the machine for a while slows all."""
    found: dict[str, list[float]] = {}
    kinds: dict[str, Callable[[], float]] = {
        "bare": lambda: _crowd(_bare, folder),
        "eight": lambda: _crowd(_journal, folder),
        "alone": lambda: _questions(1, folder),
        "in flight": lambda: _questions(IN_FLIGHT, folder),
    }
    for warm in range(TURNS + 1):
        for name, work in kinds.items():
            seconds = work()
            if warm:
                found.setdefault(name, []).append(seconds)
    journal = _million(folder)
    found["qa_log"] = [_qa_log(journal, f"feature-{97 * turn}") for turn in range(9)]
    journal.close()
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
