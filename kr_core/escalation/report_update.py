"""The report of a research answer, brought up to date with what a human decided about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.escalation import transitions
from kr_core.escalation.sanitize import harmless_line
from kr_core.research.human_review import Review, record_review

if TYPE_CHECKING:
    from kr_core.escalation.case import Case
    from kr_core.model.event import Event
    from kr_core.research.container import Container

__all__ = ["with_report"]


def with_report(components: Container, case: Case) -> tuple[Case, list[Event]]:
    """The case whose decision the knowledge base has now, and what the record says of it.

    Args:
        components: the project's.
        case: a human has decided it, and it owes the report.

    Raises:
        StorageError: the knowledge base cannot be written.
    """
    request, answer, resolution = case.request, case.answer, case.resolution
    assert request.query is not None, "it is about research"
    assert answer is not None, "it is answered"
    assert resolution is not None, "it is decided"
    confirmed = request.answer is not None and answer.content == request.answer.content
    review = Review(request.id, harmless_line(resolution.by), answer.content, confirmed, resolution.time)
    came = record_review(components, request.query, request.report, review)
    message = "; ".join([came.message, *came.notes])
    events: list[Event] = []
    if came.entry is not None:
        about = {"escalation_id": request.id, "entry": came.entry, "report": came.path, "by": review.by}
        events = [transitions.event(case, "report.reviewed", **about)]
    return case._replace(care=case.care._replace(report=message)), events
