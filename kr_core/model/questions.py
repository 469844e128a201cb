"""Questions to agents and people, their answers, and what was decided about them.

The names of the types and of `HumanResponse`'s actions are those that other programs depend on.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from kr_core.model.base import Score100, Value, Whole
from kr_core.model.event import new_id
from kr_core.model.research import ResearchQuery
from kr_core.model.routing import HUMAN, Route

__all__ = [
    "AcceptedOrEscalate",
    "AgentHandle",
    "AgentState",
    "AgentStatus",
    "Answer",
    "AskResult",
    "Calibration",
    "EscalationRequest",
    "HumanResponse",
    "QALogEntry",
    "Question",
    "Reply",
    "Resolution",
    "Verdict",
    "read_confidence",
]

_MAX_SHOWN = 10**40
"""Python writes no whole number of thousands of digits, but raises."""
_KINDS = {str: "a text", list: "a list", dict: "an object", bool: "true or false"}
GENERAL = "general"
"""The feature of a question that names none."""


class Question(Value):
    """A structured question from an agent or a person.

    `suggested_target` is a role, an agent or `human`; `also` are further roles or agents to ask at the same time.
    `choices` are answers to choose from. `depends_on` are ids of questions whose answers join the context.
    """

    id: str = Field(default_factory=new_id, min_length=1)
    feature_id: str = Field(default=GENERAL, min_length=1)
    topic: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    text: str = Field(min_length=1)
    suggested_target: str | None = None
    also: tuple[str, ...] = ()
    context: str = ""
    choices: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


def read_confidence(value: Any) -> tuple[int, str]:
    """A confidence as an agent wrote it, 0 to 100, and a note where it could not be read and so counts as 0.

    Only a number of JSON can be read; nothing is guessed. `0.85` may be 85 % or less than 1, so it is not read; `85.5` is
    85, which is below every whole threshold that it is below.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        if value is None:
            return 0, "the answer has no confidence, which counts as 0"
        kind = _KINDS.get(type(value), "of another kind")  # not the value: it may be anything, a secret too
        return 0, f"the confidence is {kind}, which is no number from 0 to 100, and counts as 0"
    if not 0 <= value <= 100:  # nor is NaN; a whole number may have more digits than any float
        shown = value if isinstance(value, float) or abs(value) < _MAX_SHOWN else "of many digits"
        return 0, f"the confidence {shown} is not between 0 and 100, which counts as 0"
    if isinstance(value, float) and 0 < value <= 1:
        return 0, f"the confidence {value} may be a share or a percentage, which counts as 0"
    return int(value), ""


class Calibration(Value):
    """What a stated confidence is worth by what humans said of earlier answers.

    `stage` is `raw` below `needed` verdicts, `shadow` where the value is only shown, and `calibrated` where the gate
    uses it. `calibrated` is that value, 0 to 100, or None at the stage `raw`.
    """

    stage: Literal["raw", "shadow", "calibrated"] = "raw"
    calibrated: Score100 | None = None
    verdicts: int = 0
    needed: int = 0


class Answer(Value):
    """An answer to a question.

    `confidence` is 0 to 100; an unreadable one becomes 0, with a note. `raw_confidence` is the agent's own, before
    calibration. `validated_by` is `human` once a person has confirmed or given the answer. `warning` says why you
    should rely on it less than on others, for example because no one decided in time. `seconds` is how long it took.
    """

    question_id: str
    content: str
    rationale: str = ""
    confidence: Score100 = 0
    raw_confidence: Score100 = 0
    calibration: Calibration | None = None
    uncertainty_reasons: tuple[str, ...] = ()
    agent: str = ""
    model: str = ""
    prompt_version: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    time: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))
    validated_by: Literal["human"] | None = None
    warning: str = ""
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _readable(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        confidence, note = read_confidence(values.get("confidence"))
        values = {**values, "confidence": confidence}
        values.setdefault("raw_confidence", confidence)
        if note:
            values["notes"] = (*(values.get("notes") or ()), note)
        return values


class Verdict(Value):
    """The gate's decision about an answer.

    `audit_probability` is the probability with which a human judges an answer that met the threshold; None for others.
    `audited`: a human gets a spot check of it. `certificate` is what is proven about accepted answers of its topic.
    """

    accepted: bool
    confidence: Score100
    threshold: Score100
    reason: str
    audit_probability: float | None = None
    audited: bool = False
    certificate: str = ""


class AcceptedOrEscalate(Value):
    """The result of a submitted answer: accepted, or escalated to a human.

    It is neither if the gate refuses the answer and no channel is configured.
    """

    verdict: Verdict
    answer: Answer
    escalation: EscalationRequest | None = None

    @property
    def accepted(self) -> bool:
        """Whether the gate accepted the answer."""
        return self.verdict.accepted


class EscalationRequest(Value):
    """A question escalated to a human, with everything needed to decide.

    `id` is short (`E7`). `revision` grows with each tentative answer, so that KR recognises a late reply to an older
    one. `answer` is None if the question went straight to a human. `alternatives` are answers of several agents that
    disagree. `outside` are agents' answers that match none of the question's choices; they cannot be confirmed.
    `agent` can be asked again; where it is None, `talk_with` is the agent that a human can still talk with. `query` is
    set for an answer of research, and `report` is its report's path in the knowledge base, if it has one.
    """

    id: str
    revision: Annotated[Whole, Field(ge=1)] = 1
    exchange_id: str
    parent_id: str | None = None
    question: Question
    answer: Answer | None = None
    alternatives: tuple[Answer, ...] = ()
    outside: tuple[Answer, ...] = ()
    agent: str | None = None
    talk_with: str | None = None
    query: ResearchQuery | None = None
    report: str | None = None
    threshold: Score100 = 0
    reason: str
    notes: tuple[str, ...] = ()
    opened: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))

    @property
    def partner(self) -> str | None:
        """The agent that a human can talk with about it; None if there is none."""
        return self.agent or self.talk_with


class HumanResponse(Value):
    """A human's reply to an escalation.

    `content` is the corrected answer, the added context, the choice, the final answer of a chat, or why the question
    is withdrawn and needs no answer. `revision` is the number of the tentative answer it refers to; None for the
    latest.
    """

    action: Literal["confirm", "correct", "add_context", "choose", "chat", "withdraw"]
    content: str = ""
    by: str = HUMAN
    revision: int | None = None


class Resolution(Value):
    """How a case ended; `action` is `timeout` where nobody decided in time. `content` is what the human wrote, if anything."""

    action: Literal["confirm", "correct", "add_context", "choose", "chat", "withdraw", "timeout"]
    by: str
    content: str | None = None
    time: dt.datetime


class QALogEntry(Value):
    """An immutable entry of the log.

    `exchange_id` is the exchange it belongs to, `parent_id` the one that this exchange follows. `hash` and the hash of
    the entry before it (`previous`) reveal a missing or altered entry.
    """

    number: int
    id: str
    time: dt.datetime
    kind: str
    exchange_id: str
    parent_id: str | None = None
    feature_id: str
    question_id: str
    data: dict[str, Any]


class AskResult(Value):
    """The result of a question.

    `accepted`: the agent's answer passed the gate. `answered`: a human gave or confirmed the answer. `escalated`: the
    question waits for a human. `expired`: no one decided in time, and KR uses the agent's answer, with a warning.
    `failed`: there is neither an answer nor a channel. `certificate` says of an accepted answer how often such answers
    are right, as far as that is proven.
    """

    exchange_id: str
    question_id: str
    status: Literal["accepted", "escalated", "answered", "expired", "failed"]
    route: Route
    answer: Answer | None = None
    threshold: Score100
    escalation: EscalationRequest | None = None
    certificate: str = ""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values in the published form."""
        answer, escalation = self.answer, self.escalation
        return {
            "exchange_id": self.exchange_id,
            "question_id": self.question_id,
            "status": self.status,
            "route": self.route.model_dump(mode="json", include={"target", "agent", "rule", "reason"}),
            "answer": None
            if answer is None
            else {
                "content": answer.content,
                "rationale": answer.rationale,
                "confidence": answer.confidence,
                "raw_confidence": answer.raw_confidence,
                "calibration": None
                if answer.calibration is None
                else answer.calibration.model_dump(mode="json"),
                "uncertainty_reasons": list(answer.uncertainty_reasons),
                "agent": answer.agent,
                "model": answer.model,
                "validated_by": answer.validated_by,
                "warning": answer.warning or None,
            },
            "threshold": self.threshold,
            "escalation": None
            if escalation is None
            else {"id": escalation.id, "revision": escalation.revision, "reason": escalation.reason},
            "certificate": self.certificate or None,
            "notes": list(self.notes),
        }


class Reply(Value):
    """The reply of the model behind an agent.

    `text` is what the model wrote; `data` is the structured reply if the service returns one itself. `finish_reason` is
    why the model ended, in the service's words (`stop`, `end_turn`).
    """

    text: str = ""
    data: dict[str, Any] | None = None
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()
    finish_reason: str = ""


class AgentHandle(Value):
    """A question or a task in progress, for `get_agent_status`. `agent` is None if a human answers.

    Of a task, `question_id` is its id, and `feature_id` its feature.
    """

    exchange_id: str
    question_id: str
    feature_id: str = GENERAL
    agent: str | None
    route: Route


AgentState = Literal[
    "queued", "running", "succeeded", "failed", "timed_out", "waiting_for_human", "blocked_by_scope"
]


class AgentStatus(Value):
    """The progress of an agent, with its `answer` once it has succeeded, or an `error` if it failed.

    Of a task, `log` is the end of what the agent printed, `changed` are the paths that have landed, and `refused` those
    that were refused, each with the reason; `blocked_by_scope` says that there are such.
    """

    state: AgentState
    agent: str | None
    started: dt.datetime | None = None
    finished: dt.datetime | None = None
    answer: Answer | None = None
    error: str = ""
    log: str = ""
    changed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
