"""What the events of a task of `kr dispatch` tell: from its dispatch to its end, what it changed and what was refused."""

from typing import TypedDict


class OfTask(TypedDict):
    """What every event of a task has: its attempt (the run), its feature and its id in the file.

    `exchange_id` is the attempt, and `question_id` the task, as the log lists both.
    """

    exchange_id: str
    feature_id: str
    question_id: str


class TaskRefusal(TypedDict):
    """A path that a task may not change, and why."""

    path: str
    reason: str


class TaskDispatched(OfTask):
    """KR sends a task to a role's agent; `reason` says why to this role, `allow` and `deny` are the role's scope."""

    file: str
    title: str
    role: str
    reason: str
    agent: str
    plugin: str
    branch: str
    allow: list[str]
    deny: list[str]
    granted: list[str]


class TaskStarted(OfTask):
    """Its agent starts in a worktree of the commit `base`, confined by `sandbox` (`bubblewrap`, `landlock`, `none`)."""

    base: str
    sandbox: str
    timeout_seconds: int


class TaskEnded(OfTask):
    """Its agent has ended: its exit code (None if KR ended it), and what it printed, at most 64 kB, without secrets."""

    code: int | None
    reason: str
    seconds: float
    output: str


class TaskJudged(OfTask):
    """The verdict on its work: the paths inside the scope that differ, and those that were refused."""

    changed: list[str]
    refused: list[TaskRefusal]


class TaskLanded(OfTask):
    """Its work is the commit `commit` of the branch; `ticked` says whether its box is."""

    commit: str
    ticked: bool


class TaskKeptAside(OfTask):
    """Its work did not land; its whole difference is this patch, relative to the project. Empty if there was none."""

    patch: str


class TaskRestored(OfTask):
    """Without a sandbox: what was changed in the project itself while it ran, and whether KR has put it back."""

    name: str
    restored: bool
    found: str


class TaskReviewed(OfTask):
    """A reviewer's words are on the pull request at `places`; empty where only `task.ended` has them."""

    places: list[str]


class TaskGrantRequested(OfTask):
    """A person is asked, by the case `escalation_id`, whether this task may change this path outside of its scope."""

    path: str
    escalation_id: str


class TaskFinished(OfTask):
    """How it ended: `succeeded`, `failed`, `timed_out`, `blocked_by_scope`, or `queued` where it was not begun."""

    status: str
    reason: str
    role: str
    agent: str
    seconds: float
