"""A `RESEARCH_REQUEST` of a team, checked field by field with all faults at once, and what the team learns of each query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import KRError
from kr_core.model import Fault, ResearchRequest
from kr_core.research import request_form
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.model import ResearchResult

__all__ = [
    "MAX_QUERIES",
    "ReadRequest",
    "TeamLookup",
    "TeamQuery",
    "TeamRequest",
    "failed",
    "fault_of",
    "read",
    "refused",
    "result_of",
    "told",
]

MAX_QUERIES = 100
"""Of one request."""
_MAX_NAME_LENGTH = 200
_MAX_NAMED = 5
"""Unknown fields in a note."""
_FIELDS = ("story_key", "requesting_agent", "request_id", "queries", "context")
_ENVELOPE = ("session_id", "msg_type", "type")
"""What a team may write around any of its messages; nothing follows from it."""
_NEEDED = ("framework", "framework_version", "topic", "tags")
_QUERY_FIELDS = ("query", *_NEEDED, "priority", "context")
_RANKS = {"high": 0, "medium": 1, "normal": 1, "low": 2}
_NORMAL = 1

ReadRequest = Callable[[Mapping[str, Any]], ResearchRequest | request_form.InvalidRequest]


class TeamQuery(NamedTuple):
    """One of the queries; `request` is None where it is none, for its own faults or those of the whole."""

    text: str
    request: ResearchRequest | None = None
    rank: int = _NORMAL
    """Lower ones are researched first."""
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


class TeamRequest(NamedTuple):
    """A request; names that could not be read are None."""

    story_key: str | None
    requesting_agent: str | None
    echoed: Mapping[str, Any]
    """The `request_id`, where one was given."""
    queries: tuple[TeamQuery, ...]
    faults: tuple[Fault, ...]
    """What is wrong with the request itself; then none of its queries is researched."""


def read(body: Any, read_request: ReadRequest, session_id: str) -> TeamRequest:
    """Read the JSON of a request.

    What a query leaves out is inferred from its text and from the project, as for a person (R1).

    Args:
        body: the value behind `RESEARCH_REQUEST:`.
        read_request: reads what the pipeline is asked, in the published form or as a bare question.
        session_id: whose budgets are spent.
    """
    if not isinstance(body, Mapping):
        return refused(_fault("request", "must be an object with story_key, requesting_agent and queries"))
    story, agent, number = body.get("story_key"), body.get("requesting_agent"), body.get("request_id")
    listed = body.get("queries")
    items = listed[:MAX_QUERIES] if isinstance(listed, list) else []
    ignored = _ignored(body, (*_FIELDS, *_ENVELOPE))
    faults = list(request_form.story_faults(story if isinstance(story, str) else ""))
    if not _is_name(agent):
        faults.append(_fault("requesting_agent", f"must be text of 1 to {_MAX_NAME_LENGTH} characters"))
    if "request_id" in body and not _is_id(number):
        faults.append(
            _fault("request_id", f"must be a number, or text of 1 to {_MAX_NAME_LENGTH} characters")
        )
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_QUERIES:
        faults.append(_fault("queries", f"must be a list of 1 to {MAX_QUERIES} queries"))
    return TeamRequest(
        story if _is_name(story) else None,
        agent if _is_name(agent) else None,
        {"request_id": number} if "request_id" in body and _is_id(number) else {},
        tuple(
            TeamQuery(_text_of(item)) if faults
            else _query(item, f"queries[{place}]", story, read_request, session_id, ignored, body.get("context"))
            for place, item in enumerate(items)
        ),
        tuple(faults),
    )  # fmt: skip


def refused(fault: Fault) -> TeamRequest:
    """What is no request at all."""
    return TeamRequest(None, None, {}, (), (fault,))


def _query(
    item: Any,
    place: str,
    story: Any,
    read_request: ReadRequest,
    session_id: str,
    notes: tuple[str, ...],
    context: Any,
) -> TeamQuery:
    if not isinstance(item, Mapping):
        return TeamQuery("", faults=(_fault(place, "must be an object with query and framework"),))
    text = _text_of(item)
    notes = (*notes, *_ignored(item, _QUERY_FIELDS, f"{place}."))
    whose = {"story_key": story, "session_id": session_id}
    given = {key: item[key] for key in _NEEDED if item.get(key) is not None}
    if len(given) == len(_NEEDED):
        whole = {**given, "question": item.get("query")}
        made = read_request({**whose, "mode": request_form.MODE, "research_query": whole})
    else:
        if "framework_version" in given:
            given["version"] = given.pop("framework_version")
        said = request_form.context_text(
            [request_form.context_text(context), request_form.context_text(item.get("context"))]
        )
        made = read_request({**whose, **given, "question": item.get("query"), "context": said})
    if isinstance(made, request_form.InvalidRequest):
        return TeamQuery(text, faults=tuple(_placed(fault, place) for fault in made.faults), notes=notes)
    priority = item.get("priority")
    rank = _RANKS.get(priority.casefold()) if isinstance(priority, str) else None
    if rank is None and priority is not None:
        notes = (*notes, f"priority: {priority!r:.40} is none of {', '.join(_RANKS)}; taken as normal")
    return TeamQuery(text, made, _NORMAL if rank is None else rank, notes=notes)


def _placed(fault: Fault, place: str) -> Fault:
    """A fault of a request of the pipeline, as one of the query that it was made of."""
    name = (fault.field or "").removeprefix("research_query.")
    field = f"{place}.{'query' if name == 'question' else name}"
    detail = fault.message.removeprefix(f"Validation failed: {fault.field}: ")
    return fault.model_copy(update={"field": field, "message": f"Validation failed: {field}: {detail}"})


def _ignored(values: Mapping[Any, Any], known: tuple[str, ...], above: str = "") -> tuple[str, ...]:
    """A note on what is not known here: a misspelt name is seen, and what others add for themselves does no harm."""
    names = [f"{above}{printable(str(key)):.40}" for key in values if key not in known]
    if not names:
        return ()
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return (f"ignored, since unknown here: {', '.join(names[:_MAX_NAMED])}{more}",)


def _text_of(item: Any) -> str:
    """The text by which whoever asked knows the query again; it is not repeated where nobody would read it."""
    text = item.get("query") if isinstance(item, Mapping) else None
    return text if isinstance(text, str) and len(text) <= request_form.MAX_QUESTION_LENGTH else ""


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _MAX_NAME_LENGTH


def _is_id(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_name(value) or (isinstance(value, int) and len(repr(value)) <= _MAX_NAME_LENGTH)


def _fault(field: str, detail: str) -> Fault:
    return Fault(type="validation_error", field=field, message=f"Validation failed: {field}: {detail}")


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
