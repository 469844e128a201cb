"""`kr journal`: a whole journal written to a file, and read from it into another one."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError
from kr_core.protocols import Portable
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from kr_core.protocols import RecordRow

_TOLD = {
    "events": "entries", "documents": "documents", "steps": "steps", "grants": "budget calls",
}  # fmt: skip
_MOST_FLAWS = 5


def run(options: argparse.Namespace) -> int:
    """Export or import, and return the exit code: 1 where the imported record has flaws."""
    from kr_core.qalog.record_file import read_record, write_record

    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        journal, name = pipeline.journal, pipeline.config.settings.journal
        if not isinstance(journal, Portable):
            raise ConfigError(
                "this journal cannot be exported or imported",
                where=f"journal: {name}",
                hint="see the plugin's own tools",
            )
        counts: Counter[str] = Counter()
        file = Path(options.file)
        if options.action == "export":
            write_record(_counted(journal.dump(), counts), file)
            print(printable(f"exported to {file}: {_said(counts)}"))
            return 0
        rows = read_record(file)
        first = next(rows)  # which checks the whole file before the journal is locked
        journal.restore(_counted(chain([first], rows), counts))
        print(printable(f"imported from {file}: {_said(counts)}"))
        flaws = journal.verify()
        for flaw in flaws[:_MOST_FLAWS]:
            print(printable(f"{flaw.location}: {flaw.message}"))
        if flaws:
            print("the record had these flaws when it was exported; `kr log --verify` lists all")
    return 1 if flaws else 0


def _counted(rows: Iterable[RecordRow], counts: Counter[str]) -> Iterator[RecordRow]:
    counts.clear()
    for row in rows:
        counts[row.table] += 1
        yield row


def _said(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[table]} {name}" for table, name in _TOLD.items())
