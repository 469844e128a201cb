"""The inbox of `kr serve` with ten thousand questions that wait: its page beside that of one with fifty."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness import LEFT_OUT, Limit, Measured, figure
from waiting_cases import put

from kr_core import Event, Pipeline, Question
from kr_core.escalation.case_repository import CaseRepository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANY, FEW = 10_000, 50
ROUNDS = 40
WRITERS = 64
MAX_SECONDS = 0.1
MAX_MEGABYTES = 200
_TEXT = "Which session store should we use for the web tier, given that it has to survive a restart? "
_ANSWER = "Use **Redis** with `maxmemory-policy volatile-ttl`; see [the docs](https://redis.io/docs/). " * 12


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    many, few = folder / "many", folder / "few"
    _fill(many, MANY)
    _fill(few, FEW)
    half = f"/?before=E{MANY // 2}"
    paths = {
        "the newest": "/",
        "from the middle on": half,
        "of one feature": "/?feature=F-7",
        "as JSON": "/api/inbox?limit=50",
        "what is new": f"/live?after={4 * MANY}",
        "one case": f"/cases/E{MANY}",
    }
    with _serving(many) as (large, pid), _serving(few) as (small, _):
        first = Measured(f"the first page after the start, {MANY:,} waiting", [_seconds(large, "/")])
        _seconds(small, "/")
        seconds: dict[str, list[float]] = {name: [] for name in ["peer", *paths]}
        for _ in range(ROUNDS):
            seconds["peer"].append(_seconds(small, "/"))
            for name, path in paths.items():
                seconds[name].append(_seconds(large, path))
        most = _megabytes(pid)
    print(f"memory of kr serve with {MANY:,} questions {most:.0f} MB", file=sys.stderr)
    if most > MAX_MEGABYTES:
        raise SystemExit(f"it took {most:.0f} MB")
    peer = Measured(f"its page, {FEW} waiting", seconds["peer"])
    limit = Limit("seconds", MAX_SECONDS)
    return [
        *(
            figure(Measured(f"kr serve, {name}, {MANY:,} waiting", seconds[name]), peer, limit)
            for name in paths
        ),
        figure(first, peer, None),
    ]


def _fill(folder: Path, count: int) -> None:
    """A project in which so many questions wait."""
    folder.mkdir()
    (folder / "kr.yaml").write_text("escalations: [web]\nlogs: []\n", "utf-8")
    with Pipeline.open(folder=folder) as pipeline:
        cases = CaseRepository(pipeline.journal)

        def keep(number: int) -> None:
            question = Question(
                text=f"{number}: {_TEXT}",
                topic="authentication",
                feature_id=f"F-{number % 50}",
                context=_TEXT * 5,
            )
            one = put(number, question, _ANSWER, _TEXT)
            exchange = one.case.request.exchange_id
            pipeline.journal.append([Event("question.asked", exchange, {**one.about, "text": question.text})])
            cases.keep(one.case, [one.opened])

        with ThreadPoolExecutor(WRITERS) as pool:
            for _ in pool.map(keep, range(1, count + 1)):
                pass


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[http.client.HTTPConnection, int]]:
    environ = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    command = [sys.executable, "-m", "kr_core", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None, "it is a pipe"
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None, "it says where it serves"
        connection = http.client.HTTPConnection(urlsplit(found[0]).netloc, timeout=60)
        try:
            yield connection, process.pid
        finally:
            connection.close()
            process.send_signal(signal.SIGTERM)


def _seconds(connection: http.client.HTTPConnection, path: str) -> float:
    began = perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    took = perf_counter() - began
    if answer.status != http.client.OK or (path.startswith("/api") and len(json.loads(body)["items"]) != FEW):
        raise SystemExit(f"{path}: {answer.status}")
    return took


def _megabytes(pid: int) -> float:
    """The most memory that a process had."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
    assert found is not None, "Linux tells it"
    return int(found[1]) / 1024
