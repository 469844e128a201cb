"""One exchange: a question on its way to an answer, and the form in which both go on the record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeAlias

from kr_core.errors import ConfigError
from kr_core.model.event import Event, new_id
from kr_core.net.redaction import redacted
from kr_core.research.stage_runner import StageRunner
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kr_core.model.questions import Answer, Question, Verdict
    from kr_core.model.routing import Route
    from kr_core.protocols import EventLog

__all__ = [
    "Exchange",
    "Key",
    "end_of",
    "key",
    "question_event",
    "redact_question",
    "shortened",
    "submitted",
    "told",
]

MAX_QUESTION_LENGTH = 100_000
"""Characters of a question with its context; a model would cut off more, and not say so."""
MAX_NAME_LENGTH = 200
"""Characters of a topic, a feature or an id."""
MAX_ANSWER_LENGTH = 16_000
"""Characters of an answer as the next reader gets it, some 4,000 tokens; the record has all of it."""


Key: TypeAlias = tuple[str, str]
"""A question: its feature and its id within it."""


def key(question: Question) -> Key:
    """What tells a question from all others."""
    return question.feature_id, question.id


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
        journal: EventLog,
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
        self.verdict: Verdict | None = None
        """What the gate said of its last answer."""
        self.outside: list[Answer] = []
        """What agents said that is none of the question's choices: no answers, and yet for a human to see."""
        self.keep: Callable[[tuple[Event, ...]], Future[None]] | None = None
        """Keeps its end in place of the journal, where that may fail: another worker may have ended it."""
        self._run = StageRunner(journal, observers)
        self._began = time.monotonic()
        self._ended = False

    @property
    def id(self) -> str:
        """The exchange's id; that of the run, too."""
        return self._run.id

    def say(self, kind: str, **data: Any) -> None:
        """Put something on the record; it becomes durable behind the caller's back, and `settle` waits for it."""
        self._run.emit(kind, self.about(data))

    def gated(self, verdict: Verdict, answer: Answer | None) -> None:
        """Put on the record what the gate said of an answer."""
        self.verdict = verdict
        self.say(
            "answer.gated",
            **verdict.model_dump(mode="json"),
            raw_confidence=verdict.confidence if answer is None else answer.raw_confidence,
            agent="" if answer is None else answer.agent,
            model="" if answer is None else answer.model,
            prompt="" if answer is None else answer.prompt_version,
            topic=self.question.topic,
        )

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

    def finished(self, status: str, answer: Answer | None, escalation_id: str | None) -> None:
        """Say that it has ended, and how long it took."""
        self._ended = True
        data = {
            "status": status,
            "agent": None if answer is None else answer.agent,
            "confidence": None if answer is None else answer.confidence,
            "escalation_id": escalation_id,
            "seconds": round(time.monotonic() - self._began, 3),
        }
        self._run.emit("exchange.finished", self.about(data), self.keep, end_of(self.id))

    def given_up(self, error: BaseException) -> None:
        """Say that it has ended without a result, unless it has one that is not durable yet, and note why."""
        if not self._ended:
            self.finished("cancelled", None, None)
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


def end_of(exchange_id: str) -> str:
    """The id of the event that ends an exchange: it has one, also where a worker ends what another one began."""
    return f"{exchange_id}-end"


def told(answer: Answer, finish_reason: str = "") -> dict[str, Any]:
    """An answer as the record has it, and why the model ended it, where a model did."""
    return {
        **answer.model_dump(mode="json", exclude={"question_id", "time"}),
        "finish_reason": printable(finish_reason)[:MAX_NAME_LENGTH],
    }


def question_event(question: Question) -> dict[str, Any]:
    """A clean question as the record has it, beside its feature and id."""
    return question.model_dump(mode="json", exclude={"id", "feature_id"})


def redact_question(question: Question) -> Question:
    """The question without what looks like a secret.

    Raises:
        ConfigError: it is longer than any agent would read.
    """
    length = len(question.text) + len(question.context) + sum(map(len, question.choices))
    if not question.text.strip():
        raise ConfigError("the question is empty", where="question", hint="ask something")
    for name, value in (("topic", question.topic), ("feature", question.feature_id), ("id", question.id)):
        if len(value) > MAX_NAME_LENGTH:
            raise ConfigError(
                f"the {name} has {len(value):,} characters",
                where="question",
                hint=f"at most {MAX_NAME_LENGTH}",
            )
    for name, value in (("feature", question.feature_id), ("id", question.id)):
        if redacted(value) != value:  # without it nobody would find the question again
            raise ConfigError(f"the {name} looks like a secret", where="question", hint="name it otherwise")
    choices = [" ".join(choice.split()).casefold() for choice in question.choices]
    if not all(choices) or len(set(choices)) < len(choices):
        raise ConfigError(
            "a choice is empty, or given twice",
            where="question",
            hint="give choices that differ in their words",
        )
    if length > MAX_QUESTION_LENGTH:
        raise ConfigError(
            f"the question has {length:,} characters with its context, at most {MAX_QUESTION_LENGTH:,} can be asked",
            where="question",
            hint="ask about less, or put what is to be known into the agent's knowledge folder",
        )
    return question.model_copy(
        update={
            "topic": redacted(question.topic),
            "suggested_target": question.suggested_target and redacted(question.suggested_target),
            "also": tuple(map(redacted, question.also)),
            "text": redacted(question.text),
            "context": redacted(question.context),
            "choices": tuple(map(redacted, question.choices)),
        }
    )


def submitted(answer: Answer) -> Answer:
    """An answer as a program hands it in, fit for the record: without what looks like a secret, and validated by nobody."""
    return answer.model_copy(
        update={
            "content": redacted(answer.content.strip()),
            "rationale": redacted(answer.rationale.strip()),
            "uncertainty_reasons": tuple(map(redacted, answer.uncertainty_reasons)),
            "agent": redacted(answer.agent),
            "model": redacted(answer.model),
            "notes": tuple(map(redacted, answer.notes)),
            "validated_by": None,
        }
    )


def shortened(answer: Answer, exchange_id: str) -> Answer:
    """An answer as the next reader gets it: of what is too long in it, the beginning, marked."""
    long = {
        name: text
        for name, text in (("content", answer.content), ("rationale", answer.rationale))
        if len(text) > MAX_ANSWER_LENGTH
    }
    return answer.model_copy(update={name: _cut(text, exchange_id) for name, text in long.items()})


def _cut(text: str, exchange_id: str) -> str:
    mark = (
        f"\n\n[Shortened: {len(text):,} characters; the whole answer is in the log, exchange {exchange_id}]"
    )
    return text[: MAX_ANSWER_LENGTH - len(mark)] + mark
