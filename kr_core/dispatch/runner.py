"""A run of tasks: wave by wave, each task in a worktree of its own, judged, and landed or kept aside."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.aio import shielded
from kr_core.dispatch import sandbox
from kr_core.dispatch.agent_process import EndedAgent, run_agent
from kr_core.dispatch.gate import Verdict, judge, objects_of, patch_of, without_ignored
from kr_core.dispatch.record import RefusedPath, TaskRecord, keep
from kr_core.dispatch.roles import HUMAN
from kr_core.dispatch.session import ENDED_WITH_KR
from kr_core.dispatch.workspace import open_workspace, remove_folder
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.files import make_state_folder
from kr_core.git.landing import Rewrite, land
from kr_core.git.worktree import GitRefusedError
from kr_core.model import Event, new_id
from kr_core.research.stage_runner import show
from kr_core.speckit.tasks import read_tasks, with_mark
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.dispatch.plan import Plan, PlannedTask
    from kr_core.dispatch.session import DispatchSession, Worker
    from kr_core.dispatch.workspace import Workspace
    from kr_core.research import Pipeline
    from kr_core.speckit.tasks import Task

__all__ = ["Dispatcher", "choose_tasks"]

_NOTHING = "it changed nothing"
_SUBJECT = 72


class _Attempt(NamedTuple):
    """What an attempt at a task came to, before it is on record."""

    status: str
    reason: str
    verdict: Verdict | None = None
    commit: str = ""
    patch: str = ""
    output: str = ""


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
    """

    def __init__(self, session: DispatchSession, plan: Plan) -> None:
        self._session = session
        self._plan = plan
        self._pipeline = session.pipeline
        self._folder = session.folder
        self._git = session.git
        self._tell = session.tell
        self._file = "" if plan.file is None else os.path.relpath(plan.file, session.pipeline.config.root)
        if plan.file is not None and not Path(os.path.realpath(plan.file)).is_relative_to(self._git.top):
            raise ConfigError(
                "is not in the project's repository",
                where=printable(str(plan.file)),
                hint=f"name one below {printable(str(self._git.top))}",
            )

    async def run(self, chosen: Sequence[PlannedTask]) -> list[TaskRecord]:
        """Run tasks; returns their records, in order. The session is open.

        Raises:
            ConfigError: an agent is not configured or not trusted, or tasks wait for each other.
            StorageError: the journal cannot be written.
        """
        own = [one for one in chosen if one.assignment.role != HUMAN and not one.task.done]
        waves = self._plan.waves(own)
        workers = {role: self._session.worker(role) for role in sorted({one.assignment.role for one in own})}
        found: dict[int, TaskRecord] = {}
        await self._run_waves(waves, workers, found)
        return [found.get(one.task.line) or self._untouched(one) for one in chosen]

    # -- order ---------------------------------------------------------------------------------------------

    async def _run_waves(
        self,
        waves: Sequence[Sequence[PlannedTask]],
        workers: Mapping[str, Worker],
        found: dict[int, TaskRecord],
    ) -> None:
        at_once = asyncio.Semaphore(self._pipeline.config.settings.defaults.max_concurrent)
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
                async with at_once:
                    found[planned.task.line] = await self._task(planned, workers[planned.assignment.role])

            async with asyncio.TaskGroup() as group:
                for planned in ready:
                    group.create_task(one_task(planned))
            bad = [one for one in ready if found[one.task.line].status != "succeeded"]
            failed |= {one.task.id for one in bad}
            if any(not one.task.parallel for one in bad):
                self._tell(f"stopped: {', '.join(one.task.id for one in bad)} did not succeed")
                return

    def _untouched(self, planned: PlannedTask) -> TaskRecord:
        """The record of a task that was not begun: it is done, a human's, or waits for one that failed."""
        task, found = planned.task, planned.assignment
        done = "succeeded" if task.done else "queued"
        reason = (
            "its box is ticked already"
            if task.done
            else found.reason
            if found.role == HUMAN
            else "a task before it is not done"
        )
        if found.role == HUMAN and not task.done:
            self._tell(f"{task.id} is for a human: {found.reason}")
        return TaskRecord(
            feature=self._plan.feature,
            id=task.id,
            title=task.title,
            role=found.role,
            status=done,
            reason=reason,
        )

    # -- one task ------------------------------------------------------------------------------------------

    async def _task(self, planned: PlannedTask, worker: Worker) -> TaskRecord:
        """Do one task; once more where the branch has changed in the same places meanwhile."""
        for last in (False, True):
            record, again = await self._attempt(planned, worker, last=last)
            if not again:
                break
        return record

    async def _attempt(self, planned: PlannedTask, worker: Worker, *, last: bool) -> tuple[TaskRecord, bool]:
        task, found = planned.task, planned.assignment
        scope = self._plan.scopes[found.role]
        log = _TaskLog(self._pipeline, self._plan.feature, task)
        loop = asyncio.get_running_loop()
        began = loop.time()
        record = TaskRecord(
            feature=self._plan.feature, id=task.id, title=task.title, role=found.role, agent=worker.profile.name,
            status="running", attempt=log.attempt, file=self._file, started=dt.datetime.now(dt.UTC),
        )  # fmt: skip
        dispatched = log.event(
            "task.dispatched", file=self._file, title=task.title, role=found.role, reason=found.reason,
            agent=worker.profile.name, plugin=worker.profile.plugin, branch=self._session.branch, allow=list(scope.allow),
            deny=list(scope.deny), granted=[],
        )  # fmt: skip
        await shielded(lambda: keep(self._pipeline.journal, record, [dispatched]))
        self._tell(f"{task.id} {found.role}: {task.title}")
        work = self._folder / "work" / log.attempt
        again = False
        try:
            came, again = await self._worked(planned, worker, log, work, last=last)
        except asyncio.CancelledError:
            await self._finish(record, _Attempt("failed", ENDED_WITH_KR), log, loop.time() - began)
            raise
        except (GitRefusedError, OSError, KRError) as error:
            came = _Attempt("failed", printable(str(error)))
        finally:
            await shielded(lambda: remove_folder(work))
        return await self._finish(record, came, log, loop.time() - began), again

    async def _finish(self, record: TaskRecord, came: _Attempt, log: _TaskLog, seconds: float) -> TaskRecord:
        verdict = came.verdict
        refused = () if verdict is None else verdict.refused
        # What lands may be less than what was changed: then nothing has landed, and nothing counts as changed.
        changed = verdict.changed if verdict is not None and came.status == "succeeded" else ()
        done = record.model_copy(
            update={
                "status": came.status,
                "reason": came.reason,
                "finished": dt.datetime.now(dt.UTC),
                "changed": changed,
                "refused": tuple(RefusedPath(path=one.path, reason=one.reason) for one in refused),
                "commit": came.commit,
                "patch": came.patch,
                "output": came.output[-4000:],
            }
        )
        finished = log.event(
            "task.finished", status=came.status, reason=came.reason, role=record.role, agent=record.agent,
            seconds=round(seconds, 3),
        )  # fmt: skip
        await shielded(lambda: keep(self._pipeline.journal, done, [finished]))
        await self._session.deliver()
        self._tell(f"{record.id} {came.status}{f': {came.reason}' if came.reason else ''}")
        return done

    async def _worked(
        self, planned: PlannedTask, worker: Worker, log: _TaskLog, work: Path, *, last: bool
    ) -> tuple[_Attempt, bool]:
        """Let the agent work, and judge it; whether it is worth another attempt."""
        base = await shielded(self._git.head)
        space = await shielded(lambda: open_workspace(self._git, work / "tree", base, self._session.branch))
        ended = await self._ran(planned, worker, log, space, work)
        found = self._session.running.pop(log.attempt, [])
        try:
            whole = await shielded(lambda: judge(space, self._plan.scopes[planned.assignment.role]))
            verdict = await shielded(lambda: without_ignored(self._git, whole))
        except (GitRefusedError, OSError) as error:
            await self._kept_aside(log, space, Verdict((), (), ()), planned)
            return _Attempt(
                "failed", f"its worktree cannot be read: {printable(str(error))}", output=ended.output
            ), False
        verdict = verdict._replace(refused=(*verdict.refused, *found))
        log.say(
            "task.judged", changed=list(verdict.changed), refused=[one._asdict() for one in verdict.refused]
        )
        status, reason = _status(planned, ended, verdict)
        if reason == _NOTHING and whole.changed:
            reason = f"{_NOTHING} except files that git ignores: {', '.join(whole.changed[:3])}"
        if status == "succeeded":
            try:
                commit = await self._landed(planned, log, space, verdict)
            except GitRefusedError as error:
                if not last and "meanwhile" in str(error):
                    return _Attempt("failed", f"{error}; KR runs it again", output=ended.output), True
                status, reason = "failed", printable(str(error))
            else:
                return _Attempt(status, "", verdict, commit, output=ended.output), False
        patch = await self._kept_aside(log, space, verdict, planned)
        return _Attempt(status, reason, verdict, "", patch, ended.output), False

    async def _ran(
        self, planned: PlannedTask, worker: Worker, log: _TaskLog, space: Workspace, work: Path
    ) -> EndedAgent:
        profile = worker.profile
        order = planned.order(self._plan.feature)
        program = worker.component.task_program(order, profile.name, profile.model)
        argv = list(program.argv)
        if "/" not in argv[0]:
            argv[0] = shutil.which(argv[0], path=program.environment.get("PATH")) or argv[0]
        hidden = sandbox.hidden_folders(self._git.top, self._session.state)
        readable = (
            *sandbox.named_by(argv, hidden, program.environment.get("PATH", "")),
            *program.readable,
            space.objects,
        )
        scratch = work / "scratch"
        scratch.mkdir()
        confinement = sandbox.Confinement(space.tree, scratch, hidden, readable)
        file = sandbox.write_order(
            work / "order.json", self._session.sandbox, confinement, argv, program.environment
        )
        log.say(
            "task.started",
            base=space.base,
            sandbox=self._session.sandbox,
            timeout_seconds=profile.timeout_seconds,
        )
        self._session.running[log.attempt] = []
        loop = asyncio.get_running_loop()
        began = loop.time()
        ended = await run_agent(file, program.stdin, space.tree, profile.timeout_seconds)
        for one in await self._session.check_project():
            log.say("task.restored", name=one.name, restored=one.restored, found=one.kept)
        log.say(
            "task.ended",
            code=ended.code,
            reason=ended.reason,
            seconds=round(loop.time() - began, 3),
            output=ended.output,
        )
        return ended

    # -- its end -------------------------------------------------------------------------------------------

    async def _landed(self, planned: PlannedTask, log: _TaskLog, space: Workspace, verdict: Verdict) -> str:
        task, rewrite = planned.task, None
        file = None if self._plan.file is None else Path(os.path.realpath(self._plan.file))
        if file is not None:
            path = os.fsencode(file.relative_to(self._git.top).as_posix())
            rewrite = Rewrite(path, lambda text: _ticked(text, task))
        subject = f"{task.id}: {' '.join(task.title.split())}"
        subject = subject if len(subject) <= _SUBJECT else f"{subject[: _SUBJECT - 3].rstrip()}..."
        told = [
            f"Feature: {self._plan.feature}",
            f"Role: {planned.assignment.role}",
            f"KR-Attempt: {log.attempt}",
        ]
        message = printable("\n".join([subject, "", *told])) + "\n"

        def work() -> tuple[str, bool]:
            entries = objects_of(self._git, space, verdict.allowed)
            landing = land(
                self._git,
                self._session.branch,
                space.base,
                entries,
                message,
                self._folder / "landing.json",
                rewrite,
            )
            return landing.commit, file is not None and landing.rewritten and _is_ticked(file, task)

        async with self._session.landing:
            commit, ticked = await shielded(work)
            await self._session.landed()
        if file is not None and not ticked:
            self._tell(f"{task.id} has landed, and its box cannot be found in {file.name} any more")
        log.say("task.landed", commit=commit, ticked=ticked)
        return commit

    async def _kept_aside(
        self, log: _TaskLog, space: Workspace, verdict: Verdict, planned: PlannedTask
    ) -> str:
        """Keep the whole difference of a task as a patch, and what a patch cannot hold as a list."""
        if not verdict.all and not verdict.refused:
            log.say("task.kept_aside", patch="")
            return ""
        folder = self._folder / "aside" / _file_name(self._plan.feature)

        def work() -> str:
            make_state_folder(self._folder)
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{_file_name(planned.task.id)}-{log.attempt}"
            patch = folder / f"{name}.patch"
            with suppress(GitRefusedError):
                patch.write_bytes(patch_of(self._git, space, verdict.all))
            told = {
                "task": planned.task.id,
                "base": space.base,
                "changed": [*verdict.changed],
                "refused": [one._asdict() for one in verdict.refused],
            }
            (folder / f"{name}.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
            return os.path.relpath(patch, self._pipeline.config.root)

        patch = await shielded(work)
        log.say("task.kept_aside", patch=patch)
        return patch


def _file_name(text: str) -> str:
    """A name of a feature or task as that of a file."""
    return re.sub(r"[^\w.-]|^\.+", "_", text)[:100] or "_"


class _TaskLog:
    """Puts what happens to an attempt at a task on record."""

    def __init__(self, pipeline: Pipeline, feature: str, task: Task) -> None:
        self.attempt = new_id()
        self._pipeline = pipeline
        self._about = {"exchange_id": self.attempt, "feature_id": feature, "question_id": task.id}

    def event(self, kind: str, **data: Any) -> Event:
        """An event that is stored together with the record."""
        event = Event(kind, self.attempt, {**self._about, **data}, f"{self.attempt}-{new_id()}")
        show(event, self._pipeline.observers)
        return event

    def say(self, kind: str, **data: Any) -> None:
        """Put something on record; the record that follows makes it durable."""
        self._pipeline.journal.append((self.event(kind, **data),))


def _status(planned: PlannedTask, ended: EndedAgent, verdict: Verdict) -> tuple[str, str]:
    """How a task has ended, and why, before it lands."""
    if ended.timed_out:
        return "timed_out", ended.reason
    if verdict.refused:
        first = verdict.refused[0]
        more = f" and {len(verdict.refused) - 1} more" if len(verdict.refused) > 1 else ""
        return "blocked_by_scope", f"{first.path}: {first.reason}{more}"
    if ended.reason:
        return "failed", ended.reason
    if not verdict.allowed and planned.assignment.role != "degaulle":
        return "failed", _NOTHING
    return "succeeded", ""


def _same(text: bytes, task: Task) -> tuple[str, Task] | None:
    """The task in a file as it is now, by its id and its title, wherever it is; None where it is not there once."""
    try:
        now = text.decode()
    except UnicodeDecodeError:
        return None
    found = [one for one in read_tasks(now).tasks if (one.id, one.title) == (task.id, task.title)]
    return (now, found[0]) if len(found) == 1 else None


def _ticked(text: bytes, task: Task) -> bytes | None:
    found = _same(text, task)
    if found is None or found[1].done:
        return None
    return with_mark(*found).encode()


def _is_ticked(file: Path, task: Task) -> bool:
    try:
        found = _same(file.read_bytes(), task)
    except OSError:
        return False
    return found is not None and found[1].done
