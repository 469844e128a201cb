"""The cases that wait for a human, in the journal: they outlive every process, and any process may go on with them.

A case is `open` until some sink has shown its present revision (`notified`), `resolved` once a human has decided, `expired` where
nobody did in time and the agent's answer is used, and `superseded` where its question was asked anew instead. Each change names
the version that it changes, so of two humans who answer at once one is first, and the other is told.

What was done for a case (`care`) is a part of its document, so that a reply and the note that it was dealt with, or a notice and
the reason for it, are kept together or not at all.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from kr_core.errors import ConfigError
from kr_core.escalation.due import WAITING, Care, Pending, SinkState, Standing
from kr_core.model.base import Value
from kr_core.model.events import Event, new_id
from kr_core.model.questions import Answer, EscalationRequest, Resolution
from kr_core.model.routing import Route
from kr_core.protocols import Document, Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.protocols import Journal

__all__ = ["WAITING", "Cases", "KeptCase", "Listed", "Turn"]

_KIND = "escalation"
_QUESTION = "escalation.question"
"""Which cases a question has, by a hash of its feature and id: so that nobody reads all of them to find one."""
_ALL = "all"
"""The key that says that all questions are listed so; cases of an older KR are not."""
_MOST_OF_QUESTION = 20
"""So many are listed before those are dropped that are decided."""
_LATELY = ":lately"
"""Behind the status of a document while sinks have to hear of its end, or may bring late replies."""
_DECIDED = ("resolved", "expired", "superseded")
_PAGE = 100
"""Cases that are in memory at once; one may have 100 kB."""


class Turn(Value):
    """One turn of a talk about a case: what a human said, or what the agent answered."""

    by: str
    text: str
    answer: Answer | None = None
    """The agent's; None where a human spoke."""
    exchange_id: str
    time: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))


class Listed(NamedTuple):
    """A case as a list of all has it."""

    id: str
    status: str
    version: int

    @property
    def waits(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status in WAITING


class KeptCase(NamedTuple):
    """A case as it is kept."""

    request: EscalationRequest
    route: Route
    status: str
    version: int
    resolution: Resolution | None = None
    answer: Answer | None = None
    """The final answer, once it is resolved or expired."""
    turns: tuple[Turn, ...] = ()
    """The talk about it, so far."""
    care: Care = Care()
    """What was done for it."""

    @property
    def waits(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status in WAITING

    @property
    def since(self) -> dt.datetime:
        """When the present revision was put to a human."""
        return self.care.since or self.request.opened

    @property
    def asking(self) -> bool:
        """Whether its agent is being asked again, with what a human has added."""
        return self.waits and self.care.pending is not None

    @property
    def sinks(self) -> Mapping[str, SinkState]:
        """What each way to a human has of it."""
        return self.care.sinks

    @property
    def standing(self) -> Standing:
        """The case as far as it decides what is due."""
        request = self.request
        return Standing(
            request.id,
            self.status,
            request.revision,
            request.question.topic,
            request.opened,
            request.answer is not None and not request.alternatives,
            self.care,
        )

    def ended(self, notice: Notice, but: str = "") -> KeptCase:
        """The case as it is decided: all ways to a human that may have shown it are to say so, but one.

        Args:
            notice: what they say.
            but: the one that says so otherwise.
        """
        care = self.care._replace(decided=dt.datetime.now(dt.UTC), pending=None)
        for name, state in care.sinks.items():
            care = care.with_sink(name, state._replace(faults=0, again=None))
        return self._replace(
            care=care.owing(notice, [name for name in care.sinks if name != but and care.sinks[name].tried])
        )

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
        self._standing: dict[str, tuple[int, Standing]] = {}
        self._all_listed = False

    def new_id(self) -> str:
        """The id of the next case; never given twice."""
        return f"E{self._journal.number(_KIND)}"

    # -- changes --------------------------------------------------------------------------------------------

    def open(self, case: KeptCase, events: Sequence[Event] = ()) -> bool:
        """Keep a new case, so that its question leads to it."""
        self._list_all()
        question = case.request.question
        self._list(question.feature_id, question.id, case.request.id)
        return self.keep(case, events)

    def keep(self, case: KeptCase, events: Sequence[Event] = ()) -> bool:
        """Keep a case, together with what is said of it; False where somebody has changed it meanwhile.

        Args:
            case: its `version` is one more than the one that it was made from.
            events: kept only if the case is.
        """
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
        if not case.waits and not care.settled and any(state.tried for state in care.sinks.values()):
            status += _LATELY
        return self._journal.change(Document(_KIND, case.request.id, status, case.version, data), events)

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
        notice = Notice(
            f"{request.id}-ended",
            "ended",
            f"{request.id} needs no reply any more: its question was asked anew",
        )
        ended = case._replace(status="superseded", version=case.version + 1)
        return self.keep(ended.ended(notice), [event])

    # -- one ------------------------------------------------------------------------------------------------

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

    # -- several, oldest first ------------------------------------------------------------------------------

    def page(self, *, waiting: bool = True, limit: int = 50, after: str = "") -> list[KeptCase]:
        """Some of the cases.

        Args:
            waiting: only those that nobody has decided.
            limit: how many at most.
            after: the id of the last one of the page before.
        """
        statuses = WAITING if waiting else ("",)
        found = [one for status in statuses for one in self._journal.documents(_KIND, status, limit, after)]
        return [_read(one) for one in sorted(found, key=_number)[:limit]]

    def waiting(self) -> list[KeptCase]:
        """The cases that nobody has decided; all of them, where there may be thousands."""
        return list(self.each(waiting=True))

    def all(self) -> list[KeptCase]:
        """All cases, where there may be thousands."""
        return list(self.each())

    def each(self, *, waiting: bool = False) -> Iterator[KeptCase]:
        """All cases, or those that nobody has decided, one in memory at a time."""
        for one in self.index():
            document = self._journal.document(_KIND, one.id) if one.waits or not waiting else None
            if document is not None and (document.status in WAITING or not waiting):
                yield _read(document)

    def index(self) -> list[Listed]:
        """Id, status and version of all cases; of ten thousand in some milliseconds."""
        return [
            Listed(key, _plain(status), version) for key, status, version in self._journal.versions(_KIND)
        ]

    def ids(self) -> tuple[list[str], list[str]]:
        """The ids of the cases that wait, and of those that wait no longer: what replies are read with."""
        waiting: list[str] = []
        closed: list[str] = []
        for one in self.index():
            (waiting if one.waits else closed).append(one.id)
        return waiting, closed

    def waiting_of(self, questions: Iterable[tuple[str, str]]) -> list[KeptCase]:
        """The cases that nobody has decided of some questions.

        Args:
            questions: by feature and id.
        """
        self._list_all()
        names: dict[str, None] = {}
        for feature_id, question_id in questions:
            listed = self._journal.document(_QUESTION, _key(feature_id, question_id))
            names.update(dict.fromkeys([] if listed is None else listed.data["cases"]))
        documents = [self._journal.document(_KIND, name) for name in names]
        found = [one for one in documents if one is not None and one.status in WAITING]
        return [_read(one) for one in sorted(found, key=_number)]

    def standing(self) -> list[Standing]:
        """The cases that something may be due for: those that wait, and those decided lately.

        What has not changed since the last call is not read again.
        """
        wanted = {*WAITING, *(f"{status}{_LATELY}" for status in _DECIDED)}
        listed = [
            (key, version) for key, status, version in self._journal.versions(_KIND) if status in wanted
        ]
        known = self._standing
        changed = [key for key, version in listed if known.get(key, (0,))[0] != version]
        fresh = {}
        for document in self._documents_of(changed, wanted):
            fresh[document.key] = (document.version, _standing_of(document))
        self._standing = {
            key: fresh[key] if key in fresh else known[key]
            for key, _ in listed
            if key in fresh or key in known
        }
        return [standing for _, standing in self._standing.values()]

    # -- how they are found ---------------------------------------------------------------------------------

    def _documents_of(self, keys: Sequence[str], statuses: Iterable[str]) -> Iterator[Document]:
        if len(keys) <= _PAGE:
            yield from (
                one for one in (self._journal.document(_KIND, key) for key in keys) if one is not None
            )
            return
        for status in statuses:
            yield from self._pages(status)

    def _pages(self, status: str) -> Iterator[Document]:
        after = ""
        while page := self._journal.documents(_KIND, status, _PAGE, after):
            yield from page
            after = page[-1].key

    def _list(self, feature_id: str, question_id: str, name: str) -> None:
        key = _key(feature_id, question_id)
        while True:
            listed = self._journal.document(_QUESTION, key)
            names = [] if listed is None else list(listed.data["cases"])
            if name in names:
                return
            if len(names) >= _MOST_OF_QUESTION:
                names = [one for one in names if self._may_wait(one)]
            data = {"cases": [*names, name]}
            if self._journal.change(
                Document(_QUESTION, key, "", 1 if listed is None else listed.version + 1, data)
            ):
                return

    def _may_wait(self, name: str) -> bool:
        """Whether a case waits, or will: it is listed before it is kept."""
        document = self._journal.document(_KIND, name)
        return document is None or document.status in WAITING

    def _list_all(self) -> None:
        """See to it that the questions of all cases that wait lead to them: an older KR did not list them."""
        if self._all_listed:
            return
        if self._journal.document(_QUESTION, _ALL) is None:
            for status in WAITING:
                for document in self._pages(status):
                    question = document.data["request"]["question"]
                    self._list(question["feature_id"], question["id"], document.key)
            self._journal.change(Document(_QUESTION, _ALL, "", 1, {"cases": []}))
        self._all_listed = True


def _key(feature_id: str, question_id: str) -> str:
    return hashlib.sha256(f"{feature_id}\0{question_id}".encode()).hexdigest()


def _number(document: Document) -> int:
    return int(document.key[1:])


def _plain(status: str) -> str:
    return status.removesuffix(_LATELY)


# -- as documents --------------------------------------------------------------------------------------------


def _read(document: Document) -> KeptCase:
    data = document.data
    return KeptCase(
        EscalationRequest.model_validate(data["request"]),
        Route.model_validate(data["route"]),
        _plain(document.status),
        document.version,
        None if data["resolution"] is None else Resolution.model_validate(data["resolution"]),
        None if data["answer"] is None else Answer.model_validate(data["answer"]),
        tuple(Turn.model_validate(turn) for turn in data["turns"]),
        _care_of(data.get("care")),  # a case of an older KR has none
    )


def _standing_of(document: Document) -> Standing:
    """What is due for a case needs little of it, and the rest is not looked at: there may be thousands."""
    request = document.data["request"]
    return Standing(
        document.key,
        _plain(document.status),
        request["revision"],
        request["question"]["topic"],
        dt.datetime.fromisoformat(request["opened"]),
        request["answer"] is not None and not request["alternatives"],
        _care_of(document.data.get("care")),
    )


def _told(care: Care) -> dict[str, Any]:
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
        "sinks": {name: _sink_told(state) for name, state in care.sinks.items()},
        "heard": list(care.heard),
        "told": dict(care.told),
    }
    return {key: value for key, value in told.items() if value}


def _sink_told(state: SinkState) -> dict[str, Any]:
    owed = [{**notice._asdict(), "ask": list(notice.ask)} for notice in state.owed]
    told = {**state._asdict(), "owed": owed, "again": _time(state.again)}
    return {key: value for key, value in told.items() if value}


def _care_of(data: Mapping[str, Any] | None) -> Care:
    if not data:
        return Care()
    pending = data.get("pending")
    return Care(
        since=_moment(data.get("since")),
        seen=_moment(data.get("seen")),
        reminded=_moment(data.get("reminded")),
        reminders=data.get("reminders", 0),
        tiers=data.get("tiers", 0),
        timed_out=data.get("timed_out", False),
        decided=_moment(data.get("decided")),
        late=_moment(data.get("late")),
        settled=data.get("settled", False),
        pending=None if pending is None else Pending(**{**pending, "again": _moment(pending["again"])}),
        sinks={name: _sink_of(state) for name, state in data.get("sinks", {}).items()},
        heard=tuple(data.get("heard", ())),
        told=data.get("told", {}),
    )


def _sink_of(data: Mapping[str, Any]) -> SinkState:
    owed = tuple(Notice(**{**one, "ask": tuple(one["ask"])}) for one in data.get("owed", ()))
    return SinkState(**{**data, "owed": owed, "again": _moment(data.get("again"))})


def _time(moment: dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)
