"""What an agent must offer, and what it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.model.questions import Question, Reply

__all__ = ["Agent", "Job"]


class Job(Protocol):
    """One prompt for an agent, and all that it needs to carry it to a model."""

    name: str
    """The agent's name in the roster."""
    question: Question
    """What was asked, in plain form; the prompt holds it already."""
    system: str
    """Who answers: persona and knowledge."""
    prompt: str
    """What is asked, and in which form."""
    schema: Mapping[str, Any]
    """The reply's form as a JSON schema: one flat object, every property required, and no others allowed."""
    model: str | None
    """The model that is configured; None for the plugin's own."""
    max_tokens: int | None
    """The longest reply that is wanted, in tokens; None for the plugin's own limit."""
    deadline: float
    """When the call will be cancelled, in the event loop's time (`loop.time()`)."""
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client, as `SourceContext.http`; give `timeout=` with a request, since models think for long.

        A POST that failed in passing is sent again where it says that it changes nothing: `extensions={"repeat": may_pass}`,
        with a function of the answer that tells a failure in passing from one for good.
        """

    async def research(self, question: str, **options: Any) -> ResearchResult:
        """Answer a question from the sources, as `Pipeline.aresearch` does."""


class Agent(Protocol):
    """Carries a prompt to a model, and the reply back.

    Prompts, the form of replies, their validation, a second try and what follows a failure are the engine's.
    """

    async def run(self, job: Job) -> Reply:
        """Run one prompt; cancellation must pass through, with nothing left running.

        Raises:
            RequestError: there is no reply; its `outcome` says of which kind that is: `timeout`, `limited`, `blocked` (it
                refused, or must not be asked), `unavailable`, or `bad_answer` (cut off, say).
        """
