"""What all tasks of a run share: the repository, the sandbox, and that no other run is under way."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.aio import shielded
from kr_core.dispatch import sandbox
from kr_core.dispatch.gate import Refusal
from kr_core.dispatch.grants import Grants
from kr_core.dispatch.project_guard import ProjectGuard
from kr_core.dispatch.record import keep, records
from kr_core.dispatch.workspace import remove_folder
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.files import make_state_folder, try_lock
from kr_core.git.commit import require_ready
from kr_core.git.landing import resume
from kr_core.git.repository import Git
from kr_core.git.worktree import GitRefusedError
from kr_core.model import Event, new_id
from kr_core.protocols import TaskWorker
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from kr_core.dispatch.project_guard import FoundChange
    from kr_core.model.routing import AgentProfile
    from kr_core.research import Pipeline

__all__ = ["ENDED_WITH_KR", "UNCONFINED", "DispatchSession", "Worker", "open_repository"]

UNCONFINED = (
    "WARNING: no sandbox works here, so agents run with all your rights; what they change outside of their scopes is found and put"
    " back afterwards. Do not work in this repository meanwhile. Install bubblewrap, or a kernel with Landlock"
)
ENDED_WITH_KR = "KR was ended while it ran"


class Worker(NamedTuple):
    """Who does a role's tasks."""

    profile: AgentProfile
    component: TaskWorker


def open_repository(root: Path, environ: Mapping[str, str] = os.environ) -> Git:
    """The project's repository, ready for work to land.

    Raises:
        ConfigError: there is none, it cannot be used, or no branch is checked out.
    """
    where = printable(str(root))
    try:
        git = Git.open(Path(os.path.realpath(root)), environ)
        if git is None:
            raise ConfigError(
                "is not in a git work tree", where=where, hint="`git init`, and commit what is there"
            )
        require_ready(git, environ)
        if not git.branch():
            raise ConfigError("no branch is checked out", where=where, hint="check out the feature's branch")
        if not git.head():
            raise ConfigError("the branch has no commit yet", where=where, hint="commit what is there")
        git("var", "GIT_COMMITTER_IDENT")
    except (GitRefusedError, OSError) as error:
        raise ConfigError(
            printable(str(error)), where=where, hint="mend it, and run the tasks again"
        ) from error
    return git


class DispatchSession:
    """The tasks of one project that run together.

    Args:
        pipeline: the project's.
        tell: called with a line for each thing that a person should know at once.
        confinements: the sandboxes to try, in order.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        tell: Callable[[str], object] = lambda _line: None,
        confinements: Sequence[str] = sandbox.NAMES,
    ) -> None:
        self.pipeline = pipeline
        self.tell = tell
        self.state = pipeline.config.state_folder
        self.folder = self.state / "dispatch"
        self.git = open_repository(pipeline.config.root, pipeline.config.environ)
        self.branch = self.git.branch()
        self.sandbox = "none"
        self.places = asyncio.Semaphore(1)
        """One for each agent that may run: without a sandbox one alone, which else could write in another's worktree."""
        self.landing = asyncio.Lock()
        """Held by who lands work, or looks at the project."""
        self.grants = Grants(pipeline)
        self.running: dict[str, list[Refusal]] = {}
        """The attempts whose agents run, with what was found in the project meanwhile."""
        self._confinements = confinements
        self._guard: ProjectGuard | None = None
        self._noted: set[str] = set()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Be the only run of the project, and bring to an end what an earlier one has left.

        Raises:
            ConfigError: another run is under way, or what was left cannot be gone on with.
        """
        make_state_folder(self.state)
        with try_lock(self.folder / "run.lock") as ours:
            if not ours:
                raise ConfigError(
                    "another `kr dispatch run` is under way in this project",
                    hint="wait for its end, or end it",
                )
            await shielded(self._resume)
            self.sandbox = await asyncio.to_thread(sandbox.choose, self._confinements)
            if self.sandbox != "none":
                self.places = asyncio.Semaphore(self.pipeline.config.settings.defaults.max_concurrent)
            else:
                self.tell(UNCONFINED)
                self._guard = await shielded(
                    lambda: ProjectGuard(self.git, self.state, self.folder / "aside")
                )
            yield

    def worker(self, role: str) -> Worker:
        """Who does a role's tasks.

        Raises:
            ConfigError: the agent does not exist, does no tasks, or is not trusted.
        """
        config = self.pipeline.config
        named = {str(key): name for key, name in config.settings.dispatch.roles.items()}
        name = named.get(role, role)
        agents = config.routing.agents
        where = config.origin(("dispatch", "roles", role) if role in named else ("agents", role))
        profile = agents.get(name)
        if profile is None:
            raise ConfigError(
                f"no agent is called `{name}`", where=where, hint=suggestion(name, agents, "agents")
            )
        component = self.pipeline.components.agent(profile)
        if not isinstance(component, TaskWorker):
            raise ConfigError(
                f"the plugin `{profile.plugin}` of `{name}` answers questions, and does no tasks",
                where=where,
                hint=f"set `agents.{name}.plugin` to one that does, such as an instance of `command`",
            )
        return Worker(profile, component)

    async def check_project(self) -> list[FoundChange]:
        """Without a sandbox: find what was changed in the project, by an agent that has ended or one beside it."""
        guard = self._guard
        if guard is None:
            return []
        async with self.landing:
            found = await shielded(guard.check)
            for one in found:
                refusal = Refusal(one.name, "it changed the project itself, outside of its worktree")
                for refused in self.running.values():
                    refused.append(refusal)
            return found

    async def landed(self) -> None:
        """Take what is in the project now for right; the lock is held."""
        if self._guard is not None:
            await shielded(self._guard.look)

    async def deliver(self) -> None:
        """Hand the logs what has happened so far: a run may take hours, and be killed."""
        try:
            notes = await shielded(self.pipeline.deliver_logs)
        except KRError as error:  # a log that fails ends no task
            notes = [str(error)]
        for note in notes:
            if note not in self._noted:
                self._noted.add(note)
                self.tell(note)

    def _resume(self) -> None:
        """Bring to an end what a run that was killed has left: half a landing, records, worktrees."""
        try:
            resume(self.git, self.folder / "landing.json")
        except (GitRefusedError, OSError) as error:
            raise ConfigError(
                f"a landing that was interrupted cannot be gone on with: {error}", hint="mend it"
            ) from error
        for record in list(records(self.pipeline.journal, status="running")):
            ended = {"status": "failed", "reason": ENDED_WITH_KR, "finished": dt.datetime.now(dt.UTC)}
            data = {
                "exchange_id": record.attempt, "feature_id": record.feature, "question_id": record.id, "status": "failed",
                "reason": ENDED_WITH_KR, "role": record.role, "agent": record.agent, "seconds": 0.0,
            }  # fmt: skip
            event = Event("task.finished", record.attempt, data, f"{record.attempt}-{new_id()}")
            keep(self.pipeline.journal, record.model_copy(update=ended), [event])
        remove_folder(self.folder / "work")
