"""The router as other programs embed it: questions in, accepted answers or escalations out.

`KnowledgeRouterService` has plain methods, `AsyncKnowledgeRouterService` the same as coroutines. `ask` is the whole way in
one call; the others are its steps, for a program that goes them by itself.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from kr_core.asking import depends
from kr_core.asking.answering import AGENT_UNAVAILABLE, Asking, shortened, submitted, together
from kr_core.asking.escalating import Escalating
from kr_core.asking.exchange import told
from kr_core.asking.keeping import Keeping
from kr_core.asking.sent import Sent, UnderWay
from kr_core.asking.talking import Talking
from kr_core.asking.tending import Tending
from kr_core.errors import ConfigError, KRError
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
from kr_core.pipeline.running import let_threads_go, to_its_end

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from kr_core.asking.depends import Key, Known
    from kr_core.asking.exchange import Exchange
    from kr_core.asking.tending import Tended
    from kr_core.escalation.cases import Cases
    from kr_core.model import Event
    from kr_core.model.questions import QALogEntry
    from kr_core.model.routing import RoutingRule
    from kr_core.protocols import Case

__all__ = ["AsyncKnowledgeRouterService", "KnowledgeRouterService"]

Result = TypeVar("Result")
TEND_SECONDS = 60.0
"""How often a process that lives long asks for replies."""
_SOON_SECONDS = 1.0
_END_SECONDS = 5.0
"""How long what is cancelled may take to end its programs and requests."""
_LATER = "is not available in this version of KR"


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
        self._keeping = Keeping(self.pipeline)
        self._tending = Tending(self._keeping)
        self._escalating = Escalating(self._keeping, self._tending)
        self._talking = Talking(self.pipeline, self._asking, self._escalating)
        self._sent = Sent()
        self._wake = asyncio.Event()
        self._added = asyncio.Event()
        """Set where an agent may have to be asked with what was added to a case."""
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
        return self._keeping.cases

    def shown(self, request: EscalationRequest) -> Case:
        """An escalation as people read it."""
        return self._keeping.shown(request)

    def result_of(self, escalation_id: str) -> AskResult:
        """What an escalation has come to so far.

        Raises:
            ConfigError: there is no such escalation.
        """
        return self._escalating.result_of(self.cases.get(escalation_id))

    # -- the whole way --------------------------------------------------------------------------------------

    async def ask(self, question: Question) -> AskResult:
        """Ask a question: it is routed and answered, and its answer accepted or put to a human.

        One that has an id, names no target and waits for a human already, is not asked again: its result is that of the case.

        Raises:
            ConfigError: the question or the configuration is wrong.
            StorageError: the journal cannot be written.
        """
        if "id" in question.model_fields_set:
            waiting = await self._escalating.waiting_of([question])
            if waiting and question.suggested_target is None:
                held = self._escalating.result_of(waiting[0])
                note = f"not asked again: it waits for a human as {waiting[0].request.id}"
                return held.model_copy(update={"notes": (*held.notes, note)})
        elif not question.depends_on:
            return await self._ask(question)
        return (await self.ask_all((question,)))[0]

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
        known, held = await self._before(questions)
        depends.check(questions, {*known, *held})
        for question in questions:
            self._asking.check(question)
        asked = {depends.key(question): question for question in questions}
        results: dict[Key, asyncio.Future[AskResult]] = {
            one: asyncio.get_running_loop().create_future() for one in asked
        }

        async def one(question: Question) -> AskResult:
            others = [(question.feature_id, other) for other in question.depends_on]
            came = {other: await results[other] for other in others if other in results}
            waited = [came.get(other) or held[other] for other in others if other in came or other in held]
            blocking = [result for result in waited if result.status not in depends.FINAL]
            if blocking:
                result = await self._held_up(question, blocking)
            else:
                now = {
                    other: depends.Known(asked[other].text, result.answer)
                    for other, result in came.items()
                    if result.answer is not None
                }
                told = depends.told_of(question, {**known, **now}) if others else question
                result = await self._ask(told)
            results[depends.key(question)].set_result(result)
            return result

        return await together([one(question) for question in questions])

    async def _before(self, questions: Sequence[Question]) -> tuple[dict[Key, Known], dict[Key, AskResult]]:
        """What questions depend on that are not among them: those answered before, and those that wait for a human.

        Raises:
            ConfigError: another question waits for a human under the id of one.
        """
        wanted = depends.missing(questions)
        known: dict[Key, Known] = {}
        if wanted:
            known = await to_its_end(lambda: depends.answered(self.pipeline.journal, wanted))
        named = [question for question in questions if "id" in question.model_fields_set]
        left = wanted - known.keys()
        waiting = await self._escalating.waiting_of(named, left) if named or left else []
        held = {depends.key(case.request.question): self._escalating.result_of(case) for case in waiting}
        return known, {one: result for one, result in held.items() if one in left}

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
            `answered`, or after `add_context` whatever the agent's new answer comes to: `accepted`, or `escalated` again. While
            the agent is asked about the case already, it is `escalated`, and `tend` asks the agent with what was added.

        Raises:
            ConfigError: there is no such escalation, or the reply cannot be applied, with the reason; it is on the record.
        """
        if response.action != "add_context":
            decided = await self._escalating.accepted_reply(escalation_id, response)
            self.wake()  # to tell those who could not be told at once
            return self._escalating.result_of(decided)
        case = await to_its_end(lambda: self.cases.get(escalation_id))
        async with self._tending.asking(case.request.id) as mine:  # a process that is killed lets go of it
            case = await self._escalating.accepted_reply(escalation_id, response)
            if mine:
                try:
                    return await self._talking.asked_again(case, response)
                finally:
                    self._added.set()  # more may have been added meanwhile
        result = self._escalating.result_of(case)
        later = f"{case.request.agent} is being asked about {case.request.id} just now; it is told this next"
        return result.model_copy(update={"notes": (*result.notes, later)})

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

    # -- what is due for those that wait --------------------------------------------------------------------

    async def tend(self) -> Tended:
        """Do once all that is due for the questions that wait for a human, in whatever process they were put.

        They are shown, what people have written is applied, people are told and reminded, time limits are kept, and agents
        are asked again with what people have added. Several processes may do so at the same time.

        Raises:
            ConfigError: a way to a human is wrongly configured.
            StorageError: the journal cannot be used.
        """
        return await self._tending.tend(self._talking.asked_again)

    async def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> NoReturn:
        """Do so again and again, until cancelled: now, every minute, when something becomes due, and after `wake`.

        Args:
            tell: called with each note of what could not be done, once until it changes.
            every_seconds: how often people's replies are asked for.
        """
        noted: dict[str, tuple[str, ...]] = {}

        async def again(
            what: str, woken: asyncio.Event, once: Callable[[], Coroutine[Any, Any, Tended]]
        ) -> None:
            while True:
                woken.clear()
                wait = every_seconds
                try:
                    tended = await once()
                    notes = tended.notes
                    if tended.applied:
                        self._added.set()  # somebody may have added context
                    if tended.next is not None:
                        left = (tended.next - datetime.now(UTC)).total_seconds()
                        wait = min(max(left, _SOON_SECONDS), every_seconds)
                except KRError as error:  # it may be mended while this process lives
                    notes = (str(error),)
                if tell is not None and notes != noted.get(what, ()):
                    for note in notes:
                        tell(note)
                noted[what] = notes
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), wait)

        await together(
            [
                again("look", self._wake, self._tending.look),
                again("ask", self._added, lambda: self._tending.ask_agents(self._talking.asked_again)),
            ]
        )
        raise AssertionError  # it does not return

    def wake(self) -> None:
        """Let `keep_tending` look at once; in its event loop's thread."""
        self._wake.set()

    async def receive(self, sink: str, headers: Mapping[str, str], body: bytes) -> int:
        """Apply what a service tells that calls by itself: a webhook.

        Args:
            sink: the way to a human, by its name in `escalations`.
            headers: of the call; names in lower case.
            body: as it came in, byte for byte.

        Returns:
            How many replies were new.

        Raises:
            ConfigError: there is no such way to a human, or it receives nothing.
            RequestError: the call is not the service's (`blocked`), cannot be understood (`bad_answer`), or cannot be heard now.
        """
        count = await self._tending.receive(sink, headers, body)
        self.wake()
        return count

    async def history(self, escalation_id: str) -> list[QALogEntry]:
        """The entries of all exchanges of an escalation, in order: from the question to its end, with talks about it.

        Raises:
            ConfigError: there is no such escalation.
        """
        from kr_core.pipeline.record import history

        def read() -> list[QALogEntry]:
            case = self.cases.get(escalation_id)
            return history(
                self.pipeline.journal, [case.request.exchange_id, *(turn.exchange_id for turn in case.turns)]
            )

        return await to_its_end(read)

    # -- its steps, under the names that other programs know -----------------------------------------------

    async def route_question(self, question: Question) -> AgentHandle:
        """Send a question to the agents that the rules say; they work from now on, and `get_agent_status` tells how far they are.

        Raises:
            ConfigError: the question names a target that there is not, or depends on a question without an answer.
        """
        sent = self._sent.of(question)
        if sent is not None and not sent.task.done():
            raise ConfigError(
                f"`{question.id}` is under way already",
                where="question",
                todo="give each question its own id",
            )
        known, held = await self._before((question,))
        for (_, one), result in held.items():
            assert result.escalation is not None, "it waits for a human"
            raise ConfigError(
                f"`{question.id}` depends on `{one}`, which waits for a human as {result.escalation.id}",
                where="question",
                todo="send it when that is answered",
            )
        depends.check((question,), known)
        exchange = await self._begun(depends.told_of(question, known) if question.depends_on else question)
        task = asyncio.ensure_future(self._asking.consult_all(exchange))
        self._sent.add(UnderWay(exchange, task))
        assert exchange.route is not None, "it was routed when it began"
        return AgentHandle(
            exchange_id=exchange.id, question_id=question.id, agent=exchange.route.agent, route=exchange.route
        )

    async def get_agent_status(self, handle: AgentHandle) -> AgentStatus:
        """How far a question is that `route_question` has sent.

        Raises:
            ConfigError: this service has sent none of this handle.
        """
        return self._sent.by_handle(handle).status(handle)

    async def submit_answer(self, answer: Answer) -> AcceptedOrEscalate:
        """Accept an answer to a question under way, or put it to a human; once.

        An answer that is not the one of the agents that were asked is put on the record as it comes in: without what looks
        like a secret, and validated by nobody.

        Raises:
            ConfigError: no question of this id is under way, or it has its answer.
        """
        under_way = self._sent.to_answer(answer.question_id)
        under_way.ended = True  # from here on nobody else may submit one
        try:
            exchange = under_way.exchange
            answer = self._received(under_way, exchange, answer)
            verdict = self._asking.judge(exchange, answer)
            request = None
            if not verdict.accepted:
                request = await self._escalating.open(exchange, answer, verdict.reason, verdict.threshold)
            status = "accepted" if verdict.accepted else "escalated" if request else "failed"
            self._asking.finish(exchange, status, answer, verdict.threshold, request)
            await exchange.settled()
        except BaseException:
            under_way.ended = False
            raise
        return AcceptedOrEscalate(verdict=verdict, answer=shortened(answer, exchange.id), escalation=request)

    def _received(self, under_way: UnderWay | None, exchange: Exchange, answer: Answer) -> Answer:
        """An answer that a program hands in; on the record, unless it is there as the asked agents' own."""
        weighed = None if under_way is None else under_way.weighed
        if weighed is not None and answer in {weighed.answer, *weighed.alternatives}:
            return answer
        answer = submitted(answer)
        exchange.say("answer.received", **told(answer))
        return answer

    async def escalate_to_human(self, answer: Answer | None, question: Question) -> EscalationRequest:
        """Put a question, with a tentative answer if there is one, to a human.

        A question that waits for one already is not put twice.
        """
        waiting = await self._escalating.waiting_for(question)
        if waiting is not None:
            return waiting
        under_way = self._sent.of(question)
        if under_way is not None and under_way.ended:
            under_way = None  # its exchange has its end; this is another one
        exchange = under_way.exchange if under_way else await self._begun(question)
        assert exchange.route is not None, "it was routed when it began"
        threshold, reason = exchange.route.threshold, "asked for"
        if answer is not None:
            answer = self._received(under_way, exchange, answer)
            verdict = self._asking.judge(exchange, answer)
            threshold = verdict.threshold
            reason = reason if verdict.accepted else verdict.reason
        weighed = under_way.weighed if under_way and answer is None else None
        alternatives = () if weighed is None else weighed.alternatives
        if under_way is not None:
            under_way.ended = True
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
        running = self._sent.running()
        for one in running:
            one.task.cancel()
        if running:
            await asyncio.wait([one.task for one in running])
        for one in running:
            if one.task.cancelled() and not one.ended:
                one.exchange.given_up(asyncio.CancelledError())
        await to_its_end(self.pipeline.close)
        let_threads_go()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _begun(self, question: Question) -> Exchange:
        if not self._ready:  # the first one opens the journal, which is a file
            await to_its_end(lambda: self.pipeline.journal)
            self._ready = True
        return self._asking.begin(question)


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

    def tend(self) -> Tended:
        """See `AsyncKnowledgeRouterService.tend`."""
        return self._run(self._service.tend())

    def receive(self, sink: str, headers: Mapping[str, str], body: bytes) -> int:
        """See `AsyncKnowledgeRouterService.receive`."""
        return self._run(self._service.receive(sink, headers, body))

    def keep_tending(
        self, tell: Callable[[str], object] | None = None, every_seconds: float = TEND_SECONDS
    ) -> None:
        """See `AsyncKnowledgeRouterService.keep_tending`; here it goes on beside everything else, until the service is closed."""
        asyncio.run_coroutine_threadsafe(self._service.keep_tending(tell, every_seconds), self._loop)

    def wake(self) -> None:
        """See `AsyncKnowledgeRouterService.wake`; from any thread."""
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

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
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
