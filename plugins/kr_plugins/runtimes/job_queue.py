"""Runs as Procrastinate's jobs, in the schema of KR's own tables."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import procrastinate
import psycopg
from procrastinate import PsycopgConnector, SyncPsycopgConnector, exceptions
from procrastinate.jobs import Status
from procrastinate.schema import SchemaManager
from psycopg_pool import PoolTimeout

from kr_core.plugin import QueuedRun
from kr_plugins.postgres.database import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kr_plugins.postgres.database import Database

__all__ = ["JobQueue"]

_TASK = "kr.run"
_HEARTBEAT_SECONDS = 5.0
STALLED_SECONDS = 20.0
"""How long a worker may be silent until its jobs are another's; as long as a lease lasts."""
_LOOK_SECONDS = 5.0
"""Between two looks for jobs whose worker is silent, and for jobs whose notification was lost."""
_AGAIN_SECONDS = 2
"""Pause before a run is tried again that failed; grows by as much each time."""
_PAUSE_SECONDS = 1.0
_CONNECTIONS = 4
_LOCK = 0x6B73
"""Advisory lock of who makes the tables of the queue."""

_logger = logging.getLogger(__name__)


class JobQueue:
    """The queue of a project. All projects of a schema share the tables, each with queues of its own.

    Args:
        database: the project's part of it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._prefix = f"{database.project}:"
        self._made = False

    async def submit(self, run: QueuedRun) -> None:
        """Queue a run; one that waits under this id already is not queued twice.

        Raises:
            StorageError: the database cannot be used.
        """
        await asyncio.to_thread(self._submit, run)

    def _submit(self, run: QueuedRun) -> None:
        self._make()

        def defer(connection: psycopg.Connection[Any], _again: bool) -> None:
            app = procrastinate.App(connector=SyncPsycopgConnector())
            with suppress(exceptions.AlreadyEnqueued):
                app.configure_task(_TASK, connection=connection, **self._options(run)).defer(**run._asdict())

        self._database.run(_unwrapped(defer))

    async def work(
        self,
        perform: Callable[[QueuedRun], Awaitable[None]],
        queues: Sequence[str],
        concurrency: int,
        stop: asyncio.Event,
        *,
        drain: bool = False,
    ) -> None:
        """Perform runs until `stop` is set, or with `drain` until none waits.

        Procrastinate ends a worker that has lost the database; here another one follows it.

        Raises:
            StorageError: the tables cannot be made.
        """
        await asyncio.to_thread(self._make)
        names = [self._prefix + queue for queue in queues]
        while not stop.is_set():
            try:
                await self._work_once(perform, names, concurrency, stop, drain=drain)
                if drain:
                    return
            except (exceptions.ConnectorException, psycopg.Error, PoolTimeout):
                _logger.warning("the worker lost the database, and tries again", exc_info=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _PAUSE_SECONDS)

    async def _work_once(
        self,
        perform: Callable[[QueuedRun], Awaitable[None]],
        names: list[str],
        concurrency: int,
        stop: asyncio.Event,
        *,
        drain: bool,
    ) -> None:
        app = procrastinate.App(connector=PsycopgConnector(**self._pool()))

        async def take(failures: int = 0, **values: Any) -> None:
            run = QueuedRun(**values)
            try:
                await perform(run)
            except Exception:  # of any kind: the run must not be lost
                _logger.info("run %s is tried again", run.id, exc_info=True)
                pause = {"seconds": _AGAIN_SECONDS * (failures + 1)}
                job = app.configure_task(_TASK, schedule_in=pause, **self._options(run))
                with suppress(exceptions.AlreadyEnqueued):
                    await job.defer_async(failures=failures + 1, **values)

        app.task(name=_TASK)(take)
        async with app.open_async():
            worker = asyncio.create_task(
                app.run_worker_async(
                    queues=names,
                    wait=not drain,
                    concurrency=concurrency,
                    install_signal_handlers=False,
                    delete_jobs="successful",
                    fetch_job_polling_interval=_LOOK_SECONDS,
                    update_heartbeat_interval=_HEARTBEAT_SECONDS,
                    stalled_worker_timeout=STALLED_SECONDS,
                )
            )
            rescue = asyncio.create_task(_rescue_stalled(app))
            stopped = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait((worker, rescue, stopped), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (rescue, stopped, worker):
                    task.cancel()  # the worker lets its jobs end first
                ended = await asyncio.gather(worker, rescue, stopped, return_exceptions=True)
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    def _pool(self) -> dict[str, Any]:
        """How Procrastinate connects: as KR does, in KR's schema."""
        options = {**self._database.options, "application_name": "kr worker"}
        schema = f'-c search_path="{self._database.schema}"'
        options["options"] = " ".join(filter(None, (options.get("options"), schema)))
        return {"kwargs": options, "min_size": 1, "max_size": _CONNECTIONS, "timeout": PATIENCE_SECONDS}

    def _options(self, run: QueuedRun) -> dict[str, Any]:
        """How a run is queued: one at a time waits, and one at a time is performed."""
        name = f"{self._prefix}{run.id}"
        return {
            "queue": self._prefix + run.queue,
            "priority": run.priority,
            "lock": name,
            "queueing_lock": name,
        }

    def _make(self) -> None:
        """Make Procrastinate's tables where there are none.

        Raises:
            StorageError: they cannot be made.
        """
        if not self._made:
            self._database.run(_make_tables)
            self._made = True


def _make_tables(connection: psycopg.Connection[Any], _again: bool) -> None:
    # not to_regclass, which within a transaction may not see what another one has made since
    there = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'procrastinate_jobs')"
    if connection.execute(there).fetchone() == (True,):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if connection.execute(there).fetchone() != (True,):
            connection.execute(SchemaManager.get_schema())


async def _rescue_stalled(app: procrastinate.App) -> None:
    """Hand out again what silent workers have begun, for ever."""
    while True:
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
            assert job.id is not None, "it is stored"
            try:
                await app.job_manager.retry_job_by_id_async(job.id, dt.datetime.now(dt.UTC))
            except exceptions.UniqueViolation:  # the run waits already, for the lock that this job holds
                await app.job_manager.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)
            except exceptions.ConnectorException:
                _logger.info("job %s was another worker's to rescue", job.id, exc_info=True)
        await asyncio.sleep(_LOOK_SECONDS)


def _unwrapped(
    work: Callable[[psycopg.Connection[Any], bool], None],
) -> Callable[[psycopg.Connection[Any], bool], None]:
    """The same, but errors of the database are psycopg's own, which tell whether trying again may help."""

    def run(connection: psycopg.Connection[Any], again: bool) -> None:
        try:
            work(connection, again)
        except exceptions.ConnectorException as error:
            if isinstance(error.__cause__, psycopg.Error):
                raise error.__cause__ from error
            raise

    return run
