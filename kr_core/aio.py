"""Work in an event loop that may be cancelled: a call that will not stop is left behind, a write is seen to its end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")

GRACE_SECONDS = 1.0
"""How long a cancelled call may take to clean up before it is left behind."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end and return its result, as `asyncio.run` does, but leave behind what will not stop.

    `asyncio.run` waits for ever for a task that swallows its cancellation, and for threads that tasks have started.
    """
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    try:
        return runner.run(work)
    finally:
        _close(runner)


def _close(runner: asyncio.Runner) -> None:
    loop = runner.get_loop()
    runner.run(end_tasks())
    with _pools_lock:
        pool = _pools.pop(loop, None)
    if pool is not None:
        pool.shutdown(wait=False)  # whoever still refers to the loop would keep its threads
    loop.close()  # tells the threads of its executor to end, and does not wait for them


async def cancel_tasks(seconds: float = GRACE_SECONDS) -> None:
    """Cancel what else runs in this loop, and wait so long for it to end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=seconds)


async def end_tasks() -> None:
    """Cancel what else runs in this loop before it is closed; what does not end in time is left behind in silence."""
    loop = asyncio.get_running_loop()
    await cancel_tasks()
    await loop.shutdown_asyncgens()
    loop.set_exception_handler(lambda _loop, _context: None)  # what was left behind has been noted already


async def wait_or_abandon(waited: asyncio.Future[Any], seconds: float | None = None) -> BaseException | None:
    """Wait until it is done, or so many seconds are over, whoever cancels meanwhile and however often.

    The scopes of anyio, with which Starlette and FastAPI cancel, do so again at every turn of the loop.

    Returns:
        The first cancellation, which the caller raises when everything is in order.
    """
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    cancelled: BaseException | None = None
    while not waited.done() and (end is None or loop.time() < end):
        try:
            await asyncio.wait({waited}, timeout=None if end is None else end - loop.time())
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    return cancelled


async def shielded(
    work: Callable[[], Result], when_cancelled: Callable[[Result], object] | None = None
) -> Result:
    """Do what reads and writes files in a thread; a cancellation waits for it, since a thread cannot be stopped.

    So nothing goes on behind the caller's back, and a pipeline may be closed right afterwards.

    Args:
        work: takes milliseconds.
        when_cancelled: called in the same way with the result where nobody else will see it.
    """
    # no task: whoever cancels all tasks of a loop cancels only the one that waits here
    done = _in_executor(work)
    cancelled = await wait_or_abandon(done)
    if cancelled is None:
        return done.result()
    if not done.cancelled() and done.exception() is None and when_cancelled is not None:
        await wait_or_abandon(_in_executor(lambda: when_cancelled(done.result())))
    raise cancelled


_FILE_THREADS = 2
"""So many of a loop read and write files at once. More would not be quicker, since Python runs one of them at a time, and the
loop would wait behind all of them for its turn."""
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()
_pools_lock = threading.Lock()


def release_threads() -> None:
    """Let the running loop's threads for files end once they are idle; whoever needs them later has new ones.

    A loop that is not run by `run` would keep them as long as anybody refers to it.
    """
    with _pools_lock:
        pool = _pools.pop(asyncio.get_running_loop(), None)
    if pool is not None:
        pool.shutdown(wait=False)


def _in_executor(work: Callable[[], Result]) -> asyncio.Future[Result]:
    loop = asyncio.get_running_loop()
    with _pools_lock:
        pool = _pools.get(loop)
        if pool is None:
            pool = _pools[loop] = ThreadPoolExecutor(_FILE_THREADS, "kr-files")
    return loop.run_in_executor(pool, contextvars.copy_context().run, work)


def consume_exception(task: asyncio.Future[Any]) -> None:
    """Take notice of how it ended; what was dropped may fail while nobody waits for it."""
    if not task.cancelled():
        task.exception()


def in_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Begin work that may never end, in a thread for which nobody waits: neither the loop at its close nor Python."""
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()  # who gives up waiting cancels nothing but that
    context = contextvars.copy_context()

    def go() -> None:
        try:
            result = context.run(work)
        except BaseException as error:  # it is the waiting one's
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=go, name="kr-build", daemon=True).start()
    return asyncio.wrap_future(done)
