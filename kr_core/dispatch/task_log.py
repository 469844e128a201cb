"""What happens to an attempt at a task, on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.model import Event, new_id
from kr_core.research.stage_runner import show

if TYPE_CHECKING:
    from kr_core.research import Pipeline
    from kr_core.speckit.task_file import Task

__all__ = ["TaskLog"]


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
