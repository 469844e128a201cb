"""Whether a component ends when it is cancelled, wherever it is then."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["cancelled"]


async def cancelled(
    work: Coroutine[Any, Any, object], seconds: float, grace: float, who: str, what: str
) -> str:
    """Cancel work of a component at its deadline.

    Args:
        work: what it does.
        seconds: until then.
        grace: seconds that it may take to end.
        who: `the source`, in the message.
        what: `an answer`, what it makes where it is not cancelled.

    Returns:
        What is wrong; empty where it ended, or was done before.
    """
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    await asyncio.sleep(0)  # it has begun, and waits for the first time
    if task.done():
        return ""  # there was nothing left to cancel
    task.cancel()
    await asyncio.wait({task}, timeout=grace)
    if not task.done():
        return f"{who} went on for {grace:g} s after it was cancelled"
    if task.cancelled():
        return ""
    error = task.exception()
    made = f"{type(error).__name__}: {error}" if error else what
    return f"{who} made {made} of its cancellation"
