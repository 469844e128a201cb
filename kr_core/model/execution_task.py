"""A task as a program hands it to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from kr_core.model.base import Value

__all__ = ["GRANT_TOPIC", "ExecutionTask"]

GRANT_TOPIC = "dispatch/grant"
"""The topic of a question whether a task may change a path outside of its scope."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
TaskId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^/]+$")]
"""Without `/`, which parts it from the feature where a task is named as FEATURE/TASK."""


class ExecutionTask(Value):
    """A task for a specialist who may write certain folders.

    `paths` are those that the task names; `related` are others that help, such as its tests. `criteria` say when it is
    done. `file` is spec-kit's file of tasks, whose box KR ticks when the work lands; empty if there is none.
    """

    id: TaskId
    title: Line
    feature_id: Line = "general"
    phase: str = ""
    story: str = ""
    paths: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    file: str = Field(default="", max_length=4096)
