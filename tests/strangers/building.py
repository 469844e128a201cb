"""Building packages, and environments to install them into, as strangers do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from kr_core.hookspecs import NOUNS
from kr_core.toolkit import lock

ROOT = Path(__file__).parents[2]
CONTRIB = ROOT / "contrib"
_SWITCHES = (
    "KR_CACHE_DIR", "KR_TRUST", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",  # uv compiles nothing, so each program would compile all that it imports again
)  # fmt: skip
_LEFT_OVER = shutil.ignore_patterns("__pycache__", ".*_cache", ".hypothesis", "dist")


class Package(NamedTuple):
    """A distribution that is built, and the plugin that it ships."""

    distribution: str
    plugin: str
    noun: str


KINDS = (*NOUNS, "hook")
"""The kinds of plugins that the template makes."""
PACKAGES = (
    Package("kr-source-example", "notes", "source"),
    Package("kr-source-chroma", "chroma", "source"),
    Package("kr-decisions", "decisions", "source"),
    Package("kr-escalation-webhook", "webhook", "escalation"),
    *(Package(f"kr-our-{noun}", f"our_{noun}", noun) for noun in KINDS),
)


class Built(NamedTuple):
    """What was built of one package."""

    wheel: Path
    sdist: Path


def render(noun: str, folder: Path, **answers: str) -> Path:
    """Make a package from the template."""
    given = {
        "package": f"kr_our_{noun}",
        "noun": noun,
        "description": "It's our own.",
        "author": "A. N. Other",
    }
    import copier  # two seconds where many workers begin at once, and few of them need it

    copier.run_copy(
        str(CONTRIB / "plugin-template"), folder, data=given | answers, defaults=True, quiet=True
    )  # fmt: skip
    return folder


def uv(*command: str | Path, cwd: Path | None = None) -> str:
    """Run uv; what it says on failure is what the test fails with."""
    environ = {name: value for name, value in os.environ.items() if name not in _SWITCHES}
    done = subprocess.run(
        [sys.executable, "-m", "uv", *map(str, command)],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"uv {' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


def build_all(shop: Path) -> None:
    """Build kr-core and each package, into a folder of its own each."""
    shutil.rmtree(shop / "from", ignore_errors=True)  # what a failed attempt left
    for name in ("kr-source-example", "kr-source-chroma", "kr-escalation-webhook"):
        shutil.copytree(CONTRIB / name, shop / "from" / name, ignore=_LEFT_OVER)
    shutil.copytree(CONTRIB / "source-in-30-lines", shop / "from/kr-decisions", ignore=_LEFT_OVER)
    for noun in KINDS:
        render(noun, shop / "from" / f"kr-our-{noun}")
    names = [package.distribution for package in PACKAGES]
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, shop, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    uv("build", "--quiet", "--out-dir", shop / "kr-core", ROOT)
    shutil.rmtree(shop / "from")


_BUILD = """
import os, sys, tarfile, tempfile, tomllib
from pathlib import Path
from hatchling.build import build_sdist, build_wheel

shop, *names = sys.argv[1:]
for name in names:
    out = Path(shop, name)
    os.chdir(Path(shop, "from", name))
    asked = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["build-system"]
    assert asked["build-backend"] == "hatchling.build", (name, asked)
    with tempfile.TemporaryDirectory() as work, tarfile.open(out / build_sdist(str(out))) as sdist:
        sdist.extractall(work, filter="data")
        os.chdir(next(Path(work).iterdir()))
        build_wheel(str(out))
        os.chdir(shop)
"""
"""What `uv build` does with this environment's hatchling: the sdist, and from it the wheel. One process builds all packages."""


class Environment:
    """A virtual environment of a stranger, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, *packages: str | Path) -> None:
        """Make it and install packages into it, if that was not done."""
        with lock(self.folder):
            if not (self.folder / "ready").exists():
                uv("venv", "--quiet", "--python", sys.executable, self.folder / "env")
                self.uv("install", *packages)
                (self.folder / "ready").touch()

    def uv(self, verb: str, *arguments: str | Path) -> str:
        """`uv pip VERB` in this environment."""
        return uv("pip", verb, "--quiet", "--python", self.folder / "env", *arguments)

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment; nothing of this repository or its environment is seen by it."""
        environ = {name: value for name, value in os.environ.items() if name not in _SWITCHES}
        environ |= {
            "HOME": str(self.folder),
            "KR_CACHE_DIR": str(self.folder / "cache"),
            "NO_COLOR": "1",
            "PATH": f"{self.folder / 'env' / 'bin'}{os.pathsep}{environ.get('PATH', os.defpath)}",
        }
        program, *arguments = command
        return subprocess.run(
            [self.folder / "env" / "bin" / program, *arguments],
            cwd=cwd,
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def unpacked_tests(sdist: Path, folder: Path) -> Path:
    """The tests of an sdist and the settings they run with, but not the code: that is the wheel's."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    for code in (root / "src", *root.glob("kr_*.py")):
        shutil.rmtree(code) if code.is_dir() else code.unlink(missing_ok=True)
    return root
