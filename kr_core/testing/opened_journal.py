"""How the contracts of a journal open it, and how they write to it."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from kr_core.testing.plugin_contract import PluginContract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from kr_core.model import Event
    from kr_core.protocols import Journal

    OpenJournal = Callable[[], Journal]

SECONDS = 30.0
"""For what a journal has to make durable."""
_THREADS = 4


class OpenedJournal(PluginContract):
    """Opens the journal that is tried."""

    noun = "journal"

    def alter(self, project: Path, old: bytes, new: bytes) -> None:
        """Change the journal's stored data from outside: replace every `old` by `new`, which has the same length.

        The journal is closed at that time. By default this changes the bytes of the project's files. Override it for a
        journal that stores its events elsewhere, or in another form.
        """
        for file in sorted(path for path in project.rglob("*") if path.is_file()):
            content = file.read_bytes()
            if old in content:
                file.write_bytes(content.replace(old, new))

    @pytest.fixture
    def open_journal(self, project: Path) -> Iterator[OpenJournal]:
        """Open the project's journal; each call opens it again, while the others stay open."""
        opened: list[Journal] = []

        def open_it() -> Journal:
            opened.append(self.build(project))
            return opened[-1]

        yield open_it
        for journal in opened:
            with suppress(Exception):  # a test may have closed it already
                journal.close()


def in_threads(work: Callable[[int, int], int], rounds: int) -> int:
    """What several threads come to together, all of them at the same round: `work` gets the thread and the round.

    They change after nearly every step, so that two of them meet between a reading and a writing.
    """
    barrier = threading.Barrier(_THREADS, timeout=SECONDS)

    def take_part(thread: int) -> int:
        made = 0
        for number in range(rounds):
            barrier.wait()
            made += work(thread, number)
        return made

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            return sum(pool.map(take_part, range(_THREADS)))
    finally:
        sys.setswitchinterval(before)


def keep(journal: Any, events: Sequence[Event]) -> None:
    """Append events and wait until they are durable."""
    future = journal.append(events)
    result = getattr(future, "result", None)
    assert callable(result), (
        f"`append` returned {type(future).__name__}; return a concurrent.futures.Future that resolves when the events "
        "are durable"
    )
    try:
        result(SECONDS)
    except TimeoutError:
        pytest.fail(
            f"the future of `append` did not resolve within {SECONDS:g} s; resolve it when they are durable"
        )
    except Exception as error:
        pytest.fail(f"events could not be kept: {type(error).__name__}: {error}; `data` is any JSON value")
