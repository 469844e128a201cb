"""Events and JSON values as journals store them: the same text in each, so that the chain of hashes holds in all of them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from kr_core import Event, StorageError
from kr_plugins.journals.hash_chain import feature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.plugin import Document

__all__ = ["DocumentChange", "EventRow", "as_json", "decoded", "events_of", "of_entries", "row_of"]

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
