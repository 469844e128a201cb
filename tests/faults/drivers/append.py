"""Append events to the journal for ever; print the id of each once it is durable."""

import os
import sys
from collections import deque
from pathlib import Path

from kr_core.model import Event
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

journal = SQLite(Path(sys.argv[1]))
waiting = deque()
while True:
    event = Event(kind="keep.finished", run="r", data={"text": "x" * 300})
    waiting.append((event.id, journal.append([event])))
    while waiting and (len(waiting) > 20 or waiting[0][1].done()):
        name, future = waiting.popleft()
        future.result()
        os.write(1, f"{name}\n".encode())
