"""Knowledge base and journal in a PostgreSQL database that several machines share.

    store: postgres
    journal: postgres
    plugins:
      postgres: {dsn: {env: KR_DSN}, schema: kr, project: shop}

It needs the extra `postgres`: `pip install "kr-core[postgres]"`, and PostgreSQL 14 or newer. All that name the same schema and
project share answers, the record, cases, budgets and the lock by which a question is researched once. KR makes the schema when it
first connects, and adds to it when a newer KR does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from kr_core.plugin import Provider, Settings, hookimpl
from kr_core.toolkit import require

if TYPE_CHECKING:
    from kr_core.plugin import Journal, Setup, Store
    from kr_plugins.postgres.database import Database

__all__ = ["PostgresSettings", "kr_journal", "kr_store"]


class PostgresSettings(Settings):
    dsn: str = Field(min_length=1)
    """How to connect, as `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`. Take it from the environment (`{env: KR_DSN}`): it holds
    the password.
    """
    schema_name: str = Field("kr", alias="schema", pattern=r"^[a-z_][a-z0-9_]{0,50}$")
    """The schema with KR's tables; made if it is missing."""
    project: str = Field("default", pattern=r"^[^\s\x00-\x1f](?:[^\x00-\x1f]{0,98}[^\s\x00-\x1f])?$")
    """The name under which the projects of one schema are separate. All machines of a project use the same."""


@hookimpl
def kr_store() -> Provider[Store]:
    """Provide the knowledge base of a project in the database."""

    def build(settings: PostgresSettings, setup: Setup) -> Store:
        database = _opened(settings, setup)
        from kr_plugins.postgres.shared_store import SharedStore

        return SharedStore(database)

    return Provider(build, PostgresSettings)


@hookimpl
def kr_journal() -> Provider[Journal]:
    """Provide the journal of a project in the database."""

    def build(settings: PostgresSettings, setup: Setup) -> Journal:
        database = _opened(settings, setup)
        from kr_plugins.postgres.shared_journal import SharedJournal

        return SharedJournal(database)

    return Provider(build, PostgresSettings)


def _opened(settings: PostgresSettings, setup: Setup) -> Database:
    require("psycopg", "postgres")
    from kr_plugins.postgres.database import Database

    return Database(settings.dsn, settings.schema_name, settings.project, setup.project.root.name)
