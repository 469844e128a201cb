"""Workers on any machine take questions from a queue in the shared PostgreSQL database, by Procrastinate.

    store: postgres
    journal: postgres
    runtime: procrastinate
    plugins:
      postgres: {dsn: {env: KR_DSN}, schema: kr, project: shop}

It needs the extra `procrastinate`: `pip install "kr-core[procrastinate]"`, and the journal `postgres`, whose database and schema it
uses. `kr ask` queues the question and waits; `kr worker`, on as many machines as there are, answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.plugin import Provider, hookimpl
from kr_core.toolkit import require

if TYPE_CHECKING:
    from kr_core.plugin import Runtime, Settings, Setup

__all__ = ["kr_runtime"]


@hookimpl
def kr_runtime() -> Provider[Runtime]:
    """Provide the queue in the database of the journal."""

    def build(_settings: Settings, setup: Setup) -> Runtime:
        require("procrastinate", "procrastinate")
        from kr_core import ConfigError
        from kr_plugins.postgres.shared_journal import SharedJournal
        from kr_plugins.runtimes.job_queue import JobQueue

        journal = None if setup.journal is None else setup.journal()
        if not isinstance(journal, SharedJournal):
            raise ConfigError(
                "its queue lies in the database of the journal `postgres`, which this project does not use",
                hint="write `journal: postgres` into kr.yaml, or `runtime: local`",
            )
        return JobQueue(journal.database)

    return Provider(build)
