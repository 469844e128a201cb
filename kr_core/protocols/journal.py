"""What a journal must offer: five interfaces, of which each part of KR takes those that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from kr_core.model import Event
    from kr_core.protocols.store import Issue

__all__ = [
    "Appendable",
    "Counters",
    "Document",
    "DocumentStore",
    "EventLog",
    "Journal",
    "LightAppender",
    "LogCursors",
    "StepResults",
]


class Document(NamedTuple):
    """Something that changes, and of which the journal keeps the latest version: an escalation, say."""

    kind: str
    key: str
    """Unique in its kind."""
    status: str
    """What it is listed by."""
    version: int
    """1 when it is new, and one more with each change."""
    data: dict[str, Any]
    """JSON values."""


class LightAppender(NamedTuple):
    """How a process that has loaded nothing of a journal appends one event to it."""

    module: str
    """A module with the function `append(place: str, kind: str, data: str) -> bool`, for an event with a new run. `data` is a
    JSON text. It returns True once the event is durable, and False where it could not append: KR then takes the full way."""
    place: str
    """Where the journal is; handed to that function."""


class EventLog(Protocol):
    """Append-only events, each tied to the one before it."""

    def append(self, events: Sequence[Event]) -> Future[None]:
        """Queue events; the future resolves when they are durable.

        It fails with StorageError when they are not.
        """

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order."""

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature, or of an exchange, with a number greater than `after`, in order.

        An event's feature is the `feature_id` of its data, its exchange the run. With neither: all that have a feature.
        """

    def verify(self) -> Sequence[Issue]:
        """What is wrong with the record: each event is tied by a hash to the one before it. Empty if it is whole."""


class DocumentStore(Protocol):
    """Documents that change, version by version."""

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""

    def documents(
        self, kind: str, status: str = "", limit: int = 1000, after: str = ""
    ) -> Sequence[Document]:
        """The latest versions of a kind's documents (of one status, if given), oldest document first.

        With `after`, the key of one of them, those that were new after it: so they are read page by page.
        """

    def versions(self, kind: str) -> Sequence[tuple[str, str, int]]:
        """Key, status and version of each of a kind's documents, oldest first: what has changed is seen without reading them."""

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Keep a document and append the events, in one transaction; durable on return.

        Returns:
            False where somebody was first: the version that is kept is not `document.version - 1` (none is 0). Nothing is
            kept then, neither the document nor the events.
        """


class LogCursors(Protocol):
    """How far each log has come."""

    def cursor(self, log: str) -> int:
        """The number of the last event that this log has confirmed; 0 at first."""

    def advance(self, log: str, number: int) -> None:
        """Note that the log has everything up to this event."""


class StepResults(Protocol):
    """What the steps of a run came to, so that a run that is resumed does not take them again."""

    def step(self, run: str, key: str) -> Any | None:
        """The kept result of a step, or None; JSON values."""

    def keep_step(self, run: str, key: str, result: Any) -> None:
        """Keep the result of a step; durable on return. A second result for the same step is ignored."""


class Counters(Protocol):
    """Numbers and budgets, exact across processes."""

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1; no number is given twice, whoever asks."""

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call of the story's budget if fewer than `limit` are taken; exact across processes.

        A grant that was already given is not charged again.
        """

    def refund(self, grant: str) -> None:
        """Give back a call that was never sent."""

    def spent(self, session_id: str, story_key: str) -> int:
        """Calls taken by the story in this session."""


class Journal(EventLog, DocumentStore, LogCursors, StepResults, Counters, Protocol):
    """What may not be lost: all five in one, since a document and its events change together."""

    def close(self) -> None:
        """Wait until everything queued is durable, and let go of the file."""


@runtime_checkable
class Appendable(Protocol):
    """A journal that a repeated answer can be told without loading it; with another one, KR takes the full way each time."""

    def light_appender(self) -> LightAppender:
        """The module that appends, and where. All that this module imports is loaded for each repeated answer."""
