"""Where each task of a feature is: kept in the journal, so that any process can say it, and a later run goes on from it.

What happens to an attempt at a task is put on record here, too.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kr_core.model import Event, new_id
from kr_core.model.base import Value
from kr_core.protocols import Document
from kr_core.research.stage_runner import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.protocols import Journal
    from kr_core.research import Pipeline
    from kr_core.speckit.task_file import Task

__all__ = [
    "FINAL",
    "KIND",
    "GrantRequest",
    "TaskLog",
    "TaskRecord",
    "keep",
    "record_of_key",
    "records",
    "task_record",
]

KIND = "task"
FINAL = ("succeeded", "failed", "timed_out", "blocked_by_scope")
_PAGE = 1000
_TRIES = 100


class RefusedPath(Value):
    """A path that was refused, and why."""

    path: str
    reason: str


class GrantRequest(Value):
    """A path outside of the scope that a person was asked about, and the case in the inbox."""

    path: str
    escalation: str
    answer: Literal["", "yes", "no"] = ""
    """What a person had said when the attempt began."""


class TaskRecord(Value):
    """The latest attempt at a task."""

    feature: str
    id: str
    title: str
    role: str
    agent: str = ""
    status: str = "queued"
    attempt: str = ""
    """The run of its events."""
    file: str = ""
    reason: str = ""
    queued: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))
    started: dt.datetime | None = None
    finished: dt.datetime | None = None
    changed: tuple[str, ...] = ()
    refused: tuple[RefusedPath, ...] = ()
    requests: tuple[GrantRequest, ...] = ()
    """What a person was asked to grant."""
    commit: str = ""
    patch: str = ""
    output: str = ""
    """The end of what its agent printed."""

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return f"{self.feature}/{self.id}"

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values in the published form."""
        refused = [one.model_dump() for one in self.refused]
        return {
            "id": self.id,
            "role": self.role,
            "status": self.status,
            "changed": list(self.changed),
            "refused": refused,
        }


def keep(journal: Journal, record: TaskRecord, events: Sequence[Event] = ()) -> None:
    """Store a record in the place of the one before, with its events; durable on return.

    Raises:
        StorageError: the journal cannot be written.
    """
    for _try in range(_TRIES):
        before = journal.document(KIND, record.key)
        version = 1 if before is None else before.version + 1
        document = Document(KIND, record.key, record.status, version, record.model_dump(mode="json"))
        if journal.change(document, events):
            return


def task_record(journal: Journal, feature: str, task: str) -> TaskRecord | None:
    """The record of a task; None where it was never dispatched."""
    return record_of_key(journal, f"{feature}/{task}")


def record_of_key(journal: Journal, key: str) -> TaskRecord | None:
    """The record with a key (`FEATURE/TASK`); None where there is none."""
    found = journal.document(KIND, key)
    return None if found is None else TaskRecord.model_validate(found.data)


def records(journal: Journal, feature: str = "", status: str = "") -> Iterator[TaskRecord]:
    """All records, the oldest first; of one feature, or with one status, if given."""
    after = ""
    while page := journal.documents(KIND, status, _PAGE, after):
        for one in page:
            record = TaskRecord.model_validate(one.data)
            if not feature or record.feature == feature:
                yield record
        after = page[-1].key
        if len(page) < _PAGE:
            return


class TaskLog:
    """Puts what happens to an attempt at a task on record."""

    def __init__(self, pipeline: Pipeline, feature: str, task: Task) -> None:
        self.attempt = new_id()
        self._pipeline = pipeline
        self._about = {"exchange_id": self.attempt, "feature_id": feature, "question_id": task.id}

    def event(self, kind: str, **data: Any) -> Event:
        """An event that is stored together with the record."""
        event = Event(kind, self.attempt, {**self._about, **data}, f"{self.attempt}-{new_id()}")
        show(event, self._pipeline.observers)
        return event

    def say(self, kind: str, **data: Any) -> None:
        """Put something on record; the record that follows makes it durable."""
        self._pipeline.journal.append((self.event(kind, **data),))
