"""The way out: many questions at once in one process, and how soon it is told that nothing can be reached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import Limit, Measured, figure, output

if TYPE_CHECKING:
    from harness import Values

TURNS = 3
GAP = 0.05
"""Seconds; the 99th percentile of how late the event loop comes back."""
NOWHERE = 3.0
_HERE = Path(__file__).parent
_UNREACHABLE = dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
_UNKNOWN = ["research", "How do I fold a frobnicate?", "--framework", "frobnicate", "--refresh", "--json"]


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    seconds: Values = {}
    for turn in range(TURNS):
        cache = {"KR_CACHE_DIR": str(folder / f"cache-{turn}")}
        told = json.loads(output([sys.executable, str(_HERE / "at_once.py"), str(folder)], folder, cache))
        for name, values in told.items():
            seconds.setdefault(name, []).extend(values)
    nowhere = [_nowhere(folder) for _ in range(TURNS)]
    two_hundred = "200 questions at once, each source 100 ms slow"
    plain = "200 plain requests with httpx"
    return [
        figure(
            Measured(f"{two_hundred}: how late the event loop is, 99th percentile", seconds["gap"]),
            Measured(plain, seconds["plain gap"]),
            Limit("seconds", GAP),
        ),
        figure(Measured(two_hundred, seconds["whole"]), Measured(plain, seconds["plain"]), None),
        figure(
            Measured("`kr research` of what is not installed, without a network", nowhere),
            Measured("`python -c pass`", [_started(folder) for _ in range(TURNS)]),
            Limit("seconds", NOWHERE),
        ),
    ]


def _nowhere(folder: Path) -> float:
    command = [sys.executable, "-m", "kr_core", *_UNKNOWN]
    environ = {**os.environ, **_UNREACHABLE, "KR_CACHE_DIR": str(folder / "cache")}
    return _timed(command, folder, environ, code=4)


def _started(folder: Path) -> float:
    return _timed([sys.executable, "-c", "pass"], folder, dict(os.environ), code=0)


def _timed(command: list[str], folder: Path, environ: dict[str, str], code: int) -> float:
    from time import perf_counter

    begun = perf_counter()
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return perf_counter() - begun
