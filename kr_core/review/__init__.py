"""Answers of research that are below `escalate_below` are put to a human; what that needs is imported when one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.errors import StorageError

if TYPE_CHECKING:
    from kr_core.model import ResearchRequest, ResearchResult, Results
    from kr_core.model.questions import Calibration
    from kr_core.research import CompletedResearch, Pipeline
    from kr_core.research.request_form import InvalidRequest

__all__ = ["is_doubtful", "is_unproven", "reviewed", "score_of", "worth_of"]

_LEVELS = {"high": 80, "medium": 50, "low": 0}
"""The score of a kept answer that has only a level."""


def is_doubtful(pipeline: Pipeline, result: ResearchResult) -> bool:
    """Whether an answer is below `escalate_below`, by its score or by what people said of earlier ones.

    So is one whose score is from a human whose decision is not on record.
    """
    threshold = pipeline.config.settings.knowledge_research.escalate_below
    if threshold is None or result.status == "failure":
        return False
    score = score_of(result.results)
    is_below = score < threshold or worth_of(pipeline, score)[0] < threshold
    return is_below or is_unproven(result.results)


def is_unproven(results: Results) -> bool:
    """Whether an answer tells of a human's decision that the record does not have."""
    from kr_core.research.decision_origin import NOT_RECORDED

    return NOT_RECORDED in results.degradation_notes


def worth_of(pipeline: Pipeline, score: int) -> tuple[int, Calibration | None]:
    """What a score counts by the verdicts on earlier answers, never more than it is; and what is known of it.

    Only `calibration: calibrated` lets verdicts count. Where they cannot be read, the score stands.
    """
    setting = pipeline.config.settings.calibration
    if setting != "calibrated":  # which spares a hit the journal
        return score, None
    from kr_core.verdicts.judged import RESEARCH

    try:
        found = pipeline.components.verdicts.read().calibration(RESEARCH, score, "", setting)
    except StorageError:
        return score, None
    worth = found.calibrated if found.stage == "calibrated" else None
    return (score if worth is None else min(score, worth)), found


def score_of(results: Results) -> int:
    """The score of an answer, 0 to 100."""
    return _LEVELS.get(results.confidence or "", 0) if results.score is None else results.score


async def reviewed(
    pipeline: Pipeline, request: ResearchRequest | InvalidRequest, answer: CompletedResearch
) -> CompletedResearch:
    """The answer, with a note if it is doubtful: which human was asked, or what one decided about it before.

    Raises:
        ConfigError: a channel is wrongly configured.
        StorageError: the journal cannot be used.
    """
    from kr_core.aio import shielded

    if not await shielded(lambda: is_doubtful(pipeline, answer.result)):
        return answer
    from kr_core.review.research_review import ResearchReview

    return await ResearchReview(pipeline).reviewed(request, answer)
