"""Typed events: what every stage says before and after its work.

An event is a plain tuple: a run makes some twenty of them, and a validated model costs ten times as much.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self, TypedDict

STAGES = ("lookup", "route", "consult", "compose", "score", "render", "keep")
"""The stages of research in their order. Each says `<stage>.started` and then `<stage>.finished` or `<stage>.failed`."""


_DIGITS = 16
_IDS: list[str] = []
"""Ids for the next calls: the system is asked for 64 at once, which takes little longer than for one."""
if hasattr(os, "register_at_fork"):  # a child would give out its parent's
    os.register_at_fork(after_in_child=_IDS.clear)


def new_id() -> str:
    """A fresh identifier, 16 hexadecimal digits."""
    try:
        return _IDS.pop()
    except IndexError:
        digits = os.urandom(64 * _DIGITS // 2).hex()
        _IDS.extend(digits[start : start + _DIGITS] for start in range(_DIGITS, len(digits), _DIGITS))
        return digits[:_DIGITS]


class _Fields(NamedTuple):
    kind: str
    run: str
    data: dict[str, Any]
    id: str
    time: datetime


class Event(_Fields):
    """Something that happened in a run; immutable, and nobody changes its data.

    Args:
        kind: `noun.verb` (`source.started`, `keep.finished`); those of KR itself are in `EVENTS`.
        run: the run's id.
        data: JSON values only.
        id: unique; a fresh one where none is given.
        time: with its time zone; now where none is given.
    """

    __slots__ = ()

    def __new__(
        cls,
        kind: str,
        run: str,
        data: dict[str, Any] | None = None,
        id: str | None = None,  # noqa: A002  the name that logs show
        time: datetime | None = None,
    ) -> Self:
        """Make an event; what is not given is filled in."""
        values = (kind, run, {} if data is None else data, id or new_id(), time or datetime.now(UTC))
        return tuple.__new__(cls, values)


class Nothing(TypedDict):
    """No data."""


class RunStarted(TypedDict):
    """A request was accepted."""

    question: str
    framework: str
    version: str
    story_key: str
    session_id: str


class LookupFinished(TypedDict):
    """What the knowledge base has; `state` is `hit`, `stale` or `miss`."""

    state: str
    entry: str | None
    warnings: list[str]


class RouteFinished(TypedDict):
    """The sources that will be asked, in order."""

    sources: list[str]


class SourceStarted(TypedDict):
    """A source is asked, and dropped after so many seconds."""

    source: str
    timeout_seconds: float


class SourceFinished(TypedDict):
    """A source's typed outcome; `reason` is empty where there is nothing to say."""

    source: str
    outcome: str
    passages: int
    reason: str
    url: str | None
    remembered: bool
    """Whether it is an answer of the last day, for which nothing was sent."""


class SourceRequest(TypedDict):
    """A request left the machine, or was to; `sent` is what it told, without what looks like a secret.

    `status` is the HTTP status of the answer, `received` its bytes; `error` is empty where it was answered.
    """

    source: str
    method: str
    url: str
    sent: str
    status: int | None
    received: int
    seconds: float
    error: str


class SourceSaid(TypedDict):
    """What a source wanted to report and JSON has no form for, as text."""

    source: str
    kind: str
    data: str


class IndexProgress(TypedDict):
    """A source reads documentation; only observers see it."""

    package: str
    done: int
    total: int


class BudgetExhausted(TypedDict):
    """No call was left for this source."""

    source: str


class ConsultFinished(TypedDict):
    """How the chain ended."""

    sufficient: bool
    budget_cut: bool
    run_timeout: bool


class ComposeFinished(TypedDict):
    """How many citations the answer has, and how many quotes were dropped since they were not found again.

    `unsupported` are sentences of an agent that their passages do not bear out.
    """

    citations: int
    dropped: int
    unsupported: list[str]


class SynthesisStarted(TypedDict):
    """An agent is asked to write Summary and Details."""

    agent: str
    plugin: str
    model: str | None


class SynthesisFinished(TypedDict):
    """What it cost, and how it ended: `ok`, or the outcome of a failure and why."""

    agent: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    dropped: int
    outcome: str
    reason: str


class ScoreFinished(TypedDict):
    """How sure the scorer is: 0 to 100, `high`, `medium` or `low`, and why."""

    score: int
    level: str
    reasons: list[str]


class RenderFinished(TypedDict):
    """The length of the report's text."""

    characters: int


class KeepFinished(TypedDict):
    """Where the report lies in the knowledge base; `error` where it could not be kept.

    `evicted` entries made room for it in the index; -1 where that failed.
    """

    path: str | None
    entry: str | None
    evicted: int
    error: str | None


class StageFailed(TypedDict):
    """What ended a stage: an error, or a cancellation."""

    error: str


class Reason(TypedDict):
    """Why."""

    reason: str


class NeedsIntervention(TypedDict):
    """A person should look at this story."""

    story_key: str
    reason: str


class RunWaited(TypedDict):
    """Another caller was researching the same question; `served` says whether its answer is this run's too."""

    seconds: float
    served: bool


class RunRepeated(TypedDict):
    """The same question as before had the same answer; nothing was looked up."""

    question: str
    status: str
    entry: str | None
    story_key: str
    session_id: str


class RunFinished(TypedDict):
    """The result's status, entry and confidence."""

    status: str
    entry: str | None
    confidence: str | None
    score: int | None


class OfExchange(TypedDict):
    """What every event of a question has: its exchange (the run), the one that this follows, its feature and itself."""

    exchange_id: str
    parent_id: str | None
    feature_id: str
    question_id: str


class QuestionAsked(OfExchange):
    """A question as it was asked."""

    topic: str
    text: str
    suggested_target: str | None
    also: list[str]
    context: str
    choices: list[str]
    depends_on: list[str]


class QuestionRouted(OfExchange):
    """Where it goes, and what decided; a proposed topic decides nothing."""

    topic: str
    target: str
    agent: str | None
    also: list[str]
    rule: str | None
    where: str
    reason: str
    threshold: int
    threshold_reason: str
    always_escalate: bool
    proposed_topic: str | None


class AgentStarted(OfExchange):
    """An agent is asked, and dropped after so many seconds."""

    agent: str
    plugin: str
    model: str | None
    timeout_seconds: int


class AgentRequest(TypedDict):
    """A request left the machine, or was to, as `source.request` tells of a source's."""

    agent: str
    method: str
    url: str
    sent: str
    status: int | None
    received: int
    seconds: float
    error: str


class AgentRepaired(OfExchange):
    """An agent's reply was not in the form asked for, and it is asked once more."""

    agent: str
    fault: str


class AgentFailed(OfExchange):
    """An agent gave no answer: a typed outcome, and why."""

    agent: str
    outcome: str
    reason: str
    seconds: float


class AnswerReceived(OfExchange):
    """An agent's or a human's answer, whole, with what it cost."""

    content: str
    rationale: str
    confidence: int
    raw_confidence: int
    uncertainty_reasons: list[str]
    agent: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    validated_by: str | None
    warning: str
    notes: list[str]


class AnswersCompared(OfExchange):
    """Several agents were asked: who answered, and whether they agree; with the confidence that this comes to."""

    agents: list[str]
    agree: bool
    confidence: int | None
    said: str


class AnswerGated(OfExchange):
    """What the gate said."""

    accepted: bool
    confidence: int
    threshold: int
    reason: str


class EscalationOpened(OfExchange):
    """A question was put to a human; each revision is a new tentative answer."""

    escalation_id: str
    revision: int
    reason: str
    agent: str | None


class EscalationShown(OfExchange):
    """Where a case can be seen (`terminal`, a URL); `error` where a sink could not show it."""

    escalation_id: str
    revision: int
    sink: str
    place: str | None
    error: str | None


class SinkRequest(OfExchange):
    """A request of a way to a human left the machine, or was to, as `source.request` tells of a source's; of `url` only the host.

    One that asks for replies is about no case, and has empty texts for it; only observers see it, since it comes every minute.
    """

    escalation_id: str
    sink: str
    method: str
    url: str
    sent: str
    status: int | None
    received: int
    seconds: float
    error: str


class EscalationSuperseded(OfExchange):
    """A case waits no longer, since its question was asked anew: in the exchange `successor`."""

    escalation_id: str
    revision: int
    successor: str


class EscalationReminded(OfExchange):
    """People were to be told that nobody has replied yet, by these sinks; `ask` are those whom it is meant for."""

    escalation_id: str
    revision: int
    sinks: list[str]
    ask: list[str]


class EscalationTimedOut(OfExchange):
    """The time limit has passed; `policy` is what follows: `block`, it goes on waiting, or `use_answer`."""

    escalation_id: str
    revision: int
    policy: str


class EscalationExpired(OfExchange):
    """Nobody has decided in time, and the answer of this agent is used, with a warning; nobody has confirmed it."""

    escalation_id: str
    revision: int
    agent: str


class EscalationTold(OfExchange):
    """A sink has told people what became of a reply, or of a case, or reminded them; `error` where it could not."""

    escalation_id: str
    sink: str
    kind: str
    said: str
    error: str | None


class HumanUnclear(OfExchange):
    """Somebody wrote what cannot be applied: it was not understood (`help`), was changed (`edited`), or is not theirs to say (`refused`)."""

    escalation_id: str
    sink: str
    by: str
    kind: str
    said: str


class HumanReplied(OfExchange):
    """What a human did about an escalation; `applied` is False where it was refused, with the reason."""

    escalation_id: str
    revision: int
    action: str
    content: str
    by: str
    sink: str
    """The way by which it came; empty for the terminal, the page, and whoever else asks KR itself."""
    applied: bool
    reason: str


class ExchangeFinished(OfExchange):
    """How it ended: `accepted`, `escalated`, `answered`, `expired` or `failed`."""

    status: str
    agent: str | None
    confidence: int | None
    escalation_id: str | None


class ExpeditionStarted(TypedDict):
    """An expedition begins, or goes on after it was ended."""

    expedition: str
    query: str
    resumed: bool


class CycleStarted(TypedDict):
    """A cycle of an expedition begins; its second attempt repeats one in which engines were down."""

    expedition: str
    cycle: int
    attempt: int


class CycleFinished(TypedDict):
    """What a cycle has brought, which engines were `down`, and what follows: `continue`, `repeat` or `stop`."""

    expedition: str
    cycle: int
    attempt: int
    new_axioms: int
    merged: int
    new_sources: int
    down: list[str]
    decision: str


class ExpeditionFinished(TypedDict):
    """Which rule ended an expedition, and how many axioms it has found."""

    expedition: str
    reason: str
    cycles: int
    axioms: int


EVENTS: dict[str, type] = {
    "run.started": RunStarted,
    **{f"{stage}.started": Nothing for stage in STAGES},
    **{f"{stage}.failed": StageFailed for stage in STAGES},
    "lookup.finished": LookupFinished,
    "route.finished": RouteFinished,
    "source.started": SourceStarted,
    "source.request": SourceRequest,
    "source.said": SourceSaid,
    "source.finished": SourceFinished,
    "index.progress": IndexProgress,
    "budget.exhausted": BudgetExhausted,
    "consult.finished": ConsultFinished,
    "compose.finished": ComposeFinished,
    "synthesis.started": SynthesisStarted,
    "synthesis.finished": SynthesisFinished,
    "score.finished": ScoreFinished,
    "render.finished": RenderFinished,
    "keep.finished": KeepFinished,
    "run.waited": RunWaited,
    "run.retried": Reason,
    "run.cancelled": Nothing,
    "needs-intervention": NeedsIntervention,
    "run.repeated": RunRepeated,
    "run.finished": RunFinished,
    "question.asked": QuestionAsked,
    "question.routed": QuestionRouted,
    "agent.started": AgentStarted,
    "agent.request": AgentRequest,
    "agent.repaired": AgentRepaired,
    "agent.failed": AgentFailed,
    "answer.received": AnswerReceived,
    "answers.compared": AnswersCompared,
    "answer.gated": AnswerGated,
    "escalation.opened": EscalationOpened,
    "escalation.shown": EscalationShown,
    "sink.request": SinkRequest,
    "escalation.told": EscalationTold,
    "escalation.reminded": EscalationReminded,
    "escalation.timed_out": EscalationTimedOut,
    "escalation.expired": EscalationExpired,
    "escalation.superseded": EscalationSuperseded,
    "human.unclear": HumanUnclear,
    "human.replied": HumanReplied,
    "exchange.finished": ExchangeFinished,
    "expedition.started": ExpeditionStarted,
    "cycle.started": CycleStarted,
    "cycle.finished": CycleFinished,
    "expedition.finished": ExpeditionFinished,
}
"""The data of each kind of event; a source may emit further kinds of its own through `context.emit`."""
