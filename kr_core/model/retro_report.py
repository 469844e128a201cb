"""What a retrospective says of a feature."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from kr_core.model.base import Value

__all__ = [
    "AcceptedAccuracy",
    "AgentFigures",
    "CalibrationFigures",
    "ChangeOutcome",
    "Recommendation",
    "RetroReport",
    "TopicFigures",
]


class AcceptedAccuracy(Value):
    """The share of accepted answers that are right, 0-1, with its 90 % interval, estimated from `audited` of them."""

    share: float
    low: float
    high: float
    audited: int


class AgentFigures(Value):
    """What an agent's answers came to.

    `n` are its answers, `accepted` those that the gate let pass, `overturned` those that a human found wrong or
    wanting. `mean_confidence` is what it stated, 0-100; `calibrated` what that is worth by the verdicts, or None while
    there are too few. `accuracy` says how many of its accepted answers are right, from spot checks.
    """

    n: int
    accepted: int
    mean_confidence: float
    calibrated: float | None = None
    overturned: int = 0
    accuracy: AcceptedAccuracy | None = None


class TopicFigures(Value):
    """What the questions about a topic came to; `mean_confidence` is None where no agent answered."""

    n: int
    accepted: int
    escalated: int
    mean_confidence: float | None = None


class CalibrationFigures(Value):
    """How well stated confidences held, over `n` verdicts; measures are None where there is nothing to measure.

    `most` is the number of verdicts on the agent that has most: each agent's confidence is corrected by its own.
    """

    n: int
    stage: str
    most: int = Field(default=0, exclude=True)
    ece: float | None = None
    brier: float | None = None
    auroc: float | None = None


class Recommendation(Value):
    """What to change, why, and what should follow from it.

    `id` is the same each time the same finding is made. `evidence` are ids of log entries. `predicted` are figures
    that the next retrospective can check. `about` names what it is about: the agent, the topic, the phrase.
    """

    id: str
    detector: str
    text: str
    evidence: tuple[str, ...]
    predicted: dict[str, float] | None = None
    about: dict[str, str | int] = Field(default={}, exclude=True)


class ChangeOutcome(Value):
    """What came of a recommendation that was accepted, over the answers of this feature since then.

    `predicted` and `seen` are shares of escalated answers, 0-1. `held` says whether they are about the same; None with
    too few answers, or without a prediction. `again` says whether the same finding is made once more.
    """

    id: str
    feature: str
    change: str
    files: tuple[str, ...]
    accepted: str
    answers: int
    predicted: float | None = None
    seen: float | None = None
    held: bool | None = None
    again: bool = False


class RetroReport(Value):
    """A feature's retrospective: figures of its questions, and what to change.

    `acceptance_rate` is the share of questions, 0-1, whose answer passed the gate without a human; None without a
    question. `human_seconds` is the median time until a human replied. `certificates` say for each topic how often accepted
    answers are right, by all verdicts of the project.
    """

    feature: str
    questions: int
    accepted: int
    acceptance_rate: float | None
    escalated_topics: tuple[str, ...]
    agents: dict[str, AgentFigures]
    topics: dict[str, TopicFigures]
    human_actions: dict[str, int]
    human_seconds: float | None
    cost_usd: float
    tokens: int
    calibration: CalibrationFigures
    certificates: dict[str, str] = Field(default_factory=dict)
    recommendations: tuple[Recommendation, ...]
    changes: tuple[ChangeOutcome, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values in the published form."""
        return self.model_dump(mode="json")
