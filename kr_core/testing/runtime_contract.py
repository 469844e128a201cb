"""What every runtime keeps to (`kr_core.plugin.Runtime`)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from kr_core.protocols import QueuedRun
from kr_core.testing.plugin_contract import PluginContract

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from kr_core.protocols import Runtime

    Perform = Callable[[QueuedRun], Awaitable[None]]

_SECONDS = 20.0
"""Within it every run must have been handed out."""
_MOMENT = 0.05
"""What a run takes that others could overlap with."""
_MINE = ("ask",)


class RuntimeContract(PluginContract):
    """The rules for runtimes, tried with workers of one process; that a killed worker's runs go to another needs tests of your own."""

    noun = "runtime"

    def test_what_was_queued_is_performed(self, project: Path) -> None:
        """A run that one process queued, another one performs, with its id, queue and priority."""
        run = QueuedRun("a-1", "ask", 3)
        performed = asyncio.run(self._performed(project, [run]))
        assert performed == [run], (
            f"{performed} was performed, and {[run]} queued; keep runs where the workers of all processes find them, with "
            "their id, queue and priority"
        )

    def test_a_run_waits_once(self, project: Path) -> None:
        """What is queued again under its id while it waits is performed once."""
        run = QueuedRun("a", "ask")
        performed = asyncio.run(self._performed(project, [run, run, run]))
        assert performed == [run], (
            f"a run that was queued three times was performed {len(performed)} times; queue none that waits already"
        )

    def test_other_queues_are_left_alone(self, project: Path) -> None:
        """A worker takes the runs of its queues; the others wait for theirs."""
        mine, other = QueuedRun("a", "ask"), QueuedRun("b", "other")
        assert asyncio.run(self._performed(project, [other, mine])) == [mine], (
            "a worker of the queue `ask` was handed something else; hand out the runs of `queues` only"
        )
        assert asyncio.run(self._performed(project, [], ("other",))) == [other], (
            "the run of another queue was lost; it waits for a worker of its queue"
        )

    def test_the_higher_priority_is_first(self, project: Path) -> None:
        """Of runs that wait, the one with the higher priority is taken first."""
        runs = [QueuedRun("a", "ask", -1), QueuedRun("b", "ask"), QueuedRun("c", "ask", 5)]
        performed = asyncio.run(self._performed(project, runs))
        assert performed == runs[::-1], (
            f"the runs were taken by priority {[one.priority for one in performed]}; take the highest first"
        )

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_no_more_at_once_than_was_said(self, project: Path, concurrency: int) -> None:
        """As many runs are performed at once as `concurrency` says, and no more."""
        now, most, enough = 0, 0, asyncio.Event()

        async def perform(_run: QueuedRun) -> None:
            nonlocal now, most
            now += 1
            most = max(most, now)
            if now >= concurrency:
                enough.set()
            with suppress(TimeoutError):  # a busy machine takes its time to hand out the next one
                await asyncio.wait_for(enough.wait(), 20 * _MOMENT)
            await asyncio.sleep(_MOMENT)
            now -= 1

        asyncio.run(self._work(project, _runs(6), perform, concurrency))
        assert most <= concurrency, f"{most} runs at once, where `concurrency` is {concurrency}"
        assert most == concurrency, f"{most} runs at once, where `concurrency` is {concurrency}: take more"

    def test_one_that_fails_is_handed_out_again(self, project: Path) -> None:
        """A run for which `perform` raises is performed again; no other run is lost for it."""
        performed, stop = list[str](), asyncio.Event()

        async def perform(run: QueuedRun) -> None:
            performed.append(run.id)
            if performed == ["a"]:
                raise ValueError("not today")
            if performed.count("a") == 2:
                stop.set()

        async def work() -> None:
            runtime = self.build(project)
            await runtime.submit(QueuedRun("a", "ask"))
            await self._until(runtime, perform, stop)

        asyncio.run(work())
        assert performed == ["a", "a"], (
            f"performed: {performed}; queue a run again, a little later, when `perform` raises, and go on"
        )

    def test_what_is_queued_while_it_is_performed_is_performed_again(self, project: Path) -> None:
        """A run that is queued while a worker performs it is performed once more, after that."""
        performed, now, most = list[str](), 0, 0

        async def work() -> None:
            runtime = self.build(project)

            async def perform(run: QueuedRun) -> None:
                nonlocal now, most
                now += 1
                most = max(most, now)
                if not performed:
                    await runtime.submit(run)
                performed.append(run.id)
                await asyncio.sleep(_MOMENT)
                now -= 1

            await runtime.submit(QueuedRun("a", "ask"))
            await self._drained(runtime, perform, 2)
            await self._drained(runtime, perform, 2)

        asyncio.run(work())
        assert most == 1, "a run is performed twice at the same time; let the second wait for the first"
        assert performed == ["a", "a"], (
            f"performed: {performed}; what is queued while its run is performed waits for the end of that"
        )

    def test_what_has_begun_is_ended(self, project: Path) -> None:
        """When `stop` is set, the runs that have begun are ended, no other begins, and `work` returns."""
        begun, ended, stop = list[QueuedRun](), list[QueuedRun](), asyncio.Event()

        async def perform(run: QueuedRun) -> None:
            begun.append(run)
            stop.set()
            await asyncio.sleep(10 * _MOMENT)
            ended.append(run)

        async def work() -> None:
            runtime = self.build(project)
            for run in _runs(6):
                await runtime.submit(run)
            await self._until(runtime, perform, stop)

        asyncio.run(work())
        assert sorted(ended) == sorted(begun), (
            "a run that had begun was not ended; wait for those before `work` returns"
        )
        assert len(begun) <= 2, (
            f"{len(begun)} runs have begun, two at a time, and the first sets `stop`; take no more after it"
        )
        left = asyncio.run(self._performed(project, []))
        assert sorted(begun + left) == _runs(6), (
            f"after the stop {left} waited; the runs that had not begun wait on"
        )

    def test_several_workers_share_the_runs(self, project: Path) -> None:
        """Each run is performed once, by one of two workers."""
        performed: list[QueuedRun] = []

        async def perform(run: QueuedRun) -> None:
            await asyncio.sleep(_MOMENT / 10)
            performed.append(run)

        async def work() -> None:
            workers = [self.build(project) for _ in range(2)]
            for run in _runs(20):
                await workers[0].submit(run)
            await asyncio.gather(*(self._drained(one, perform, 2) for one in workers))

        asyncio.run(work())
        assert sorted(performed) == sorted(_runs(20)), (
            f"of 20 runs two workers performed {len(performed)}, {len(set(performed))} of them different; take a run in one "
            "step, so that no other worker takes it"
        )

    async def _performed(
        self, project: Path, runs: Sequence[QueuedRun], queues: Sequence[str] = _MINE
    ) -> list[QueuedRun]:
        """What is handed out until nothing waits, in order, to a worker that was built by itself."""
        performed: list[QueuedRun] = []

        async def perform(run: QueuedRun) -> None:
            performed.append(run)

        await self._work(project, runs, perform, 1, queues)
        return performed

    async def _work(
        self,
        project: Path,
        runs: Sequence[QueuedRun],
        perform: Perform,
        concurrency: int,
        queues: Sequence[str] = _MINE,
    ) -> None:
        asking = self.build(project)
        for run in runs:
            await asking.submit(run)
        await self._drained(self.build(project), perform, concurrency, queues)

    @staticmethod
    async def _drained(
        runtime: Runtime, perform: Perform, concurrency: int, queues: Sequence[str] = _MINE
    ) -> None:
        work = runtime.work(perform, queues, concurrency, asyncio.Event(), drain=True)
        await _within(work, "with `drain` it ends when no run waits")

    @staticmethod
    async def _until(runtime: Runtime, perform: Perform, stop: asyncio.Event) -> None:
        await _within(runtime.work(perform, _MINE, 2, stop), "it hands out runs, and ends when `stop` is set")


def _runs(count: int) -> list[QueuedRun]:
    return [QueuedRun(f"r-{number}", "ask") for number in range(count)]


async def _within(work: Awaitable[None], hint: str) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await work
    except ValueError as error:
        pytest.fail(f"`work` raised {error!r}; go on when `perform` raises")
    except TimeoutError:
        pytest.fail(f"`work` did not end within {_SECONDS:g} s; {hint}")
