"""PostgreSQL servers of the tests' own, on loopback: one that all workers of a test run share, and others for tests that break them."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from functools import cache
from pathlib import Path

import pytest

PASSWORD = "right-horse"
_TABLES = "events documents counters steps grants cursors leases reports entries".split()


class Connected:
    """A server with a database `kr`; the user `postgres` needs no password, the user `locked` has `PASSWORD`.

    Args:
        port: on loopback.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    def dsn(self, database: str = "kr", user: str = "postgres") -> str:
        """How to connect."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def sql(self, text: str, database: str = "kr", user: str = "postgres") -> list[tuple[object, ...]]:
        """Carry out statements; the rows of the last."""
        import psycopg

        with psycopg.connect(self.dsn(database, user), autocommit=True) as connection:
            rows: list[tuple[object, ...]] = []
            for statement in filter(str.strip, text.split(";")):
                cursor = connection.execute(statement)  # type: ignore[call-overload]
                rows = cursor.fetchall() if cursor.description else []
            return rows

    def new_database(self) -> str:
        """How to connect to a database that is empty."""
        name = f"d{uuid.uuid4().hex}"
        self.sql(f"CREATE DATABASE {name}")
        return self.dsn(name)

    def settings(self, **more: str) -> dict[str, str]:
        """The plugin's settings for a project that nobody else has."""
        return {"dsn": self.dsn(), "project": f"p-{uuid.uuid4().hex}", **more}

    def forget(self, project: str) -> None:
        """Empty a project, whose number stays."""
        if self.sql("SELECT to_regclass('kr.projects') IS NULL") == [(True,)]:
            return
        one = f"(SELECT id FROM kr.projects WHERE name = '{project}')"
        deleted = ";".join(f"DELETE FROM kr.{table} WHERE project = {one}" for table in _TABLES)
        self.sql(
            f"{deleted}; UPDATE kr.knowledge SET entries = 0 WHERE project = {one};"
            f"UPDATE kr.projects SET last_number = 0, last_hash = decode(repeat('00', 32), 'hex') WHERE name = '{project}'"
        )


class PostgresServer(Connected):
    """A server of its own.

    Args:
        settings: lines of its configuration.
    """

    def __init__(self, settings: str = "") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            super().__init__(free.getsockname()[1])
        self._programs = programs()
        self.ending: subprocess.Popen[bytes] | None = None
        """The process that ends it, where others use it too."""
        self.folder = Path(tempfile.mkdtemp(prefix="kr-postgres-"))
        self._data = self.folder / "data"
        self._as_user: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        options = (
            "-D",
            str(self._data),
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        done = subprocess.run(
            self._command("initdb", *options), cwd="/", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(
                f"listen_addresses='127.0.0.1'\nport={self.port}\nunix_socket_directories='{self.folder}'\nfsync=off\n"
                f"shared_buffers=32MB\nautovacuum=off\nmax_wal_senders=0\nwal_level=minimal\n{settings}\n"
            )
        rules = (self._data / "pg_hba.conf").read_text()
        (self._data / "pg_hba.conf").write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{rules}")
        self.start()
        self.sql(
            f"CREATE DATABASE kr; CREATE USER locked PASSWORD '{PASSWORD}'; CREATE USER guest", "postgres"
        )

    def _command(self, *arguments: str) -> list[str]:
        return [*self._as_user, str(self._programs / arguments[0]), *arguments[1:]]

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command("postgres", "-D", str(self._data)),
                cwd="/",
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ready = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        until = time.monotonic() + 60
        while subprocess.run(ready, check=False).returncode:
            is_there = self.process.poll() is None and time.monotonic() < until
            assert is_there, (self.folder / "log").read_text()
            time.sleep(0.02)

    def stop(self) -> None:
        """End it as a crash would."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    def close(self) -> None:
        """End it and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def programs() -> Path:
    """Where the server's programs are; a test is skipped where they are missing."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))  # Debian has them outside of PATH
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        pytest.skip("needs PostgreSQL (Debian: apt-get install postgresql)")
    if os.geteuid() == 0 and (not _has_user() or shutil.which("setpriv") is None):
        pytest.skip("needs the user `postgres` and setpriv: the server refuses to run as root")
    return found[-1].parent if found else Path(str(on_path)).parent


def _has_user() -> bool:
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return False
    return True


@cache
def postgres_server() -> Connected:
    """The server that all workers of this test run share.

    Each holds a shared lock as long as it lives; a process that waits for the exclusive one ends the server after the last.
    """
    programs()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    place = Path(tempfile.gettempdir(), f"kr-postgres-of-{run}")
    users = os.open(f"{place}.users", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    with open(f"{place}.json", "a+") as told:
        fcntl.flock(told, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        told.seek(0)
        if text := told.read():
            return Connected(json.loads(text)["port"])
        server = PostgresServer("max_connections=80")
        ended = f"kill -QUIT {server.process.pid}; sleep 1; rm -rf {server.folder} {place}.users {place}.json"
        server.ending = subprocess.Popen(
            ["flock", "-x", f"{place}.users", "-c", ended],
            cwd="/",
            start_new_session=True,
            close_fds=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        told.write(json.dumps({"port": server.port}))
        return server
