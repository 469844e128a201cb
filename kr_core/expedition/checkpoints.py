"""Steps of one expedition in the journal: what was done once is not done again, however often the process is killed.

How far an expedition has come, as its kept steps tell it: for whoever looks on, in whichever process it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kr_core.aio import shielded
from kr_core.model.expedition import MAX_CYCLES, CycleReport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from kr_core.protocols import StepResults

__all__ = ["Checkpoints", "ExpeditionProgress", "kept_of", "progress", "step_of"]


class Checkpoints:
    """The kept steps of an expedition.

    Args:
        journal: where they are stored.
        run: the expedition's own name there.
    """

    def __init__(self, journal: StepResults, run: str) -> None:
        self._journal = journal
        self._run = run

    async def do(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a step, as JSON has it: the kept one, or that of the work, which is kept before anybody sees it.

        Raises:
            StorageError: it could not be kept.
        """
        kept = await shielded(lambda: self._journal.step(self._run, key))
        if kept is not None:
            return kept["result"]
        result = await work()
        await shielded(lambda: self._journal.keep_step(self._run, key, {"result": result}))
        return result


class ExpeditionProgress(NamedTuple):
    """What the cycles of an expedition have brought so far."""

    reports: tuple[CycleReport, ...]
    """Each attempt at a cycle, in order."""
    axioms: tuple[str, ...]
    """Ids of the axioms that were found or confirmed, in order."""


def step_of(cycle: int, attempt: int) -> str:
    """The key of the step with which an attempt at a cycle ends."""
    return f"{cycle}.{attempt} keep"


def kept_of(report: CycleReport, axioms: tuple[str, ...]) -> dict[str, Any]:
    """What that step keeps."""
    return {"report": report.model_dump(mode="json"), "axioms": list(axioms)}


def progress(journal: StepResults, run: str) -> ExpeditionProgress:
    """What an expedition's cycles have brought.

    Args:
        journal: where its steps are kept.
        run: its own name there.

    Raises:
        StorageError: the journal cannot be read.
    """
    reports: list[CycleReport] = []
    axioms: tuple[str, ...] = ()
    for kept in _ended(journal, run):
        try:
            reports.append(CycleReport.model_validate(kept["report"]))
            axioms = tuple(str(name) for name in kept["axioms"])
        except (ValidationError, KeyError, TypeError):  # of another version of KR
            continue
    return ExpeditionProgress(tuple(reports), axioms)


def _ended(journal: StepResults, run: str) -> Iterator[Mapping[str, Any]]:
    for cycle in range(1, MAX_CYCLES + 1):
        for attempt in (1, 2):
            step = journal.step(run, step_of(cycle, attempt))
            if step is not None:
                yield step["result"]
            elif attempt == 1:
                return
