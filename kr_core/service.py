"""The router as other programs embed it: questions in, accepted answers or escalations out.

`KnowledgeRouterService` has plain methods, `AsyncKnowledgeRouterService` the same as coroutines. `ask` is the whole way in
one call; the others are its steps, for a program that goes them by itself.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

from kr_core.asking import depends
from kr_core.asking.answering import AGENT_UNAVAILABLE, Asking, shortened, together
from kr_core.asking.escalating import Escalating
from kr_core.asking.exchange import told
from kr_core.asking.talking import Talking
from kr_core.errors import ConfigError
from kr_core.model.questions import (
    AcceptedOrEscalate,
    AgentHandle,
    AgentStatus,
    Answer,
    AskResult,
    EscalationRequest,
    HumanResponse,
    Question,
)
from kr_core.pipeline import Pipeline
from kr_core.pipeline.running import heard, to_its_end
from kr_core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from kr_core.asking.depends import Known
    from kr_core.asking.exchange import Exchange
    from kr_core.asking.several import Weighed
    from kr_core.escalation.cases import Cases
    from kr_core.model import Event
    from kr_core.model.questions import AgentState, QALogEntry
    from kr_core.model.routing import RoutingRule
    from kr_core.protocols import Case

__all__ = ["AsyncKnowledgeRouterService", "KnowledgeRouterService"]

Result = TypeVar("Result")
_MOST_KEPT = 10_000
"""So many questions that were sent are known by their handles; of more, those that ended first are forgotten."""
_LATER = "is not available in this version of KR"


class _UnderWay(NamedTuple):
    """A question that `route_question` has sent to its agents."""

    exchange: Exchange
    started: dt.datetime
    task: asyncio.Task[Weighed]

    @property
    def weighed(self) -> Weighed | None:
        """What came of it; None while nothing did, or where it failed."""
        done = self.task.done() and not self.task.cancelled() and self.task.exception() is None
        return self.task.result() if done else None


class AsyncKnowledgeRouterService:
    """Routes questions to agents, gates their answers, and puts what is doubtful to a human.

        async with AsyncKnowledgeRouterService(Pipeline.open()) as service:
            result = await service.ask(Question(text="Which session store should we use?", topic="authentication"))

    Args:
        pipeline: the project's; it is closed with the service. The working folder's, if none is given.
    """

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        self.pipeline = pipeline or Pipeline.open()
        self._asking = Asking(self.pipeline)
        self._escalating = Escalating(self.pipeline)
        self._talking = Talking(self.pipeline, self._asking, self._escalating)
        self._under_way: dict[str, _UnderWay] = {}
        self._ready = False

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
    def cases(self) -> Cases:
        """The questions that were put to a human."""
        return self._escalating.cases

    def shown(self, request: EscalationRequest) -> Case:
        """An escalation as people read it."""
        return self._escalating.shown(request)

    def result_of(self, escalation_id: str) -> AskResult:
        """What an escalation has come to so far.

        Raises:
            ConfigError: there is no such escalation.
        """
        return self._escalating.result_of(self.cases.get(escalation_id))

    # -- the whole way --------------------------------------------------------------------------------------

    async def ask(self, question: Question) -> AskResult:
        """Ask a question: it is routed and answered, and its answer accepted or put to a human.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written.
        """
        return (await self.ask_all((question,)))[0] if question.depends_on else await self._ask(question)

    async def _ask(self, question: Question) -> AskResult:
        exchange = await self._begun(question)
        try:
            return await self._answered(exchange)
        except BaseException as error:
            exchange.given_up(error)
            raise

    async def ask_all(self, questions: Sequence[Question]) -> list[AskResult]:
        """Ask questions at the same time; each waits for those that it depends on, whose answers join its context.

        A question whose dependencies wait for a human is not asked: it is `escalated` with them (`failed`, if one of them has
        neither an answer nor a way to a human), says so in its notes, and may be asked again when the human has answered.

        Args:
            questions: may depend on each other, and on questions of their feature that were answered before.

        Returns:
            The results, in the order of the questions.

        Raises:
            ConfigError: a question or the configuration is wrong: ids are not unique, a question depends on one that there is
                not, or some wait for each other; then nothing was asked.
            StorageError: the journal cannot be written.
        """
        known = await self._answered_before(questions)
        depends.check(questions, known)
        for question in questions:
            self._asking.check(question)
        results: dict[str, asyncio.Future[AskResult]] = {
            question.id: asyncio.get_running_loop().create_future() for question in questions
        }

        async def one(question: Question) -> AskResult:
            within = [results[other] for other in question.depends_on if other in results]
            waited = [await result for result in within]
            blocking = [result for result in waited if result.status not in depends.FINAL]
            if blocking:
                result = await self._held_up(question, blocking)
            else:
                texts = {other.id: other.text for other in questions}
                now = {
                    result.question_id: depends.Known(texts[result.question_id], result.answer)
                    for result in waited
                    if result.answer is not None
                }
                asked = depends.told_of(question, {**known, **now}) if question.depends_on else question
                result = await self._ask(asked)
            results[question.id].set_result(result)
            return result

        return await together([one(question) for question in questions])

    async def _answered_before(self, questions: Sequence[Question]) -> dict[str, Known]:
        """The answers on the record that questions depend on."""
        wanted = depends.missing(questions)
        if not wanted:
            return {}
        return await to_its_end(lambda: depends.answered(self.pipeline.journal, wanted))

    async def _held_up(self, question: Question, blocking: Sequence[AskResult]) -> AskResult:
        """The result of a question that cannot be asked, since others have no answer yet; on the record."""
        exchange = await self._begun(question)
        failed = any(result.status == "failed" for result in blocking)
        first = next((result.escalation for result in blocking if result.escalation is not None), None)
        for result in blocking:
            waits = (
                "" if result.escalation is None else f", which waits for a human as {result.escalation.id}"
            )
            exchange.notes.append(
                f"not asked: it depends on `{result.question_id}`{waits or ', which failed'}"
            )
        assert exchange.route is not None, "it was routed when it began"
        status = "failed" if failed or first is None else "escalated"
        request = None if first is None or failed else first.model_copy(update={"reason": exchange.notes[-1]})
        held = self._asking.finish(exchange, status, None, exchange.route.threshold, request)
        await exchange.settled()
        return held

    async def _answered(self, exchange: Exchange) -> AskResult:
        route = exchange.route
        assert route is not None, "it was routed when it began"
        weighed = await self._asking.consult_all(exchange)
        answer = weighed.answer
        if answer is not None:
            verdict = self._asking.judge(exchange, answer)
            if verdict.accepted:
                result = self._asking.finish(exchange, "accepted", answer, verdict.threshold)
                await exchange.settled()
                return result
            reason, threshold = verdict.reason, verdict.threshold
        elif weighed.alternatives:
            reason, threshold = weighed.said, route.threshold
        else:
            reason, threshold = AGENT_UNAVAILABLE if route.agent else route.reason, route.threshold
        request = await self._escalating.open(exchange, answer, reason, threshold, weighed.alternatives)
        status = "failed" if request is None else "escalated"
        result = self._asking.finish(exchange, status, answer, threshold, request)
        await exchange.settled()
        return result

    async def reply(self, escalation_id: str, response: HumanResponse) -> AskResult:
        """Do what a human replied to an escalation; of two who decide at once, the first one does.

        Returns:
            `answered`, or after `add_context` whatever the agent's new answer comes to: `accepted`, or `escalated` again.

        Raises:
            ConfigError: there is no such escalation, or the reply cannot be applied, with the reason; it is on the record.
        """
        case = await self._escalating.accepted_reply(escalation_id, response)
        if response.action != "add_context":
            return self._escalating.result_of(case)
        return await self._talking.asked_again(case, response)

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
        return await self._talking.chat(escalation_id, response)

    # -- its steps, under the names that other programs know -----------------------------------------------

    async def route_question(self, question: Question) -> AgentHandle:
        """Send a question to the agents that the rules say; they work from now on, and `get_agent_status` tells how far they are.

        Raises:
            ConfigError: the question names a target that there is not, or depends on a question without an answer.
        """
        sent = self._under_way.get(question.id)
        if sent is not None and not sent.task.done():
            raise ConfigError(
                f"`{question.id}` is under way already",
                where="question",
                todo="give each question its own id",
            )
        known = await self._answered_before((question,))
        depends.check((question,), known)
        exchange = await self._begun(depends.told_of(question, known) if question.depends_on else question)
        task = asyncio.ensure_future(self._asking.consult_all(exchange))
        task.add_done_callback(heard)
        self._under_way[question.id] = _UnderWay(exchange, dt.datetime.now(dt.UTC), task)
        self._forget()
        assert exchange.route is not None, "it was routed when it began"
        return AgentHandle(
            exchange_id=exchange.id, question_id=question.id, agent=exchange.route.agent, route=exchange.route
        )

    def _forget(self) -> None:
        more = len(self._under_way) - _MOST_KEPT
        if more > 0:
            over = (one for one, sent in self._under_way.items() if sent.task.done())
            for one in list(islice(over, more)):
                del self._under_way[one]

    async def get_agent_status(self, handle: AgentHandle) -> AgentStatus:
        """How far a question is that `route_question` has sent.

        Raises:
            ConfigError: this service has sent none of this handle.
        """
        under_way = self._found(handle.question_id)
        task = under_way.task
        state: AgentState = "running"
        answer, error = None, ""
        if handle.agent is None:
            state = "waiting_for_human"
        elif task.done():
            raised = None if task.cancelled() else task.exception()
            weighed, notes = under_way.weighed, under_way.exchange.notes
            answer = None if weighed is None else weighed.answer
            if answer is None:
                said = "" if weighed is None else weighed.said
                error = str(raised or said or (notes[-1] if notes else "cancelled"))
            state = "succeeded" if answer else "timed_out" if ": timeout: " in error else "failed"
        return AgentStatus(
            state=state, agent=handle.agent, started=under_way.started, answer=answer, error=printable(error)
        )

    async def submit_answer(self, answer: Answer) -> AcceptedOrEscalate:
        """Accept an answer to a question under way, or put it to a human.

        Raises:
            ConfigError: no question of this id is under way.
        """
        under_way = self._found(answer.question_id)
        exchange = under_way.exchange
        weighed = under_way.weighed
        if (
            weighed is None or weighed.answer != answer
        ):  # it is somebody else's than the agent's that was asked
            exchange.say("answer.received", **told(answer))
        verdict = self._asking.judge(exchange, answer)
        request = None
        if not verdict.accepted:
            request = await self._escalating.open(exchange, answer, verdict.reason, verdict.threshold)
        status = "accepted" if verdict.accepted else "escalated"
        self._asking.finish(exchange, status, answer, verdict.threshold, request)
        await exchange.settled()
        return AcceptedOrEscalate(verdict=verdict, answer=shortened(answer, exchange.id), escalation=request)

    async def escalate_to_human(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Put a question, with a tentative answer if there is one, to a human.

        A question that waits for one already is not put twice.
        """
        waiting = await self._escalating.waiting_for(question.id)
        if waiting is not None:
            return waiting
        under_way = self._under_way.get(question.id)
        exchange = under_way.exchange if under_way else await self._begun(question)
        assert exchange.route is not None, "it was routed when it began"
        threshold = exchange.route.threshold
        reason = "asked for" if answer is None else self._asking.judge(exchange, answer).reason
        weighed = under_way.weighed if under_way and answer is None else None
        alternatives = () if weighed is None else weighed.alternatives
        request = await self._escalating.open(exchange, answer, reason, threshold, alternatives)
        if request is None:
            self._asking.finish(exchange, "failed", answer, threshold)
            await exchange.settled()
            raise ConfigError(
                "there is no way to a human",
                where=self.pipeline.config.origin(("escalations",)),
                todo="name one, such as `escalations: [stdout]`",
            )
        self._asking.finish(exchange, "escalated", answer, threshold, request)
        await exchange.settled()
        return request

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
                todo="give the answer yourself",
            )
        return result.answer

    async def get_qa_log(self, feature_id: str) -> list[QALogEntry]:
        """The record of a feature's questions, in order."""
        from kr_core.pipeline.record import qa_log

        return await to_its_end(lambda: qa_log(self.pipeline.journal, feature_id))

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
        tasks = [one.task for one in self._under_way.values() if not one.task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await to_its_end(self.pipeline.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _begun(self, question: Question) -> Exchange:
        if not self._ready:  # the first one opens the journal, which is a file
            await to_its_end(lambda: self.pipeline.journal)
            self._ready = True
        return self._asking.begin(question)

    def _found(self, question_id: str) -> _UnderWay:
        if question_id not in self._under_way:
            raise ConfigError(
                f"no question `{question_id}` is under way",
                where="question_id",
                todo="send it with route_question",
            )
        return self._under_way[question_id]


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
    def cases(self) -> Cases:
        """The questions that were put to a human."""
        return self._service.cases

    def shown(self, request: EscalationRequest) -> Case:
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
        self._run(self._service.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
