"""The form that a case has in the journal: a document of JSON values, in which what is as at the beginning is left out."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from kr_core.escalation.case import Case, ChatTurn
from kr_core.escalation.schedule import (
    CaseActions,
    CaseSchedule,
    Delivery,
    PendingRequest,
    time_of,
    time_text,
)
from kr_core.model.questions import Answer, EscalationRequest, Resolution
from kr_core.model.routing import Route
from kr_core.protocols import Document, Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KIND", "LATELY", "document_of", "plain", "read", "standing_of"]

KIND = "escalation"
LATELY = ":lately"
"""Behind the status of a document while channels have to hear of its end, or may bring late replies."""


def document_of(case: Case) -> Document:
    """A case as a document."""
    care = case.care
    data = {
        "request": case.request.model_dump(mode="json"),
        "route": case.route.model_dump(mode="json"),
        "resolution": None if case.resolution is None else case.resolution.model_dump(mode="json"),
        "answer": None if case.answer is None else case.answer.model_dump(mode="json"),
        "turns": [turn.model_dump(mode="json") for turn in case.turns],
        "care": _told(care),
    }
    status = case.status
    if not case.waits and not care.settled and any(state.tried for state in care.channels.values()):
        status += LATELY
    return Document(KIND, case.request.id, status, case.version, data)


def read(document: Document) -> Case:
    """The case that a document has."""
    data = document.data
    return Case(
        EscalationRequest.model_validate(data["request"]),
        Route.model_validate(data["route"]),
        plain(document.status),
        document.version,
        None if data["resolution"] is None else Resolution.model_validate(data["resolution"]),
        None if data["answer"] is None else Answer.model_validate(data["answer"]),
        tuple(ChatTurn.model_validate(turn) for turn in data["turns"]),
        _care_of(data["care"]),
    )


def standing_of(document: Document) -> CaseSchedule:
    """What is due for a case needs little of it, and the rest is not looked at: there may be thousands."""
    request = document.data["request"]
    return CaseSchedule(
        document.key,
        plain(document.status),
        request["revision"],
        request["question"]["topic"],
        dt.datetime.fromisoformat(request["opened"]),
        request["answer"] is not None and not request["alternatives"],
        _care_of(document.data["care"]),
    )


def plain(status: str) -> str:
    """The status of a case by that of its document."""
    return status.removesuffix(LATELY)


_MOMENTS = ("since", "seen", "reminded", "decided", "late")


def _told(care: CaseActions) -> dict[str, Any]:
    """What was done for a case, as JSON; what is as at the beginning is left out."""
    pending = care.pending
    told: dict[str, Any] = {
        **care._asdict(),
        **{name: time_text(getattr(care, name)) for name in _MOMENTS},
        "pending": None if pending is None else {**pending._asdict(), "again": time_text(pending.again)},
        "sinks": {name: _delivery_data(state) for name, state in care.channels.items()},
        "heard": list(care.heard),
        "told": dict(care.told),
    }
    del told["channels"]
    return {key: value for key, value in told.items() if value}


def _delivery_data(state: Delivery) -> dict[str, Any]:
    owed = [{**notice._asdict(), "ask": list(notice.ask)} for notice in state.owed]
    told = {**state._asdict(), "owed": owed, "again": time_text(state.again)}
    return {key: value for key, value in told.items() if value}


def _care_of(data: Mapping[str, Any]) -> CaseActions:
    told = {
        **data,
        **{name: time_of(data.get(name)) for name in _MOMENTS},
        "channels": {name: _delivery_of(state) for name, state in data.get("sinks", {}).items()},
        "heard": tuple(data.get("heard", ())),
    }
    told.pop("sinks", None)
    if pending := data.get("pending"):
        told["pending"] = PendingRequest(**{**pending, "again": time_of(pending["again"])})
    return CaseActions(**told)


def _delivery_of(data: Mapping[str, Any]) -> Delivery:
    owed = tuple(Notice(**{**one, "ask": tuple(one["ask"])}) for one in data.get("owed", ()))
    return Delivery(**{**data, "owed": owed, "again": time_of(data.get("again"))})
