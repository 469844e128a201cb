"""A runtime that keeps to the contract: a queue in one SQLite file."""

import asyncio
import json
import sqlite3
import time
from contextlib import closing, contextmanager, suppress

from kr_core import StorageError
from kr_core.plugin import Provider, QueuedRun, Runtime, hookimpl
from kr_core.toolkit import make_state_folder

_LEASE_SECONDS = 20.0
"""How long a worker may be silent until its runs are another's."""
_LOOK_SECONDS = 0.1
_AGAIN_SECONDS = 1.0
"""Pause before a run is tried again that failed."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, queue TEXT, priority INTEGER, due REAL)",
    "CREATE TABLE IF NOT EXISTS taken (id TEXT PRIMARY KEY, queue TEXT, priority INTEGER, until REAL)",
)


class Queue:
    """A queue in one SQLite file, for the workers of one machine."""

    def __init__(self, folder):
        self._file = folder / "queue.sqlite"

    async def submit(self, run):
        """Queue a run; one that waits under this id already is not queued twice."""
        await asyncio.to_thread(self._put, run)

    async def work(self, perform, queues, concurrency, stop, *, drain=False):
        """Perform runs until `stop` is set, or with `drain` until none waits; those that have begun are ended."""
        begun = {}
        while not stop.is_set() or begun:
            free = len(begun) < concurrency and not stop.is_set()
            run = await asyncio.to_thread(self._take, queues, list(begun.values()), free)
            if run is not None:
                begun[asyncio.create_task(self._perform(run, perform))] = run.id
            elif begun:
                done, _ = await asyncio.wait(
                    begun, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    del begun[task]
                    task.result()
            elif drain:
                return
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), _LOOK_SECONDS)

    async def _perform(self, run, perform):
        try:
            await perform(run)
        except Exception:  # of any kind: the run must not be lost
            await asyncio.to_thread(self._put, run, time.time() + _AGAIN_SECONDS)
        await asyncio.to_thread(self._end, run)

    def _put(self, run, due=0.0):
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?, ?)", (*run, due))

    def _end(self, run):
        with self._transaction() as connection:
            connection.execute("DELETE FROM taken WHERE id = ?", (run.id,))

    def _take(self, queues, begun, free):
        """Say that the runs that have begun are not lost, and take another one, if there is room and one waits."""
        now = time.time()
        with self._transaction() as connection:
            connection.execute(
                "UPDATE taken SET until = ? WHERE id IN (SELECT value FROM json_each(?))",
                (now + _LEASE_SECONDS, json.dumps(begun)),
            )
            if not free:
                return None
            connection.execute(
                "INSERT OR IGNORE INTO waiting SELECT id, queue, priority, 0 FROM taken WHERE until < ?",
                (now,),
            )
            connection.execute("DELETE FROM taken WHERE until < ?", (now,))
            row = connection.execute(
                "SELECT id, queue, priority FROM waiting WHERE due <= ? AND queue IN (SELECT value FROM json_each(?))"
                " AND id NOT IN (SELECT id FROM taken) ORDER BY priority DESC, due, rowid LIMIT 1",
                (now, json.dumps(queues)),
            ).fetchone()
            if row is None:
                return None
            run = QueuedRun(*row)
            connection.execute("DELETE FROM waiting WHERE id = ?", (run.id,))
            connection.execute("INSERT INTO taken VALUES (?, ?, ?, ?)", (*run, now + _LEASE_SECONDS))
            return run

    @contextmanager
    def _transaction(self):
        """What happens in it is on the disk together or not at all; one process at a time."""
        try:
            make_state_folder(self._file.parent)
            with closing(sqlite3.connect(self._file, timeout=30, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    connection.execute(statement)
                yield connection
                connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"the queue cannot be used: {error}", where=str(self._file)) from error


@hookimpl
def kr_runtime() -> Provider[Runtime]:
    """Say how the runtime is built; it has no settings."""
    return Provider(lambda settings, setup: Queue(setup.state_folder))
