"""Append events to the journal and deliver them to the log for ever, as the pipeline does."""

import os
import sys
from pathlib import Path

from kr_core.model import Event
from kr_core.protocols import LogRecord
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.logs.jsonl import JSONLines

folder = Path(sys.argv[1])
journal = SQLite(folder)
log = JSONLines(folder)
while True:
    journal.append(
        [Event(kind="keep.finished", run="r", data={"text": "x" * 5000}) for _ in range(7)]
    ).result()
    records = [LogRecord(*found) for found in journal.read(journal.cursor("jsonl"), 10)]
    log.write(records)
    os.write(1, b".\n")
    journal.advance("jsonl", records[-1].number)
