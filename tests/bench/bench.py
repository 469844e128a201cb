"""The measurements: `make bench` writes `bench-results.json` and exits with 1 where a limit is exceeded.

Every figure stands beside a peer or limit that was measured in the same run, in turn with it, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter, strftime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench-results.json"
ENVIRONMENT = ROOT / ".quality" / ".venv"
BIN = Path(sys.executable).parent

PASS = [sys.executable, "-c", "pass"]
QUESTION = "How do I set a timeout for a single request in httpx?"
ASKED = {
    "pydantic": "How do I give a field of a pydantic model a default that is made anew each time?",
    "pandas": "How do I read only some columns of a CSV file with pandas?",
}
FIRST_LIMIT = {"pydantic": 2.0, "pandas": 8.0}
NEXT_LIMIT = 0.4
SHORT, MIDDLE, LONG = 41, 15, 3
"""How often a command is measured: one of hundredths, of tenths and of whole seconds."""

_READ = """
import ast, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    if "tests" not in path.parts:
        ast.parse(path.read_bytes())
"""


class Measured(NamedTuple):
    """Seconds of wall time of one command, a value for each run."""

    name: str
    seconds: list[float]

    def to_dict(self) -> dict[str, Any]:
        """Median, smallest and largest."""
        return {
            "runs": len(self.seconds),
            "median_seconds": round(median(self.seconds), 4),
            "min_seconds": round(min(self.seconds), 4),
            "max_seconds": round(max(self.seconds), 4),
        }


class Timing:
    """Runs commands in turn, in a folder of its own each, and keeps how long they took."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environ = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    def run(self, command: list[str], cwd: Path, cache: Path) -> float:
        """Seconds of wall time; a command that fails ends the program."""
        environ = self._environ | {"KR_CACHE_DIR": str(cache)}
        start = perf_counter()
        done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
        seconds = perf_counter() - start
        if done.returncode:
            raise SystemExit(f"{command} failed:\n{done.stdout}\n{done.stderr}")
        return seconds

    def in_turn(self, commands: Mapping[str, Callable[[], float]], times: int) -> None:
        """Each command once, then each again: what slows the machine for a while slows all of them."""
        for one in commands.values():
            one()
        for _ in range(times):
            for name, one in commands.items():
                self.seconds[name].append(one())

    def project(self) -> Path:
        """A new project folder whose environment is the one of the question set."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        (folder / ".venv").symlink_to(ENVIRONMENT)
        return folder


_LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "KR_CACHE_DIR"}


def measure(folder: Path) -> dict[str, list[float]]:
    """All the timings, in seconds, by name."""
    timing = Timing(folder)
    kr = str(BIN / "kr")
    cache = folder / "cache"
    repeated = timing.project()
    timing.run([kr, "research", QUESTION], repeated, cache)  # researched
    timing.in_turn(
        {
            "pass": lambda: timing.run(PASS, repeated, cache),
            "version": lambda: timing.run([kr, "--version"], repeated, cache),
            "hit": lambda: timing.run([kr, "research", QUESTION], repeated, cache),
        },
        SHORT,
    )

    def first(package: str) -> float:
        empty = Path(tempfile.mkdtemp(dir=folder))
        seconds = timing.run([kr, "research", ASKED[package]], timing.project(), empty)
        shutil.rmtree(empty)
        return seconds

    asked_before = {package: timing.project() for package in ASKED}

    def following(package: str) -> float:
        project = asked_before[package]
        for kept in (".kr", "knowledge-base"):
            shutil.rmtree(project / kept, ignore_errors=True)
        return timing.run([kr, "research", ASKED[package]], project, cache)

    site = next(ENVIRONMENT.glob("lib/python*/site-packages"))
    for package in ASKED:
        reading = [sys.executable, "-c", _READ, str(site / package)]
        timing.in_turn(
            {
                f"read {package}": lambda command=reading: timing.run(command, folder, cache),  # type: ignore[misc]
                f"first {package}": lambda package=package: first(package),  # type: ignore[misc]
            },
            LONG,
        )
    timing.in_turn(
        {
            "pass again": lambda: timing.run(PASS, repeated, cache),
            **{f"next {package}": (lambda package=package: following(package)) for package in ASKED},  # type: ignore[misc]
        },
        MIDDLE,
    )
    return dict(timing.seconds)


def rows(seconds: Mapping[str, list[float]]) -> list[dict[str, Any]]:
    """The figures: what was measured, its peer in the same run, and the limit with its verdict."""

    def row(
        what: str, name: str, peer: str, said: str, *, times: float | None = None, within: float | None = None
    ) -> dict[str, Any]:
        value, least = median(seconds[name]), median(seconds[peer])
        ratio = value / least
        met = ratio <= times if times is not None else value <= (within or 0.0)
        return {
            "what": what,
            **Measured(name, seconds[name]).to_dict(),
            "peer": {"what": said, **Measured(peer, seconds[peer]).to_dict()},
            "ratio": round(ratio, 2),
            "limit": {"times_peer": times} if times is not None else {"seconds": within},
            "met": met,
        }

    found = [
        row("`kr --version`", "version", "pass", "`python -c pass`", times=2.5),
        row("the same question again", "hit", "pass", "`python -c pass`", times=8.0),
    ]
    for package, limit in FIRST_LIMIT.items():
        what = f"first question about {package}, index included"
        found.append(row(what, f"first {package}", f"read {package}", "reading alone", within=limit))
    for package in ASKED:
        what = f"next question about {package}"
        found.append(row(what, f"next {package}", "pass again", "`python -c pass`", within=NEXT_LIMIT))
    return found


def compile_everything() -> None:
    """Where no bytecode is kept, every start would compile anew."""
    sources = [ROOT / "kr_core", ROOT / "plugins", ROOT / "templates"]
    folders = [*sources, sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")]
    environ = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    command = [sys.executable, "-W", "ignore", "-m", "compileall", "-qq", "-j", "2", *map(str, folders)]
    subprocess.run(command, env=environ, check=False)  # files that are meant not to compile are in the way


def main() -> int:
    """Measure, write the results, print them; 1 where a limit is exceeded."""
    sys.path.insert(0, str(Path(__file__).parent))
    from table import table

    if not ENVIRONMENT.exists():
        raise SystemExit(f"{ENVIRONMENT} is missing; run `make quality-env`")
    compile_everything()
    with tempfile.TemporaryDirectory(prefix="kr-bench-") as folder:
        figures = rows(measure(Path(folder)))
    results = {
        "date": strftime("%Y-%m-%d"),
        "machine": {"python": platform.python_version(), "cpus": os.cpu_count(), "system": platform.system()},
        "figures": figures,
    }
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    print(table(results))
    missed = [figure["what"] for figure in figures if not figure["met"]]
    if missed:
        print(f"\nlimit exceeded: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
