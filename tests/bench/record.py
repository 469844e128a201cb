"""A long record: `kr log` until its first page and its end, and `kr log --verify`, beside bare Python that reads the same rows."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness import LEFT_OUT, Limit, Measured, figure

from kr_core import Event
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness import Values

ENTRIES = 200_000
RUNS = 5
FIRST, WHOLE, VERIFY = 1.0, 4.0, 5.0
"""Times as long as the peer takes: on two free processors that is 0.5, 2 and 2.5 s."""
_BATCH = 5000
_SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("question.asked", {"text": "Which session store should we use for the web tier? " * 2, "topic": "authentication"}),
    ("question.routed", {"topic": "authentication", "target": "architect", "agent": "baron", "threshold": 80}),
    ("agent.started", {"agent": "baron"}),
    ("agent.request", {"agent": "baron", "url": "http://127.0.0.1", "status": 200, "tokens_in": 90, "tokens_out": 70}),
    ("answer.received", {"agent": "baron", "content": "Use the database. " * 12, "confidence": 90}),
    ("answer.scored", {"agent": "baron", "raw_confidence": 90, "confidence": 90}),
    ("answer.gated", {"accepted": True, "confidence": 90, "threshold": 80}),
    ("exchange.finished", {"status": "accepted"}),
)  # fmt: skip
"""What an exchange says, in order."""
_BARE = """
import json, sqlite3, sys
for number, data in sqlite3.connect(sys.argv[1]).execute("SELECT number, data FROM events ORDER BY number"):
    json.loads(data)
"""


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    project = folder / "record"
    _fill(project)
    kr = [str(Path(sys.executable).parent / "kr"), "log"]
    bare = [sys.executable, "-c", _BARE, str(project / ".kr/journal.sqlite")]
    seconds: Values = {"bare": [], "first": [], "whole": [], "verify": []}
    for turn in range(RUNS + 1):
        took = {
            "bare": _run(bare, project),
            "first": _first(kr, project),
            "whole": _run(kr, project),
            "verify": _run([*kr, "--verify"], project),
        }
        for name, value in took.items() if turn else ():
            seconds[name].append(value)
    peer = Measured(f"bare Python that reads and parses the {ENTRIES:,} rows", seconds["bare"])

    def row(what: str, name: str, most: float) -> dict[str, Any]:
        return figure(Measured(f"{what}, {ENTRIES:,} entries", seconds[name]), peer, Limit("times", most))

    return [
        row("`kr log` until its first line", "first", FIRST),
        row("`kr log` until its end", "whole", WHOLE),
        row("`kr log --verify`", "verify", VERIFY),
    ]


def _fill(project: Path) -> None:
    """A project whose record has so many entries."""
    project.mkdir()
    (project / "kr.yaml").write_text("logs: []\n", "utf-8")
    journal = SQLite(project / ".kr")
    waiting = _events()
    while batch := list(islice(waiting, _BATCH)):
        journal.append(batch).result()
    journal.close()


def _events() -> Iterator[Event]:
    time = datetime(2026, 2, 5, 10, tzinfo=UTC)
    for number in range(ENTRIES // len(_SAID)):
        run = f"{number:016x}"
        about = {
            "exchange_id": run,
            "parent_id": None,
            "feature_id": f"F-{number % 200}",
            "question_id": f"q{number}",
        }
        for place, (kind, data) in enumerate(_SAID):
            yield Event(kind, run, {**about, **data}, f"{run}-{place}", time + timedelta(seconds=number))


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in LEFT_OUT}


def _run(command: list[str], project: Path) -> float:
    start = perf_counter()
    subprocess.run(command, cwd=project, env=_environ(), stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - start


def _first(command: list[str], project: Path) -> float:
    """Seconds until the line of the first exchange."""
    start = perf_counter()
    with subprocess.Popen(command, cwd=project, env=_environ(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None, "it is a pipe"
        process.stdout.readline()
        process.stdout.readline()
        took = perf_counter() - start
        process.kill()
    return took
