"""What every figure of the bench has in common: a peer or limit of the same run, medians with their spread, a verdict."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
LEFT_OUT = {
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "KR_CACHE_DIR",
    "KR_TRUST",
}
"""What a measured process does not inherit."""

Values = dict[str, list[float]]


class Measured(NamedTuple):
    """What was measured, in seconds, a value for each run."""

    what: str
    seconds: list[float]

    @property
    def median(self) -> float:
        """The middle value."""
        return median(self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Median, smallest and largest."""
        return {
            "what": self.what,
            "runs": len(self.seconds),
            "median_seconds": self.median,
            "min_seconds": min(self.seconds),
            "max_seconds": max(self.seconds),
        }


class Limit(NamedTuple):
    """What a figure may be at most."""

    kind: str
    """`times` the peer, `seconds` on the clock, seconds `more` than the peer; of a share the `least` or the `most`."""
    value: float

    def allows(self, measured: float, peer: float) -> bool:
        """Whether a median stays within the limit."""
        if self.kind == "least":
            return measured >= self.value
        if self.kind == "most":
            return measured <= self.value
        most = {"times": self.value * peer, "seconds": self.value, "more": peer + self.value}
        return measured <= most[self.kind]


def figure(measured: Measured, peer: Measured, limit: Limit | None) -> dict[str, Any]:
    """One row of the results; without a limit it is there to be read beside its peer."""
    return {
        **measured.to_dict(),
        "peer": peer.to_dict(),
        "ratio": measured.median / peer.median,
        "limit": None if limit is None else limit._asdict(),
        "met": limit is None or limit.allows(measured.median, peer.median),
    }


class Timing:
    """Runs commands in turn and keeps how long they took.

    Args:
        folder: where projects are made.
        environment: the project's virtual environment, in which the libraries asked about are installed.
    """

    def __init__(self, folder: Path, environment: Path) -> None:
        self.folder = folder
        self._environment = environment
        self.seconds: Values = {}

    def run(self, command: list[str], cwd: Path, cache: Path) -> float:
        """Seconds of wall time; a command that fails ends the program."""
        start = perf_counter()
        output(command, cwd, {"KR_CACHE_DIR": str(cache)})
        return perf_counter() - start

    def in_turn(self, commands: Mapping[str, Callable[[], float]], times: int) -> None:
        """Each command once, then each again: what slows the machine for a while slows all of them."""
        for one in commands.values():
            one()
        for _ in range(times):
            for name, one in commands.items():
                self.seconds.setdefault(name, []).append(one())

    def project(self) -> Path:
        """A new project folder with the environment."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / ".venv").symlink_to(self._environment)
        return folder


def output(command: list[str], cwd: Path, environ: Mapping[str, str] | None = None) -> str:
    """What a command prints; one that fails ends the program."""
    clean = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    done = subprocess.run(
        command, cwd=cwd, env={**clean, **(environ or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def compile_everything(python: str, folders: list[Path]) -> None:
    """Where no bytecode is kept, every start would compile anew; tests, which nothing imports, are half of the files."""
    environ = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    options = ["-qq", "-j", "2", "-x", "/tests?/"]
    command = [python, "-W", "ignore", "-m", "compileall", *options, *map(str, folders)]
    subprocess.run(command, env=environ, check=False)  # files that are meant not to compile are in the way


def own_code() -> list[Path]:
    """KR's code and what it is installed beside."""
    installed = [Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))]
    return [ROOT / "kr_core", ROOT / "plugins", ROOT / "templates", *installed]
