"""Tasks that a program dispatches one by one; those that are under way at once share one session."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.aio import consume_exception, shielded, wait_or_abandon
from kr_core.dispatch.plan import Plan, PlannedTask, configured_scopes, read_plan
from kr_core.dispatch.record import task_record
from kr_core.dispatch.roles import HUMAN, Assignment
from kr_core.dispatch.runner import Dispatcher
from kr_core.dispatch.scopes import ROLES, scope_of
from kr_core.dispatch.session import DispatchSession
from kr_core.errors import ConfigError, suggestion
from kr_core.model import new_id
from kr_core.model.questions import AgentHandle, AgentStatus
from kr_core.model.routing import Route
from kr_core.routing.defaults import ROSTER
from kr_core.speckit.task_file import Task
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kr_core.dispatch.record import TaskRecord
    from kr_core.model.execution_task import ExecutionTask
    from kr_core.model.routing import AgentProfile
    from kr_core.research import Pipeline

__all__ = ["TaskJobs", "planned_role", "status_of"]

_MAX_KEPT = 1000
"""Tasks whose handles are known once they have ended."""


@dataclass
class _Job:
    """A task that was dispatched."""

    handle: AgentHandle
    work: asyncio.Task[TaskRecord]
    queued: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


class TaskJobs:
    """Dispatches tasks when a program says so.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._jobs: dict[str, _Job] = {}
        self._running: dict[tuple[str, str], asyncio.Task[TaskRecord]] = {}
        """Those that are under way, by feature and id."""
        self._opening = asyncio.Lock()
        self._session: DispatchSession | None = None
        self._stack = AsyncExitStack()
        self._under_way = 0

    async def send(self, task: ExecutionTask, role: str) -> AgentHandle:
        """Start a task; see `AsyncKnowledgeRouterService.dispatch_task`.

        Raises:
            ConfigError: the role, the agent or the repository is wrong, or another process runs tasks here.
        """
        name = _role(role)
        plan = await shielded(lambda: self._plan(task, name))
        begun: asyncio.Future[AgentProfile] = asyncio.get_running_loop().create_future()
        work = self._reserved(plan, begun)
        either: set[asyncio.Future[Any]] = {begun, work}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # nobody will have its handle
            work.cancel()
            await wait_or_abandon(work)
            raise
        if not begun.done():
            work.result()  # raises why
        agent = begun.result().name
        handle = AgentHandle(
            exchange_id=new_id(),
            question_id=task.id,
            agent=agent,
            route=Route(target=name, agent=agent, reason=f"dispatched to {name}", threshold=0),
            feature_id=plan.feature,
        )
        self._jobs[handle.exchange_id] = _Job(handle, work)
        for old in [one for one, job in self._jobs.items() if job.work.done()][:-_MAX_KEPT]:
            del self._jobs[old]
        return handle

    def _reserved(self, plan: Plan, begun: asyncio.Future[AgentProfile]) -> asyncio.Task[TaskRecord]:
        """Start the one task of a plan, unless it is under way; by its key on record, whatever a client calls its file.

        Raises:
            ConfigError: it is.
        """
        key = (plan.feature, plan.tasks[0].task.id)
        if key in self._running:
            raise ConfigError(
                f"`{key[1]}` is under way already", where="dispatch_task(task)", hint="wait for its end"
            )
        work = self._running[key] = asyncio.ensure_future(self._done(plan, begun))
        work.add_done_callback(lambda _work: self._running.pop(key))
        work.add_done_callback(consume_exception)
        return work

    async def _done(self, plan: Plan, begun: asyncio.Future[AgentProfile]) -> TaskRecord:
        """Do the one task of a plan.

        Args:
            plan: with the task.
            begun: gets who does it, once the task is on record.
        """
        (planned,) = plan.tasks
        async with self._shared() as session:
            dispatcher = Dispatcher(session, plan, [planned.task.id])
            profile = session.worker(planned.assignment.role).profile
            await dispatcher.queue(plan.tasks)
            begun.set_result(profile)
            return (await dispatcher.run(plan.tasks))[0]

    async def status(self, handle: AgentHandle) -> AgentStatus | None:
        """How far a task is; None where no task was dispatched by this handle."""
        job = self._jobs.get(handle.exchange_id)
        if job is None:
            return None
        found = AgentStatus(state="running", agent=handle.agent, started=job.queued)
        if not job.work.done():
            record = await shielded(
                lambda: task_record(self._pipeline.journal, handle.feature_id, handle.question_id)
            )
            waits = record is not None and record.status == "queued"
            return found.model_copy(update={"state": "queued", "started": None}) if waits else found
        if job.work.cancelled():
            return found.model_copy(update={"state": "failed", "error": "cancelled"})
        if (error := job.work.exception()) is not None:
            return found.model_copy(update={"state": "failed", "error": printable(str(error))})
        return status_of(job.work.result())

    async def end(self) -> None:
        """Cancel what is under way, and wait for its end."""
        tasks = [*self._running.values()]
        for one in tasks:
            one.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # -- the session that tasks share ----------------------------------------------------------------------

    @asynccontextmanager
    async def _shared(self) -> AsyncIterator[DispatchSession]:
        """The session; the last one that leaves closes it, also where it is cancelled or has failed."""
        self._under_way += 1
        try:
            async with self._opening:
                if self._session is None:
                    session = DispatchSession(self._pipeline)
                    await self._stack.enter_async_context(session.opened())
                    self._session = session
            yield self._session
        finally:  # without a turn of the loop before the count: a cancellation would come there
            self._under_way -= 1
            if not self._under_way:
                self._session = None
                await self._stack.aclose()

    def _plan(self, task: ExecutionTask, role: str) -> Plan:
        scopes = {name: scope_of(name, configured_scopes(self._pipeline.config)) for name in ROLES}
        file = _file(self._pipeline, task)
        assignment = Assignment(role, "a program said so")
        if file is None:
            planned = PlannedTask(_task(task), assignment, task.criteria, task.related)
            return Plan(None, task.feature_id, "", (planned,), (), scopes, {})
        plan = read_plan(file, self._pipeline.config)
        found = _listed(plan, task)
        planned = PlannedTask(
            found.task._replace(depends_on=()),
            assignment,
            task.criteria or found.criteria,
            task.related or found.related,
        )
        return plan._replace(tasks=(planned,))


def planned_role(pipeline: Pipeline, task: ExecutionTask) -> str:
    """Who a task of a file is for, by the plan.

    Raises:
        ConfigError: it has no file, the file does not have it once, or it is for a human.
    """
    file = _file(pipeline, task)
    if file is None:
        raise ConfigError("is missing", where="role", hint=f"name one: {', '.join(ROLES)}")
    found = _listed(read_plan(file, pipeline.config), task).assignment
    if found.role == HUMAN:
        raise ConfigError(
            f"`{task.id}` is for a human: {found.reason}", where=printable(task.file), hint="name a role"
        )
    return found.role


def _file(pipeline: Pipeline, task: ExecutionTask) -> Path | None:
    """A task's file.

    Raises:
        ConfigError: it lies outside of the project.
    """
    if not task.file:
        return None
    root = Path(os.path.realpath(pipeline.config.root))
    file = (root / task.file).absolute()
    if not Path(os.path.realpath(file)).is_relative_to(root):
        raise ConfigError("is not in the project", where=printable(task.file), hint="name a file below it")
    return file


def status_of(record: TaskRecord) -> AgentStatus:
    """A record as the status of its agent."""
    return AgentStatus.model_validate(
        {
            "state": record.status,
            "agent": record.agent or None,
            "started": record.started,
            "finished": record.finished,
            "error": record.reason if record.status != "succeeded" else "",
            "log": record.output,
            "changed": record.changed,
            "refused": [f"{one.path}: {one.reason}" for one in record.refused],
        }
    )


def _role(name: str) -> str:
    """The specialist that a role, or the specialist's own name, stands for.

    Raises:
        ConfigError: it is nobody's: an unknown role may write nothing.
    """
    known = {ROSTER[one].role: one for one in ROLES} | {one: one for one in ROLES}
    found = known.get(name.strip().lstrip("@").casefold())
    if found is None:
        raise ConfigError(
            f"`{name}` does no tasks", where="dispatch_task(role)", hint=suggestion(name, known, "roles")
        )
    return found


def _listed(plan: Plan, task: ExecutionTask) -> PlannedTask:
    """The task as its file has it.

    Raises:
        ConfigError: the file does not have it once.
    """
    found = [one for one in plan.tasks if one.task.id == task.id]
    if len(found) != 1:
        what = f"has {len(found)} tasks with the id `{task.id}`" if found else f"has no task `{task.id}`"
        raise ConfigError(what, where=printable(task.file), hint="name one of its tasks")
    return found[0]


def _task(task: ExecutionTask) -> Task:
    return Task(
        id=task.id, title=task.title, line=0, column=0, done=False, phase=task.phase, section="",
        story=task.story, parallel=False, paths=task.paths,
    )  # fmt: skip
