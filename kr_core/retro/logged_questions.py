"""The questions of a feature as the log has them: what agents answered, what the gate said, what humans did."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.model.execution_task import GRANT_TOPIC
from kr_core.model.routing import HUMAN
from kr_core.routing.table import UNKNOWN_TOPIC
from kr_core.verdicts import Subject, says_right

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from kr_core.model import Event
    from kr_core.protocols import EventLog

__all__ = [
    "AnswerRound",
    "AskedQuestion",
    "Call",
    "HumanReply",
    "by_agent",
    "in_use",
    "read_questions",
]

_PAGE = 1000


@dataclass(slots=True)
class AnswerRound:
    """One answer of an agent, what the gate said of it, and what a human made of it."""

    exchange_id: str
    agent: str
    model: str
    topic: str
    content: str
    confidence: int
    """As the agent stated it, 0-100."""
    accepted: bool
    threshold: int
    entry_id: str
    """The entry of the gate's decision."""
    verdict: bool | None = None
    """Whether it was right; None where no person said so."""
    probability: float = 1.0
    """With which a human was asked."""
    checked: bool = False
    """Whether a spot check said so."""
    prompt: str = ""
    """The version of the agent's prompt."""
    threshold_reason: str = ""
    """What set the threshold: a rule, the agent or the default."""
    time: datetime | None = None
    used: int = -1
    """The confidence that the gate went by, 0-100: another than the stated one where it was corrected by earlier verdicts."""

    def __post_init__(self) -> None:
        if self.used < 0:
            self.used = self.confidence

    @property
    def subject(self) -> Subject:
        """Whose confidence it is."""
        return Subject("agent", self.agent, self.model, self.prompt)


class HumanReply(NamedTuple):
    """What a human did about a question."""

    action: str
    content: str
    by: str
    waited: float | None
    """Seconds since the case was opened."""
    entry_id: str


class Call(NamedTuple):
    """A call of an agent."""

    agent: str
    failed: bool
    reason: str
    entry_id: str
    outcome: str = ""
    """Of a failed one, such as `timeout`."""


@dataclass(slots=True)
class AskedQuestion:
    """A question, with all that came of it."""

    question_id: str
    topic: str = ""
    text: str = ""
    entry_id: str = ""
    """The entry of its first asking."""
    unknown_topic: bool = False
    """Whether no rule knew its topic."""
    rounds: list[AnswerRound] = field(default_factory=list)
    replies: list[HumanReply] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    status: str = ""
    """How its last exchange ended; empty while it is under way."""
    escalated: bool = False
    """Whether it was ever put to a human."""
    cost_usd: float = 0.0
    tokens: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    """Of the entry of its first asking."""

    @property
    def accepted(self) -> bool:
        """Whether an agent's answer passed the gate and no human had a part in it."""
        return self.status == "accepted" and not self.replies


def read_questions(journal: EventLog, feature: str) -> list[AskedQuestion]:
    """The questions of a feature, in the order of their asking.

    Raises:
        StorageError: the journal cannot be read.
    """
    reader = _Reader()
    for event in _events(journal, feature):
        reader.learn(event)
    return reader.of_agents()


def read_all(journal: EventLog, feature: str = "") -> dict[str, list[AskedQuestion]]:
    """The questions of each feature on record, or of one.

    Raises:
        StorageError: the journal cannot be read.
    """
    readers: dict[str, _Reader] = defaultdict(_Reader)
    for event in _events(journal, feature):
        readers[_text(event.data, "feature_id")].learn(event)
    return {name: asked for name, one in readers.items() if (asked := one.of_agents())}


def by_agent(rounds: Iterable[AnswerRound]) -> dict[str, list[AnswerRound]]:
    """The answers of each agent."""
    found: dict[str, list[AnswerRound]] = defaultdict(list)
    for one in rounds:
        found[one.agent].append(one)
    return dict(sorted(found.items()))


def in_use(rounds: Sequence[AnswerRound]) -> list[AnswerRound]:
    """Those of an agent's answers that have the model and the prompt of its last one."""
    return [one for one in rounds if one.subject == rounds[-1].subject]


def _events(journal: EventLog, feature: str) -> Iterator[Event]:
    after = 0
    while page := journal.entries(feature=feature, after=after, limit=_PAGE):
        yield from (event for _number, event in page)
        after = page[-1][0]


class _Reader:
    """Learns from one entry after the other; what an older version wrote without a field counts as if it said nothing."""

    def __init__(self) -> None:
        self.questions: dict[str, AskedQuestion] = {}
        self._last: dict[str, Event] = {}
        """The last answer in an exchange."""
        self._opened: dict[str, datetime] = {}
        """When each case was opened."""
        self._models: dict[tuple[str, str], str] = {}
        self._thresholds: dict[str, str] = {}
        """What set the threshold of each exchange."""

    def of_agents(self) -> list[AskedQuestion]:
        """The questions that agents answer: whether a task may change a path is a person's alone."""
        return [one for one in self.questions.values() if one.topic != GRANT_TOPIC]

    def learn(self, event: Event) -> None:
        learn = _LEARN.get(event.kind)
        question_id = _text(event.data, "question_id")
        if learn is None or not question_id:
            return
        question = self.questions.get(question_id)
        if question is None:
            question = self.questions[question_id] = AskedQuestion(question_id, entry_id=event.id)
        learn(self, question, event)

    def asked(self, question: AskedQuestion, event: Event) -> None:
        question.data = question.data or event.data
        question.text = question.text or _text(event.data, "text")
        question.topic = question.topic or _text(event.data, "topic")

    def routed(self, question: AskedQuestion, event: Event) -> None:
        question.unknown_topic |= _text(event.data, "reason") == UNKNOWN_TOPIC
        self._thresholds[event.run] = _text(event.data, "threshold_reason")

    def started(self, question: AskedQuestion, event: Event) -> None:
        agent = _text(event.data, "agent")
        question.calls.append(Call(agent, failed=False, reason="", entry_id=event.id))
        self._models[event.run, agent] = _text(event.data, "model")

    def failed(self, question: AskedQuestion, event: Event) -> None:
        outcome = _text(event.data, "outcome")
        reason = _text(event.data, "reason") or outcome
        question.calls.append(
            Call(_text(event.data, "agent"), failed=True, reason=reason, entry_id=event.id, outcome=outcome)
        )

    def received(self, question: AskedQuestion, event: Event) -> None:
        data = event.data
        question.cost_usd += _number(data, "cost_usd")
        question.tokens += int(_number(data, "input_tokens") + _number(data, "output_tokens"))
        if _text(data, "agent") != HUMAN and not data.get("validated_by"):
            self._last[event.run] = event

    def gated(self, question: AskedQuestion, event: Event) -> None:
        answer = self._last.get(event.run)
        if answer is None:
            return
        data, agent = answer.data, _text(answer.data, "agent")
        used = event.data.get("confidence")
        stated = data.get("raw_confidence", used)
        question.rounds.append(
            AnswerRound(
                event.run,
                agent,
                _text(data, "model") or self._models.get((event.run, agent), ""),
                question.topic,
                _text(data, "content"),
                stated if isinstance(stated, int) else 0,
                bool(event.data.get("accepted")),
                int(_number(event.data, "threshold")),
                event.id,
                prompt=_text(data, "prompt_version"),
                threshold_reason=self._thresholds.get(event.run, ""),
                time=event.time,
                used=used if isinstance(used, int) else -1,
            )
        )

    def opened(self, question: AskedQuestion, event: Event) -> None:
        question.escalated = True
        self._opened[_text(event.data, "escalation_id")] = event.time

    def replied(self, question: AskedQuestion, event: Event) -> None:
        data = event.data
        if not data.get("applied", True):
            return
        opened = self._opened.get(_text(data, "escalation_id"))
        waited = None if opened is None else (event.time - opened).total_seconds()
        action, content = _text(data, "action"), _text(data, "content")
        question.replies.append(HumanReply(action, content, _text(data, "by"), waited, event.id))
        judged = [one for one in question.rounds if one.exchange_id == event.run and one.verdict is None]
        for one in judged[-1:]:
            one.verdict = says_right(action, content, one.content)

    def checked(self, question: AskedQuestion, event: Event) -> None:
        verdict = _text(event.data, "verdict")
        judged = [one for one in question.rounds if one.exchange_id == event.run and one.verdict is None]
        for one in judged[-1:] if verdict in {"right", "wrong"} else ():
            one.verdict = verdict == "right"
            one.probability = _number(event.data, "audit_probability") or 1.0
            one.checked = True

    def finished(self, question: AskedQuestion, event: Event) -> None:
        question.status = _text(event.data, "status")


_LEARN = {
    "question.asked": _Reader.asked,
    "question.routed": _Reader.routed,
    "agent.started": _Reader.started,
    "agent.failed": _Reader.failed,
    "answer.received": _Reader.received,
    "answer.gated": _Reader.gated,
    "escalation.opened": _Reader.opened,
    "human.replied": _Reader.replied,
    "answer.checked": _Reader.checked,
    "exchange.finished": _Reader.finished,
}


def _text(data: Any, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Any, key: str) -> float:
    value = data.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
