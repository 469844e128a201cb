"""The form that a case has in the journal: a document of JSON values, in which what is as at the beginning is left out."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from kr_core.escalation.case import Case, ChatTurn
from kr_core.escalation.schedule import CaseActions, CaseSchedule, Delivery, PendingRequest
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
        _care_of(data.get("care")),  # a case of an older KR has none
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
        _care_of(document.data.get("care")),
    )


def plain(status: str) -> str:
    """The status of a case by that of its document."""
    return status.removesuffix(LATELY)


def _told(care: CaseActions) -> dict[str, Any]:
    """What was done for a case, as JSON; what is as at the beginning is left out."""
    pending = care.pending
    told: dict[str, Any] = {
        "since": _time(care.since),
        "seen": _time(care.seen),
        "reminded": _time(care.reminded),
        "reminders": care.reminders,
        "tiers": care.tiers,
        "timed_out": care.timed_out,
        "decided": _time(care.decided),
        "late": _time(care.late),
        "settled": care.settled,
        "pending": None if pending is None else {**pending._asdict(), "again": _time(pending.again)},
        "sinks": {name: _delivery_data(state) for name, state in care.channels.items()},
        "heard": list(care.heard),
        "told": dict(care.told),
    }
    return {key: value for key, value in told.items() if value}


def _delivery_data(state: Delivery) -> dict[str, Any]:
    owed = [{**notice._asdict(), "ask": list(notice.ask)} for notice in state.owed]
    told = {**state._asdict(), "owed": owed, "again": _time(state.again)}
    return {key: value for key, value in told.items() if value}


def _care_of(data: Mapping[str, Any] | None) -> CaseActions:
    if not data:
        return CaseActions()
    pending = data.get("pending")
    return CaseActions(
        since=_moment(data.get("since")),
        seen=_moment(data.get("seen")),
        reminded=_moment(data.get("reminded")),
        reminders=data.get("reminders", 0),
        tiers=data.get("tiers", 0),
        timed_out=data.get("timed_out", False),
        decided=_moment(data.get("decided")),
        late=_moment(data.get("late")),
        settled=data.get("settled", False),
        pending=None
        if pending is None
        else PendingRequest(**{**pending, "again": _moment(pending["again"])}),
        channels={name: _delivery_of(state) for name, state in data.get("sinks", {}).items()},
        heard=tuple(data.get("heard", ())),
        told=data.get("told", {}),
    )


def _delivery_of(data: Mapping[str, Any]) -> Delivery:
    owed = tuple(Notice(**{**one, "ask": tuple(one["ask"])}) for one in data.get("owed", ()))
    return Delivery(**{**data, "owed": owed, "again": _moment(data.get("again"))})


def _time(moment: dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)
