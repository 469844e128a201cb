"""One exchange: a question on its way to an answer, and what is said of it on the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.model.event import Event, new_id
from kr_core.research.stages import StageRunner
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.model.questions import Answer, Question
    from kr_core.model.routing import Route
    from kr_core.protocols import Journal

__all__ = ["Exchange"]


class Exchange:
    """A question under way.

    Args:
        question: what is asked.
        route: where it goes.
        journal: where the record is kept.
        observers: called with each event at once.
        parent_id: the exchange that this one follows.
    """

    def __init__(
        self,
        question: Question,
        journal: Journal,
        observers: tuple[Callable[[Event], object], ...],
        parent_id: str | None = None,
    ) -> None:
        self.question = question
        self.parent_id = parent_id
        self.route: Route | None = None
        self.notes: list[str] = []
        self.outcomes: list[str] = []
        """How the agents failed that did, in order."""
        self.unheard: tuple[str, ...] = ()
        """Those of several agents that gave no answer, nor did their fallbacks."""
        self.outside: list[Answer] = []
        """What agents said that is none of the question's choices: no answers, and yet for a human to see."""
        self._run = StageRunner(journal, observers)

    @property
    def id(self) -> str:
        """The exchange's id; that of the run, too."""
        return self._run.id

    def say(self, kind: str, **data: Any) -> None:
        """Put something on the record; it becomes durable behind the caller's back, and `settle` waits for it."""
        self._run.emit(kind, self.about(data))

    def about(self, data: dict[str, Any]) -> dict[str, Any]:
        """Data with what every event of a question has."""
        return {
            "exchange_id": self.id,
            "parent_id": self.parent_id,
            "feature_id": self.question.feature_id,
            "question_id": self.question.id,
            **data,
        }

    def event(self, kind: str, **data: Any) -> Event:
        """An event that is kept together with something else, rather than said."""
        return Event(kind, self.id, self.about(data), f"{self.id}-{new_id()}")

    def emit(self, kind: str, data: dict[str, Any]) -> None:
        """What an agent and its requests report."""
        self._run.emit(kind, self.about(data))

    def given_up(self, error: BaseException) -> None:
        """Say that it has ended without a result, and note why."""
        self.say("exchange.finished", status="cancelled", agent=None, confidence=None, escalation_id=None)
        self.notes.append(printable(f"{type(error).__name__}: {error}".removesuffix(": ")))

    def settle(self) -> None:
        """Wait until everything said is durable.

        Raises:
            StorageError: it could not be made so.
        """
        self._run.settle()

    async def settled(self) -> None:
        """The same inside an event loop."""
        await self._run.settled()


def told(answer: Answer) -> dict[str, Any]:
    """An answer as the record has it."""
    return answer.model_dump(mode="json", exclude={"question_id", "time"})
