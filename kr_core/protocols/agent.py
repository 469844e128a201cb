"""What an agent must offer, and what it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.model.questions import Question, Reply

__all__ = ["Agent", "Job", "ModelRequired", "TaskProgram", "TaskWorker"]


class Job(Protocol):
    """One prompt for an agent, with everything it needs to send it to a model."""

    name: str
    """The agent's name in the roster."""
    question: Question
    """The question in structured form; the prompt already contains it."""
    system: str
    """The system prompt: persona and knowledge."""
    prompt: str
    """The question, and the required form of the reply."""
    schema: Mapping[str, Any]
    """The reply's form as a JSON schema: one flat object with all properties required and no others allowed."""
    model: str | None
    """The configured model; None for the plugin's default."""
    max_tokens: int | None
    """The longest reply, in tokens; None for the plugin's own limit."""
    deadline: float
    """When KR cancels the call, in the event loop's time (`loop.time()`)."""
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client, as `SourceContext.http`; pass `timeout=` with a request, because models take long.

        The client repeats a POST after a temporary failure only if you declare that it changes nothing:
        `extensions={"repeat": may_pass}`, with a function of the response that distinguishes temporary from permanent
        failures.
        """

    async def research(self, question: str, **options: Any) -> ResearchResult:
        """Answer a question from the sources, like `Pipeline.aresearch`."""


class Agent(Protocol):
    """Sends a prompt to a model and returns the reply.

    The engine handles prompts, the form of replies, their validation, retries and failures.
    """

    async def run(self, job: Job) -> Reply:
        """Run one prompt; let cancellation propagate, and leave nothing running.

        Raises:
            RequestError: there is no reply. `outcome` is the kind of failure: `timeout`, `limited`, `blocked` (it
                refused, or must not be asked), `unavailable`, or `bad_answer` (for example, cut off).
        """


@runtime_checkable
class ModelRequired(Protocol):
    """An agent that may have no model of its own; `kr doctor` then asks for `agents.<name>.model`."""

    needs_model: bool
    """Whether only the roster can name its model."""


class TaskProgram(NamedTuple):
    """The program that does a task of `kr dispatch`; KR runs it in the task's worktree, confined, and ends it in time."""

    argv: tuple[str, ...]
    """The program and its arguments; no shell reads them. What they name stays readable."""
    stdin: str
    """Its standard input."""
    environment: Mapping[str, str]
    """All of its environment."""
    readable: tuple[Path, ...] = ()
    """Files and folders beside those that `argv` names that it needs to read, such as its own settings."""


@runtime_checkable
class TaskWorker(Protocol):
    """An agent that can also do tasks of `kr dispatch`: it changes files."""

    def task_program(self, order: Mapping[str, Any], name: str, model: str | None) -> TaskProgram:
        """The program for one task.

        Args:
            order: the task: id, title, role, phase, story, paths, criteria, related, feature; `scope` (the role's patterns `allow`
                and `deny`); and `granted`, paths outside of the scope, where a person has granted some.
            name: the agent's name in the roster.
            model: the configured model; None for the plugin's default.
        """
