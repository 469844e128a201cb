"""The ways to a human as they are called: with a way out of the machine, and a time limit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from kr_core.pipeline.context import Context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kr_core.pipeline.pipeline import Pipeline
    from kr_core.protocols import SinkContext

__all__ = ["CALL_SECONDS", "call"]

Result = TypeVar("Result")
CALL_SECONDS = 30
"""How long a sink may take for one thing; what it has not done then is tried again later."""


async def call(
    pipeline: Pipeline,
    sink: str,
    emit: Callable[[str, dict[str, Any]], None],
    work: Callable[[SinkContext], Awaitable[Result]],
) -> Result:
    """Let a sink do something.

    Args:
        pipeline: the project's.
        sink: its name.
        emit: is told what it reports; its requests as `sink.request`.
        work: calls it with its context.

    Raises:
        TimeoutError: it took too long.
        Exception: whatever the sink raises.
    """

    def told(kind: str, data: dict[str, Any]) -> None:
        if kind == "source.request":
            rest = {key: value for key, value in data.items() if key != "source"}
            kind, data = "sink.request", {"sink": sink, **rest}
        emit(kind, data)

    deadline = asyncio.get_running_loop().time() + CALL_SECONDS
    context = Context(pipeline.project, told, deadline, pipeline.components.outside, f"escalation {sink}")
    limit = asyncio.timeout_at(deadline)
    try:
        async with limit:
            return await work(context)
    except TimeoutError:
        if not limit.expired():
            raise
        raise TimeoutError(f"took longer than {CALL_SECONDS} s") from None
    finally:
        await context.close()
