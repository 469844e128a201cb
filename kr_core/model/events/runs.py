"""What the events of a run of research tell."""

from typing import TypedDict

from kr_core.model.events.sent_requests import Sent


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


class SourceRequest(Sent):
    """A request left the machine, or was to; `sent` is what it told, without what looks like a secret.

    `status` is the HTTP status of the answer, `received` its bytes; `error` is empty where it was answered.
    """

    source: str


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
