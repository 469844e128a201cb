"""What a journal must offer: five interfaces, of which each part of KR takes those that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from kr_core.model import Event
    from kr_core.protocols.store import Issue

__all__ = [
    "Appendable",
    "Counters",
    "Document",
    "DocumentStore",
    "EventLog",
    "Journal",
    "Leases",
    "LightAppender",
    "LogCursors",
    "Portable",
    "RecordRow",
    "StepResults",
]


class Document(NamedTuple):
    """A record that changes, such as an escalation; the journal stores its latest version."""

    kind: str
    key: str
    """Unique within its kind."""
    status: str
    """The status by which `documents` filters."""
    version: int
    """1 for a new document, and one more with each change."""
    data: dict[str, Any]
    """JSON values."""


class LightAppender(NamedTuple):
    """How a process that has not loaded the journal appends one event to it."""

    module: str
    """A module with the function `append(place: str, kind: str, data: str) -> bool`, for an event with a new run.
    `data` is a JSON text. It returns True once the event is durable, and False if it could not append; KR then takes
    the full path.
    """
    place: str
    """The journal's location; KR passes it to that function."""


class RecordRow(NamedTuple):
    """A row of a journal on its way to another one.

    The tables, and the values of a row of each, in the order in which they come:

    - `chain`: the number up to which some entries may have been left out; one row.
    - `events`: number, id, time, run, kind, data as JSON text, and the hash in hexadecimal, by number.
    - `documents`: kind, key, status, version, and data as JSON text, oldest document first.
    - `steps`: run, key, and the result as JSON text.
    - `grants`: grant, session and story.
    - `counters`: kind and number.
    - `cursors`: log and number.
    """

    table: str
    values: tuple[Any, ...]


class EventLog(Protocol):
    """Append-only events, each linked to the one before it."""

    def append(self, events: Sequence[Event]) -> Future[None]:
        """Queue events; the future resolves once they are durable.

        It fails with StorageError if they cannot be stored.
        """

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order."""

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature or an exchange with a number greater than `after`, in order.

        An event's feature is the `feature_id` of its data, its exchange is the run. With neither, all events that have
        a feature.
        """

    def verify(self) -> Sequence[Issue]:
        """Faults of the record, found by the hash that links each event to the one before it.

        Empty if the record is intact.
        """


class DocumentStore(Protocol):
    """Documents that change version by version."""

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""

    def documents(
        self, kind: str, status: str = "", limit: int = 1000, after: str = ""
    ) -> Sequence[Document]:
        """The latest versions of a kind's documents, oldest document first; only those with the status, if given.

        With `after`, the key of a document, only those created after it, so that you can read page by page.
        """

    def versions(self, kind: str) -> Sequence[tuple[str, str, int]]:
        """The key, status and version of each document of a kind, oldest first, to see changes without reading."""

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Store a document and append the events in one transaction; durable on return.

        Returns:
            False if another change came first, that is, the stored version is not `document.version - 1` (0 if there is
            none). Then neither the document nor the events are stored.
        """


class LogCursors(Protocol):
    """The position of each log in the journal."""

    def cursor(self, log: str) -> int:
        """The number of the last event that this log confirmed; 0 at first."""

    def advance(self, log: str, number: int) -> None:
        """Record that the log has everything up to this event."""


class StepResults(Protocol):
    """The results of a run's steps, so that a resumed run does not repeat them."""

    def step(self, run: str, key: str) -> Any | None:
        """The stored result of a step, or None; JSON values."""

    def keep_step(self, run: str, key: str, result: Any) -> None:
        """Store the result of a step; durable on return. A second result for the same step is ignored."""


class Counters(Protocol):
    """Numbers and budgets, exact across processes."""

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1; no process gets the same number twice."""

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call from the story's budget if fewer than `limit` are taken; exact across processes.

        A grant is charged only once.
        """

    def refund(self, grant: str) -> None:
        """Give the budget back a call that was never sent."""

    def spent(self, session_id: str, story_key: str) -> int:
        """The number of calls that the story took in this session."""


class Journal(EventLog, DocumentStore, LogCursors, StepResults, Counters, Protocol):
    """The durable record. It combines five protocols because a document and its events change together."""

    def close(self) -> None:
        """Wait until everything queued is durable, and close the file."""


@runtime_checkable
class Appendable(Protocol):
    """A journal that can record a repeated answer without being loaded.

    With any other journal, KR takes the slower full path.
    """

    def light_appender(self) -> LightAppender:
        """The module that appends, and the place to append to.

        KR loads everything that this module imports for each repeated answer.
        """


@runtime_checkable
class Leases(Protocol):
    """A journal that several machines share, and by which they do one thing at a time.

    With any other journal KR locks files in the project's `.kr/`, which only the processes of one machine see.
    """

    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a name if no one else does, and say so; never waits.

        A holder that has gone loses the name within a minute.

        Raises:
            StorageError: the journal cannot be used.
        """


@runtime_checkable
class Portable(Protocol):
    """A journal that can be taken to another one, entry by entry, as `kr journal export` and `import` do."""

    def dump(self) -> Iterator[RecordRow]:
        """All rows, as they are at one moment.

        Raises:
            StorageError: the journal cannot be read.
        """

    def restore(self, rows: Iterable[RecordRow]) -> None:
        """Take the rows of another journal, in one transaction; durable on return.

        Raises:
            StorageError: this journal has entries or documents already, or it cannot be written. Nothing was taken.
        """
