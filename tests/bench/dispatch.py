"""The manifest of a repository of a hundred thousand files: with none kept, and where nothing has changed since."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from harness import Limit, Measured, figure

from kr_core.dispatch.manifest import Manifest, changes, scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = 100_000
_PER_FOLDER = 100
RUNS = 5
_AGES = 10**12
"""In nanoseconds: so that no file counts as one that changed a moment ago."""


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure; the page cache is warm."""
    top = folder / "repository"
    for number in range(FILES):
        file = top / f"{number // _PER_FOLDER // 32}/{number // _PER_FOLDER}/{number}.py"
        if number % _PER_FOLDER == 0:
            file.parent.mkdir(parents=True)
        file.write_text(f"value = {number}\n" * 20)
    kept = scan(top)
    kept = Manifest(kept.nodes, kept.taken_ns + _AGES)
    assert sum(node[6] is not None for node in kept.nodes.values()) == FILES, "every file has its hash"
    hashing = ["sh", "-c", "find . -type f -print0 | xargs -0 sha256sum > /dev/null"]
    listing = ["sh", "-c", "find . -printf '%p %s %T@ %C@ %i %m %n\\n' > /dev/null"]
    found = {
        "none": _timed("with none kept", lambda: scan(top)),
        "kept": _timed("where nothing has changed", lambda: changes(kept, scan(top, kept))),
        "hashing": _timed("", lambda: subprocess.run(hashing, cwd=top, check=True)),
        "listing": _timed("", lambda: subprocess.run(listing, cwd=top, check=True)),
    }
    what = f"manifest of {FILES:,} files"
    return [
        figure(
            Measured(f"{what}, none kept", found["none"]),
            Measured("`find` and `sha256sum`", found["hashing"]),
            Limit("seconds", 3.0),
        ),
        figure(
            Measured(f"{what}, nothing changed", found["kept"]),
            Measured("`find` with the status of each", found["listing"]),
            Limit("seconds", 0.5),
        ),
    ]


def _timed(what: str, work: Callable[[], object]) -> list[float]:
    """Seconds on the clock; processor time is printed."""
    seconds, processor = [], []
    for _number in range(RUNS):
        began, busy = perf_counter(), process_time()
        work()
        seconds.append(perf_counter() - began)
        processor.append(process_time() - busy)
    if what:
        print(
            f"manifest of {FILES:,} files {what}: processor time {sorted(processor)[RUNS // 2]:.2f} s",
            file=sys.stderr,
        )
    return seconds
