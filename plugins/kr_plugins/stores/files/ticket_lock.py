"""First come, first served: a queue of tickets in front of a lock.

A lock on a folder keeps writers apart, but says nothing of their order: whoever asks at the moment in which it is let
go gets it, and one that waits may wait for long. A ticket is a file, numbered in the order of arrival and locked by
its owner; the next one's turn comes when every earlier ticket is gone or its owner is, however it ended.

It is not the journal's lock: here the order is a requirement and each waits as long as it takes; there a stopped process must not
hold up the others, and nobody needs an order.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kr_core.toolkit import lock, make_state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DIGITS = 12


@contextmanager
def in_turn(room: Path) -> Iterator[None]:
    """Wait until all who came before are done.

    The order is that in which tickets were drawn, which takes a lock for some microseconds. Where nobody waits it costs
    about a dozen system calls and no disk sync.

    Args:
        room: the folder of the tickets, in KR's state folder; both are made if they are missing.

    Raises:
        OSError: the folder cannot be made or written.
    """
    mine, handle = _draw(room)
    try:
        for earlier in _tickets(room):
            if earlier >= mine.name:
                break
            _wait_for(room / earlier)
        yield
    finally:
        mine.unlink(missing_ok=True)
        os.close(handle)


def _draw(room: Path) -> tuple[Path, int]:
    """Take the next number; the tickets of the dead are cleared away, while nobody else can take one."""
    if not room.is_dir():
        make_state_folder(room.parent)  # else a ticket of the dead would show in git
    with lock(room):
        waiting = [name for name in _tickets(room) if not _cleared(room / name)]
        ticket = room / f"{int(waiting[-1]) + 1 if waiting else 1:0{_DIGITS}}"
        handle = os.open(ticket, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
    return ticket, handle


def _tickets(room: Path) -> list[str]:
    return sorted(file.name for file in room.iterdir() if len(file.name) == _DIGITS and file.name.isdecimal())


def _cleared(ticket: Path) -> bool:
    """Whether nobody holds the ticket any more, and so it was removed."""
    with suppress(FileNotFoundError), _opened(ticket) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        ticket.unlink(missing_ok=True)
    return True


def _wait_for(ticket: Path) -> None:
    """Wait until its owner is done, or has died."""
    with suppress(FileNotFoundError), _opened(ticket) as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)


@contextmanager
def _opened(ticket: Path) -> Iterator[int]:
    handle = os.open(ticket, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
