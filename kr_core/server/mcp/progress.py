"""What a call is doing, sent to a client that asked to be told."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from kr_core.server.served_project import told_to
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.context import ServerRequestContext

    from kr_core.model import Event

__all__ = ["said", "shown_to"]

_LONGEST = 200
_STEP = 10
"""Of files that are read, every so many are told."""


@asynccontextmanager
async def shown_to(context: ServerRequestContext[Any, Any]) -> AsyncIterator[None]:
    """Tell the client of the events that happen meanwhile, if it wants to know; all of it before its answer."""
    if (context.meta or {}).get("progress_token") is None:
        yield
        return
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[str | None] = asyncio.Queue()

    def tell(event: Event) -> None:
        line = said(event)
        if line:
            loop.call_soon_threadsafe(waiting.put_nowait, line)

    async def send() -> None:
        number = 0
        while (line := await waiting.get()) is not None:
            number += 1
            await context.session.report_progress(number, message=line)

    sending = asyncio.create_task(send())
    token = told_to.set(tell)
    try:
        yield
        loop.call_soon_threadsafe(waiting.put_nowait, None)  # behind what other threads have said
        await asyncio.wait([sending])
    finally:
        told_to.reset(token)
        sending.cancel()


def said(event: Event) -> str:
    """An event in words; empty where it is not worth telling."""
    return printable(" ".join(_words(event.kind, event.data).split()))[:_LONGEST]


def _words(kind: str, data: dict[str, Any]) -> str:
    match kind:
        case "index.progress" if data["done"] in {0, data["total"]} or data["done"] % _STEP == 0:
            return f"reading {data['package']}: {data['done']} of {data['total']} files"
        case "source.started":
            return f"asking {data['source']}"
        case "source.finished":
            return f"{data['source']}: {data['outcome']}, {data['passages']} passages"
        case "agent.started" | "synthesis.started":
            return f"asking {data['agent']}"
        case "cycle.started":
            return f"cycle {data['cycle']}{' again' if data['attempt'] == 2 else ''}"
        case "cycle.finished":
            return (
                f"cycle {data['cycle']}: {data['new_axioms']} new axioms, {data['new_sources']} new documents"
            )
        case "agent.failed":
            return f"{data['agent']}: {data['outcome']}: {data['reason']}"
        case "answer.gated":
            return str(data["reason"])
        case "escalation.opened":
            return f"a human has to decide: {data['escalation_id']}"
        case _:
            return ""
