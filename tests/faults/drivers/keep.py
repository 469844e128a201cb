"""Keep reports in a knowledge base, `keep.py FOLDER PREFIX COUNT`; print the id of each once it is kept."""

import os
import sys
from datetime import date
from pathlib import Path

from kr_core.model import Entry
from kr_plugins.stores.files import Files

folder, prefix, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = Files(folder)
for n in range(count):
    day = date(2026, 1, 1 + n % 28)
    topic = f"{prefix}-{n % 40}"  # each is researched anew now and then
    entry = Entry(
        id=f"httpx-{topic}",
        framework="httpx",
        framework_version="2.10",
        topic=topic,
        tags=("a", "b"),
        path=f"frameworks/httpx/{topic}.md",
        created=day,
        last_accessed=day,
    )
    report = f"# httpx - {topic}\n\n**Framework:** httpx\n\n" + f"{n} " * 3000 + "\nend\n"
    kept = store.write(report, {"n": n}, entry)
    os.write(1, f"{entry.id}\n".encode())
    assert kept.entry is not None
    store.touch(kept.entry, date(2026, 2, 1))
