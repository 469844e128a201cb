"""The retrospective of a feature: its figures from the log, and what the detectors recommend."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import mean, median
from typing import TYPE_CHECKING

from kr_core.calibration import Accepted, auroc, brier, ece, estimate_accuracy, fit
from kr_core.errors import ConfigError
from kr_core.model.retro_report import (
    AcceptedAccuracy,
    AgentFigures,
    CalibrationFigures,
    RetroReport,
    TopicFigures,
)
from kr_core.retro.detectors import Findings, recommendations
from kr_core.retro.effects import outcomes, wanted
from kr_core.retro.logged_questions import by_agent, in_use, read_questions
from kr_core.verdicts import Learned, certificate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.calibration import Calibrator
    from kr_core.config.schema import Retro
    from kr_core.model.retro_report import Recommendation
    from kr_core.protocols import Journal
    from kr_core.retro.logged_questions import AnswerRound, AskedQuestion
    from kr_core.verdicts import Subject

__all__ = ["advised", "fitted_by_agent", "retrospect"]

_ROUNDED = 4
_STAGES = ("raw", "shadow", "calibrated")


def retrospect(
    journal: Journal, feature: str, settings: Retro, learned: Learned | None = None
) -> RetroReport:
    """The retrospective of a feature.

    Args:
        journal: the record.
        feature: the feature's id.
        settings: which detectors look, and from when they speak.
        learned: all verdicts of the project; without them nothing is certified.

    Raises:
        ConfigError: the log has no question of this feature.
        StorageError: the journal cannot be read.
    """
    questions = read_questions(journal, feature)
    if not questions:
        raise ConfigError(
            "the log has no question of this feature",
            where=feature,
            hint="`kr log` lists the questions with their features",
        )
    rounds = [one for question in questions for one in question.rounds]
    calibrators = fitted_by_agent(rounds)
    accepted = sum(one.accepted for one in questions)
    waited = [one.waited for question in questions for one in question.replies if one.waited is not None]
    return RetroReport(
        feature=feature,
        questions=len(questions),
        accepted=accepted,
        acceptance_rate=round(accepted / len(questions), _ROUNDED),
        escalated_topics=tuple(dict.fromkeys(one.topic for one in questions if one.escalated)),
        agents={agent: _of_agent(of_it, calibrators) for agent, of_it in by_agent(rounds).items()},
        topics=_by_topic(questions),
        human_actions=dict(
            sorted(Counter(one.action for question in questions for one in question.replies).items())
        ),
        human_seconds=median(waited) if waited else None,
        cost_usd=round(sum(one.cost_usd for one in questions), 6),
        tokens=sum(one.tokens for one in questions),
        calibration=_measured(rounds, calibrators),
        certificates=_certificates(rounds, learned or Learned()),
        recommendations=recommendations(Findings(questions, calibrators, wanted(journal)), settings),
        changes=outcomes(journal, feature, questions, lambda since: advised(journal, since, settings)),
    )


def advised(
    journal: Journal, questions: Sequence[AskedQuestion], settings: Retro
) -> tuple[Recommendation, ...]:
    """What the retrospective of these questions recommends."""
    calibrators = fitted_by_agent(one for question in questions for one in question.rounds)
    return recommendations(Findings(questions, calibrators, wanted(journal)), settings)


def fitted_by_agent(rounds: Iterable[AnswerRound]) -> dict[Subject, Calibrator]:
    """What the confidence of each agent, with its model and prompt, is worth by the verdicts on its answers."""
    found: dict[Subject, list[AnswerRound]] = defaultdict(list)
    for one in rounds:
        found[one.subject].append(one)
    return {subject: _fitted(of_it) for subject, of_it in found.items()}


def _fitted(rounds: Sequence[AnswerRound]) -> Calibrator:
    judged = [(one, one.verdict) for one in rounds if one.verdict is not None]
    return fit(
        [one.confidence for one, _right in judged],
        [right for _one, right in judged],
        topic=[one.topic or None for one, _right in judged],
        probability=[one.probability for one, _right in judged],
    )


def _of_agent(rounds: Sequence[AnswerRound], calibrators: Mapping[Subject, Calibrator]) -> AgentFigures:
    now = in_use(rounds)
    calibrator = calibrators[now[-1].subject]
    worth = None
    if calibrator.stage != "raw":
        worth = round(mean(calibrator.mapped(one.confidence, one.topic) for one in now), 1)
    return AgentFigures(
        n=len(rounds),
        accepted=sum(one.accepted for one in rounds),
        mean_confidence=round(mean(one.confidence for one in rounds), 1),
        calibrated=worth,
        overturned=sum(one.verdict is False for one in rounds),
        accuracy=_accuracy(rounds, calibrator),
    )


def _accuracy(rounds: Sequence[AnswerRound], calibrator: Calibrator) -> AcceptedAccuracy | None:
    """How many of an agent's accepted answers are right, by those that were checked."""
    accepted = [
        Accepted(
            one.confidence,
            float(one.verdict) if one.checked and one.verdict is not None else None,
            one.topic or None,
        )
        for one in rounds
        if one.accepted
    ]
    found = estimate_accuracy(accepted, calibrator)
    if found is None:
        return None
    share, low, high = (round(one, _ROUNDED) for one in (found.accuracy, found.low, found.high))
    return AcceptedAccuracy(share=share, low=low, high=high, audited=found.audited)


def _certificates(rounds: Sequence[AnswerRound], learned: Learned) -> dict[str, str]:
    """What is proven about the topics of accepted answers, for the agent that answered last."""
    subjects = {one.topic: one.subject for one in rounds if one.accepted}
    return {
        topic: certificate(learned.judged, subject, topic).text for topic, subject in sorted(subjects.items())
    }


def _by_topic(questions: Sequence[AskedQuestion]) -> dict[str, TopicFigures]:
    found: dict[str, list[AskedQuestion]] = defaultdict(list)
    for one in questions:
        found[one.topic].append(one)
    return {topic: _of_topic(asked) for topic, asked in sorted(found.items())}


def _of_topic(asked: Sequence[AskedQuestion]) -> TopicFigures:
    stated = [one.confidence for question in asked for one in question.rounds]
    return TopicFigures(
        n=len(asked),
        accepted=sum(one.accepted for one in asked),
        escalated=sum(one.escalated for one in asked),
        mean_confidence=round(mean(stated), 1) if stated else None,
    )


def _measured(rounds: Sequence[AnswerRound], calibrators: Mapping[Subject, Calibrator]) -> CalibrationFigures:
    judged = [(one.confidence, one.verdict) for one in rounds if one.verdict is not None]
    if not judged:
        return CalibrationFigures(n=0, stage="raw")
    stated, right = [one for one, _ in judged], [fact for _, fact in judged]
    order = auroc(stated, right)
    return CalibrationFigures(
        n=len(judged),
        stage=max((one.stage for one in calibrators.values()), key=_STAGES.index),
        most=max(one.verdicts for one in calibrators.values()),
        ece=round(ece(stated, right), _ROUNDED),
        brier=round(brier(stated, right), _ROUNDED),
        auroc=None if order is None else round(order, _ROUNDED),
    )
