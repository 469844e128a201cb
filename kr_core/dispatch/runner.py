"""A run of tasks: wave by wave, each task in a worktree of its own, judged, and landed or kept aside."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.aio import shielded
from kr_core.dispatch.attempt import TaskAttempts
from kr_core.dispatch.record import TaskRecord, keep, task_record
from kr_core.dispatch.roles import HUMAN
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.dispatch.grants import Decisions
    from kr_core.dispatch.plan import Plan, PlannedTask
    from kr_core.dispatch.session import DispatchSession, Worker

__all__ = ["Dispatcher", "choose_tasks"]


def choose_tasks(plan: Plan, wanted: Sequence[str]) -> list[PlannedTask]:
    """The tasks to run: those that are named, or all that are not done.

    Raises:
        ConfigError: no task has such an id, or several have it.
    """
    if not wanted:
        return [one for one in plan.tasks if not one.task.done and not one.task.cancelled]
    found = []
    for name in dict.fromkeys(wanted):
        named = [one for one in plan.tasks if one.task.id.casefold() == name.casefold()]
        if len(named) != 1:
            ids = [one.task.id for one in plan.tasks]
            hint = "give each its own id" if named else suggestion(name, ids, "tasks")
            what = f"{len(named)} tasks have the id `{name}`" if named else f"no task has the id `{name}`"
            raise ConfigError(what, where=printable(str(plan.file)), hint=hint)
        found += named
    return found


class Dispatcher:
    """Runs tasks of one plan.

    Args:
        session: what they share with others.
        plan: of the file.
        named: the ids of tasks that run although they wait for a person.
    """

    def __init__(self, session: DispatchSession, plan: Plan, named: Iterable[str] = ()) -> None:
        self._session = session
        self._plan = plan
        self._pipeline = session.pipeline
        self._tell = session.tell
        self._named = frozenset(name.casefold() for name in named)
        top = session.git.top
        if plan.file is not None and not Path(os.path.realpath(plan.file)).is_relative_to(top):
            raise ConfigError(
                "is not in the project's repository",
                where=printable(str(plan.file)),
                hint=f"name one below {printable(str(top))}",
            )
        file = "" if plan.file is None else os.path.relpath(plan.file, session.pipeline.config.root)
        self._attempts = TaskAttempts(session, plan, file)

    async def run(self, chosen: Sequence[PlannedTask]) -> list[TaskRecord]:
        """Run tasks; returns their records, in order. The session is open.

        Raises:
            ConfigError: an agent is not configured or not trusted, or tasks wait for each other.
            StorageError: the journal cannot be written.
        """
        own = [one for one in chosen if one.assignment.role != HUMAN and not one.task.done]
        waves = await shielded(lambda: self._plan.waves(own))
        workers = {role: self._session.worker(role) for role in sorted({one.assignment.role for one in own})}
        await self.queue(own)
        found: dict[int, TaskRecord] = {}
        await self._run_waves(waves, workers, found)
        left = {one.task.line: self._untouched(one) for one in chosen if one.task.line not in found}
        await shielded(
            lambda: self._keep_reasons([left[one.task.line] for one in own if one.task.line in left])
        )
        return [found.get(one.task.line) or left[one.task.line] for one in chosen]

    def _keep_reasons(self, left: Sequence[TaskRecord]) -> None:
        """Put on record why tasks that were queued did not begin."""
        for one in left:
            before = task_record(self._pipeline.journal, one.feature, one.id)
            if before is not None and before.status == "queued":
                keep(self._pipeline.journal, before.model_copy(update={"reason": one.reason}))

    async def queue(self, planned: Sequence[PlannedTask]) -> None:
        """Put on record that tasks are to run, with what was decided of them before.

        Raises:
            StorageError: the journal cannot be written.
        """

        def work() -> None:
            for one in planned:
                before, decided = self._before(one)
                if not decided.waiting or self._is_named(one):  # the record of one that waits says for what
                    queued = self._not_begun(one, "").model_copy(update={"requests": decided.requests})
                    if before is None or before.model_copy(update={"queued": queued.queued}) != queued:
                        keep(self._pipeline.journal, queued)

        await shielded(work)

    def _before(self, planned: PlannedTask) -> tuple[TaskRecord | None, Decisions]:
        """The record of a task, and what people have said of the paths that it asked for."""
        task = planned.task
        before = task_record(self._pipeline.journal, self._plan.feature, task.id)
        return before, self._session.grants.decisions(before, task.title, planned.assignment.role)

    def _is_named(self, planned: PlannedTask) -> bool:
        return planned.task.id.casefold() in self._named

    # -- order ---------------------------------------------------------------------------------------------

    async def _run_waves(
        self,
        waves: Sequence[Sequence[PlannedTask]],
        workers: Mapping[str, Worker],
        found: dict[int, TaskRecord],
    ) -> None:
        failed: set[str] = set()
        phase = ""
        for wave in waves:
            if failed and wave[0].task.phase != phase:
                self._tell(f"stopped before `{wave[0].task.phase}`: not done: {', '.join(sorted(failed))}")
                return
            phase = wave[0].task.phase
            ready = [one for one in wave if not failed.intersection(one.task.depends_on)]
            failed |= {one.task.id for one in wave if one not in ready}

            async def one_task(planned: PlannedTask) -> None:
                async with self._session.places:
                    found[planned.task.line] = await self._task(planned, workers[planned.assignment.role])

            try:
                async with asyncio.TaskGroup() as group:
                    for planned in ready:
                        group.create_task(one_task(planned))
            except ExceptionGroup as errors:
                raise next((one for one in errors.exceptions if isinstance(one, KRError)), errors) from None
            bad = [one for one in ready if found[one.task.line].status != "succeeded"]
            failed |= {one.task.id for one in bad}
            if any(not one.task.parallel for one in bad):
                self._tell(f"stopped: {', '.join(one.task.id for one in bad)} did not succeed")
                return

    def _untouched(self, planned: PlannedTask) -> TaskRecord:
        """The record of a task that was not begun: it is done, a human's, or waits for one that failed."""
        task, found = planned.task, planned.assignment
        reason = (
            "its box is ticked already"
            if task.done
            else found.reason
            if found.role == HUMAN
            else "a task before it is not done"
        )
        if found.role == HUMAN and not task.done:
            self._tell(f"{task.id} is for a human: {found.reason}")
        return self._not_begun(planned, reason)

    def _not_begun(self, planned: PlannedTask, reason: str) -> TaskRecord:
        task = planned.task
        status = "succeeded" if task.done else "queued"
        return TaskRecord(
            feature=self._plan.feature,
            id=task.id,
            title=task.title,
            role=planned.assignment.role,
            status=status,
            reason=reason,
        )

    # -- one task ------------------------------------------------------------------------------------------

    async def _task(self, planned: PlannedTask, worker: Worker) -> TaskRecord:
        """Do one task; once more where the branch has changed in the same places meanwhile."""
        task = planned.task
        _, decided = await shielded(lambda: self._before(planned))
        if decided.waiting and not self._is_named(planned):
            cases = ", ".join(f"{one.escalation} ({one.path})" for one in decided.waiting)
            self._tell(f"{task.id} waits for a person: {cases}")
            return self._not_begun(planned, f"it waits for a person: {cases}")
        for last in (False, True):
            record, again = await self._attempts.run(planned, worker, decided, last=last)
            if not again:
                break
        return record
