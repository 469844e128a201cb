"""The router with plain methods: an event loop of its own, in a thread of its own, does the work."""

from __future__ import annotations

import asyncio
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from kr_core.aio import cancel_tasks, end_tasks
from kr_core.ask.async_service import AsyncKnowledgeRouterService
from kr_core.ask.router_parts import END_SECONDS, BaseRouterService
from kr_core.ask.worker_loop import TEND_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from kr_core.research import Pipeline

__all__ = ["KnowledgeRouterService"]

Result = TypeVar("Result")
_Parameters = ParamSpec("_Parameters")


def _blocking(
    method: Callable[Concatenate[AsyncKnowledgeRouterService, _Parameters], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[KnowledgeRouterService, _Parameters], Result]:
    """A coroutine method as a plain one: its work is done in the service's thread."""

    @wraps(method)
    def run(self: KnowledgeRouterService, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> Result:
        return self._run(method(self._service, *args, **kwargs))

    run.__doc__ = f"See `AsyncKnowledgeRouterService.{method.__name__}`."
    return run


class KnowledgeRouterService(BaseRouterService):
    """The same with plain methods, for programs without an event loop; work in progress runs in its own thread.

        with KnowledgeRouterService() as service:
            result = service.ask(Question(text="Which session store should we use?", topic="authentication"))

    Args:
        pipeline: the project's pipeline; closing the service closes it. Default: the pipeline of the working folder.
    """

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        self._service = AsyncKnowledgeRouterService(pipeline)
        self._parts = self._service._parts  # noqa: SLF001  both faces have one core
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kr-service", daemon=True)
        self._thread.start()

    ask = _blocking(AsyncKnowledgeRouterService.ask)
    ask_all = _blocking(AsyncKnowledgeRouterService.ask_all)
    research = _blocking(AsyncKnowledgeRouterService.research)
    reply = _blocking(AsyncKnowledgeRouterService.reply)
    chat = _blocking(AsyncKnowledgeRouterService.chat)
    tend = _blocking(AsyncKnowledgeRouterService.tend)
    receive = _blocking(AsyncKnowledgeRouterService.receive)

    work = _blocking(AsyncKnowledgeRouterService.work)

    def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> None:
        """See `AsyncKnowledgeRouterService.keep_tending`; here it runs in the background until the service is closed.

        Raises:
            StorageError: the service is closed.
        """
        self._check_open()
        asyncio.run_coroutine_threadsafe(self._service.keep_tending(tell, every_seconds), self._loop)

    def wake(self) -> None:
        """See `AsyncKnowledgeRouterService.wake`; call it from any thread. A closed service ignores it."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._service.wake)

    history = _blocking(AsyncKnowledgeRouterService.history)
    route_question = _blocking(AsyncKnowledgeRouterService.route_question)
    submit_answer = _blocking(AsyncKnowledgeRouterService.submit_answer)
    escalate_to_human = _blocking(AsyncKnowledgeRouterService.escalate_to_human)
    handle_human_response = _blocking(AsyncKnowledgeRouterService.handle_human_response)
    dispatch_task = _blocking(AsyncKnowledgeRouterService.dispatch_task)
    get_qa_log = _blocking(AsyncKnowledgeRouterService.get_qa_log)
    generate_retro = _blocking(AsyncKnowledgeRouterService.generate_retro)
    configure_routing = _blocking(AsyncKnowledgeRouterService.configure_routing)
    get_agent_status = _blocking(AsyncKnowledgeRouterService.get_agent_status)

    def close(self) -> None:
        """See `AsyncKnowledgeRouterService.close`; call it from any thread."""
        if self._loop.is_closed():
            return
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """Cancel what other threads have begun, and what was interrupted: it says so on the record, which is open still."""
        await self._parts.end()
        await cancel_tasks(END_SECONDS)
        await self._service.close()
        await end_tasks()  # what the tasks have begun at their end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        if self._loop.is_closed():
            work.close()  # it never begins
            self._check_open()
        ended = threading.Event()

        async def to_its_end() -> Result:
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(to_its_end(), self._loop)
        try:
            return future.result()
        except BaseException:
            # The caller was interrupted, as by Ctrl-C: what is under way ends its programs first.
            if future.cancel():
                ended.wait(END_SECONDS)
            raise
