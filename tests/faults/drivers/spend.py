"""Spend the budgets of thirty stories, three calls each, `spend.py FOLDER NAME`; print how many were granted."""

import os
import sys
from pathlib import Path

from kr_plugins.journals.sqlite.sqlite_journal import SQLite

os.write(1, b"ready\n")
sys.stdin.read()  # all begin together, with a journal that nobody has made yet
journal = SQLite(Path(sys.argv[1]))
granted = 0
for story in range(30):
    granted += sum(journal.spend("s", f"3-{story}", f"{sys.argv[2]}-{story}-{n}", 3) for n in range(2))
os.write(1, f"{granted}\n".encode())
journal.close()
