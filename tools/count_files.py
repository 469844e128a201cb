# ruff: noqa: INP001  a script, not a package
"""Count the product files in which a function runs: for `kr research` with a new answer, and for `kr ask` with one agent.

    python tools/count_files.py        # the two counts
    python tools/count_files.py -v     # and the files

Each command runs in a process of its own, over a small project made for it. A file counts when one of its functions
is entered; what Python runs to import a module does not count.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = (f"{ROOT / 'kr_core'}{os.sep}", f"{ROOT / 'plugins' / 'kr_plugins'}{os.sep}")
WANTED = {"research": 70, "ask": 45}
PACKAGE = '''\
"""Parcels sent and followed."""

__all__ = ["send"]


def send(address, *, timeout=5.0):
    """Send a parcel to an address and wait for the carrier.

    Args:
        address: Where the parcel goes.
        timeout: Seconds to wait for the carrier before a parcel is given up; None waits for ever.

    Example:
        >>> send("Paris", timeout=2.0)
    """
'''
ANSWER = {
    "answer": "Use Redis.",
    "rationale": "It expires keys by itself.",
    "confidence": 92,
    "uncertainty_reasons": [],
}
COMMANDS = {
    "research": ["research", "How do I set a timeout for a parcel?", "--framework", "parcel"],
    "ask": ["ask", "Which session store should we use?", "--target", "duc"],
}


def main() -> None:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="list the files")
    options = parser.parse_args()
    for name, command in COMMANDS.items():
        files = entered(command)
        print(f"kr {name}: {len(files)} files, {WANTED[name]} wanted")
        if options.verbose:
            print(*(f"  {functions:3} {file}" for file, functions in sorted(files.items())), sep="\n")


def entered(command: list[str]) -> dict[str, int]:
    """The files that a command enters, with the number of functions that run in each."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        counted = folder / "counted.json"
        environ = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("VIRTUAL_ENV", "KR_"))
            },
            "KR_CACHE_DIR": str(folder / "cache"),
            "XDG_STATE_HOME": str(folder / "state"),
            "KR_TRUST": "all",
        }
        process = subprocess.run(  # noqa: S603  KR itself, on a project made here
            [sys.executable, __file__, "--inside", str(counted), *command],
            cwd=PROJECTS[command[0]](folder / "project"), env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if process.returncode != 0:
            sys.exit(f"kr {command[0]} ended with {process.returncode}:\n{process.stdout}{process.stderr}")
        files: dict[str, int] = json.loads(counted.read_text())
        return files


def sample_project(folder: Path) -> Path:
    """A project with a small documented package."""
    site = folder / ".venv/lib/python3.12/site-packages"
    metadata = site / "parcel-1.4.0.dist-info"
    for made in (site / "parcel", metadata):
        made.mkdir(parents=True)
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {folder}/nowhere\nversion_info = 3.12.4\n")
    (site / "parcel/__init__.py").write_text(PACKAGE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: parcel\nVersion: 1.4.0\n")
    (metadata / "RECORD").write_text("parcel/__init__.py,,\n")
    return folder


def project_with_agent(folder: Path) -> Path:
    """A project with an agent that is a program."""
    folder.mkdir()
    program = folder / "agent.py"
    program.write_text(f"import sys\nsys.stdin.read()\nprint({json.dumps(ANSWER)!r})\n")
    argv = json.dumps([sys.executable, "-I", "-S", str(program)])
    (folder / "kr.yaml").write_text(
        f"agents: {{duc: {{plugin: command}}}}\nplugins: {{command: {{argv: {argv}}}}}\n"
    )
    return folder


def count_inside(counted: Path, command: list[str]) -> int:
    """Run a command in this process, write down what it entered, and return its exit code."""
    codes = set()

    def profile(frame: FrameType, kind: str, _argument: Any) -> None:
        if kind == "call":
            codes.add(frame.f_code)

    from kr_core.cli import main as kr

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        code = kr(command)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files: dict[str, int] = {}
    for entered_code in list(codes):  # a thread that goes on may add to them
        is_function = entered_code.co_flags & inspect.CO_OPTIMIZED
        if is_function and entered_code.co_filename.startswith(PRODUCT):
            name = str(Path(entered_code.co_filename).relative_to(ROOT))
            files[name] = files.get(name, 0) + 1
    counted.write_text(json.dumps(files))
    return code


PROJECTS = {"research": sample_project, "ask": project_with_agent}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(count_inside(Path(sys.argv[2]), sys.argv[3:]))
    main()
