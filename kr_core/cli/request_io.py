"""A request and its result on the command line: the text it is read from, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kr_core.cli import lessons
from kr_core.model.lessons import LessonsResult

if TYPE_CHECKING:
    from kr_core.model import ResearchResult


def exit_code(result: ResearchResult | LessonsResult) -> int:
    """0 for any answer, 2 for an invalid request, 4 where there is no content."""
    if isinstance(result, LessonsResult):
        return lessons.exit_code(result)
    if result.status == "failure":
        return 2
    if result.status == "cache-hit" or result.results.citations or result.results.cache_entry_id:
        return 0
    return 4


def refreshed(raw: Any) -> Any:
    return {**raw, "refresh": True} if isinstance(raw, Mapping) else raw
