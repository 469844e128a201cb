"""The disk of the PostgreSQL server is full: what was confirmed stays, and work goes on when there is room."""

import os
import pwd
import shutil
import subprocess

import pytest
from support.postgres_server import PostgresServer

from kr_core import StorageError
from kr_core.model import Event
from kr_core.plugin import Document
from kr_plugins.postgres.database import Database
from kr_plugins.postgres.shared_journal import SharedJournal

pytestmark = [pytest.mark.faults, pytest.mark.req("S3", "Z7")]

ROOM = 14_000_000
"""Of the disk; an empty database takes some 8 MB."""


@pytest.fixture
def full():
    """A server that keeps a database on a small disk; how to connect, and a function that makes room there."""
    server = PostgresServer()
    disk = server.folder / "disk"  # where the server's user may come
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", disk]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    try:
        if done.returncode:
            pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(disk, user.pw_uid, user.pw_gid)
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 2_000_000)
        server.sql(f"CREATE TABLESPACE small LOCATION '{disk}'; CREATE DATABASE small TABLESPACE small")
        yield server.dsn("small"), ballast.unlink
    finally:
        server.stop()
        if disk.is_mount():
            subprocess.run(["umount", disk], check=True)
        shutil.rmtree(server.folder, ignore_errors=True)


def fill(journal, confirmed):
    """Append events until there is no room, and note each that was confirmed."""
    while True:
        journal.append([Event("bench.wrote", "run", {"text": os.urandom(4000).hex()})]).result()
        confirmed.append(1)


def test_what_was_confirmed_stays_and_work_goes_on_when_there_is_room(full):
    """The write that has no room ends with what to do; no event before it is lost, and the chain holds."""
    dsn, make_room = full
    journal = SharedJournal(Database(dsn, "kr", "shop", "shop"))
    confirmed: list[int] = []
    with pytest.raises(StorageError, match="the server's disk is full"):
        fill(journal, confirmed)
    with pytest.raises(StorageError, match="the server's disk is full"):
        journal.change(Document("kept", "a", "", 1, {"text": os.urandom(500_000).hex()}))
    assert len(confirmed) > 20
    assert len(journal.read(0, 10_000)) == len(confirmed)
    assert journal.document("kept", "a") is None
    make_room()
    assert journal.change(Document("kept", "a", "", 1, {"text": "short"}))
    journal.append([Event("bench.wrote", "run", {"n": 1})]).result()
    assert len(journal.read(0, 10_000)) == len(confirmed) + 1
    assert journal.verify() == []
    journal.close()
