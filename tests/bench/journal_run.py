"""One run as a command has it: a process that answers one question with no-op plugins, and ends.

`journal_run.py FOLDER kept` keeps every event in the journal and delivers them to the log `jsonl`; `nothing` keeps none.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from stages import Idle, research

from kr_core.qalog.delivery import deliver
from kr_core.turns import Turns
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.logs.jsonl import JSONLines


def main(folder: Path, kept: str) -> None:
    """Answer one question."""
    if kept != "kept":
        asyncio.run(_answered(folder))
        return
    journal = SQLite(folder / ".kr")
    asyncio.run(_answered(folder, journal))
    notes = deliver(journal, {"jsonl": JSONLines(folder / ".kr")}, Turns(lambda: journal, folder / ".kr"))
    assert not notes, notes
    assert len(journal.read(0, 100)) > 10
    journal.close()


async def _answered(folder: Path, journal: SQLite | Idle | None = None) -> None:
    await research(folder, journal)()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
