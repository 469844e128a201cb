"""The record under eight processes that are killed at random instants: nothing acknowledged is lost, no version skipped."""

import json
import os
import random
import secrets
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kr_plugins.journals.sqlite.sqlite_journal import SQLite

DRIVER = Path(__file__).parent / "drivers/record.py"
SECONDS = 600
FORM_1 = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, run TEXT NOT NULL,
    kind TEXT NOT NULL, data TEXT NOT NULL
);
CREATE TABLE steps (
    run TEXT NOT NULL, key TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE grants (grant_id TEXT PRIMARY KEY, session TEXT NOT NULL, story TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX grants_by_story ON grants (session, story);
CREATE TABLE cursors (log TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""


@pytest.fixture
def seed():
    """KR_SEED, or a new one; printed."""
    seed = int(os.environ.get("KR_SEED") or secrets.randbelow(10**6))
    print(f"KR_SEED={seed}")
    return seed


@pytest.mark.req("G2", "Z7")
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.faults)])
def test_nothing_acknowledged_is_lost(tmp_path, seed, kills):
    """Every acknowledged event is there; each version of a document was made once, by one, with its event; the record verifies."""
    command = [sys.executable, DRIVER, tmp_path / ".kr", f"--seed={seed}", f"--kills={kills}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"KR_SEED={seed}\n{done.stderr}"
    told = json.loads(done.stdout)
    assert told["faults"] == [], f"KR_SEED={seed}\n{done.stderr}"
    assert told["kills"] == kills
    assert told["events"] > 5 * kills
    assert told["changes"] > kills


@pytest.mark.faults
@pytest.mark.req("G1", "Z7")
def test_killed_while_an_older_form_is_brought_up_to_date(killed, tmp_path, seed):
    """However often that is killed, the file is of the old form or of the new, and all of it is there in the end."""
    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    connection.executescript(FORM_1)
    rows = (
        (f"{n:08}", "2026-02-05T10:00:00+00:00", "r", "k.v", '{"feature_id":"f"}') for n in range(300_000)
    )
    connection.executemany("INSERT INTO events (id, time, run, kind, data) VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    instants = random.Random(seed)
    forms = []
    while len(forms) < 10 and 2 not in forms:
        killed(-instants.uniform(0.2, 1.2), "append", tmp_path)
        connection = sqlite3.connect(tmp_path / "journal.sqlite")
        forms += connection.execute("PRAGMA user_version").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    assert 1 in forms, f"KR_SEED={seed}: none was killed in time"
    journal = SQLite(tmp_path)
    assert journal.verify() == []
    assert [number for number, _ in journal.read(299_999, 1)] == [300_000]
    assert [number for number, _ in journal.entries(feature="f", after=299_998)] == [299_999, 300_000]
    journal.close()
