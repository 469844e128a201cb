"""What the events of a question tell, from its asking to its end, and of the human whom it waits for."""

from typing import TypedDict

from kr_core.model.events.sent_requests import Sent


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


class AgentRequest(Sent):
    """A request left the machine, or was to, as `source.request` tells of a source's."""

    agent: str


class AgentRepaired(OfExchange):
    """An agent's reply was not in the form asked for, and it is asked once more."""

    agent: str
    fault: str


class AgentFailed(OfExchange):
    """An agent gave no answer: a typed outcome, and why; in `answer` what it said, where that is only none of the choices."""

    agent: str
    outcome: str
    reason: str
    answer: str | None
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
    message: str


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
    location: str | None
    error: str | None


class SinkRequest(OfExchange, Sent):
    """A request of a way to a human left the machine, or was to, as `source.request` tells of a source's; of `url` only the host.

    One that asks for replies is about no case, and has empty texts for it; only observers see it, since it comes every minute.
    """

    escalation_id: str
    sink: str


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
    message: str
    error: str | None


class HumanUnclear(OfExchange):
    """Somebody wrote what cannot be applied: it was not understood (`help`), was changed (`edited`), or is not theirs to say (`refused`)."""

    escalation_id: str
    sink: str
    by: str
    kind: str
    message: str


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
