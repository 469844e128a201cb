"""A journal that keeps to the contract: SQLite, one connection under a lock, every call a transaction."""

import hashlib
import json
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime

from kr_core import Event
from kr_core.plugin import Document, Issue, Journal, Provider, hookimpl

TABLES = """
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, hash TEXT NOT NULL, feature TEXT, run TEXT
);
CREATE TABLE IF NOT EXISTS counters (kind TEXT PRIMARY KEY, number INTEGER);
CREATE TABLE IF NOT EXISTS documents (
    kind TEXT, key TEXT, status TEXT, version INTEGER, data TEXT, PRIMARY KEY (kind, key)
);
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
            self.add(events)
        done.set_result(None)
        return done

    def add(self, events):
        for event in events:
            text = json.dumps([event.kind, event.run, event.data, event.id, event.time.isoformat()])
            values = (text, self.hash(text), event.data.get("feature_id"), event.run)
            self.connection.execute(
                "INSERT INTO events (event, hash, feature, run) VALUES (?, ?, ?, ?)", values
            )

    def hash(self, text):
        query = "SELECT hash FROM events ORDER BY number DESC LIMIT 1"
        before = self.connection.execute(query).fetchone() or ("",)
        return hashlib.sha256((before[0] + text).encode()).hexdigest()

    def read(self, after, limit):
        rows = self.rows(
            "SELECT number, event FROM events WHERE number > ? ORDER BY number LIMIT ?", after, limit
        )
        return [(number, self.event(text)) for number, text in rows]

    def entries(self, *, feature="", exchange="", after=0, limit=1000):
        rows = self.rows(
            "SELECT number, event FROM events WHERE feature = coalesce(?1, feature) AND number > ?3"
            " OR ?1 IS NULL AND run = ?2 AND number > ?3 ORDER BY number",
            feature or None, exchange or None, after,
        )  # fmt: skip
        found = [(number, self.event(kept)) for number, kept in rows]
        return [one for one in found if exchange in {"", one[1].run}][:limit]

    def verify(self):
        flaws, before = [], ""
        for number, text, told in self.rows("SELECT number, event, hash FROM events ORDER BY number"):
            if hashlib.sha256((before + text).encode()).hexdigest() != told:
                flaws.append(Issue("altered", f"entry {number}", "it does not follow", "look at it"))
            before = told
        return flaws

    def number(self, kind):
        with self.transaction():
            self.connection.execute("INSERT OR IGNORE INTO counters VALUES (?, 0)", (kind,))
            self.connection.execute("UPDATE counters SET number = number + 1 WHERE kind = ?", (kind,))
            query = "SELECT number FROM counters WHERE kind = ?"
            return self.connection.execute(query, (kind,)).fetchone()[0]

    def document(self, kind, key):
        rows = self.rows("SELECT * FROM documents WHERE kind = ? AND key = ?", kind, key)
        return Document(*rows[0][:4], json.loads(rows[0][4])) if rows else None

    def documents(self, kind, status="", limit=1000, after=""):
        before = self.rows("SELECT rowid FROM documents WHERE kind = ? AND key = ?", kind, after)
        query = (
            "SELECT * FROM documents WHERE kind = ? AND status LIKE ? AND rowid > ? ORDER BY rowid LIMIT ?"
        )
        rows = self.rows(query, kind, status or "%", before[0][0] if before else 0, limit)
        return [Document(*row[:4], json.loads(row[4])) for row in rows]

    def versions(self, kind):
        return self.rows("SELECT key, status, version FROM documents WHERE kind = ? ORDER BY rowid", kind)

    def change(self, document, events=()):
        kind, key, status, version, data = document
        with self.transaction():
            query = "SELECT version FROM documents WHERE kind = ? AND key = ?"
            if (self.connection.execute(query, (kind, key)).fetchone() or (0,))[0] != version - 1:
                return False
            self.connection.execute("INSERT OR IGNORE INTO documents (kind, key) VALUES (?, ?)", (kind, key))
            query = "UPDATE documents SET status = ?, version = ?, data = ? WHERE kind = ? AND key = ?"
            self.connection.execute(query, (status, version, json.dumps(data), kind, key))
            self.add(events)
            return True

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
