"""Tasks dispatched by a client, and how far they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.aio import shielded
from kr_core.dispatch.jobs import planned_role, status_of
from kr_core.dispatch.record import record_of_key
from kr_core.errors import ConfigError
from kr_core.model.execution_task import ExecutionTask

if TYPE_CHECKING:
    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.server.mcp import tool_arguments

__all__ = ["dispatched", "status_values", "task_lines"]

_SHOWN = 20
"""Paths of a task that are listed."""


async def dispatched(
    service: AsyncKnowledgeRouterService, given: tool_arguments.DispatchTaskArguments
) -> dict[str, Any]:
    """Start a task, and say how it is.

    Raises:
        ConfigError: the task, the role, its agent or the repository is wrong.
    """
    task = ExecutionTask(
        id=given.task,
        title=given.title or given.task,
        feature_id=given.feature_id,
        paths=given.paths,
        criteria=given.criteria,
        file=given.file,
    )
    if not (given.file or given.title):
        raise ConfigError(
            "names no task", where="title, file", hint="give spec-kit's tasks.md as `file`, or a `title`"
        )
    role = given.role or await shielded(lambda: planned_role(service.pipeline, task))
    handle = await service.dispatch_task(task, role)
    return await status_values(service, f"{handle.feature_id}/{handle.question_id}")


async def status_values(service: AsyncKnowledgeRouterService, handle: str) -> dict[str, Any]:
    """Where a task is.

    Raises:
        ConfigError: it was never dispatched.
    """
    record = await shielded(lambda: record_of_key(service.pipeline.journal, handle))
    if record is None:
        raise ConfigError(
            "no task has this handle", where=handle, hint="`dispatch_task` returns it: FEATURE/TASK"
        )
    status = status_of(record).model_dump(mode="json", exclude={"answer"})
    return {
        "handle": record.key,
        "title": record.title,
        "role": record.role,
        "commit": record.commit,
        "waits_for": [one.escalation for one in record.requests if not one.answer],
        **status,
    }


def task_lines(values: dict[str, Any]) -> list[str]:
    """The same in words."""
    said = f": {values['error']}" if values["error"] else ""
    lines = [f"{values['handle']} {values['role']} {values['state']}{said}"]
    for name, paths in (("landed", values["changed"]), ("refused", values["refused"])):
        lines += [f"{name}: {path}" for path in paths[:_SHOWN]]
        lines += [f"and {len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else []
    if values["waits_for"]:
        lines.append(
            f"A person is asked to grant paths: {', '.join(values['waits_for'])}. `answer_escalation` shows them the case."
        )
    if values["state"] in {"queued", "running"}:
        lines.append(f'Look again later: get_agent_status(handle="{values["handle"]}").')
    elif values["log"]:
        lines += ["", "Its agent printed:", values["log"].rstrip()]
    return lines
