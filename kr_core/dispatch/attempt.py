"""One attempt at a task: a worktree, the agent, the verdict, and the work landed or kept aside."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.aio import shielded
from kr_core.dispatch import sandbox
from kr_core.dispatch.agent_process import EndedAgent, run_agent
from kr_core.dispatch.aside import kept_aside
from kr_core.dispatch.gate import Verdict, judge, objects_of, patch_of, require_own_names, without_ignored
from kr_core.dispatch.grants import MOST
from kr_core.dispatch.record import GrantRequest, RefusedPath, TaskLog, TaskRecord, keep
from kr_core.dispatch.reviews import post_review, review_of
from kr_core.dispatch.scopes import REVIEWER
from kr_core.dispatch.session import ENDED_WITH_KR
from kr_core.dispatch.workspace import open_workspace, remove_folder
from kr_core.errors import KRError
from kr_core.git.landing import Rewrite, land
from kr_core.git.worktree import GitRefusedError
from kr_core.speckit.task_file import read_tasks, with_mark
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.dispatch.grants import Decisions
    from kr_core.dispatch.plan import Plan, PlannedTask
    from kr_core.dispatch.scopes import Scope
    from kr_core.dispatch.session import DispatchSession, Worker
    from kr_core.dispatch.workspace import Workspace
    from kr_core.speckit.task_file import Task

__all__ = ["TaskAttempts"]

_NOTHING = "it changed nothing"
_SUBJECT = 72
_MOST_FILES = 5_000
"""Files that one task may land; an agent that changes more has lost its way."""


class _Outcome(NamedTuple):
    """What an attempt at a task came to, before it is on record."""

    status: str
    reason: str
    verdict: Verdict | None = None
    commit: str = ""
    patch: str = ""
    output: str = ""
    requests: tuple[GrantRequest, ...] = ()


class TaskAttempts:
    """Attempts at the tasks of one plan.

    Args:
        session: what they share with others.
        plan: of the file.
        file: its path relative to the project; empty if there is none.
    """

    def __init__(self, session: DispatchSession, plan: Plan, file: str) -> None:
        self._session = session
        self._plan = plan
        self._file = file
        self._pipeline = session.pipeline
        self._folder = session.folder
        self._git = session.git
        self._tell = session.tell
        self._landings: dict[str, _Outcome] = {}
        """What has landed and is not on record yet, by attempt."""

    async def run(
        self, planned: PlannedTask, worker: Worker, decided: Decisions, *, last: bool
    ) -> tuple[TaskRecord, bool]:
        """Make an attempt; its record, and whether another one is worth it: the branch has changed in the same places meanwhile.

        Args:
            planned: the task.
            worker: who does it.
            decided: what people have said of the paths that it asked for.
            last: whether no other follows.
        """
        task, found = planned.task, planned.assignment
        scope = self._scope(found.role)
        log = TaskLog(self._pipeline, self._plan.feature, task)
        loop = asyncio.get_running_loop()
        began = loop.time()
        record = TaskRecord(
            feature=self._plan.feature, id=task.id, title=task.title, role=found.role, agent=worker.profile.name,
            status="running", attempt=log.attempt, file=self._file, started=dt.datetime.now(dt.UTC), requests=decided.requests,
        )  # fmt: skip
        dispatched = log.event(
            "task.dispatched", file=self._file, title=task.title, role=found.role, reason=found.reason,
            agent=worker.profile.name, plugin=worker.profile.plugin, branch=self._session.branch, allow=list(scope.allow),
            deny=list(scope.deny), granted=list(decided.granted),
        )  # fmt: skip
        await shielded(lambda: keep(self._pipeline.journal, record, [dispatched]))
        self._tell(f"{task.id} {found.role}: {task.title}")
        work = self._folder / "work" / log.attempt
        came, again = _Outcome("failed", ENDED_WITH_KR), False
        try:
            try:
                came, again = await self._worked(planned, worker, decided, log, work, last=last)
            except (GitRefusedError, OSError, KRError) as error:
                came = _Outcome("failed", printable(str(error)))
            finally:
                await shielded(lambda: remove_folder(work))
        finally:  # what has landed is on record, whenever KR is ended
            came = self._landings.pop(log.attempt, came)
            done = await self._finish(record, came, decided, log, loop.time() - began)
        if came.status == "succeeded" and found.role == REVIEWER and came.output.strip():
            await self._review(planned, log, came.output)
        return done, again

    def _scope(self, role: str) -> Scope:
        """What a role may write; never the file of the tasks, by which KR goes on."""
        scope = self._plan.scopes[role]
        path = self._path()
        return scope if path is None else scope._replace(deny=(*scope.deny, f"./{path}"))

    def _path(self) -> str | None:
        """The file of the tasks as git names it; None if there is none."""
        file = self._plan.file
        return None if file is None else Path(os.path.realpath(file)).relative_to(self._git.top).as_posix()

    async def _finish(
        self, record: TaskRecord, came: _Outcome, decided: Decisions, log: TaskLog, seconds: float
    ) -> TaskRecord:
        verdict = came.verdict
        refused = [] if verdict is None else verdict.told
        # What lands may be less than what was changed: then nothing has landed, and nothing counts as changed.
        changed = verdict.changed if verdict is not None and came.status == "succeeded" else ()
        requests = {one.path: one for one in (*decided.requests, *came.requests)}
        done = record.model_copy(
            update={
                "status": came.status,
                "reason": came.reason,
                "finished": dt.datetime.now(dt.UTC),
                "changed": changed,
                "refused": tuple(RefusedPath(**one) for one in refused),
                "commit": came.commit,
                "patch": came.patch,
                "requests": tuple(requests.values()),
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
        self,
        planned: PlannedTask,
        worker: Worker,
        decided: Decisions,
        log: TaskLog,
        work: Path,
        *,
        last: bool,
    ) -> tuple[_Outcome, bool]:
        """Let the agent work, and judge it; whether it is worth another attempt."""
        base = await shielded(self._git.head)
        space = await shielded(lambda: open_workspace(self._git, work / "tree", base, self._session.branch))
        ended = await self._ran(planned, worker, decided, log, space, work)
        found = self._session.running.pop(log.attempt, [])
        whole = Verdict((), (), ())
        try:
            whole = await shielded(
                lambda: judge(space, self._scope(planned.assignment.role), decided.granted)
            )
            verdict = await shielded(lambda: without_ignored(self._git, whole))
        except (GitRefusedError, OSError) as error:
            patch = await self._kept_aside(log, space, whole, planned)
            what = "git cannot say what it ignores" if whole.all else "its worktree cannot be read"
            reason = f"{what}: {printable(str(error))}"
            return _Outcome("failed", reason, patch=patch, output=ended.output), False
        verdict = verdict._replace(refused=(*verdict.refused, *found))
        log.say("task.judged", changed=list(verdict.changed), refused=verdict.told)
        status, reason = _status(planned, ended, verdict)
        if reason == _NOTHING and whole.changed:
            reason = f"{_NOTHING} except files that git ignores: {', '.join(whole.changed[:3])}"
        if status == "succeeded":
            came = _Outcome(status, "", verdict, output=ended.output)
            try:
                return await self._landed(planned, log, space, verdict, came), False
            except GitRefusedError as error:
                if not last and "meanwhile" in str(error):
                    return _Outcome("failed", f"{error}; KR runs it again", output=ended.output), True
                status, reason = "failed", printable(str(error))
        blocked = status == "blocked_by_scope" and not found
        wanted = await self._grantable(space, verdict, planned, decided) if blocked else []
        patch = await self._kept_aside(log, space, verdict, planned)  # which takes large files away
        requests = await self._requests(log, space, verdict, planned, wanted) if wanted else ()
        return _Outcome(status, reason, verdict, "", patch, ended.output, requests), False

    async def _ran(
        self,
        planned: PlannedTask,
        worker: Worker,
        decided: Decisions,
        log: TaskLog,
        space: Workspace,
        work: Path,
    ) -> EndedAgent:
        profile = worker.profile
        scope = self._scope(planned.assignment.role)
        order = planned.order(self._plan.feature, decided.granted)
        order["scope"] = {"allow": list(scope.allow), "deny": list(scope.deny)}
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
        supervised = sandbox.order(self._session.sandbox, confinement, argv, program.environment)
        log.say(
            "task.started",
            base=space.base,
            sandbox=self._session.sandbox,
            timeout_seconds=profile.timeout_seconds,
        )
        self._session.running[log.attempt] = []
        loop = asyncio.get_running_loop()
        began = loop.time()
        ended = await run_agent(supervised, program.stdin, space.tree, profile.timeout_seconds)
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

    async def _landed(
        self, planned: PlannedTask, log: TaskLog, space: Workspace, verdict: Verdict, came: _Outcome
    ) -> _Outcome:
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

        def work() -> tuple[_Outcome, bool]:
            require_own_names(self._git, space, verdict.allowed)
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
            landed = self._landings[log.attempt] = came._replace(commit=landing.commit)
            return landed, file is not None and landing.rewritten and _is_ticked(file, task)

        async with self._session.landing:
            landed, ticked = await shielded(work)
            await self._session.landed()
        if file is not None and not ticked:
            self._tell(f"{task.id} has landed, and its box cannot be found in {file.name} any more")
        log.say("task.landed", commit=landed.commit, ticked=ticked)
        return landed

    async def _kept_aside(
        self, log: TaskLog, space: Workspace, verdict: Verdict, planned: PlannedTask
    ) -> str:
        """Keep the whole difference of a task aside; the patch's path, empty where nothing differs."""
        patch = ""
        if verdict.all or verdict.refused:
            name = (self._plan.feature, planned.task.id, log.attempt)
            file = await shielded(lambda: kept_aside(self._git, self._folder, name, space, verdict))
            patch = os.path.relpath(file, self._pipeline.config.root)
        log.say("task.kept_aside", patch=patch)
        return patch

    async def _review(self, planned: PlannedTask, log: TaskLog, output: str) -> None:
        """Post what a reviewer printed."""
        review = review_of(planned, self._plan.feature, self._session.branch, log.attempt, output)
        places, notes = await post_review(self._pipeline, review, lambda kind, data: log.say(kind, **data))
        reviewed = log.event("task.reviewed", places=places)
        await shielded(lambda: self._pipeline.journal.append((reviewed,)).result())
        await self._session.deliver()
        for line in (*(f"{planned.task.id}: its review is at {place}" for place in places), *notes):
            self._tell(line)

    async def _grantable(
        self, space: Workspace, verdict: Verdict, planned: PlannedTask, decided: Decisions
    ) -> list[str]:
        """The paths outside of the scope, where these are all that keep the work from landing."""
        scope = self._scope(planned.assignment.role)
        wanted = [
            path for path in dict.fromkeys(one.path for one in verdict.refused) if scope.is_grantable(path)
        ]
        if not wanted or len(wanted) > MOST or {*wanted} & {*decided.denied}:
            return []
        judged = await shielded(lambda: judge(space, scope, (*decided.granted, *wanted)))
        return [] if judged.refused else wanted

    async def _requests(
        self, log: TaskLog, space: Workspace, verdict: Verdict, planned: PlannedTask, wanted: Sequence[str]
    ) -> tuple[GrantRequest, ...]:
        """Ask a person for paths."""
        patches = await shielded(lambda: {path: self._patch(space, verdict, path) for path in wanted})
        requests, notes = await self._session.grants.request(planned, self._plan.feature, patches)
        for one in requests:
            log.say("task.grant_requested", path=one.path, escalation_id=one.escalation)
            self._tell(
                f"{planned.task.id} asks to change {one.path}: `kr inbox choose {one.escalation} yes`, or no"
            )
        for note in notes:
            self._tell(note)
        return tuple(requests)

    def _patch(self, space: Workspace, verdict: Verdict, path: str) -> str:
        """What a task would change in one path: a case shows no more than its own, so that none hides another."""
        patch = patch_of(self._git, space, [one for one in verdict.all if one.path == path])
        return printable(patch.decode("utf-8", "replace"))


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
    if len(verdict.allowed) > _MOST_FILES:
        return "failed", f"it changed {len(verdict.allowed):,} files; one task lands {_MOST_FILES:,} at most"
    if not verdict.allowed and planned.assignment.role != REVIEWER:
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
