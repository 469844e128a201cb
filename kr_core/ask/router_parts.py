"""What the router of a project is made of, and what its faces, with coroutines and with plain methods, share."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from kr_core.agents.question_dispatch import AgentDispatcher
from kr_core.ask.chat import CaseChat
from kr_core.ask.question_steps import QuestionJobs
from kr_core.ask.worker_loop import WorkerLoop
from kr_core.ask.workflow import AskWorkflow, ExchangeStarter
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation.case_repository import CaseUpdater
from kr_core.escalation.manager import EscalationManager
from kr_core.escalation.worker import EscalationWorker
from kr_core.model.execution_task import ExecutionTask
from kr_core.model.questions import AgentHandle, Answer, EscalationRequest, HumanResponse, Question
from kr_core.model.routing import RoutingRule
from kr_core.research import Pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kr_core.ask.question_runs import QuestionRuns
    from kr_core.ask.research_batches import ResearchBatches
    from kr_core.ask.run_worker import RunCounts
    from kr_core.dispatch.jobs import TaskJobs
    from kr_core.escalation.case_repository import CaseRepository
    from kr_core.model import Event
    from kr_core.model.questions import AskResult
    from kr_core.protocols import CaseView

__all__ = ["END_SECONDS", "BaseRouterService", "RouterParts", "check_arguments", "checked"]

# -- what a program hands over, checked by the method's own annotations before anything is done with it ------

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_KINDS: dict[str, type] = {
    "str": str, "Question": Question, "Answer": Answer, "EscalationRequest": EscalationRequest, "HumanResponse": HumanResponse,
    "AgentHandle": AgentHandle, "RoutingRule": RoutingRule, "ExecutionTask": ExecutionTask,
}  # fmt: skip
_HINTS = {
    "str": "hand over a text",
    "Question": 'hand over `Question(text="...", topic="...")`',
    "ExecutionTask": 'hand over `ExecutionTask(id="T001", title="...")`',
    "HumanResponse": 'hand over `HumanResponse(action="confirm", by="...")`',
}


def check_arguments(method: Callable[..., Any], service: object, args: Any, kwargs: Any) -> None:
    """Refuse arguments that are not what a method takes.

    Raises:
        ConfigError: one is of another kind.
        TypeError: one is missing, or unknown, as Python says it.
    """
    given = inspect.signature(method).bind(service, *args, **kwargs).arguments
    for name, annotation in method.__annotations__.items():
        if name in given:
            where = f"{method.__name__}({name})"
            for value, kind in _values(given[name], annotation, where):
                _check(value, kind, where)


def checked(
    method: Callable[Concatenate[Any, _Parameters], _Result],
) -> Callable[Concatenate[Any, _Parameters], _Result]:
    """A method that refuses arguments of another kind than its annotations say, as `check_arguments` does."""

    @wraps(method)
    def called(self: Any, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        check_arguments(method, self, args, kwargs)
        return method(self, *args, **kwargs)

    return called


def _values(value: object, annotation: str, where: str) -> Iterator[tuple[object, str]]:
    """What has to be of a kind: the value itself, or each one of a list."""
    if annotation.startswith("Sequence["):
        kind = annotation[len("Sequence[") : -1]
        if isinstance(value, str) or not isinstance(value, Sequence):
            hint = f"hand over a list, each a `{kind}`"
            raise ConfigError(f"is {value!r:.60}, not a list", where=where, hint=hint)
        yield from ((one, kind) for one in value)
    elif not (value is None and annotation.endswith(" | None")):
        yield value, annotation.removesuffix(" | None")


def _check(value: object, kind: str, where: str) -> None:
    if kind in _KINDS and not isinstance(value, _KINDS[kind]):
        hint = _HINTS.get(kind, f"hand over the `{kind}` that KR gave you, or make one")
        raise ConfigError(f"is {value!r:.60}, not a `{kind}`", where=where, hint=hint)


# -- the parts ---------------------------------------------------------------------------------------------

END_SECONDS = 5.0
"""How long what is cancelled may take to end its programs and requests."""


class RouterParts:
    """What the router of a project is made of; each part when it is first used.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.closed = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self.dispatcher = AgentDispatcher(pipeline)
        self.updater = CaseUpdater(pipeline)
        self.worker = EscalationWorker(self.updater)
        self.manager = EscalationManager(self.updater, self.worker)
        self.starter = ExchangeStarter(pipeline, self.dispatcher, self.manager)

    @cached_property
    def workflow(self) -> AskWorkflow:
        return AskWorkflow(self.starter, self.dispatcher, self.manager, self.pipeline.components.turns)

    @cached_property
    def runs(self) -> QuestionRuns | None:
        """The questions that workers take; None where the process that asks does the work."""
        runtime = self.pipeline.components.runtime
        if runtime is None:
            return None
        from kr_core.ask.question_runs import QuestionRuns  # which a process that does the work does not need

        return QuestionRuns(self.pipeline, runtime, self.dispatcher, self.manager, self.updater.cases)

    @cached_property
    def batches(self) -> ResearchBatches | None:
        """The batches that workers take; None where the process that asks does the work."""
        runtime = self.pipeline.components.runtime
        if runtime is None:
            return None
        from kr_core.ask.research_batches import ResearchBatches

        return ResearchBatches(self.pipeline, runtime)

    async def take_runs(
        self,
        queues: Sequence[str],
        concurrency: int,
        stop: asyncio.Event,
        *,
        drain: bool,
        counts: RunCounts | None,
    ) -> None:
        """Perform what is queued in these queues, as `AsyncKnowledgeRouterService.work` says."""
        from kr_core.ask.question_runs import ASK
        from kr_core.ask.research_batches import RESEARCH
        from kr_core.ask.run_worker import QueueWork, take_runs

        runtime, runs, batches = self.pipeline.components.runtime, self.runs, self.batches
        assert runtime is not None, "it was asked before"
        assert runs is not None, "there is a runtime"
        assert batches is not None, "there is a runtime"
        known = {
            ASK: QueueWork(lambda run: runs.perform(run, self.workflow), runs.sweep),
            RESEARCH: QueueWork(batches.perform, batches.sweep),
        }
        work = {name: one for name, one in known.items() if name in queues}
        await take_runs(runtime, work, concurrency, stop, drain=drain, counts=counts)

    @cached_property
    def jobs(self) -> QuestionJobs:
        return QuestionJobs(self.pipeline.config, self.starter, self.dispatcher, self.manager)

    @cached_property
    def tasks(self) -> TaskJobs:
        from kr_core.dispatch.jobs import TaskJobs  # which questions do not need

        return TaskJobs(self.pipeline)

    @cached_property
    def chat(self) -> CaseChat:
        return CaseChat(self.dispatcher, self.manager, self.updater, self.worker)

    @cached_property
    def loop(self) -> WorkerLoop:
        return WorkerLoop(self.worker, self.chat)

    @contextmanager
    def under_way(self, *, until_cancelled: bool) -> Iterator[None]:
        """What the current task does here is ended by `end`.

        Args:
            until_cancelled: its end is a cancellation like any other, and no error.

        Raises:
            StorageError: it was.
        """
        task = asyncio.current_task()
        if task is None or task in self._under_way:  # one method calls another
            yield
            return
        self._under_way.add(task)
        try:
            yield
        except asyncio.CancelledError:
            by_others = task in self._under_way or task.uncancel() > 0
            if by_others or until_cancelled:
                raise
            raise StorageError(
                "the service was closed while this was under way",
                where="KnowledgeRouterService",
                hint="ask again with another service",
            ) from None
        finally:
            self._under_way.discard(task)

    async def end(self) -> None:
        """Cancel what is under way in this event loop, and wait a few seconds for its end, which is on the record."""
        self.closed = True
        here, loop = asyncio.current_task(), asyncio.get_running_loop()
        ended = {task for task in self._under_way if task is not here and task.get_loop() is loop}
        self._under_way -= ended
        for task in ended:
            task.cancel()
        if ended:
            await asyncio.wait(ended, timeout=END_SECONDS)
        if "jobs" in vars(self):
            await self.jobs.end()
        if "tasks" in vars(self):
            await self.tasks.end()


class BaseRouterService:
    """What both faces of the router share."""

    _parts: RouterParts

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        if pipeline is not None and not isinstance(pipeline, Pipeline):
            where = f"{type(self).__name__}(pipeline)"
            hint = f"hand over `Pipeline.open(...)`, or use `{type(self).__name__}.open(...)`"
            raise ConfigError(f"is {pipeline!r:.60}, not a `Pipeline`", where=where, hint=hint)
        self._parts = RouterParts(pipeline or Pipeline.open())

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
        return self._parts.pipeline

    @property
    def cases(self) -> CaseRepository:
        """The questions that were escalated to a human.

        Raises:
            StorageError: the service is closed.
        """
        self._check_open()
        return self._parts.updater.cases

    @checked
    def shown(self, request: EscalationRequest) -> CaseView:
        """The text of an escalation as people read it.

        Raises:
            ConfigError: the argument is not an escalation.
        """
        return self._parts.updater.shown(request)

    @checked
    def result_of(self, escalation_id: str) -> AskResult:
        """The current result of an escalation.

        Raises:
            ConfigError: there is no such escalation.
        """
        return self._parts.manager.result_of(self.cases.get(escalation_id))

    def _check_open(self) -> None:
        """Nothing is done once the service is closed.

        Raises:
            StorageError: it is.
        """
        if self._parts.closed:
            raise StorageError(
                "the pipeline is closed", where="KnowledgeRouterService", hint="open another service"
            )
