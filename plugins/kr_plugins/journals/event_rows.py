"""Events and JSON values as journals store them, and the chain of hashes over them; the same in each journal.

The hash of an event is SHA-256 over the hash of the event before it (32 zero bytes for the first) and, in UTF-8, a line
with the lengths in characters of its id, time, run and kind, and these four and its data as they are stored:

    18 32 16 11
    <id><time><run><kind><data>

The lengths keep a text from being moved from one of them to the next. Who can write the file can also make the chain
again: it shows accidents and careless hands, and a forger to those who have kept one of the hashes.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from kr_core import Event, StorageError
from kr_core.plugin import Issue
from kr_plugins.journals.sqlite_append import link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kr_core.plugin import Document

__all__ = [
    "START",
    "DocumentChange",
    "EventRow",
    "as_json",
    "decoded",
    "events_of",
    "feature_of",
    "flaws",
    "link",
    "of_entries",
    "row_of",
]

START = bytes(32)
_MOST = 1000
"""The most flaws to show; they are enough to tell a record that is wrong."""
_COMPARE = "compare it with a log (.kr/log.jsonl) or a backup"

_Stored = tuple[int, str, str, str, str, str, str | None, bytes]


def feature_of(data: Any) -> str | None:
    """What an event is listed by; None where its data names no feature."""
    feature = data.get("feature_id") if isinstance(data, dict) else None
    return feature if isinstance(feature, str) and feature else None


def flaws(rows: Iterable[_Stored], *, last: int, dense_after: int) -> list[Issue]:
    """What is wrong with a record, entry by entry; at most 1000 flaws.

    Args:
        rows: number, id, time, run, kind, data, feature and hash of each event, in order.
        last: the highest number that was ever given.
        dense_after: up to this number some may have been left out.
    """
    found: list[Issue] = []
    number, before = 0, START
    for this, *row, feature, told in rows:
        if this != number + 1 and this > dense_after:
            found.append(_missing(max(number, dense_after) + 1, this - 1))
        number = this
        if link(before, *row) != told:
            found.append(
                Issue(
                    "altered",
                    f"entry {number}",
                    "it does not follow from the entry before it: one of the two was altered, added or moved, or one "
                    "between them was taken out",
                    _COMPARE,
                )
            )
        elif not _listed_rightly(row[-1], feature):
            found.append(
                Issue("altered", f"entry {number}", "it is listed by another feature than its own", _COMPARE)
            )
        before = told
        if len(found) >= _MOST:
            return found
    if number < last:
        found.append(_missing(number + 1, last))
    return found


def _missing(first: int, last: int) -> Issue:
    said = "it is missing" if first == last else f"it and those up to entry {last} are missing"
    return Issue("missing", f"entry {first}", said, _COMPARE)


def _listed_rightly(data: str, feature: str | None) -> bool:
    if feature is None and '"feature_id"' not in data:
        return True
    return feature_of(json.loads(data)) == feature


_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
"""Made once: `json.dumps` would make one for each event."""

EventRow = tuple[str, str, str, str, str, str | None]
"""An event as it is stored: id, time, run, kind, data and feature."""


class DocumentChange:
    """A document that is to be changed, if no other change was first, and the events of that."""

    __slots__ = ("data", "document", "made", "rows")

    def __init__(self, document: Document, rows: list[EventRow]) -> None:
        self.document = document
        self.data = as_json(document.data, f"{document.kind} {document.key!r}")
        self.rows = rows
        self.made = False
        """Whether it was made; to be read once its group is durable."""


def row_of(event: Event) -> EventRow:
    """An event as it is stored.

    Raises:
        StorageError: its data holds what JSON has no form for.
    """
    data = as_json(event.data, "event", event.kind)
    return event.id, event.time.isoformat(), event.run, event.kind, data, feature_of(event.data)


def of_entries(feature: str, exchange: str, mark: str) -> tuple[str, list[str]]:
    """The condition that an event is an entry, of a feature and an exchange where these are given, and its values.

    Args:
        feature: or empty.
        exchange: or empty.
        mark: what stands for a value in the statements of the database.
    """
    wanted = [(f"feature = {mark}", feature), (f"run = {mark}", exchange)]
    clauses = " AND ".join(clause for clause, value in wanted if value) or "feature IS NOT NULL"
    return f"{clauses} AND ", [value for _, value in wanted if value]


def events_of(
    rows: Sequence[tuple[int, str, str, str, str, str]], damaged: Callable[[str, Exception], StorageError]
) -> list[tuple[int, Event]]:
    """The events of rows: number, id, time, run, kind and data.

    Raises:
        StorageError: what `damaged` makes of the first that cannot be read.
    """
    moment, read, made = datetime.fromisoformat, decoded, Event._make
    try:
        return [
            (number, made((kind, run, read(data), key, moment(at))))
            for number, key, at, run, kind, data in rows
        ]
    except (ValueError, TypeError):  # the one that cannot be read is named
        return [(row[0], _event(row, damaged)) for row in rows]


def _event(
    row: tuple[int, str, str, str, str, str], damaged: Callable[[str, Exception], StorageError]
) -> Event:
    number, key, at, run, kind, data = row
    try:
        return Event(kind, run, decoded(data), key, datetime.fromisoformat(at))
    except (ValueError, TypeError) as error:
        raise damaged(f"entry {number} of the record", error) from None


def decoded(text: str) -> Any:
    """A JSON value; a lone surrogate, which Python's own reader alone knows, takes it twice as long."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


def as_json(value: Any, *what: str) -> str:
    """A value as JSON, in ASCII.

    Raises:
        StorageError: JSON has no form for it; the message begins with `what`.
    """
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{' '.join(what)} holds a value that JSON has none for: {error}") from error
