"""What goes wrong with a database is named, with what to do, and shows no password; what passes by itself is waited for."""

import os
import signal
import socket
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from support.postgres_server import PASSWORD

from kr_core import StorageError
from kr_core.plugin import Document
from kr_core.testing import samples
from kr_plugins.postgres import database as module
from kr_plugins.postgres.database import Database
from kr_plugins.postgres.shared_journal import SharedJournal

pytestmark = pytest.mark.req("K12", "G2", "S3")


def fault(dsn, schema="kr", project="default"):
    with pytest.raises(StorageError) as error:
        Database(dsn, schema, project, "shop")
    assert error.value.hint
    assert "secret-word" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "dsn", ["secret-word", "postgresql://u:secret-word@[/x", "host=a port", "nonsense=secret-word"]
)
def test_what_is_no_dsn_is_refused_without_showing_it(dsn):
    assert "plugins.postgres.dsn: is not a connection string" in fault(dsn)


def test_a_port_that_is_none(server):
    assert "port" in fault("postgresql://u:secret-word@127.0.0.1:99999/kr")


def test_nobody_listens():
    """It is said at once: a server that was never reached is not waited for."""
    began = time.monotonic()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        said = fault(f"postgresql://u:secret-word@127.0.0.1:{free.getsockname()[1]}/kr")
    assert "the server cannot be reached" in said
    assert time.monotonic() - began < 5


def test_a_server_that_never_answers(monkeypatch):
    """It takes the connection and says nothing."""
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 2)  # the least that libpq waits
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        said = fault(f"postgresql://u:secret-word@127.0.0.1:{silent.getsockname()[1]}/kr")
    assert "does not answer" in said


def test_the_password_is_wrong(server):
    said = fault(f"postgresql://locked:secret-word@127.0.0.1:{server.port}/kr")
    assert "the server refuses the user" in said
    assert "check user and password" in said


def test_there_is_no_password(server):
    assert "the server refuses the user" in fault(f"postgresql://locked@127.0.0.1:{server.port}/kr")


def test_there_is_no_such_database(server):
    assert "there is no such database" in fault(server.dsn("nowhere"))


def test_who_may_not_create_is_told_what_to_grant(server):
    """With the right it works; afterwards it needs no such right any more."""
    said = fault(server.dsn(user="guest"), schema="of_guest")
    assert "no right to make KR's tables" in said
    assert "GRANT CREATE ON DATABASE kr TO guest" in said
    server.sql("GRANT CREATE ON DATABASE kr TO guest")
    Database(server.dsn(user="guest"), "of_guest", "one", "shop").close()
    server.sql("REVOKE CREATE ON DATABASE kr FROM guest")
    Database(server.dsn(user="guest"), "of_guest", "two", "shop").close()


def test_who_may_not_read_is_told_whom_to_ask(server, opened):
    opened()  # makes the schema
    said = fault(server.dsn(user="guest"))
    assert "no right" in said
    assert "GRANT" in said


def test_a_schema_of_a_newer_kr_is_refused_and_one_that_only_added_is_not(server, opened):
    """`oldest` says who may still work with it: a machine of the version before goes on beside one of the next."""
    schema = f"s{uuid.uuid4().hex[:10]}"
    opened(schema=schema).close()
    server.sql(f"UPDATE {schema}.form SET number = 7")
    database = opened(schema=schema)
    assert server.sql(f"SELECT number, oldest FROM {schema}.form") == [(7, 1)]
    database.close()
    server.sql(f"UPDATE {schema}.form SET oldest = 2")
    said = fault(server.dsn(), schema=schema)
    assert "made by a newer KR" in said
    assert "update KR on this machine" in said


def test_machines_that_come_at_once_make_the_tables_once(server):
    schema = f"s{uuid.uuid4().hex[:10]}"
    faults, made = [], []

    def come():
        try:
            made.append(Database(server.dsn(), schema, "one", "shop"))
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=come) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not faults
    assert {one.project for one in made} == {made[0].project}
    for one in made:
        one.close()


def test_another_encoding_is_refused(server):
    server.sql("CREATE DATABASE narrow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    assert "LATIN1" in fault(server.dsn("narrow"))


def test_the_second_project_under_a_name_is_told_once(opened):
    """The folder's name is what differs; the same on another machine says nothing."""
    assert not opened("shop").warnings
    assert not opened("shop").warnings
    (said,) = opened("billing").warnings
    assert "`shop`" in said
    assert "plugins.postgres.project" in said
    assert not opened("billing").warnings


def test_a_character_that_no_database_stores(opened):
    for text in ("a\0b", "\ud800"):
        with pytest.raises(StorageError, match=r"holds a character|cannot be stored"):
            opened().rows("SELECT %s::text", (text,))


def test_a_statement_that_takes_too_long(opened):
    database = opened()
    with pytest.raises(StorageError, match="took too long"):
        database.run(
            lambda connection, _again: (
                connection.execute("SET statement_timeout = 50"),
                connection.execute("SELECT pg_sleep(9)"),
            )
        )
    assert database.rows("SELECT 1", ()) == [(1,)]


def test_a_silent_server_is_left(own_server, monkeypatch):
    """It is stopped in the midst, as by a network that swallows everything: a clear error, and it works again afterwards."""
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.2)
    database = Database(own_server.dsn(), "kr", "silent", "shop")
    stopped = database.rows("SELECT pg_backend_pid()", ())[0][0]
    os.kill(stopped, signal.SIGSTOP)
    try:
        with pytest.raises(StorageError, match="does not answer any more"):
            database.rows("SELECT 1", ())
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert database.rows("SELECT 1", ()) == [(1,)]
    database.close()


def test_a_restart_is_waited_for(own_server):
    """What is asked while the server is down is answered when it is back, and no connection is left that leads nowhere."""
    database = Database(own_server.dsn(), "kr", "restarted", "shop")
    own_server.stop()
    back = threading.Timer(0.3, own_server.start)
    back.start()
    assert database.rows("SELECT 1", ()) == [(1,)]
    back.join()
    database.close()


def test_a_crash_of_the_server_loses_and_repeats_nothing(own_server):
    """Four writers go on while it crashes and comes back: what was confirmed is there once, in one whole chain, and the budget is exact."""
    journal = SharedJournal(Database(own_server.dsn(), "kr", "crashed", "shop"))
    written, given = [], []

    def write(writer):
        for number in range(25):
            (event,) = samples.events(1, f"run-{writer}")
            journal.append([event]).result()
            written.append(event.id)
            given.append(journal.spend("s", "story", f"{writer}-{number}", 60))
            assert journal.change(
                Document("letter", f"{writer}-{number}", "open", 1, {}), samples.events(1, "change")
            )

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, writer) for writer in range(4)]
        while len(written) < 20:
            time.sleep(0.005)
        own_server.stop()
        own_server.start()
        for one in writers:
            one.result()
    events = [event for _, event in journal.read(0, 1000)]
    assert sorted(event.id for event in events if event.run.startswith("run")) == sorted(written)
    assert len(events) == 200
    assert (given.count(True), journal.spent("s", "story")) == (60, 60)
    assert not journal.verify()
    journal.close()


def test_a_server_that_stays_away_is_an_error(own_server, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.2)
    database = Database(own_server.dsn(), "kr", "away", "shop")
    own_server.stop()
    try:
        with pytest.raises(StorageError, match=r"cannot be reached|does not answer"):
            database.rows("SELECT 1", ())
    finally:
        own_server.start()
    database.close()


def test_a_server_without_connections_is_waited_for(own_server, monkeypatch):
    """Until one is free; and if none is, the message says how to have more."""
    database = Database(own_server.dsn(), "kr", "full", "shop")
    database.close()
    holding = fill(own_server)
    free = threading.Timer(0.2, holding.pop().close)
    free.start()
    Database(own_server.dsn(), "kr", "full", "shop").close()
    free.join()
    holding += fill(own_server)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    said = fault(own_server.dsn())
    assert "takes no more connections" in said
    assert "max_connections" in said
    for one in holding:
        one.close()


def fill(server):
    """Take the connections that are left, also those that the server has still to free."""
    taken = []
    for _ in range(4):
        with suppress(psycopg.OperationalError):
            while True:
                taken.append(psycopg.connect(server.dsn()))
        time.sleep(0.05)
    return taken


def test_the_right_password_works(server):
    server.sql("GRANT CREATE ON DATABASE kr TO locked")
    dsn = f"postgresql://locked:{PASSWORD}@127.0.0.1:{server.port}/kr"
    database = Database(dsn, "of_locked", "one", "shop")
    assert PASSWORD not in database.where
    database.close()
