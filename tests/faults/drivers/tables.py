"""Keep steps, spend and refund calls, number and change documents for ever; print a line for each round."""

import os
import sys
from itertools import count
from pathlib import Path

from kr_core.model import new_id
from kr_core.plugin import Document
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

journal = SQLite(Path(sys.argv[1]))
me = new_id()
for number in count():
    name = f"{me}-{number}"
    journal.keep_step(me, name, {"n": number})
    journal.spend(me, "3-1", name, 10_000)
    if number % 3 == 0:
        journal.refund(name)
    journal.change(Document("escalation", f"E{journal.number('escalation')}", "open", 1, {}))
    journal.advance("none", 0)
    os.write(1, f"{name}\n".encode())
