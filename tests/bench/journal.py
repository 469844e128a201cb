"""The journal: durable events against bare SQLite, group commit, what logging costs a run, and reading a long record."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness import Limit, Measured, figure, output

if TYPE_CHECKING:
    from harness import Values

RUNS = 15
OF_BARE = 1 / 0.8
OF_ALONE = 1 / 10
LOGGED = 1.1
QA_LOG_SECONDS = 0.05
_HERE = Path(__file__).parent


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    seconds: Values = json.loads(
        output([sys.executable, str(_HERE / "journal_work.py"), str(folder)], folder)
    )
    for turn in range(RUNS + 1):
        for kept in ("nothing", "kept"):
            took = _run(Path(tempfile.mkdtemp(dir=folder)), kept)
            if turn:
                seconds.setdefault(kept, []).append(took)

    def row(what: str, name: str, said: str, peer: str, limit: Limit) -> dict[str, Any]:
        return figure(Measured(what, seconds[name]), Measured(said, seconds[peer]), limit)

    alone = "one question that waits for each event"
    read = Measured("`get_qa_log`: 500 entries of one feature among 1,000,000", seconds["qa_log"])
    return [
        row(
            "a durable event, eight processes that wait for each", "eight",
            "bare SQLite, the same rows", "bare", Limit("times", OF_BARE),
        ),
        row("a durable event, 200 questions in flight", "in flight", alone, "alone", Limit("times", OF_ALONE)),
        row(
            "a process that answers one question with no-op plugins, every event kept and logged", "kept",
            "the same, nothing kept", "nothing", Limit("times", LOGGED),
        ),
        figure(read, Measured(alone, seconds["alone"]), Limit("seconds", QA_LOG_SECONDS)),
    ]  # fmt: skip


def _run(folder: Path, kept: str) -> float:
    start = perf_counter()
    output([sys.executable, str(_HERE / "journal_run.py"), str(folder), kept], folder)
    return perf_counter() - start
