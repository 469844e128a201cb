"""Answers of research that are below `escalate_below` are put to a human; what that needs is imported when one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.config import Config
    from kr_core.model import ResearchRequest, ResearchResult, Results
    from kr_core.research import CompletedResearch, Pipeline
    from kr_core.research.requests import InvalidRequest

__all__ = ["is_doubtful", "is_unproven", "reviewed", "score_of"]

_LEVELS = {"high": 80, "medium": 50, "low": 0}
"""The score of a kept answer that has only a level."""


def is_doubtful(config: Config, result: ResearchResult) -> bool:
    """Whether an answer is below `escalate_below`, or has its score from a human whose decision is not on record."""
    threshold = config.settings.knowledge_research.escalate_below
    if threshold is None or result.status == "failure":
        return False
    return score_of(result.results) < threshold or is_unproven(result.results)


def is_unproven(results: Results) -> bool:
    """Whether an answer tells of a human's decision that the record does not have."""
    from kr_core.research.decision_origin import NOT_RECORDED

    return NOT_RECORDED in results.degradation_notes


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
    if not is_doubtful(pipeline.config, answer.result):
        return answer
    from kr_core.review.research_review import ResearchReview

    return await ResearchReview(pipeline).reviewed(request, answer)
