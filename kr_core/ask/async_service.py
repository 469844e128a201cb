"""The router with coroutines."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

from kr_core.agents.question_dispatch import AGENT_UNAVAILABLE
from kr_core.aio import release_threads, shielded
from kr_core.ask.router_parts import BaseRouterService, check_arguments
from kr_core.ask.worker_loop import TEND_SECONDS
from kr_core.errors import ConfigError
from kr_core.review import is_doubtful, reviewed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from kr_core.ask.run_worker import RunCounts
    from kr_core.escalation.upkeep_summary import RunSummary
    from kr_core.model.execution_task import ExecutionTask
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
    from kr_core.model.retro_report import RetroReport
    from kr_core.model.routing import RoutingRule
    from kr_core.research import CompletedResearch

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _while_open(
    method: Callable[Concatenate[AsyncKnowledgeRouterService, _Parameters], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[AsyncKnowledgeRouterService, _Parameters], Coroutine[Any, Any, _Result]]:
    """A method that raises `StorageError` once the service is closed, also where it would only have read, or is under way.

    An argument of another kind than its annotation says is a `ConfigError`.
    """

    @wraps(method)
    async def checked(
        self: AsyncKnowledgeRouterService, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Result:
        self._check_open()
        check_arguments(method, self, args, kwargs)
        with self._parts.under_way(until_cancelled=method.__name__ == "keep_tending"):
            return await method(self, *args, **kwargs)

    return checked


class AsyncKnowledgeRouterService(BaseRouterService):
    """Routes questions to agents, gates their answers, and escalates doubtful ones to a human.

        async with AsyncKnowledgeRouterService(Pipeline.open()) as service:
            result = await service.ask(Question(text="Which session store should we use?", topic="authentication"))

    Args:
        pipeline: the project's pipeline; closing the service closes it. Default: the pipeline of the working folder.
    """

    # -- the whole way --------------------------------------------------------------------------------------

    @_while_open
    async def ask(self, question: Question) -> AskResult:
        """Ask a question: route it, let an agent answer, and accept the answer or escalate it to a human.

        A question that has an id, names no target, and already waits for a human or has a human's answer is not asked
        again: its result is that of the case. If it is asked again, the case in which it waited becomes `superseded`.

        Where the configuration names a `runtime`, a worker does all this, and the method waits for it.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written.
        """
        if self._parts.pipeline.components.is_local:
            return await self._parts.workflow.ask(question)
        runs = await shielded(lambda: self._parts.runs)
        assert runs is not None, "it is not local"
        return await runs.ask(question)

    @_while_open
    async def work(
        self,
        queues: Sequence[str],
        concurrency: int,
        stop: asyncio.Event,
        *,
        drain: bool = False,
        tell: Callable[[str], object] | None = None,
        counts: RunCounts | None = None,
    ) -> None:
        """Do what others have queued, as `kr worker` does, until `stop` is set; what has begun is ended first.

        Args:
            queues: `ask`: answer questions; `research`: research what batches ask; `upkeep`: do what is due for questions that
                wait for a human.
            concurrency: how many questions, or chunks of a batch, at once.
            stop: says when to end.
            drain: end also when nothing waits.
            tell: called with a note about each failure of the upkeep, once until the note changes.
            counts: counts what is performed.

        Raises:
            ConfigError: the configuration names no runtime that has workers.
            StorageError: the journal or the runtime cannot be used.
        """
        runs = await shielded(lambda: self._parts.runs)
        if runs is None:
            raise ConfigError(
                "has no workers: the process that asks does the work",
                where=f"runtime: {self.pipeline.config.settings.runtime}",
                hint="name a runtime that has workers in kr.yaml, or ask without one",
            )
        taking = asyncio.create_task(
            self._parts.take_runs(queues, concurrency, stop, drain=drain, counts=counts)
        )
        tasks: list[asyncio.Task[None]] = [taking]
        if "upkeep" in queues:
            tasks.append(asyncio.create_task(self._parts.loop.run_forever(tell, TEND_SECONDS)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            stop.set()  # the upkeep ends by itself only where it fails: a worker that lives on without would hide that
            await taking
        finally:
            for one in tasks:
                one.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    @_while_open
    async def ask_all(self, questions: Sequence[Question]) -> list[AskResult]:
        """Ask several questions at once; each waits for those it depends on, and their answers join its context.

        A question whose dependencies wait for a human is not asked: it is `escalated` with them (`failed` if one of
        them has neither an answer nor a channel), and its notes say so. You can ask it again when the human has
        answered.

        Args:
            questions: may depend on each other, and on earlier answered questions of their feature.

        Returns:
            The results, in the order of the questions.

        Raises:
            ConfigError: a question or the configuration is wrong: ids are not unique, a question depends on one that
                does not exist, or questions depend on each other in a circle. Nothing was asked.
            StorageError: the journal cannot be written.
        """
        return await self._parts.workflow.ask_all(questions)

    @_while_open
    async def research(self, question: str, /, **options: Any) -> CompletedResearch:
        """Research a question as `Pipeline.aresearch` does, and ask a human if the answer is below `escalate_below`.

        The answer comes at once; if a human was asked, a note in `degradation_notes` says so: `asked a human: E7`.

        Args:
            question: in English, naming the library.
            options: as for `Pipeline.request`.

        Raises:
            ConfigError: a plugin is wrongly configured.
            PluginError: the store, journal, scorer or renderer cannot be built.
            StorageError: the journal cannot be written.
        """
        answer = await self.pipeline.aresearch(question, **options)
        if not await shielded(lambda: is_doubtful(self.pipeline, answer.result)):
            return answer
        request = await shielded(lambda: self.pipeline.request(question, **options))
        return await reviewed(self.pipeline, request, answer)

    @_while_open
    async def reply(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Apply a human's reply to an escalation; if two people decide at once, the first reply counts.

        Returns:
            `answered`, or after `add_context` the result of the agent's new answer: `accepted`, or `escalated` again.
            If the agent is already working on the case, it is `escalated`, and `tend` asks the agent with the added
            context.

        Raises:
            ConfigError: there is no such escalation, or the reply cannot be applied, with the reason; the record shows
                it.
        """
        if response.action == "add_context":
            return await self._parts.chat.add_context(escalation_id, response)
        decided = await self._parts.manager.accepted_reply(escalation_id, response)
        self.wake()  # to tell those who could not be told at once
        return self._parts.manager.result_of(decided)

    @_while_open
    async def chat(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Send a message (the response's `content`) to the agent of an escalation, which keeps waiting.

        End a chat with `reply` and the action `chat`: its content is the final answer. It counts as the agent's answer
        if it repeats the agent's words exactly, otherwise as the human's.

        Returns:
            `escalated` with the agent's response, or another person's decision in the meantime; without an answer if
            the agent gave none, and the notes say why.

        Raises:
            ConfigError: it does not wait, or has no agent to talk to; the record shows that too.
        """
        return await self._parts.chat.chat(escalation_id, response)

    # -- what is due for those that wait --------------------------------------------------------------------

    @_while_open
    async def tend(self) -> RunSummary:
        """Do everything that is due, once, for the questions that wait for a human, from any process.

        Show cases, apply replies, notify and remind people, apply time limits, and ask agents again with the context
        that people added. Several processes may do so at the same time.

        Raises:
            ConfigError: a channel is wrongly configured.
            StorageError: the journal cannot be used.
        """
        return await self._parts.loop.run_once()

    @_while_open
    async def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> NoReturn:
        """Call `tend` repeatedly until cancelled, also by `close`: now, every minute, when something becomes due, and after `wake`.

        Args:
            tell: called with a note about each failure, once until the note changes.
            every_seconds: how often KR polls for replies.
        """
        await self._parts.loop.run_forever(tell, every_seconds)

    def wake(self) -> None:
        """Make `keep_tending` check at once; call it in the thread of its event loop."""
        self._parts.loop.wake()

    @_while_open
    async def receive(self, channel: str, headers: Mapping[str, str], body: bytes) -> int:
        """Apply a webhook call of a service.

        Args:
            channel: the channel's name in `escalations`.
            headers: the headers of the call, with names in lower case.
            body: the body of the call, byte for byte.

        Returns:
            How many replies were new.

        Raises:
            ConfigError: there is no such channel, or it accepts no webhooks.
            RequestError: the call is not from the service (`blocked`), cannot be understood (`bad_answer`), or cannot
                be handled now.
        """
        count = await self._parts.worker.receive(channel, headers, body)
        self.wake()
        return count

    @_while_open
    async def history(self, escalation_id: str) -> list[QALogEntry]:
        """The entries of all exchanges of an escalation, in order: from the question to its end, with chats about it.

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
        """Send a question to the agents that the rules choose.

        They start at once; `get_agent_status` returns their progress.

        Raises:
            ConfigError: the question names an unknown target, or depends on a question without an answer.
        """
        return await self._parts.jobs.send(question)

    @_while_open
    async def get_agent_status(self, handle: AgentHandle) -> AgentStatus:
        """The progress of a question that `route_question` sent, or a task that `dispatch_task` sent.

        If an answer was submitted while the agents were working, the state is `succeeded` with that answer.

        Raises:
            ConfigError: this service did not create the handle.
        """
        task = await self._parts.tasks.status(handle) if "tasks" in vars(self._parts) else None
        return self._parts.jobs.status(handle) if task is None else task

    @_while_open
    async def submit_answer(self, answer: Answer) -> AcceptedOrEscalate:
        """Accept an answer to a question in progress, or escalate it to a human; once.

        Agents that are still working are stopped first.

        An answer that does not come from the agents of the question is recorded as it arrives: without anything that
        looks like a secret, and not validated. Its `agent` is one of the configured agents, or empty; in each case the
        threshold is at least that of the question's route. For a human's decision, use `handle_human_response`.

        Raises:
            ConfigError: no question with this id is in progress, it already has its answer, or there is no such agent.
        """
        return await self._parts.jobs.submit(answer)

    @_while_open
    async def escalate_to_human(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Escalate a question to a human, with a tentative answer if there is one.

        A question that already waits for a human is not escalated twice.
        """
        return await self._parts.jobs.escalate(answer, question)

    @_while_open
    async def handle_human_response(self, request: EscalationRequest, response: HumanResponse) -> Answer:
        """Apply a human's reply and return the answer. It is final, except after `add_context`, when it may wait again.

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
        """The log entries of a feature's questions, in order."""
        from kr_core.qalog.reader import qa_log

        return await shielded(lambda: qa_log(self.pipeline.journal, feature_id))

    @_while_open
    async def configure_routing(self, rules: Sequence[RoutingRule]) -> None:
        """Replace the routing rules from the next question on.

        Raises:
            ConfigError: a rule is wrong; the rules do not change.
        """
        self.pipeline.components.change_rules(rules)

    @_while_open
    async def dispatch_task(self, task: ExecutionTask, role: str) -> AgentHandle:
        """Send a task to a specialist, who works in a worktree; what keeps to the role's scope lands on the branch.

        It starts at once; `get_agent_status` returns its progress. Several tasks may be under way.

        Args:
            task: what is to be done.
            role: `qa`, `developer`, `devops` or `reviewer`, or the specialist's name: `marie`, `dede`, `gustave`,
                `degaulle`.

        Raises:
            ConfigError: the role is unknown; its agent does no tasks or is not trusted; the project has no git repository
                with a branch; or another process runs tasks here.
        """
        return await self._parts.tasks.send(task, role)

    @_while_open
    async def generate_retro(self, feature_id: str) -> RetroReport:
        """Look back on a feature's questions: figures, patterns, and what to change.

        Raises:
            ConfigError: the log has no question of this feature.
        """
        from kr_core.retro.figures import retrospect

        settings, verdicts = self.pipeline.config.settings.retro, self.pipeline.components.verdicts
        return await shielded(
            lambda: retrospect(self.pipeline.journal, feature_id, settings, verdicts.read())
        )

    # -- its end --------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Cancel what is under way, wait until all events are durable, and close the pipeline.

        A question that an agent still works on is `cancelled` on the record, and its caller gets a `StorageError`.
        """
        await self._parts.end()
        await shielded(self.pipeline.close)
        release_threads()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
