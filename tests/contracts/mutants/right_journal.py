"""A journal that keeps to the contract: SQLite, one connection under a lock, every call a transaction."""

import json
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime

from kr_core import Event, Journal, Provider, hookimpl

TABLES = """
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS steps (run TEXT, key TEXT, result TEXT, PRIMARY KEY (run, key));
CREATE TABLE IF NOT EXISTS grants (name TEXT PRIMARY KEY, session TEXT, story TEXT);
CREATE TABLE IF NOT EXISTS cursors (log TEXT PRIMARY KEY, number INTEGER);
"""


class Database:
    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.connection = sqlite3.connect(
            folder / "journal.db", timeout=30, isolation_level=None, check_same_thread=False
        )
        with self.transaction():
            for statement in TABLES.split(";"):
                self.connection.execute(statement)

    @contextmanager
    def transaction(self):
        with self.lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise

    def rows(self, query, *values):
        with self.lock:
            return self.connection.execute(query, values).fetchall()

    def append(self, events):
        done = Future()
        with self.transaction():
            for event in events:
                text = json.dumps([event.kind, event.run, event.data, event.id, event.time.isoformat()])
                self.connection.execute("INSERT INTO events (event) VALUES (?)", (text,))
        done.set_result(None)
        return done

    def read(self, after, limit):
        rows = self.rows(
            "SELECT number, event FROM events WHERE number > ? ORDER BY number LIMIT ?", after, limit
        )
        return [(number, self.event(text)) for number, text in rows]

    def event(self, text):
        kind, run, data, name, time = json.loads(text)
        return Event(kind, run, data, name, datetime.fromisoformat(time))

    def cursor(self, log):
        rows = self.rows("SELECT number FROM cursors WHERE log = ?", log)
        return rows[0][0] if rows else 0

    def advance(self, log, number):
        with self.transaction():
            self.connection.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (log, number))

    def step(self, run, key):
        rows = self.rows("SELECT result FROM steps WHERE run = ? AND key = ?", run, key)
        return json.loads(rows[0][0]) if rows else None

    def keep_step(self, run, key, result):
        with self.transaction():
            values = (run, key, json.dumps(result))
            self.connection.execute("INSERT OR IGNORE INTO steps VALUES (?, ?, ?)", values)

    def spend(self, session_id, story_key, grant, limit):
        with self.transaction():
            if self.connection.execute("SELECT 1 FROM grants WHERE name = ?", (grant,)).fetchone():
                return True
            if self.count(session_id, story_key) >= limit:
                return False
            values = (grant, session_id, story_key)
            self.connection.execute("INSERT OR REPLACE INTO grants VALUES (?, ?, ?)", values)
            return True

    def count(self, session_id, story_key):
        query = "SELECT count(*) FROM grants WHERE session = ? AND story = ?"
        return self.connection.execute(query, (session_id, story_key)).fetchone()[0]

    def refund(self, grant):
        with self.transaction():
            self.connection.execute("DELETE FROM grants WHERE name = ?", (grant,))

    def spent(self, session_id, story_key):
        with self.lock:
            return self.count(session_id, story_key)

    def close(self):
        self.connection.close()


@hookimpl
def kr_journal() -> Provider[Journal]:
    return Provider(lambda settings, setup: Database(setup.state_folder))
