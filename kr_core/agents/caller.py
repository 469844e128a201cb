"""Calls one agent, within its time, with one chance to mend a reply that is not in the form asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.agents import prompts
from kr_core.agents.replies import BadReplyError, OutsideError, read
from kr_core.aio import GRACE_SECONDS, consume_exception, in_thread, wait_or_abandon
from kr_core.errors import ConfigError, RequestError
from kr_core.model.questions import Reply
from kr_core.net.reasons import said
from kr_core.net.redaction import redacted
from kr_core.net.source_context import ConsultationContext
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.model.questions import Question
    from kr_core.model.routing import AgentProfile
    from kr_core.net.shared_resources import SharedResources
    from kr_core.protocols import Agent, Project

__all__ = ["AgentCaller", "AgentJob", "AgentPrompt", "CallResult"]


class AgentPrompt(NamedTuple):
    """What an agent is asked."""

    question: Question
    """In plain form."""
    system: str
    """Who answers."""
    prompt: str
    schema: Mapping[str, Any]
    """The reply's form."""
    max_tokens: int | None = None
    """The longest reply that is wanted; None for the plugin's own."""


class CallResult(NamedTuple):
    """What came of asking an agent: the object it replied with, or why there is none."""

    fields: dict[str, Any] | None
    reply: Reply
    outcome: str
    """`ok`, or that of the failure: `timeout`, `limited`, `blocked`, `unavailable`, `bad_answer`."""
    reason: str
    """Empty where all is well; fit to be shown."""
    seconds: float
    repaired: bool = False
    """Whether it needed its second chance."""
    outside: dict[str, Any] | None = None
    """What it replied at last, where nothing is wrong but that the answer is none of the choices."""


class AgentCaller:
    """What agents are asked with: the project, its templates, the way out, and research.

    Args:
        project: where questions are asked.
        folders: where templates are looked for.
        outside: what all consultations share.
        build: the agent plugin of a profile; may fail.
        researcher: answers a question from the sources.
    """

    def __init__(
        self,
        project: Project,
        folders: tuple[Path, ...],
        outside: SharedResources,
        build: Callable[[AgentProfile], Agent],
        researcher: Callable[..., Awaitable[ResearchResult]],
    ) -> None:
        self._project = project
        self._folders = folders
        self._outside = outside
        self._build = build
        self._researcher = researcher
        self._agents: dict[AgentProfile, Agent] = {}

    async def consult(
        self,
        profile: AgentProfile,
        request: AgentPrompt,
        emit: Callable[[str, dict[str, Any]], None],
        *,
        retried: bool = False,
    ) -> CallResult:
        """Ask an agent; whatever it does comes back as an outcome, with what all its replies cost.

        Args:
            profile: who is asked.
            request: what it is asked.
            emit: says what happens.
            retried: whether a reply that is not in the form asked for is asked for once more as it was, before it is
                repaired.

        Raises:
            ConfigError: the plugin is wrongly configured, or not trusted.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        deadline = started + profile.timeout_seconds
        context = way_out(profile, self._project, self._outside, deadline, emit)

        spent = Reply()

        async def asked() -> CallResult:
            nonlocal spent
            agent = await self._built(profile)
            job = AgentJob(profile, request, context, self._researcher)
            reply = _checked(await agent.run(job))
            for last in (False, True) if retried else (True,):
                try:
                    return CallResult(
                        read(reply, request.schema), reply, "ok", "", 0.0, repaired=last and retried
                    )
                except BadReplyError as error:
                    spent = reply.model_copy(update={"text": "", "data": None})
                    fault = _shown(str(error))  # it quotes the reply
                if not last:
                    reply = _sum(spent, _checked(await agent.run(job)))
            emit("agent.repaired", {"agent": profile.name, "fault": fault})
            wrote = redacted(reply.text or str(reply.data))
            again = prompts.repair(self._folders, request.prompt, wrote, fault)
            second = _checked(await agent.run(job.again(again)))
            total = _sum(reply, second)
            try:
                return CallResult(read(second, request.schema), total, "ok", "", 0.0, repaired=True)
            except BadReplyError as error:
                fault = _shown(f"no valid answer: {error}")
                outside = error.fields if isinstance(error, OutsideError) else None
                return CallResult(None, total, "bad_answer", fault, 0.0, repaired=True, outside=outside)

        task = asyncio.ensure_future(asked())
        task.add_done_callback(consume_exception)
        cancelled: BaseException | None = None
        try:
            await asyncio.wait({task}, timeout=profile.timeout_seconds)
        except asyncio.CancelledError as error:
            cancelled = error
        stopped = not task.done()
        if stopped:
            task.cancel()
            cancelled = await wait_or_abandon(task, GRACE_SECONDS) or cancelled
        cancelled = await context.close() or cancelled
        if cancelled is not None:
            raise cancelled
        seconds = round(loop.time() - started, 3)
        if stopped:
            came = _failed("timeout", f"timeout after {profile.timeout_seconds} s", seconds)
        else:
            came = _outcome(task, seconds)
        return came if came.repaired else came._replace(reply=_sum(spent, came.reply))

    async def _built(self, profile: AgentProfile) -> Agent:
        if profile not in self._agents:  # each further question would take a thread that has nothing to do
            building = in_thread(lambda: self._build(profile))  # it imports, and may wait for ever
            building.add_done_callback(consume_exception)
            self._agents[profile] = await building
        return self._agents[profile]


def _checked(reply: Any) -> Reply:
    """The reply, its notes fit to be shown."""
    if not isinstance(reply, Reply):
        raise RequestError("bad_answer", f"returned {type(reply).__name__} instead of a kr_core.plugin.Reply")
    return reply.model_copy(update={"notes": tuple(map(_shown, reply.notes))})


def _outcome(task: asyncio.Task[CallResult], seconds: float) -> CallResult:
    if task.cancelled():
        return _failed("unavailable", "the agent cancelled itself", seconds)
    error = task.exception()
    if error is None:
        return task.result()._replace(seconds=seconds)
    if isinstance(error, ConfigError | KeyboardInterrupt | SystemExit):
        raise error
    if isinstance(error, RequestError):
        return _failed(error.outcome, said(error), seconds)
    if isinstance(error, TimeoutError):
        return _failed("timeout", said(error), seconds)
    return _failed("unavailable", said(error), seconds)


def _failed(outcome: str, reason: str, seconds: float) -> CallResult:
    return CallResult(None, Reply(), outcome, _shown(reason), seconds)


def _shown(text: str) -> str:
    """A text of an agent as events, notes and its next prompt show it, on one line."""
    return " ".join(printable(redacted(text)).split())


def _sum(first: Reply, second: Reply) -> Reply:
    """The second reply with what both cost."""

    def both(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else one + other

    return second.model_copy(
        update={
            name: both(getattr(first, name), getattr(second, name))
            for name in ("input_tokens", "output_tokens", "cost_usd", "notes")
        }
    )


class AgentJob:
    """One prompt for an agent (`kr_core.plugin.Job`).

    Args:
        profile: the agent that is asked.
        request: what it is asked.
        context: its way out of the machine.
        researcher: answers a question from the sources.
    """

    def __init__(
        self,
        profile: AgentProfile,
        request: AgentPrompt,
        context: ConsultationContext,
        researcher: Callable[..., Awaitable[ResearchResult]],
    ) -> None:
        self.name = profile.name
        self.model = profile.model
        self.question = request.question
        self.system = _sendable(request.system)
        self.prompt = _sendable(request.prompt)
        self.schema = request.schema
        self.max_tokens = request.max_tokens
        self.deadline = context.deadline
        self.emit = context.emit
        self._context = context
        self._researcher = researcher

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared client, made on first use."""
        return self._context.http

    async def research(self, question: str, **options: Any) -> ResearchResult:
        """Answer a question from the sources."""
        return await self._researcher(question, **options)

    def again(self, prompt: str) -> AgentJob:
        """The same job with another prompt."""
        another = object.__new__(AgentJob)
        another.__dict__.update(self.__dict__, prompt=_sendable(prompt))
        return another


def _sendable(text: str) -> str:
    """A text that every service takes: half characters, which JSON can hold and UTF-8 cannot, are question marks."""
    return text.encode("utf-8", "replace").decode()


def way_out(
    profile: AgentProfile,
    project: Project,
    outside: SharedResources,
    deadline: float,
    emit: Callable[[str, dict[str, Any]], None],
) -> ConsultationContext:
    """An agent's way out of the machine; its requests are events of the agent."""

    def told(kind: str, data: dict[str, Any]) -> None:
        if kind == "source.request":
            kind, data = (
                "agent.request",
                {"agent": profile.name, **{k: v for k, v in data.items() if k != "source"}},
            )
        emit(kind, data)

    return ConsultationContext(project, told, deadline, outside, f"agent {profile.name}")
