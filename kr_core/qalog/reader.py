"""The record of questions, as programs and people read it: entries in order, and the exchanges that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.model.questions import QALogEntry
from kr_core.model.routing import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from kr_core.model import Event
    from kr_core.protocols import EventLog

__all__ = [
    "LogFilter",
    "LoggedExchange",
    "entries",
    "exchanges",
    "follow",
    "history",
    "last_number",
    "qa_log",
]

_PAGE = 1000


class LogFilter(NamedTuple):
    """Which entries are wanted; what is empty says nothing.

    `agent`, `topic` and `text` choose whole exchanges: one in which the agent has a part, that is about the topic or one
    below it (`auth` has `auth/sessions`), in which the text stands somewhere, in whatever case. The rest chooses entries. With
    `until` all is told as it was on record then, whatever came later.
    """

    feature: str = ""
    exchange: str = ""
    since: datetime | None = None
    until: datetime | None = None
    """Up to, and not including, this time."""
    kinds: tuple[str, ...] = ()
    """Kinds of events; `*` stands for anything."""
    agent: str = ""
    topic: str = ""
    text: str = ""

    @property
    def of_exchanges(self) -> bool:
        """Whether whole exchanges are chosen, so that an entry alone does not tell."""
        return bool(self.agent or self.topic or self.text)

    def knows(self, entry: QALogEntry) -> bool:
        """Whether an entry was on record by the time up to which is told."""
        return self.until is None or entry.time < self.until

    def takes(self, entry: QALogEntry) -> bool:
        """Whether an entry of a chosen exchange is wanted."""
        return (
            self.knows(entry)
            and (self.since is None or entry.time >= self.since)
            and (not self.kinds or any(fnmatchcase(entry.kind, kind) for kind in self.kinds))
        )


@dataclass
class LoggedExchange:
    """What an exchange came to, as far as its entries tell."""

    id: str
    time: datetime
    """When it began."""
    feature_id: str
    question_id: str
    parent_id: str | None
    """The exchange that it follows."""
    depth: int = 0
    """How many exchanges it follows, one after the other."""
    topic: str = ""
    question: str = ""
    answer: str = ""
    agents: list[str] = field(default_factory=list)
    """Agents and people that had a part, in order; not those whose replies were refused. A person by the name alone."""
    confidence: int | None = None
    threshold: int | None = None
    result: str = ""
    """`accepted`, `escalated`, `answered` or `failed`; empty while it is under way."""
    escalation_id: str = ""
    _texts: bool = False
    _person: bool = False

    def add(self, entry: QALogEntry, text: str = "") -> None:
        """Learn what an entry tells; and whether the text, in small letters, stands in it."""
        data = entry.data
        self.topic = _text(data, "topic") or self.topic
        self._has_a_part(entry.kind, data)
        self.confidence = _whole(data, "confidence", self.confidence)
        self.threshold = _whole(data, "threshold", self.threshold)
        self.escalation_id = _text(data, "escalation_id") or self.escalation_id
        if entry.kind == "question.asked":
            self.question = _text(data, "text")
        elif entry.kind == "answer.received":
            self.answer = _text(data, "content")
        elif entry.kind == "exchange.finished":
            self.result = _text(data, "status")
        self._texts = self._texts or (bool(text) and any(text in one.casefold() for one in _texts(data)))

    def _has_a_part(self, kind: str, data: Any) -> None:
        name = _text(data, "agent")
        if kind == "human.replied":
            name = _text(data, "by") if data.get("applied", True) else ""
            self._person = self._person or bool(name)
        elif name == HUMAN and self._person:
            return  # the person's answer, who is named already
        if name and name not in self.agents:
            self.agents.append(name)

    def matches(self, wanted: LogFilter) -> bool:
        """Whether it is one of those that are chosen."""
        return (
            (not wanted.agent or wanted.agent in self.agents or (wanted.agent == HUMAN and self._person))
            and (not wanted.topic or self.topic == wanted.topic or self.topic.startswith(f"{wanted.topic}/"))
            and (not wanted.text or self._texts)
        )


def qa_log(journal: EventLog, feature_id: str) -> list[QALogEntry]:
    """All entries of a feature, in order.

    Raises:
        StorageError: the journal cannot be read.
    """
    return list(_all(journal, LogFilter(feature_id)))


def history(journal: EventLog, exchange_ids: Iterable[str]) -> list[QALogEntry]:
    """The entries of some exchanges, and of those that they follow, in order.

    Raises:
        StorageError: the journal cannot be read.
    """
    left, seen, found = list(exchange_ids), set[str](), list[QALogEntry]()
    while left:
        exchange = left.pop()
        if exchange in seen:
            continue
        seen.add(exchange)
        of_it = list(_all(journal, LogFilter(exchange=exchange)))
        found += of_it
        left += {entry.parent_id for entry in of_it if entry.parent_id is not None}
    return sorted(found, key=lambda entry: entry.number)


def entries(journal: EventLog, wanted: LogFilter) -> Iterator[QALogEntry]:
    """The entries that are wanted, in order; read page by page.

    Raises:
        StorageError: the journal cannot be read.
    """
    chosen = {one.id for one in _gathered(journal, wanted)} if wanted.of_exchanges else None
    for entry in _all(journal, wanted):
        if wanted.takes(entry) and (chosen is None or entry.exchange_id in chosen):
            yield entry


def exchanges(journal: EventLog, wanted: LogFilter) -> list[LoggedExchange]:
    """The exchanges of which entries are wanted, in order; one that follows another comes after it, one deeper.

    Raises:
        StorageError: the journal cannot be read.
    """
    return _linked(_gathered(journal, wanted))


def follow(journal: EventLog, wanted: LogFilter) -> Iterator[QALogEntry | None]:
    """The entries that are wanted, and then those that come, for ever; None when there is none for now.

    An exchange is shown, from its beginning, as soon as it is one of those that are chosen.

    Raises:
        StorageError: the journal cannot be read.
    """
    known: dict[str, LoggedExchange] = {}
    waiting: dict[str, list[QALogEntry]] = {}
    last = 0
    while True:
        for entry in _all(journal, wanted, last):
            last = entry.number
            if not wanted.knows(entry):
                continue
            exchange = _with(known, entry, wanted.text)
            waiting.setdefault(exchange.id, []).append(entry)
            if exchange.matches(wanted):
                yield from filter(wanted.takes, waiting.pop(exchange.id))
        yield None


def _all(journal: EventLog, wanted: LogFilter, after: int = 0) -> Iterator[QALogEntry]:
    while page := journal.entries(feature=wanted.feature, exchange=wanted.exchange, after=after, limit=_PAGE):
        for number, event in page:
            yield _entry(number, event)
        after = page[-1][0]
        if len(page) < _PAGE:
            return


def _entry(number: int, event: Event) -> QALogEntry:
    data = event.data
    return QALogEntry(
        number=number,
        id=event.id,
        time=event.time,
        kind=event.kind,
        exchange_id=_text(data, "exchange_id") or event.run,
        parent_id=_text(data, "parent_id") or None,
        feature_id=_text(data, "feature_id"),
        question_id=_text(data, "question_id"),
        data=data,
    )


def _gathered(journal: EventLog, wanted: LogFilter) -> list[LoggedExchange]:
    """The exchanges that are chosen and of which entries are wanted, in the order of their beginning."""
    known: dict[str, LoggedExchange] = {}
    seen = set()
    for entry in filter(wanted.knows, _all(journal, wanted)):
        exchange = _with(known, entry, wanted.text)
        if wanted.takes(entry):
            seen.add(exchange.id)
    return [exchange for exchange in known.values() if exchange.id in seen and exchange.matches(wanted)]


def _with(known: dict[str, LoggedExchange], entry: QALogEntry, text: str) -> LoggedExchange:
    """The exchange of an entry, with what it tells."""
    exchange = known.get(entry.exchange_id)
    if exchange is None:
        exchange = known[entry.exchange_id] = LoggedExchange(
            entry.exchange_id, entry.time, entry.feature_id, entry.question_id, entry.parent_id
        )
    exchange.add(entry, text.casefold())
    return exchange


def _linked(found: list[LoggedExchange]) -> list[LoggedExchange]:
    """Each followed by those that follow it; what is not there is followed by nobody, and neither is a later one."""
    places = {exchange.id: place for place, exchange in enumerate(found)}
    followers: dict[str | None, list[LoggedExchange]] = {}
    for place, exchange in enumerate(found):
        parent = exchange.parent_id
        after = parent if parent is not None and places.get(parent, place) < place else None
        followers.setdefault(after, []).append(exchange)
    ordered = []
    left = followers.get(None, [])[::-1]
    while left:
        exchange = left.pop()
        ordered.append(exchange)
        for one in reversed(followers.get(exchange.id, ())):
            one.depth = exchange.depth + 1
            left.append(one)
    return ordered


def _text(data: Any, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _whole(data: Any, key: str, otherwise: int | None) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _texts(value: Any) -> Iterator[str]:
    """All texts within a JSON value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def last_number(journal: EventLog) -> int:
    """The number of the last event: nothing stands behind it, and something behind any lower one."""
    low, high = 0, 1
    while journal.read(high - 1, 1):
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if journal.read(middle - 1, 1) else (low, middle)
    return low
