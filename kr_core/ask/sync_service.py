"""The router with plain methods: an event loop of its own, in a thread of its own, does the work."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from kr_core.ask.service import AsyncKnowledgeRouterService
from kr_core.errors import StorageError
from kr_core.escalation.worker import TEND_SECONDS
from kr_core.research import Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from kr_core.escalation.repository import CaseRepository
    from kr_core.escalation.summary import RunSummary
    from kr_core.model import Event
    from kr_core.model.questions import (
        AcceptedOrEscalate,
        AgentHandle,
        AgentStatus,
        Answer,
        AskResult,
        EscalationRequest,
        HumanResponse,
        QALogEntry,
        Question,
    )
    from kr_core.model.routing import RoutingRule
    from kr_core.protocols import CaseView

__all__ = ["KnowledgeRouterService"]

Result = TypeVar("Result")
_END_SECONDS = 5.0
"""How long what is cancelled may take to end its programs and requests."""


class KnowledgeRouterService:
    """The same with plain methods, for programs without an event loop; what is under way goes on in a thread of its own.

        with KnowledgeRouterService() as service:
            result = service.ask(Question(text="Which session store should we use?", topic="authentication"))

    Args:
        pipeline: the project's; it is closed with the service. The working folder's, if none is given.
    """

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        self._service = AsyncKnowledgeRouterService(pipeline)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kr-service", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls,
        config: str | Path | Mapping[str, Any] | None = None,
        *,
        folder: str | Path | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> Self:
        """Open the service of a project, as `Pipeline.open` does.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
        """
        return cls(Pipeline.open(config, folder=folder, on_event=on_event))

    @property
    def pipeline(self) -> Pipeline:
        """The project's pipeline."""
        return self._service.pipeline

    @property
    def cases(self) -> CaseRepository:
        """The questions that were put to a human."""
        return self._service.cases

    def shown(self, request: EscalationRequest) -> CaseView:
        """An escalation as people read it."""
        return self._service.shown(request)

    def result_of(self, escalation_id: str) -> AskResult:
        """See `AsyncKnowledgeRouterService.result_of`."""
        return self._service.result_of(escalation_id)

    def ask(self, question: Question) -> AskResult:
        """See `AsyncKnowledgeRouterService.ask`."""
        return self._run(self._service.ask(question))

    def ask_all(self, questions: Sequence[Question]) -> list[AskResult]:
        """See `AsyncKnowledgeRouterService.ask_all`."""
        return self._run(self._service.ask_all(questions))

    def reply(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """See `AsyncKnowledgeRouterService.reply`."""
        return self._run(self._service.reply(escalation_id, response))

    def chat(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """See `AsyncKnowledgeRouterService.chat`."""
        return self._run(self._service.chat(escalation_id, response))

    def tend(self) -> RunSummary:
        """See `AsyncKnowledgeRouterService.tend`."""
        return self._run(self._service.tend())

    def receive(self, sink: str, headers: Mapping[str, str], body: bytes) -> int:
        """See `AsyncKnowledgeRouterService.receive`."""
        return self._run(self._service.receive(sink, headers, body))

    def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> None:
        """See `AsyncKnowledgeRouterService.keep_tending`; here it goes on beside everything else, until the service is closed.

        Raises:
            StorageError: it is closed already.
        """
        self._check_open()
        asyncio.run_coroutine_threadsafe(self._service.keep_tending(tell, every_seconds), self._loop)

    def wake(self) -> None:
        """See `AsyncKnowledgeRouterService.wake`; from any thread; a closed service has nobody to wake."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._service.wake)

    def history(self, escalation_id: str) -> list[QALogEntry]:
        """See `AsyncKnowledgeRouterService.history`."""
        return self._run(self._service.history(escalation_id))

    def route_question(self, question: Question) -> AgentHandle:
        """See `AsyncKnowledgeRouterService.route_question`."""
        return self._run(self._service.route_question(question))

    def submit_answer(self, answer: Answer) -> AcceptedOrEscalate:
        """See `AsyncKnowledgeRouterService.submit_answer`."""
        return self._run(self._service.submit_answer(answer))

    def escalate_to_human(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """See `AsyncKnowledgeRouterService.escalate_to_human`."""
        return self._run(self._service.escalate_to_human(answer, question))

    def handle_human_response(self, request: EscalationRequest, response: HumanResponse) -> Answer:
        """See `AsyncKnowledgeRouterService.handle_human_response`."""
        return self._run(self._service.handle_human_response(request, response))

    def dispatch_task(self, task: Any, role: str) -> NoReturn:
        """See `AsyncKnowledgeRouterService.dispatch_task`."""
        self._run(self._service.dispatch_task(task, role))
        raise AssertionError  # it does not return

    def get_qa_log(self, feature_id: str) -> list[QALogEntry]:
        """See `AsyncKnowledgeRouterService.get_qa_log`."""
        return self._run(self._service.get_qa_log(feature_id))

    def generate_retro(self, feature_id: str) -> NoReturn:
        """See `AsyncKnowledgeRouterService.generate_retro`."""
        self._run(self._service.generate_retro(feature_id))
        raise AssertionError  # it does not return

    def configure_routing(self, rules: Sequence[RoutingRule]) -> None:
        """See `AsyncKnowledgeRouterService.configure_routing`."""
        self._run(self._service.configure_routing(rules))

    def get_agent_status(self, handle: AgentHandle) -> AgentStatus:
        """See `AsyncKnowledgeRouterService.get_agent_status`."""
        return self._run(self._service.get_agent_status(handle))

    def close(self) -> None:
        """End what is under way, wait until everything said is durable, and let go of the pipeline."""
        if self._loop.is_closed():
            return
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """Cancel what other threads have begun, and what was interrupted: it says so on the record, which is open still."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_END_SECONDS)
        await self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        """Nothing is done once the service is closed.

        Raises:
            StorageError: it is.
        """
        if self._loop.is_closed():
            raise StorageError(
                "the pipeline is closed", where="KnowledgeRouterService", hint="open another service"
            )

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            self._check_open()
        except StorageError:
            work.close()  # it never begins
            raise
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
            if (
                future.cancel()
            ):  # the caller was interrupted, as by Ctrl-C: what is under way ends its programs first
                ended.wait(_END_SECONDS)
            raise
