"""Databases for the tests of the plugin `postgres`."""

import pytest
from support.postgres_server import PostgresServer, postgres_server

from kr_plugins.postgres.database import Database


@pytest.fixture(scope="session")
def server():
    return postgres_server()


@pytest.fixture(scope="module")
def own_server():
    """A server that tests may stop and fill."""
    made = PostgresServer("max_connections=12\nsuperuser_reserved_connections=0")
    yield made
    made.close()


@pytest.fixture
def opened(server):
    """Opens databases of one project; each call as another machine would."""
    settings, made = server.settings(), []

    def open_it(label="shop", **other):
        told = {**settings, **other}
        made.append(Database(told["dsn"], told.get("schema", "kr"), told["project"], label))
        return made[-1]

    yield open_it
    for one in made:
        one.close()
