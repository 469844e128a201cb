"""`kr team`, which can be told to end from its first moment: what it needs is imported after that."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from types import FrameType


def run(options: argparse.Namespace) -> int:
    """Serve until the other side closes its end, asks for a shutdown, or SIGTERM comes; 1 where results were not read."""
    early: list[int] = []

    def keep(number: int, _frame: FrameType | None) -> None:
        early.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, keep)
    from kr_core.cli.team_loop import converse  # takes longer than anything else at the start

    return converse(options, early)
