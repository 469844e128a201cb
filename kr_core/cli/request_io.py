"""A request and its result on the command line: the text it is read from, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kr_core import yaml_text
from kr_core.cli import lessons
from kr_core.errors import ConfigError
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


def document(name: str, text: str) -> Any:
    """What a file of requests or questions says: JSON is YAML too, so one reader serves both.

    Raises:
        ConfigError: it is neither; with the line.
    """
    try:
        return yaml_text.load(text)
    except (yaml_text.YAMLError, ValueError, RecursionError) as error:
        line = yaml_text.error_line(error) if isinstance(error, yaml_text.YAMLError) else None
        problem = str(getattr(error, "problem", None) or error)
        raise ConfigError(
            f"is neither YAML nor JSON: {problem}",
            where=f"{name}:{line}" if line else name,
            hint="mend it and ask again",
        ) from error
