"""What the events of a run of research tell."""

from typing import TypedDict


class Sent(TypedDict):
    """A request as it is told of, whoever has sent it; `SourceRequest` says what the fields mean."""

    method: str
    url: str
    sent: str
    status: int | None
    received: int
    seconds: float
    error: str


class Nothing(TypedDict):
    """No data."""


class RunStarted(TypedDict):
    """KR accepted a request."""

    question: str
    framework: str
    version: str
    story_key: str
    session_id: str


class LookupFinished(TypedDict):
    """What the knowledge base contains; `state` is `hit`, `stale` or `miss`."""

    state: str
    entry: str | None
    warnings: list[str]


class RouteFinished(TypedDict):
    """The sources that KR will consult, in order."""

    sources: list[str]


class SourceStarted(TypedDict):
    """KR asks a source, and cancels the call after `timeout_seconds`."""

    source: str
    timeout_seconds: float


class SourceFinished(TypedDict):
    """A source's typed outcome; `reason` is empty if there is nothing to explain."""

    source: str
    outcome: str
    passages: int
    reason: str
    url: str | None
    remembered: bool
    """Whether it is an answer of the last day, for which nothing was sent."""


class SourceRequest(Sent):
    """KR sent a request, or tried to.

    `sent` is its content, without anything that looks like a secret. `status` is the HTTP status of the answer,
    `received` its bytes; `error` is empty if there was an answer.
    """

    source: str


class SourceSaid(TypedDict):
    """Something that a source reported and JSON cannot express, as text."""

    source: str
    kind: str
    data: str


class IndexProgress(TypedDict):
    """Progress of a source that reads documentation. Only observers see it."""

    package: str
    done: int
    total: int


class BudgetExhausted(TypedDict):
    """The budget had no call left for this source."""

    source: str


class ConsultFinished(TypedDict):
    """How the chain ended."""

    sufficient: bool
    budget_cut: bool
    run_timeout: bool


class ComposeFinished(TypedDict):
    """The citations of the answer.

    KR `dropped` this many quotes because it did not find them in their passage. `unsupported` lists an agent's
    sentences that their passages do not support.
    """

    citations: int
    dropped: int
    unsupported: list[str]


class SynthesisStarted(TypedDict):
    """KR asks an agent to write Summary and Details."""

    agent: str
    plugin: str
    model: str | None


class SynthesisFinished(TypedDict):
    """What the agent's work cost, and how it ended: `ok`, or the outcome of a failure and the reason."""

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
    """Where the report is in the knowledge base, or an `error` if KR could not store it.

    KR archived `evicted` entries to make room in the index; -1 if that failed.
    """

    path: str | None
    entry: str | None
    evicted: int
    error: str | None


class StageFailed(TypedDict):
    """The error or cancellation that ended a stage."""

    error: str


class Reason(TypedDict):
    """Why."""

    reason: str


class NeedsIntervention(TypedDict):
    """A person should look at this story."""

    story_key: str
    reason: str


class RunWaited(TypedDict):
    """Another caller was researching the same question; `served` says whether this run uses its answer."""

    seconds: float
    served: bool


class RunRepeated(TypedDict):
    """A repeated question got the same answer again, without a look-up."""

    question: str
    status: str
    entry: str | None
    story_key: str
    session_id: str


class RunFinished(TypedDict):
    """The result's status, entry and confidence.

    A new `high` answer has a topic, the probability of a spot check, and whether it was drawn for one.
    """

    status: str
    entry: str | None
    confidence: str | None
    score: int | None
    topic: str
    audit_probability: float | None
    audited: bool


class AnswerRejected(TypedDict):
    """A reader said that a kept answer is wrong; it left the knowledge base."""

    entry: str
    report: str
    """Its path in the knowledge base, where it stays."""
    question: str
    framework: str
    version: str
    confidence: str
    """The level that the answer had."""
    because: str
    """What is wrong with it, in the reader's words; may be empty."""
