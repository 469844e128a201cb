"""What the team is told of a query: its answer, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kr_core.errors import KRError
from kr_core.model import Fault
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.model import ResearchResult
    from kr_core.team.request import TeamQuery, TeamRequest

__all__ = ["TeamLookup", "failed", "fault_of", "result_of", "told"]

_QUERY_SIZE = 1_000
"""What a query takes beside its text, in characters or so."""


@dataclass(eq=False)
class TeamLookup:
    """A request with what the knowledge base has of its answer."""

    asked: TeamRequest
    results: list[dict[str, Any] | None]
    faults: list[Fault]
    calls_left: dict[str, int]
    """Of the stories that were looked at."""
    queries: int = 0
    """That were valid."""
    hits: int = 0
    refused: bool = False
    """Whether it was not finished, since KR ends."""

    @property
    def result(self) -> dict[str, Any] | None:
        """The answer, once each query has one: the value behind `RESEARCH_RESULT:`."""
        results = [result for result in self.results if result is not None]
        return result_of(self.asked, results, self.faults) if len(results) == len(self.results) else None

    @property
    def size(self) -> int:
        """How much it holds, in characters or so."""
        return sum(_QUERY_SIZE + len(query.text) for query in self.asked.queries)


def result_of(asked: TeamRequest, results: list[dict[str, Any]], faults: list[Fault]) -> dict[str, Any]:
    """The value behind `RESEARCH_RESULT:`."""
    return {
        "story_key": asked.story_key,
        "results": results,
        "requesting_agent": asked.requesting_agent,
        **asked.echoed,
        "errors": [fault.model_dump() for fault in dict.fromkeys(faults)],
    }


def told(query: TeamQuery, result: ResearchResult) -> dict[str, Any]:
    """One result as the team reads it; `notes` stand there only where there is something to say."""
    found = result.results
    warning = found.match.warning if found.match is not None and result.status == "cache-hit" else None
    notes = [*query.notes, *found.degradation_notes, *([warning] if warning else [])]
    body: Mapping[str, Any] = {
        "query": query.text,
        "status": result.status,
        "report_path": found.report_path,
        "confidence": found.confidence,
        "summary": result.errors[0].message
        if result.status == "failure" and result.errors
        else found.summary,
    }
    return {**body, "notes": notes} if notes else dict(body)


def failed(query: TeamQuery, fault: Fault) -> dict[str, Any]:
    """A query without an answer, and why."""
    body: Mapping[str, Any] = {
        "query": query.text,
        "status": "failure",
        "report_path": None,
        "confidence": None,
        "summary": fault.message,
    }
    return {**body, "notes": [*query.notes]} if query.notes else dict(body)


def fault_of(error: Exception) -> Fault:
    """An error as the team reads it."""
    said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
    return Fault(type="internal_error", message=printable(said)[:1000])
