"""The router with coroutines, and what it shares with the one of plain methods."""

from __future__ import annotations

from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

from kr_core.agents.dispatch import AGENT_UNAVAILABLE, AgentDispatcher
from kr_core.aio import release_threads, shielded
from kr_core.ask.chat import CaseChat
from kr_core.ask.jobs import QuestionJobs
from kr_core.ask.worker_loop import TEND_SECONDS, WorkerLoop
from kr_core.ask.workflow import AskWorkflow, ExchangeStarter
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation.manager import EscalationManager
from kr_core.escalation.repository import CaseUpdater
from kr_core.escalation.worker import EscalationWorker
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

__all__ = ["AsyncKnowledgeRouterService", "BaseRouterService"]

_LATER = "is not available in this version of KR"
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class RouterParts:
    """What the router of a project is made of; each part when it is first used.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.closed = False
        self.dispatcher = AgentDispatcher(pipeline)
        self.updater = CaseUpdater(pipeline)
        self.worker = EscalationWorker(self.updater)
        self.manager = EscalationManager(self.updater, self.worker)
        self.starter = ExchangeStarter(pipeline, self.dispatcher, self.manager)

    @cached_property
    def workflow(self) -> AskWorkflow:
        return AskWorkflow(self.starter, self.dispatcher, self.manager, self.pipeline.config.state_folder)

    @cached_property
    def jobs(self) -> QuestionJobs:
        return QuestionJobs(self.pipeline.config, self.starter, self.dispatcher, self.manager)

    @cached_property
    def chat(self) -> CaseChat:
        return CaseChat(self.dispatcher, self.manager, self.updater, self.worker)

    @cached_property
    def loop(self) -> WorkerLoop:
        return WorkerLoop(self.worker, self.chat)

    async def close(self) -> None:
        """End what is under way, wait until everything said is durable, and let go of the pipeline."""
        if "jobs" in vars(self):
            await self.jobs.end()
        await shielded(self.pipeline.close)
        self.closed = True


class BaseRouterService:
    """What both faces of the router share."""

    _parts: RouterParts

    def __init__(self, pipeline: Pipeline | None = None) -> None:
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
        """The questions that were put to a human.

        Raises:
            StorageError: the service is closed.
        """
        self._check_open()
        return self._parts.updater.cases

    def shown(self, request: EscalationRequest) -> CaseView:
        """An escalation as people read it."""
        return self._parts.updater.shown(request)

    def result_of(self, escalation_id: str) -> AskResult:
        """What an escalation has come to so far.

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


def _while_open(
    method: Callable[Concatenate[AsyncKnowledgeRouterService, _Parameters], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[AsyncKnowledgeRouterService, _Parameters], Coroutine[Any, Any, _Result]]:
    """A method that raises `StorageError` once the service is closed, also where it would only have read."""

    @wraps(method)
    async def checked(
        self: AsyncKnowledgeRouterService, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Result:
        self._check_open()
        return await method(self, *args, **kwargs)

    return checked


class AsyncKnowledgeRouterService(BaseRouterService):
    """Routes questions to agents, gates their answers, and puts what is doubtful to a human.

        async with AsyncKnowledgeRouterService(Pipeline.open()) as service:
            result = await service.ask(Question(text="Which session store should we use?", topic="authentication"))

    Args:
        pipeline: the project's; it is closed with the service. The working folder's, if none is given.
    """

    # -- the whole way --------------------------------------------------------------------------------------

    @_while_open
    async def ask(self, question: Question) -> AskResult:
        """Ask a question: it is routed and answered, and its answer accepted or put to a human.

        One that has an id, names no target and waits for a human already, is not asked again: its result is that of the case; nor
        is one that a human has answered. Where it is asked anew, the case in which it waited is `superseded`.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written.
        """
        return await self._parts.workflow.ask(question)

    @_while_open
    async def ask_all(self, questions: Sequence[Question]) -> list[AskResult]:
        """Ask questions at the same time; each waits for those that it depends on, whose answers join its context.

        A question whose dependencies wait for a human is not asked: it is `escalated` with them (`failed`, if one of them has
        neither an answer nor a channel to a human), says so in its notes, and may be asked again when the human has answered.

        Args:
            questions: may depend on each other, and on questions of their feature that were answered before.

        Returns:
            The results, in the order of the questions.

        Raises:
            ConfigError: a question or the configuration is wrong: ids are not unique, a question depends on one that there is
                not, or some wait for each other; then nothing was asked.
            StorageError: the journal cannot be written.
        """
        return await self._parts.workflow.ask_all(questions)

    @_while_open
    async def reply(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Do what a human replied to an escalation; of two who decide at once, the first one does.

        Returns:
            `answered`, or after `add_context` whatever the agent's new answer comes to: `accepted`, or `escalated` again. While
            the agent is asked about the case already, it is `escalated`, and `tend` asks the agent with what was added.

        Raises:
            ConfigError: there is no such escalation, or the reply cannot be applied, with the reason; it is on the record.
        """
        if response.action == "add_context":
            return await self._parts.chat.add_context(escalation_id, response)
        decided = await self._parts.manager.accepted_reply(escalation_id, response)
        self.wake()  # to tell those who could not be told at once
        return self._parts.manager.result_of(decided)

    @_while_open
    async def chat(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Say something (the response's `content`) to the agent of an escalation, which goes on waiting.

        A talk ends with `reply` and the action `chat`: its content is the final answer, the human's own, or the agent's where
        it is word for word what the agent has said.

        Returns:
            `escalated` with what the agent says to it, or what somebody else has decided meanwhile; without an answer where
            the agent gave none, and the notes say why.

        Raises:
            ConfigError: it does not wait, or there is nobody to talk with; that is on the record, too.
        """
        return await self._parts.chat.chat(escalation_id, response)

    # -- what is due for those that wait --------------------------------------------------------------------

    @_while_open
    async def tend(self) -> RunSummary:
        """Do once all that is due for the questions that wait for a human, in whatever process they were put.

        They are shown, what people have written is applied, people are told and reminded, time limits are kept, and agents
        are asked again with what people have added. Several processes may do so at the same time.

        Raises:
            ConfigError: a channel is wrongly configured.
            StorageError: the journal cannot be used.
        """
        return await self._parts.loop.run_once()

    @_while_open
    async def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> NoReturn:
        """Do so again and again, until cancelled: now, every minute, when something becomes due, and after `wake`.

        Args:
            tell: called with each note of what could not be done, once until it changes.
            every_seconds: how often people's replies are asked for.
        """
        await self._parts.loop.run_forever(tell, every_seconds)

    def wake(self) -> None:
        """Let `keep_tending` look at once; in its event loop's thread."""
        self._parts.loop.wake()

    @_while_open
    async def receive(self, sink: str, headers: Mapping[str, str], body: bytes) -> int:
        """Apply what a service tells that calls by itself: a webhook.

        Args:
            sink: the channel, by its name in `escalations`.
            headers: of the call; names in lower case.
            body: as it came in, byte for byte.

        Returns:
            How many replies were new.

        Raises:
            ConfigError: there is no such channel, or it receives nothing.
            RequestError: the call is not the service's (`blocked`), cannot be understood (`bad_answer`), or cannot be heard now.
        """
        count = await self._parts.worker.receive(sink, headers, body)
        self.wake()
        return count

    @_while_open
    async def history(self, escalation_id: str) -> list[QALogEntry]:
        """The entries of all exchanges of an escalation, in order: from the question to its end, with talks about it.

        Raises:
            ConfigError: there is no such escalation.
        """
        from kr_core.qalog.reader import history

        def read() -> list[QALogEntry]:
            case = self.cases.get(escalation_id)
            return history(
                self.pipeline.journal, [case.request.exchange_id, *(turn.exchange_id for turn in case.turns)]
            )

        return await shielded(read)

    # -- its steps, under the names that other programs know -----------------------------------------------

    @_while_open
    async def route_question(self, question: Question) -> AgentHandle:
        """Send a question to the agents that the rules say; they work from now on, and `get_agent_status` tells how far they are.

        Raises:
            ConfigError: the question names a target that there is not, or depends on a question without an answer.
        """
        return await self._parts.jobs.send(question)

    @_while_open
    async def get_agent_status(self, handle: AgentHandle) -> AgentStatus:
        """How far a question is that `route_question` has sent.

        Where an answer was submitted while the agents were at work, it has `succeeded` with that.

        Raises:
            ConfigError: this service has sent none of this handle.
        """
        return self._parts.jobs.status(handle)

    @_while_open
    async def submit_answer(self, answer: Answer) -> AcceptedOrEscalate:
        """Accept an answer to a question under way, or put it to a human; once.

        Agents that are still at work are ended first.

        An answer that is not the one of the agents that were asked is put on the record as it comes in: without what looks
        like a secret, and validated by nobody. Its `agent` is one of the configured ones, or empty; whoever that is, the
        threshold is at least that of the question's route. What a human decided goes to `handle_human_response`.

        Raises:
            ConfigError: no question of this id is under way, it has its answer, or there is no such agent.
        """
        return await self._parts.jobs.submit(answer)

    @_while_open
    async def escalate_to_human(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Put a question, with a tentative answer if there is one, to a human.

        A question that waits for one already is not put twice.
        """
        return await self._parts.jobs.escalate(answer, question)

    @_while_open
    async def handle_human_response(self, request: EscalationRequest, response: HumanResponse) -> Answer:
        """Do what a human replied, and return the answer: final, but after `add_context` one that may wait once more.

        Raises:
            ConfigError: the reply cannot be applied, with the reason.
        """
        if response.revision is None:
            response = response.model_copy(update={"revision": request.revision})
        result = await self.reply(request.id, response)
        if result.answer is None:
            raise ConfigError(
                "; ".join(result.notes) or AGENT_UNAVAILABLE,
                where=request.id,
                hint="give the answer yourself",
            )
        return result.answer

    @_while_open
    async def get_qa_log(self, feature_id: str) -> list[QALogEntry]:
        """The record of a feature's questions, in order."""
        from kr_core.qalog.reader import qa_log

        return await shielded(lambda: qa_log(self.pipeline.journal, feature_id))

    @_while_open
    async def configure_routing(self, rules: Sequence[RoutingRule]) -> None:
        """Route by other rules from the next question on.

        Raises:
            ConfigError: a rule is wrong; the rules are as they were.
        """
        self.pipeline.components.change_rules(rules)

    async def dispatch_task(self, task: Any, role: str) -> NoReturn:  # noqa: ARG002  a published signature
        """Send a task to a specialist; comes later.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(_LATER, where="dispatch_task")

    async def generate_retro(self, feature_id: str) -> NoReturn:  # noqa: ARG002  a published signature
        """Make a retrospective report; comes later.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(_LATER, where="generate_retro")

    # -- its end --------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End what is under way, wait until everything said is durable, and let go of the pipeline."""
        await self._parts.close()
        release_threads()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
