"""Jobs of three steps a second: KR's runtime beside bare Procrastinate, with the same steps, in turn.

`job_rates.py [JOBS]` starts a PostgreSQL of its own, which syncs to the disk as usual, and prints JSON. Two worker processes take
the jobs; a step is a row that is durable before the next one begins.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import procrastinate
from support.postgres_server import PostgresServer  # type: ignore[import-not-found]  # tests are not a package

from kr_core.plugin import QueuedRun
from kr_plugins.postgres.database import Database
from kr_plugins.postgres.shared_journal import SharedJournal
from kr_plugins.runtimes.job_queue import JobQueue

STEPS, WORKERS, CONCURRENCY, ROUNDS = 3, 2, 8, 3
SCHEMA = "CREATE SCHEMA bare; SET search_path = bare; CREATE TABLE results (run text, key text, result text, PRIMARY KEY (run, key))"


class Times:
    """When a worker began its first job and ended its last, and its processor time between."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)

    def begun(self) -> None:
        """A job begins."""
        self._first = self._first or (time.time(), time.process_time())

    def ended(self) -> None:
        """A job has ended."""
        self._last = (time.time(), time.process_time())

    def told(self) -> tuple[float, float, float] | None:
        """All three; None where it took no job."""
        return self._first and (self._first[0], self._last[0], self._last[1] - self._first[1])


def kr_worker(dsn: str, told: Any) -> None:
    """Take all jobs, and keep their steps in the journal."""
    times = Times()

    async def work() -> None:
        journal = SharedJournal(Database(dsn, "kr", "jobs", "bench"))

        async def perform(run: QueuedRun) -> None:
            times.begun()
            for number in range(STEPS):
                if await asyncio.to_thread(journal.step, run.id, str(number)) is None:
                    await asyncio.to_thread(journal.keep_step, run.id, str(number), {"done": number})
            times.ended()

        await JobQueue(journal.database).work(perform, ("ask",), CONCURRENCY, asyncio.Event(), drain=True)
        journal.close()

    asyncio.run(work())
    told.put(times.told())


def bare_app(dsn: str, times: Times) -> tuple[procrastinate.App, Any]:
    """Procrastinate with a task that keeps three steps, on connections of its own."""
    connector = procrastinate.PsycopgConnector(
        conninfo=dsn, kwargs={"options": "-c search_path=bare"}, min_size=1, max_size=4
    )
    app = procrastinate.App(connector=connector)

    async def steps(run: str) -> None:
        times.begun()
        for number in range(STEPS):
            values = {"run": run, "key": str(number), "result": json.dumps({"done": number})}
            known = "SELECT result FROM results WHERE run = %(run)s AND key = %(key)s"
            if not await connector.execute_query_all_async(known, run=run, key=str(number)):
                await connector.execute_query_async(
                    "INSERT INTO results VALUES (%(run)s, %(key)s, %(result)s) ON CONFLICT DO NOTHING",
                    **values,
                )
        times.ended()

    return app, app.task(name="steps")(steps)


def bare_worker(dsn: str, told: Any) -> None:
    """Take all jobs as Procrastinate does."""
    times = Times()

    async def work() -> None:
        app, _ = bare_app(dsn, times)
        async with app.open_async():
            await app.run_worker_async(
                wait=False, concurrency=CONCURRENCY, install_signal_handlers=False, delete_jobs="successful"
            )

    asyncio.run(work())
    told.put(times.told())


def queue_kr(dsn: str, names: list[str]) -> None:
    """Queue KR's jobs."""
    queue = JobQueue(Database(dsn, "kr", "jobs", "bench"))

    async def submit() -> None:
        for name in names:
            await queue.submit(QueuedRun(name, "ask"))

    asyncio.run(submit())


def queue_bare(dsn: str, names: list[str]) -> None:
    """Queue the same jobs in bare Procrastinate, with the same locks."""

    async def submit() -> None:
        app, task = bare_app(dsn, Times())
        async with app.open_async():
            for name in names:
                await task.configure(lock=name, queueing_lock=name).defer_async(run=name)

    asyncio.run(submit())


def measured(worker: Any, server: PostgresServer, jobs: int) -> tuple[float, float]:
    """Jobs a second of two workers, and the milliseconds of processor time of each job, the server's with them."""
    context = get_context("spawn")
    told = context.Queue()
    idle = [context.Process(target=worker, args=(server.dsn(), told)) for _ in range(WORKERS)]
    before = server_seconds(server)
    for one in idle:
        one.start()
    times = [one for one in (told.get() for _ in idle) if one is not None]
    spent = sum(one[2] for one in times) + server_seconds(server) - before
    for one in idle:
        one.join()
    seconds = max(one[1] for one in times) - min(one[0] for one in times)
    return jobs / seconds, 1000 * spent / jobs


def server_seconds(server: PostgresServer) -> float:
    """The processor time of the server, with that of connections that have ended."""
    ticks = 0
    pid = server.process.pid
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(stat.parent.name) == pid:
            ticks += sum(map(int, fields[11:15]))  # its own, and that of children that were waited for
        elif int(fields[1]) == pid:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main(jobs: int) -> None:
    """Measure, and print what came of it."""
    server = PostgresServer("fsync=on\nautovacuum=on\nshared_buffers=256MB\nmax_connections=120")
    try:
        server.sql(SCHEMA)
        import psycopg
        from procrastinate.schema import SchemaManager

        with psycopg.connect(server.dsn(), autocommit=True, options="-c search_path=bare") as connection:
            connection.execute(SchemaManager.get_schema())
        found: dict[str, list[tuple[float, float]]] = {"kr": [], "bare": []}
        queue_kr(server.dsn(), [])
        for round_ in range(ROUNDS):
            names = [f"j-{round_}-{number}" for number in range(jobs)]
            for name, queue, worker in (("kr", queue_kr, kr_worker), ("bare", queue_bare, bare_worker)):
                queue(server.dsn(), names)
                found[name].append(measured(worker, server, jobs))
        kr, bare = (statistics.median(one[0] for one in found[name]) for name in ("kr", "bare"))
        spent = {name: round(statistics.median(one[1] for one in each), 2) for name, each in found.items()}
        told = {
            "jobs": jobs, "steps": STEPS, "workers": WORKERS, "kr_per_second": round(kr), "bare_per_second": round(bare),
            "ratio": round(kr / bare, 2), "processor_ms_of_a_job": spent,
        }  # fmt: skip
        print(json.dumps(told))
    finally:
        server.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
