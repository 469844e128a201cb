"""The cases that wait for a human, in the journal: they outlive every process, and any process may go on with them.

A case is `open` until some sink has shown it (`notified`), `resolved` once a human has decided, and `superseded` where its
question was asked anew instead. Each change names the
version that it changes, so of two humans who answer at once one is first, and the other is told.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from kr_core.errors import ConfigError
from kr_core.model.base import Value
from kr_core.model.events import Event, new_id
from kr_core.model.questions import Answer, EscalationRequest, Resolution
from kr_core.model.routing import Route
from kr_core.protocols import Document

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from kr_core.protocols import Journal

__all__ = ["WAITING", "Cases", "KeptCase", "Turn"]

_KIND = "escalation"
_MOST = 1_000_000
"""Cases that are listed: all."""
WAITING = ("open", "notified")
"""The states in which a case waits for a human."""


class Turn(Value):
    """One turn of a talk about a case: what a human said, or what the agent answered."""

    by: str
    text: str
    answer: Answer | None = None
    """The agent's; None where a human spoke."""
    exchange_id: str
    time: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))


class KeptCase(NamedTuple):
    """A case as it is kept."""

    request: EscalationRequest
    route: Route
    status: str
    version: int
    resolution: Resolution | None = None
    answer: Answer | None = None
    """The final answer, once it is resolved."""
    turns: tuple[Turn, ...] = ()
    """The talk about it, so far."""

    @property
    def waits(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status in WAITING

    def to_dict(self) -> dict[str, Any]:
        """The case as plain values, in the published shape."""
        return {
            "id": self.request.id,
            "status": self.status,
            "revision": self.request.revision,
            "case": self.request.model_dump(mode="json"),
            "resolution": None
            if self.resolution is None
            else self.resolution.model_dump(mode="json", include={"action", "by", "content"}),
        }


class Cases:
    """The cases of a project.

    Args:
        journal: where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def new_id(self) -> str:
        """The id of the next case; never given twice."""
        return f"E{self._journal.number(_KIND)}"

    def keep(self, case: KeptCase, events: Sequence[Event] = ()) -> bool:
        """Keep a case, together with what is said of it; False where somebody has changed it meanwhile.

        Args:
            case: its `version` is one more than the one that it was made from.
            events: kept only if the case is.
        """
        data = {
            "request": case.request.model_dump(mode="json"),
            "route": case.route.model_dump(mode="json"),
            "resolution": None if case.resolution is None else case.resolution.model_dump(mode="json"),
            "answer": None if case.answer is None else case.answer.model_dump(mode="json"),
            "turns": [turn.model_dump(mode="json") for turn in case.turns],
        }
        return self._journal.change(Document(_KIND, case.request.id, case.status, case.version, data), events)

    def supersede(self, case: KeptCase, successor: str) -> bool:
        """End a case because its question was asked anew; on the record. False where somebody has changed it meanwhile.

        Args:
            case: as it waits.
            successor: the exchange in which the question was asked anew.
        """
        request = case.request
        data = {
            "exchange_id": request.exchange_id,
            "parent_id": request.parent_id,
            "feature_id": request.question.feature_id,
            "question_id": request.question.id,
            "escalation_id": request.id,
            "revision": request.revision,
            "successor": successor,
        }
        event = Event("escalation.superseded", request.exchange_id, data, f"{request.exchange_id}-{new_id()}")
        return self.keep(case._replace(status="superseded", version=case.version + 1), [event])

    def get(self, escalation_id: str) -> KeptCase:
        """A case by its id, in either case of the letter.

        Raises:
            ConfigError: there is none.
        """
        document = self._journal.document(_KIND, escalation_id.strip().upper())
        if document is None:
            raise ConfigError(
                f"there is no escalation `{escalation_id}`", where="inbox", todo="see `kr inbox list`"
            )
        return _read(document)

    def waiting(self) -> list[KeptCase]:
        """The cases that nobody has decided, oldest first."""
        found = [one for status in WAITING for one in self._journal.documents(_KIND, status, _MOST)]
        return sorted(map(_read, found), key=lambda case: int(case.request.id[1:]))

    def waiting_of(self, questions: Container[tuple[str, str]]) -> list[KeptCase]:
        """The cases that nobody has decided of some questions, oldest first.

        Args:
            questions: by feature and id.
        """
        found = []
        for status in WAITING:
            for one in self._journal.documents(_KIND, status, _MOST):
                question = one.data["request"]["question"]
                if (question["feature_id"], question["id"]) in questions:
                    found.append(_read(one))  # the others are not even read: there may be thousands
        return sorted(found, key=lambda case: int(case.request.id[1:]))

    def ids(self) -> tuple[list[str], list[str]]:
        """The ids of the cases that wait, and of those that wait no longer: what replies are read with."""
        waiting: list[str] = []
        closed: list[str] = []
        for document in self._journal.documents(_KIND, limit=_MOST):
            (waiting if document.status in WAITING else closed).append(document.key)
        return waiting, closed

    def all(self) -> list[KeptCase]:
        """All cases, oldest first."""
        return [_read(document) for document in self._journal.documents(_KIND, limit=_MOST)]


def _read(document: Document) -> KeptCase:
    data = document.data
    return KeptCase(
        EscalationRequest.model_validate(data["request"]),
        Route.model_validate(data["route"]),
        document.status,
        document.version,
        None if data["resolution"] is None else Resolution.model_validate(data["resolution"]),
        None if data["answer"] is None else Answer.model_validate(data["answer"]),
        tuple(Turn.model_validate(turn) for turn in data["turns"]),
    )
