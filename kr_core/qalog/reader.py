"""The record of questions, as programs and people read it: entries in order, and the exchanges that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.model.questions import QALogEntry
from kr_core.model.routing import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from kr_core.model import Event
    from kr_core.protocols import EventLog

__all__ = [
    "LogFilter",
    "LoggedExchange",
    "entries",
    "exchange_pages",
    "exchanges",
    "follow",
    "history",
    "last_number",
    "qa_log",
]

_PAGE = 1000
_TOLD = {
    "question.asked": ("question", "text"),
    "answer.received": ("answer", "content"),
    "exchange.finished": ("result", "status"),
    "task.dispatched": ("question", "title"),
    "task.ended": ("answer", "output"),
    "task.finished": ("result", "status"),
}
"""What entries of a kind tell of their exchange, and under which key."""


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

    def knows(self, entry: Event | QALogEntry) -> bool:
        """Whether an entry was on record by the time up to which is told."""
        return self.until is None or entry.time < self.until

    def takes(self, entry: Event | QALogEntry) -> bool:
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
    chosen: bool = False
    """Whether one of its entries is wanted."""
    _texts: bool = False
    _person: bool = False
    extended: int = 0
    """The number of the first reply with which a human added something, so that the agent was asked again."""

    def add(self, number: int, event: Event, wanted: LogFilter) -> None:
        """Learn what an entry tells, and whether it is wanted."""
        kind, data = event.kind, event.data
        if "topic" in data:
            self.topic = _text(data, "topic") or self.topic
        if "escalation_id" in data:
            self.escalation_id = _text(data, "escalation_id") or self.escalation_id
        if "agent" in data or kind == "human.replied":
            self._has_a_part(kind, data)
        if "confidence" in data:
            self.confidence = _whole(data, "confidence", self.confidence)
        if "threshold" in data:
            self.threshold = _whole(data, "threshold", self.threshold)
        if kind in _TOLD:
            name, key = _TOLD[kind]
            setattr(self, name, _text(data, key))
        elif kind == "human.replied" and data.get("action") == "add_context":
            self.extended = self.extended or number
        self.chosen = self.chosen or wanted.takes(event)
        if wanted.text and not self._texts:
            self._texts = any(wanted.text.casefold() in one.casefold() for one in _texts(data))

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
        """Whether it is one of those that are chosen, as far as its entries tell."""
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
    return [_entry(*one) for one in _all(journal, LogFilter(feature_id))]


def history(journal: EventLog, exchange_ids: Iterable[str]) -> list[QALogEntry]:
    """The entries of some exchanges, of those that they follow, and of those in which an agent was asked again.

    Returns:
        The entries in order.

    Raises:
        StorageError: the journal cannot be read.
    """
    left, seen, found = list(exchange_ids), set[str](), list[QALogEntry]()
    while left:
        exchange = left.pop()
        if exchange in seen:
            continue
        seen.add(exchange)
        of_it = [_entry(*one) for one in _all(journal, LogFilter(exchange=exchange))]
        found += of_it
        left += {entry.parent_id for entry in of_it if entry.parent_id is not None}
        added = [
            one for one in of_it if one.kind == "human.replied" and one.data.get("action") == "add_context"
        ]
        left += _asked_again(journal, exchange, added[0].feature_id, added[0].number) if added else ()
    return sorted(found, key=lambda entry: entry.number)


def _asked_again(journal: EventLog, exchange: str, feature: str, reply: int) -> list[str]:
    """The exchanges in which an agent was asked again with what a human added; they begin soon after the reply."""
    return [
        _exchange_of(event)
        for _, event in journal.entries(feature=feature, after=reply, limit=_PAGE)
        if event.kind == "question.asked" and event.data.get("parent_id") == exchange
    ]


def entries(journal: EventLog, wanted: LogFilter) -> Iterator[QALogEntry]:
    """The entries that are wanted, in order; read page by page.

    Raises:
        StorageError: the journal cannot be read.
    """
    chosen = {one.id for one in exchanges(journal, wanted)} if wanted.of_exchanges else None
    for number, event in _all(journal, wanted):
        if wanted.takes(event) and (chosen is None or _exchange_of(event) in chosen):
            yield _entry(number, event)


def exchanges(journal: EventLog, wanted: LogFilter) -> list[LoggedExchange]:
    """The exchanges of which entries are wanted, in order; one that follows another comes after it, one deeper.

    Raises:
        StorageError: the journal cannot be read.
    """
    reader = _ExchangeReader(journal, wanted)
    for number, event in _all(journal, wanted):
        reader.add(number, event)
    return reader.page()


def exchange_pages(journal: EventLog, wanted: LogFilter) -> Iterator[list[LoggedExchange]]:
    """The same, page by page as the record is read, so that the first ones are there at once.

    An exchange that goes on behind its page is read to its end at once, and so are those in which its agent was asked again;
    any other that follows it comes where it began.

    Raises:
        StorageError: the journal cannot be read.
    """
    reader = _ExchangeReader(journal, wanted)
    for page in _pages(journal, wanted):
        for number, event in page:
            reader.add(number, event)
        if len(page) == _PAGE and not wanted.exchange:
            reader.complete(page[-1][0])
            yield reader.page()
    yield reader.page()


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
        for number, event in _all(journal, wanted, last):
            last = number
            if not wanted.knows(event):
                continue
            exchange = _with(known, _exchange_of(event), number, event, wanted)
            waiting.setdefault(exchange.id, []).append(_entry(number, event))
            if exchange.matches(wanted):
                yield from filter(wanted.takes, waiting.pop(exchange.id))
        yield None


def _all(journal: EventLog, wanted: LogFilter, after: int = 0) -> Iterator[tuple[int, Event]]:
    return chain.from_iterable(_pages(journal, wanted, after))


def _pages(journal: EventLog, wanted: LogFilter, after: int = 0) -> Iterator[Sequence[tuple[int, Event]]]:
    while page := journal.entries(feature=wanted.feature, exchange=wanted.exchange, after=after, limit=_PAGE):
        yield page
        after = page[-1][0]
        if len(page) < _PAGE:
            return


def _exchange_of(event: Event) -> str:
    return _text(event.data, "exchange_id") or event.run


def _entry(number: int, event: Event) -> QALogEntry:
    data = event.data
    return QALogEntry(
        number=number,
        id=event.id,
        time=event.time,
        kind=event.kind,
        exchange_id=_exchange_of(event),
        parent_id=_text(data, "parent_id") or None,
        feature_id=_text(data, "feature_id"),
        question_id=_text(data, "question_id"),
        data=data,
    )


class _ExchangeReader:
    """Puts exchanges together from their entries, in the order of their beginning."""

    def __init__(self, journal: EventLog, wanted: LogFilter) -> None:
        self._journal = journal
        self._wanted = wanted
        self._known: dict[str, LoggedExchange] = {}
        self._told: set[str] = set()
        """Those of earlier pages."""

    def add(self, number: int, event: Event) -> None:
        """Add an entry; one of an exchange that came before was read with it."""
        name = _exchange_of(event)
        if name not in self._told and self._wanted.knows(event):
            _with(self._known, name, number, event, self._wanted)

    def page(self) -> list[LoggedExchange]:
        """The exchanges since the last page that are wanted, each followed by those that follow it."""
        found = [one for one in self._known.values() if one.chosen and one.matches(self._wanted)]
        self._told.update(self._known)
        self._known = {}
        return _linked(found)

    def complete(self, after: int) -> None:
        """Read what the exchanges have behind an entry; what is finished without a case has nothing."""
        parents = {one.parent_id for one in self._known.values()}
        left = {one.id: after for one in self._known.values() if not one.result or one.escalation_id}
        read = set[str]()
        while left:
            name, behind = left.popitem()
            read.add(name)
            for number, event in _all(self._journal, LogFilter(self._wanted.feature, name), behind):
                self.add(number, event)
            exchange = self._known.get(name)
            if exchange is not None and exchange.extended and name not in parents:
                again = _asked_again(self._journal, name, exchange.feature_id, exchange.extended)
                left.update((one, 0) for one in again if one not in read)


def _with(
    known: dict[str, LoggedExchange], name: str, number: int, event: Event, wanted: LogFilter
) -> LoggedExchange:
    """The exchange of an entry, with what it tells."""
    exchange = known.get(name)
    if exchange is None:
        data = event.data
        exchange = known[name] = LoggedExchange(
            name,
            event.time,
            _text(data, "feature_id"),
            _text(data, "question_id"),
            _text(data, "parent_id") or None,
        )
    exchange.add(number, event, wanted)
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
