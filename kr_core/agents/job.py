"""What an agent is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.net.source_context import ConsultationContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.model.questions import Question
    from kr_core.model.routing import AgentProfile
    from kr_core.net.resources import SharedResources
    from kr_core.protocols import Project


class AgentJob:
    """One prompt for an agent (`kr_core.Job`).

    Args:
        profile: the agent that is asked.
        question: in plain form.
        system: who answers.
        prompt: what is asked.
        schema: the reply's form.
        context: its way out of the machine.
        researcher: answers a question from the sources.
        max_tokens: the longest reply that is wanted; None for the plugin's own.
    """

    def __init__(
        self,
        profile: AgentProfile,
        question: Question,
        system: str,
        prompt: str,
        schema: Mapping[str, Any],
        context: ConsultationContext,
        researcher: Callable[..., Awaitable[ResearchResult]],
        max_tokens: int | None = None,
    ) -> None:
        self.name = profile.name
        self.model = profile.model
        self.question = question
        self.system = _sendable(system)
        self.prompt = _sendable(prompt)
        self.schema = schema
        self.max_tokens = max_tokens
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
