"""Sends a question to its agents, and lets the gate judge their answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from kr_core.agents import prompts
from kr_core.agents.caller import AgentCaller, AgentPrompt, CallResult
from kr_core.agents.consensus import Consensus, combine
from kr_core.agents.exchange import Exchange, question_event, redact_question, shortened, told
from kr_core.agents.replies import answer_schema, chosen
from kr_core.aio import shielded
from kr_core.config.template_trust import template_folders, unused_note
from kr_core.errors import ConfigError, StorageError, suggestion
from kr_core.model.questions import Answer, AskResult, Question, Verdict
from kr_core.model.routing import HUMAN, Route
from kr_core.net.redaction import redacted
from kr_core.routing.patterns import folded
from kr_core.routing.table import UNKNOWN_TOPIC
from kr_core.terminal_text import printable
from kr_core.verdicts import Learned, Subject, certificate

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from kr_core.model import ResearchResult
    from kr_core.model.questions import EscalationRequest
    from kr_core.model.routing import AgentProfile
    from kr_core.protocols import Agent
    from kr_core.research.pipeline import Pipeline
    from kr_core.routing.table import Table

__all__ = ["AGENT_UNAVAILABLE", "AgentDispatcher", "decide", "hints", "no_topic", "together"]

Came = TypeVar("Came")
AGENT_UNAVAILABLE = "Agent unavailable"
NEVER = 100
"""A threshold that no answer passes, whatever it says of itself."""


class AgentDispatcher:
    """Asks questions in a project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._components = pipeline.components
        self.hooks = pipeline.components.hooks
        self._folders = template_folders(pipeline.config.root, pipeline.config.environ)
        self._caller = AgentCaller(
            pipeline.project, self._folders, self._components.outside, self._built, self._researched
        )
        self._systems: dict[AgentProfile, tuple[str, list[str]]] = {}
        self._versions: dict[AgentProfile, str] = {}
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    # -- the way --------------------------------------------------------------------------------------------

    def begin(self, question: Question, parent_id: str | None = None, route: Route | None = None) -> Exchange:
        """Open an exchange: the question and its way are on the record.

        Args:
            question: what is asked.
            parent_id: the exchange that this one follows.
            route: where it goes, if that is known already.

        Raises:
            ConfigError: the question is too long or names a target that there is not; nothing is on the record.
        """
        written, question = question, redact_question(question)
        notes = ["what looks like a secret was taken out of the question"] if question != written else []
        if route is None:
            route, found = self.route(question)
            notes += found
            if route.reason == UNKNOWN_TOPIC:
                notes += hints(question, route, self._components.table())
        exchange = Exchange(question, self._components.journal, self._pipeline.observers, parent_id)
        exchange.notes += notes
        exchange.route = route
        exchange.say("question.asked", **question_event(question))
        exchange.say("question.routed", topic=question.topic, **route.model_dump(mode="json"))
        return exchange

    def check(self, question: Question) -> None:
        """Check a question before anybody is asked.

        Raises:
            ConfigError: it is too long, or names a target that there is not.
        """
        self.route(redact_question(question))

    def route(self, question: Question) -> tuple[Route, list[str]]:
        """Where a question goes, and notes of routers that failed.

        Raises:
            ConfigError: the question names a target that there is not.
        """
        routers, notes = self._components.routers()
        for name, router in routers.items():
            try:
                route = router.route(question)
            except ConfigError:
                raise
            except Exception as error:
                notes.append(printable(f"router {name}: {type(error).__name__}: {error}"))
                continue
            fault = "" if route is None else self._fault(route)
            if fault:
                notes.append(printable(f"router {name}: {fault}"))
            elif route is not None:
                return route, notes
        return self._components.table().unknown(question), notes

    def _fault(self, route: Route) -> str:
        """Why a router's route leads nowhere; empty if it does not."""
        if not isinstance(route, Route):
            return f"returned {type(route).__name__} instead of a kr_core.Route"
        agents = self._components.table().agents
        nobody = [one for one in (route.agent, *route.also) if one is not None and one not in agents]
        return f"sent the question to `{nobody[0]}`, which is not an agent" if nobody else ""

    # -- the answer -----------------------------------------------------------------------------------------

    async def consult(
        self, exchange: Exchange, context: str | None = None, prompt: str | None = None
    ) -> Answer | None:
        """Ask the agent that the question was sent to, then its fallbacks; None where nobody answered.

        Args:
            exchange: the question's.
            context: in place of the question's own.
            prompt: in place of the one that asks the question.

        Raises:
            ConfigError: an agent's plugin is wrongly configured, or not trusted.
        """
        assert exchange.route is not None, "it was routed when it began"
        first = exchange.route.agent
        asked = exchange.question.context if context is None else context
        return None if first is None else await self._first_answer(exchange, first, (), asked, prompt)

    async def consult_all(self, exchange: Exchange) -> Consensus:
        """Ask all agents that the question was sent to, at the same time, and compare what they say.

        Raises:
            ConfigError: an agent's plugin is wrongly configured, or not trusted.
        """
        route = exchange.route
        assert route is not None, "it was routed when it began"
        if route.agent is None:
            return Consensus(None)
        if not route.also:
            return Consensus(await self.consult(exchange))
        names = (route.agent, *route.also)
        context = exchange.question.context
        came = await together([self._first_answer(exchange, name, names, context) for name in names])
        if any(came):
            exchange.unheard = tuple(name for name, answer in zip(names, came, strict=True) if answer is None)
        if exchange.unheard:
            exchange.notes.append(f"no answer of {', '.join(exchange.unheard)} to compare with")
        weighed = combine(exchange.question, [answer for answer in came if answer is not None])
        if weighed.message:
            exchange.say(
                "answers.compared",
                agents=[answer.agent for answer in came if answer is not None],
                agree=weighed.answer is not None,
                confidence=None if weighed.answer is None else weighed.answer.confidence,
                message=weighed.message,
            )
        return weighed

    async def _first_answer(
        self,
        exchange: Exchange,
        name: str,
        others: tuple[str, ...],
        context: str,
        prompt: str | None = None,
    ) -> Answer | None:
        """The answer of an agent, or of the first of its fallbacks that gives one and is not asked anyway."""
        agents = self._components.table().agents
        for one in (name, *(other for other in agents[name].fallback if other not in others)):
            answer = await self._asked(exchange, agents[one], context, prompt)
            if answer is not None:
                return answer
        return None

    async def _asked(
        self, exchange: Exchange, profile: AgentProfile, context: str, prompt: str | None
    ) -> Answer | None:
        question = exchange.question
        system, notes = self._system(profile)
        exchange.notes += [note for note in notes if note not in exchange.notes]
        async with self._gate():
            exchange.say(
                "agent.started",
                agent=profile.name,
                plugin=profile.plugin,
                model=profile.model,
                timeout_seconds=profile.timeout_seconds,
            )
            came = await self._caller.consult(
                profile,
                AgentPrompt(
                    question,
                    system,
                    prompt or prompts.answer(self._folders, question, context),
                    answer_schema(question.choices),
                ),
                exchange.emit,
            )
        if came.fields is None:
            outside = None if came.outside is None else _answer(question, profile, came.outside, came)
            exchange.outside += [] if outside is None else [outside]
            exchange.say(
                "agent.failed",
                agent=profile.name,
                outcome=came.outcome,
                reason=came.reason,
                answer=None if outside is None else outside.content,
                seconds=came.seconds,
            )
            exchange.notes.append(f"{profile.name}: {came.outcome}: {came.reason}")
            exchange.outcomes.append(came.outcome)
            return None
        answer = _answer(question, profile, came.fields, came)
        answer = await shielded(lambda: self._weighed(exchange, profile, answer))
        exchange.say("answer.received", **told(answer, came.reply.finish_reason))
        return answer

    def _gate(self) -> asyncio.Semaphore:
        """What lets in at most `defaults.max_concurrent` questions at once to agents, in the running event loop.

        That of sources is another one: an agent that researches would wait for a place there that it holds itself.
        """
        return self._gates.setdefault(
            asyncio.get_running_loop(),
            asyncio.Semaphore(self._pipeline.config.settings.defaults.max_concurrent),
        )

    def check_answerer(self, agent: str) -> None:
        """Check whose an answer is that a program hands in: that of an agent, or of nobody it names.

        Raises:
            ConfigError: there is no such agent, or it would pass for a human.
        """
        agents = self._components.table().agents
        if agent == HUMAN:
            raise ConfigError(
                "a program does not answer as a human",
                where="agent",
                hint="put the question to one, and hand over the decision with handle_human_response",
            )
        if agent and agent not in agents:
            shown = printable(redacted(agent))
            raise ConfigError(
                f"no agent is called `{shown}`", where="agent", hint=suggestion(shown, agents, "there are")
            )

    def judge(self, exchange: Exchange, answer: Answer, *, asked: bool = True) -> Verdict:
        """What the gate says of an answer; on the record.

        Args:
            exchange: the question's.
            answer: to it.
            asked: whether it came from those that were asked; of another, whoever it names, no less is wanted.
        """
        assert exchange.route is not None, "it was routed when it began"
        table = self._components.table()
        route, threshold = exchange.route, exchange.route.threshold
        if answer.agent != route.agent:  # a fallback has its own, where the topic has none
            own, _ = table.threshold(exchange.question.topic, answer.agent or route.agent)
            threshold = max(threshold, own) if route.also or not asked else own
        verdict = decide(
            self._confidence(answer, exchange.question.topic),
            threshold,
            always_escalate=route.always_escalate,
        )
        if route.agent is None:  # whoever has handed in an answer
            verdict = verdict.model_copy(
                update={"accepted": False, "reason": f"it goes to a human: {route.reason}"}
            )
        elif exchange.unheard and verdict.accepted:
            verdict = verdict.model_copy(
                update={
                    "accepted": False,
                    "reason": f"no answer of {', '.join(exchange.unheard)} to compare it with",
                }
            )
        verdict = self._certified(exchange, answer, verdict)
        exchange.gated(verdict, answer)
        return verdict

    def _weighed(self, exchange: Exchange, profile: AgentProfile, answer: Answer) -> Answer:
        """An answer with what its confidence is worth by what humans said of earlier ones, as far as that is to count."""
        setting = self._pipeline.config.settings.calibration
        answer = answer.model_copy(update={"prompt_version": self._version(profile)})
        try:
            learned = self._components.verdicts.read()
        except StorageError as error:  # the answer stands as the agent gave it
            exchange.notes.append(printable(f"what humans said of earlier answers does not count: {error}"))
            return answer
        topic = exchange.question.topic
        found = learned.calibration(_subject(answer), answer.raw_confidence, topic, setting)
        confidence = found.calibrated if found.stage == "calibrated" else None
        return answer.model_copy(
            update={
                "calibration": found,
                "confidence": answer.confidence if confidence is None else confidence,
            }
        )

    def _confidence(self, answer: Answer, topic: str) -> int:
        """What the gate goes by: where a rule sets the threshold of the topic, no more than was stated."""
        mapped = answer.calibration is not None and answer.calibration.stage == "calibrated"
        if mapped and self._components.table().is_topics_own(topic):
            return min(answer.confidence, answer.raw_confidence)
        return answer.confidence

    def _certified(self, exchange: Exchange, answer: Answer, verdict: Verdict) -> Verdict:
        """The gate's word on an answer that met the threshold: with a certificate, and whether a human checks it."""
        if not verdict.accepted:
            return verdict
        route, topic, subject = exchange.route, exchange.question.topic, _subject(answer)
        assert route is not None, "it was routed when it began"
        learned = self._learned()
        proven = certificate(learned.judged, subject, topic, route.certified)
        if route.certified is not None and not proven.holds:
            reason = f"{verdict.reason}, and its rule asks for {route.certified} % certified: {proven.text}"
            return verdict.model_copy(
                update={
                    "accepted": False, "reason": reason, "audit_probability": 1.0, "certificate": proven.text
                }
            )  # fmt: skip
        audit: dict[str, object] = {}
        if self._pipeline.config.settings.audit:
            probability, drawn = learned.draw(subject, topic, exchange.id)
            audit = {"audit_probability": probability, "audited": drawn}
        return verdict.model_copy(update={"certificate": proven.text, **audit})

    def _learned(self) -> Learned:
        try:
            return self._components.verdicts.last
        except StorageError:  # nothing is proven then
            return Learned()

    def finish(
        self,
        exchange: Exchange,
        status: str,
        answer: Answer | None,
        threshold: int,
        escalation: EscalationRequest | None = None,
    ) -> AskResult:
        """The result of an exchange; on the record."""
        assert exchange.route is not None, "it was routed when it began"
        notes = list(exchange.notes)
        if answer is not None:
            notes += [note for note in answer.notes if note not in notes]
        config = self._pipeline.config
        if unused := unused_note(config.root, config.environ):
            notes.append(unused)
        result = AskResult(
            exchange_id=exchange.id,
            question_id=exchange.question.id,
            status=status,
            route=exchange.route,
            answer=None if answer is None else shortened(answer, exchange.id),
            threshold=threshold,
            escalation=escalation,
            certificate=exchange.verdict.certificate if exchange.verdict and status == "accepted" else "",
            notes=tuple(notes),
        )
        exchange.finished(status, answer, None if escalation is None else escalation.id)
        return result

    # -- what agents are asked with ---------------------------------------------------------------------------

    def _built(self, profile: AgentProfile) -> Agent:
        return self._components.agent(profile)

    def _system(self, profile: AgentProfile) -> tuple[str, list[str]]:
        """Read once for a pipeline: persona and knowledge of an agent do not change from question to question."""
        if profile not in self._systems:
            self._systems[profile] = prompts.system(self._folders, profile, self._pipeline.config.root)
        return self._systems[profile]

    def _version(self, profile: AgentProfile) -> str:
        if profile not in self._versions:
            self._versions[profile] = prompts.version(self._folders, profile, self._pipeline.config.root)
        return self._versions[profile]

    async def _researched(self, question: str, **options: Any) -> ResearchResult:
        return (await self._pipeline.aresearch(question, **options)).result


async def together(work: Sequence[Coroutine[Any, Any, Came]]) -> list[Came]:
    """Do several things at the same time; if one fails the others end, and nothing goes on behind the caller's back.

    Raises:
        BaseException: what the first one that failed has raised.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)


def hints(question: Question, route: Route, table: Table) -> list[str]:
    """What a person may do about a question that no rule is for."""
    written = folded(question.topic)
    if written in {name.casefold() for name in table.targets()}:
        return [no_topic(question.topic)]
    if route.proposed_topic is None:
        return []
    found = table.route(Question(text=question.text, topic=route.proposed_topic))
    to = "" if found is None else f", which goes to {found.agent or found.target}"
    return [f"it looks like the topic `{route.proposed_topic}`{to}"]


def no_topic(name: str) -> str:
    """What is said of a topic that is the name of one who answers."""
    return f"`{name}` is no topic but one who answers: suggest it as the target"


def _subject(answer: Answer) -> Subject:
    return Subject("agent", answer.agent, answer.model, answer.prompt_version)


def _answer(question: Question, profile: AgentProfile, fields: Mapping[str, Any], came: CallResult) -> Answer:
    content = redacted(str(fields["answer"]).strip())
    return Answer(
        question_id=question.id,
        content=chosen(content, question.choices) or content,
        rationale=redacted(str(fields.get("rationale", "")).strip()),
        confidence=fields.get("confidence"),
        uncertainty_reasons=tuple(redacted(reason) for reason in fields.get("uncertainty_reasons") or ()),
        agent=profile.name,
        model=came.reply.model or profile.model or "",
        input_tokens=came.reply.input_tokens,
        output_tokens=came.reply.output_tokens,
        cost_usd=came.reply.cost_usd,
        seconds=came.seconds,
        notes=came.reply.notes,
    )


def decide(confidence: int, threshold: int, *, always_escalate: bool = False) -> Verdict:
    """Accept an answer from its threshold on; pure.

    Args:
        confidence: 0 to 100.
        threshold: 0 to 100; at 100 every answer goes to a human.
        always_escalate: the same for any threshold.
    """
    if always_escalate:
        accepted, reason = False, "its topic always goes to a human"
    elif threshold >= NEVER:
        accepted, reason = False, "the threshold of 100 puts every answer to a human"
    elif confidence >= threshold:
        accepted, reason = True, f"confidence {confidence} is at least {threshold}"
    else:
        accepted, reason = False, f"confidence {confidence} is below {threshold}"
    return Verdict(accepted=accepted, confidence=confidence, threshold=threshold, reason=reason)
