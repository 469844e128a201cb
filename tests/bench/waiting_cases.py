"""Cases that wait for a human, as the bench puts thousands of them without asking anybody."""

from __future__ import annotations

from typing import Any, NamedTuple

from kr_core import Answer, EscalationRequest, Event, Question, Route
from kr_core.escalation.case import Case
from kr_core.escalation.schedule import CaseActions
from kr_core.model import new_id

__all__ = ["Put", "put"]


class Put(NamedTuple):
    """A case as it is kept."""

    case: Case
    about: dict[str, Any]
    """What every event of its question has."""
    opened: Event


def put(
    number: int, question: Question, content: str, rationale: str, care: CaseActions | None = None
) -> Put:
    """A case that people have been shown.

    Args:
        number: of the case: 7 makes `E7`.
        question: what was asked.
        content: the tentative answer.
        rationale: its reasons.
        care: what was done for it.
    """
    exchange = new_id()
    answer = Answer(question_id=question.id, content=content, rationale=rationale, confidence=65, agent="duc")
    request = EscalationRequest(
        id=f"E{number}", exchange_id=exchange, question=question, answer=answer, agent="duc", threshold=80,
        reason="confidence 65 is below 80",
    )  # fmt: skip
    route = Route(target="duc", agent="duc", threshold=80, reason="", where="")
    about = {
        "exchange_id": exchange,
        "parent_id": None,
        "feature_id": question.feature_id,
        "question_id": question.id,
    }
    opened = {
        **about,
        "escalation_id": request.id,
        "revision": 1,
        "reason": request.reason,
        "agent": "duc",
    }
    case = Case(request, route, "notified", 1, care=care or CaseActions())
    return Put(case, about, Event("escalation.opened", exchange, opened))
