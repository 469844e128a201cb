"""What the events of a question tell, from its asking to its end, and of the human whom it waits for."""

from typing import TypedDict

from kr_core.model.events.runs import Sent


class OfExchange(TypedDict):
    """What every event of a question has: its exchange (the run), the one that this follows, its feature and itself."""

    exchange_id: str
    parent_id: str | None
    feature_id: str
    question_id: str


class QuestionAsked(OfExchange):
    """A question in its original words."""

    topic: str
    text: str
    suggested_target: str | None
    also: list[str]
    context: str
    choices: list[str]
    depends_on: list[str]


class QuestionRouted(OfExchange):
    """Where the question goes, and which rule or setting decided that. A proposed topic decides nothing."""

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
    certified: int | None
    proposed_topic: str | None


class AgentStarted(OfExchange):
    """KR asks an agent, and cancels the call after `timeout_seconds`."""

    agent: str
    plugin: str
    model: str | None
    timeout_seconds: int


class AgentRequest(Sent):
    """KR sent an agent's request, or tried to; fields as in `source.request`."""

    agent: str


class AgentRepaired(OfExchange):
    """An agent's reply did not have the requested form; KR asks once more."""

    agent: str
    fault: str


class AgentFailed(OfExchange):
    """An agent failed, with a typed outcome and the reason.

    `answer` is its text if it only matches none of the choices.
    """

    agent: str
    outcome: str
    reason: str
    answer: str | None
    seconds: float


class AnswerReceived(OfExchange):
    """The full answer of an agent or a human, with its cost; `finish_reason` is why the model ended, in its service's words.

    `calibration` has the stage (`raw`, `shadow`, `calibrated`), the calibrated confidence, and the verdicts there are and
    needed.
    """

    content: str
    rationale: str
    confidence: int
    raw_confidence: int
    calibration: dict[str, int | str | None] | None
    uncertainty_reasons: list[str]
    agent: str
    model: str
    prompt_version: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    validated_by: str | None
    warning: str
    notes: list[str]
    finish_reason: str


class AnswersCompared(OfExchange):
    """The answers of several agents: who answered, whether they agree, and the resulting confidence."""

    agents: list[str]
    agree: bool
    confidence: int | None
    message: str


class AnswerGated(OfExchange):
    """The decision of the gate about an answer, which is the one before it.

    `audit_probability` is the probability with which a human judges an answer that met the threshold; None for others.
    `audited`: it was drawn for a spot check.
    """

    accepted: bool
    confidence: int
    raw_confidence: int
    threshold: int
    reason: str
    audit_probability: float | None
    audited: bool
    certificate: str
    agent: str
    model: str
    prompt: str
    topic: str


class AnswerChecked(OfExchange):
    """A human judged an accepted answer in a spot check: `right`, `wrong` or `unsure`.

    The exchange is the answer's; for an answer of research it is the run, and `entry` names it in the knowledge base.
    """

    check: str
    verdict: str
    by: str
    because: str
    agent: str
    model: str
    prompt: str
    topic: str
    raw_confidence: int
    audit_probability: float
    entry: str | None


class EscalationOpened(OfExchange):
    """KR escalated a question to a human; each revision is a new tentative answer."""

    escalation_id: str
    revision: int
    reason: str
    agent: str | None


class EscalationShown(OfExchange):
    """Where people can see a case (`terminal`, a URL), or an `error` if a channel could not show it."""

    escalation_id: str
    revision: int
    channel: str
    location: str | None
    error: str | None


class ChannelRequest(OfExchange, Sent):
    """KR sent a channel's request, or tried to.

    The fields are those of `source.request`, but `url` is only the host. A request that polls for replies belongs to no
    case, so its `escalation_id` is empty; only observers see it, because it recurs every minute.
    """

    escalation_id: str
    channel: str


class EscalationSuperseded(OfExchange):
    """A case no longer waits, because its question was asked again in the exchange `successor`."""

    escalation_id: str
    revision: int
    successor: str


class EscalationReminded(OfExchange):
    """A reminder that no one has replied yet, for these channels; `ask` names the people it addresses."""

    escalation_id: str
    revision: int
    channels: list[str]
    ask: list[str]


class EscalationTimedOut(OfExchange):
    """The time limit has passed. `policy` says what follows: `block` (the case keeps waiting) or `use_answer`."""

    escalation_id: str
    revision: int
    policy: str


class EscalationExpired(OfExchange):
    """No one decided in time. KR uses this agent's unconfirmed answer, with a warning."""

    escalation_id: str
    revision: int
    agent: str


class ReportReviewed(OfExchange):
    """What a human decided about an answer of research is in the knowledge base."""

    escalation_id: str
    entry: str
    report: str
    """Its path in the knowledge base."""
    by: str
    """Who decided."""


class EscalationTold(OfExchange):
    """A channel told people what happened to a reply or a case, or reminded them; `error` if it could not."""

    escalation_id: str
    channel: str
    kind: str
    message: str
    error: str | None


class HumanUnclear(OfExchange):
    """A person wrote something that KR cannot apply.

    It did not understand it (`help`), the text changed later (`edited`), or the person may not reply (`refused`).
    """

    escalation_id: str
    channel: str
    by: str
    kind: str
    message: str


class HumanReplied(OfExchange):
    """A human's reply to an escalation; if KR refused it, `applied` is False and `reason` says why."""

    escalation_id: str
    revision: int
    action: str
    content: str
    by: str
    channel: str
    """The way by which it came; empty for the terminal, the page, and whoever else asks KR itself."""
    applied: bool
    reason: str


class ExchangeFinished(OfExchange):
    """How an exchange ended: `accepted`, `escalated`, `answered`, `expired`, `failed` or `cancelled`.

    `seconds` is how long it took; None where a case that waited for a human ends it once more, or
    where another worker ends what one that died had begun.
    """

    status: str
    agent: str | None
    confidence: int | None
    escalation_id: str | None
    seconds: float | None
