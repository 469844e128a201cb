"""`kr`, with the time at which each line of standard input is read: `resident.py STAMPS ARGUMENT...`.

The stamps are lines of a request's id and a time of the clock that all processes share.
"""

from __future__ import annotations

import re
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from kr_core.cli import main
from kr_core.team import line_io

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ID = re.compile(rb'"request_id": (-?\d+)')
_stamps: list[str] = []
_real = line_io.lines


def _timed(
    descriptor: int, wake: int, patience: Callable[[], float | None] = lambda: None
) -> Iterator[bytes | line_io.OverlongLine | None]:
    for line in _real(descriptor, wake, patience):
        now = perf_counter()
        found = _ID.search(line) if isinstance(line, bytes) else None
        if found:
            _stamps.append(f"{int(found[1])} {now!r}\n")
        yield line


if __name__ == "__main__":
    line_io.lines = _timed
    code = main(sys.argv[2:])
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.writelines(_stamps)
    sys.exit(code)
