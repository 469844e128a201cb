"""The form that a case has in the journal: a document of JSON values, in which what is as at the beginning is left out."""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kr_core.errors import StorageError
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
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["KIND", "LATELY", "document_of", "plain", "read", "standing_of"]

KIND = "escalation"
LATELY = ":lately"
"""Behind the status of a document while channels have to hear of its end or may bring late replies, or a report has to be written."""
_SHOWN = 200


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
    owes = not care.settled and any(state.tried for state in care.channels.values())
    if not case.waits and (owes or case.owes_report):
        status += LATELY
    return Document(KIND, case.request.id, status, case.version, data)


def read(document: Document) -> Case:
    """The case that a document has.

    Raises:
        StorageError: it is in another form than this KR writes.
    """
    data = document.data
    with _readable(document):
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
    """What is due for a case needs little of it, and the rest is not looked at: there may be thousands.

    Raises:
        StorageError: it is in another form than this KR writes.
    """
    with _readable(document):
        request, status = document.data["request"], plain(document.status)
        care = _care_of(document.data["care"])
        return CaseSchedule(
            document.key,
            status,
            request["revision"],
            request["question"]["topic"],
            dt.datetime.fromisoformat(request["opened"]),
            request["answer"] is not None and not request["alternatives"],
            care,
            status == "resolved" and request.get("query") is not None and not care.report,
        )


@contextmanager
def _readable(document: Document) -> Iterator[None]:
    """Say of a document in another form which case it is of, and what to do."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = " ".join(str(error).split())[:_SHOWN]
        raise StorageError(
            f"case {printable(document.key)} cannot be read, since it is not in the form that this KR writes ({printable(said)})",
            where="the journal",
            hint="open the project with the KR that wrote it; or save the record with `kr log --json`, move the journal aside "
            "(`kr doctor` names its folder), and ask again what waits",
        ) from error


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
        "channels": {name: _delivery_data(state) for name, state in care.channels.items()},
        "heard": list(care.heard),
        "told": dict(care.told),
    }
    return {key: value for key, value in told.items() if value}


def _delivery_data(state: Delivery) -> dict[str, Any]:
    owed = [{**notice._asdict(), "ask": list(notice.ask)} for notice in state.owed]
    told = {**state._asdict(), "owed": owed, "again": time_text(state.again)}
    return {key: value for key, value in told.items() if value}


def _care_of(data: Mapping[str, Any]) -> CaseActions:
    told = {
        **data,
        **{name: time_of(data.get(name)) for name in _MOMENTS},
        "channels": {name: _delivery_of(state) for name, state in data.get("channels", {}).items()},
        "heard": tuple(data.get("heard", ())),
    }
    if pending := data.get("pending"):
        told["pending"] = PendingRequest(**{**pending, "again": time_of(pending["again"])})
    return CaseActions(**told)


def _delivery_of(data: Mapping[str, Any]) -> Delivery:
    owed = tuple(Notice(**{**one, "ask": tuple(one["ask"])}) for one in data.get("owed", ()))
    return Delivery(**{**data, "owed": owed, "again": time_of(data.get("again"))})
