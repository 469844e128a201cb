"""What a program that embeds KR hands over and sees: a knowledge base of its own, the events of a run, a cancelled task."""

from __future__ import annotations

import asyncio

import pytest

from kr_core import StorageError
from kr_core.plugin import Candidates, ChangeResult, WriteResult

RESEARCH = [
    "run.started", "lookup.started", "lookup.finished", "route.started", "route.finished", "consult.started",
    "source.started", "source.finished", "consult.finished", "compose.started", "compose.finished",
    "score.started", "score.finished", "render.started", "render.finished", "keep.started", "keep.finished",
    "run.finished",
]  # fmt: skip
HIT = ["run.started", "lookup.started", "lookup.finished", "run.finished"]


class Shelf(dict):
    """A knowledge base in memory: entries by id, each with its report and evidence. Empty, it is false."""

    def candidates(self, query):
        return Candidates([entry for entry, _report, _evidence in self.values()])

    def entries(self):
        return [entry for entry, _report, _evidence in self.values()]

    def read(self, entry):
        return self[entry.id][1:] if entry.id in self else None

    def write(self, report, evidence, entry, *, index=True):
        if index:
            self[entry.id] = (entry, report, dict(evidence))
        return WriteResult(entry if index else None, entry.path, len(self))

    def touch(self, entry, today):
        return len(self)

    def drop(self, entry):
        del self[entry.id]

    def mark_stale(self, choose):
        return ChangeResult(choose(self.entries()))

    archive = mark_stale  # what it is asked for in these tests is nothing

    def archived(self):
        return []

    def restore(self, entry):
        raise StorageError("it is not in the archive")


async def cancelled(task):
    """Cancel a task, and wait until it has ended by that."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancelled_while_busy(task, go_on):
    """Cancel a task while a thread works for it, which is waited for; then let the thread go on."""
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=0.05)  # time enough to end at once, if it would
    assert not done
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
