"""The command line, from start to exit: each command a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import ROOT, Limit, Measured, Timing, compile_everything, figure

if TYPE_CHECKING:
    from harness import Values

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
DISTRIBUTIONS = 60
SHORT, MIDDLE, LONG = 41, 15, 3
"""How often a command is measured: one of hundredths, of tenths and of whole seconds."""

_READ = """
import ast, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    if "tests" not in path.parts:
        ast.parse(path.read_bytes())
"""


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    if not ENVIRONMENT.exists():
        raise SystemExit(f"{ENVIRONMENT} is missing; run `make quality-env`")
    timing = Timing(folder, ENVIRONMENT)
    _starts(timing)
    _plugins(timing)
    _answers(timing)
    return _rows(timing.seconds)


def _starts(timing: Timing) -> None:
    kr, cache, folder = str(BIN / "kr"), timing.folder / "cache", timing.project()
    timing.in_turn(
        {
            "pass": lambda: timing.run(PASS, folder, cache),
            "version": lambda: timing.run([kr, "--version"], folder, cache),
        },
        SHORT,
    )


def _plugins(timing: Timing) -> None:
    """`kr plugins` where many distributions are installed, some of them with plugins."""
    environment = timing.folder / "crowded"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(environment)], check=True)
    python = environment / "bin" / "python"
    subprocess.run([*uv, "pip", "install", "--python", str(python), str(ROOT)], check=True)
    site = next(environment.glob("lib/python*/site-packages"))
    for number in range(DISTRIBUTIONS - len(list(site.glob("*.dist-info")))):
        info = site / f"crowd_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: crowd-{number}\nVersion: 1.0\n")
        group = "kr" if number % 10 == 0 else "console_scripts"
        (info / "entry_points.txt").write_text(f"[{group}]\ncrowd_{number} = crowd_{number}\n")
    compile_everything(str(python), [site])
    cache, folder = timing.folder / "cache", timing.project()
    timing.in_turn(
        {
            "crowded pass": lambda: timing.run([str(python), "-c", "pass"], folder, cache),
            "plugins": lambda: timing.run([str(environment / "bin" / "kr"), "plugins"], folder, cache),
        },
        SHORT,
    )


def _answers(timing: Timing) -> None:
    kr, cache = str(BIN / "kr"), timing.folder / "cache"
    asked_before = {package: timing.project() for package in ASKED}

    def first(package: str) -> float:
        empty = Path(tempfile.mkdtemp(dir=timing.folder))
        seconds = timing.run([kr, "research", ASKED[package]], timing.project(), empty)
        shutil.rmtree(empty)
        return seconds

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
                f"read {package}": partial(timing.run, reading, timing.folder, cache),
                f"first {package}": partial(first, package),
            },
            LONG,
        )
    timing.in_turn(
        {
            "pass again": lambda: timing.run(PASS, timing.folder, cache),
            **{f"next {package}": partial(following, package) for package in ASKED},
        },
        MIDDLE,
    )


def _rows(seconds: Values) -> list[dict[str, Any]]:
    def row(what: str, name: str, peer: str, said: str, limit: Limit) -> dict[str, Any]:
        return figure(Measured(what, seconds[name]), Measured(said, seconds[peer]), limit)

    least = "`python -c pass`"
    crowd = f"`kr plugins`, {DISTRIBUTIONS} distributions installed"
    found = [
        row("`kr --version`", "version", "pass", least, Limit("times", 2.5)),
        row(crowd, "plugins", "crowded pass", least, Limit("times", 8.0)),
    ]
    for package, most in FIRST_LIMIT.items():
        what = f"first question about {package}, index included"
        found.append(
            row(what, f"first {package}", f"read {package}", "reading alone", Limit("seconds", most))
        )
    for package in ASKED:
        what = f"next question about {package}"
        found.append(row(what, f"next {package}", "pass again", least, Limit("seconds", NEXT_LIMIT)))
    return found
