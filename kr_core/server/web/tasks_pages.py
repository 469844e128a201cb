"""The pages of dispatched tasks: where each is, and one with its log and its difference. They work without the script."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from kr_core.dispatch.record import KIND, record_of_key, records
from kr_core.files import read_bytes
from kr_core.qalog.reader import LogFilter, entries
from kr_core.server.web.problems import RequestRefused, able

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.dispatch.record import TaskRecord
    from kr_core.model.questions import QALogEntry
    from kr_core.research import Pipeline

__all__ = ["TaskBrowser", "TaskPages"]

_SHOWN = 500
"""Tasks on the page, those last sent."""
_STEPS = 200
"""Entries of a task's log, the latest."""
_LARGEST_PATCH = 1024 * 1024
_MEANINGS = {
    "queued": "queued",
    "running": "running",
    "succeeded": "succeeded",
    "failed": "failed",
    "timed_out": "timed out",
    "blocked_by_scope": "blocked by its scope",
}
_ABOUT = {"exchange_id", "feature_id", "question_id", "output"}


class _Feature(NamedTuple):
    name: str
    tasks: Sequence[TaskRecord]

    @property
    def done(self) -> int:
        return sum(one.status == "succeeded" for one in self.tasks)


class TaskBrowser:
    """Looks at the tasks of a project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def features(self) -> tuple[list[_Feature], int]:
        """The tasks by feature, what was sent last first; and how many there are in all."""
        every = sorted(records(self._pipeline.journal), key=lambda one: one.queued, reverse=True)
        found: dict[str, list[TaskRecord]] = {}
        for one in every[:_SHOWN]:
            found.setdefault(one.feature, []).append(one)
        return [_Feature(name, sorted(tasks, key=lambda one: one.id)) for name, tasks in found.items()], len(
            every
        )

    def mark(self) -> str:
        """What is another one whenever a task is elsewhere; it reads no record."""
        told = sorted(self._pipeline.journal.versions(KIND))
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def record(self, key: str) -> TaskRecord:
        """A task.

        Raises:
            RequestRefused: it was never dispatched.
        """
        found = record_of_key(self._pipeline.journal, key)
        if found is None:
            raise RequestRefused("unknown", f"No task is called “{key[:100]}”.")
        return found

    def steps(self, record: TaskRecord) -> list[tuple[QALogEntry, str]]:
        """What is on record of a task, the latest at the end."""
        wanted = LogFilter(record.feature, kinds=("task.*",))
        found = [one for one in entries(self._pipeline.journal, wanted) if one.question_id == record.id]
        return [(one, _said(one)) for one in found[-_STEPS:]]

    def patch(self, record: TaskRecord) -> str:
        """The difference that lies aside; empty where there is none."""
        if not record.patch:
            return ""
        root = self._pipeline.config.root
        try:
            return read_bytes(root / record.patch, limit=_LARGEST_PATCH, within=root).decode(
                "utf-8", "replace"
            )
        except OSError as error:
            return f"({record.patch}: {error.strerror})"


class TaskPages:
    """Shows tasks.

    Args:
        browser: looks at them.
        shown: makes a page of a template and its values.
    """

    def __init__(self, browser: TaskBrowser, shown: Callable[..., Awaitable[Response]]) -> None:
        self._browser = browser
        self._shown = shown

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/tasks", self._list), Route("/tasks/one", self._one)]

    async def _list(self, request: Request) -> Response:
        def values() -> dict[str, object]:
            mark = self._browser.mark()  # before the rest is read: what comes meanwhile is news
            features, total = self._browser.features()
            return {"features": features, "total": total, "shown": _SHOWN, "mark": mark}

        return await self._shown(request, "tasks.html", meanings=_MEANINGS, **await able(values))

    async def _one(self, request: Request) -> Response:
        key = request.query_params.get("key", "")

        def values() -> dict[str, object]:
            mark, record = self._browser.mark(), self._browser.record(key)
            return {
                "mark": mark,
                "task": record,
                "steps": self._browser.steps(record),
                "patch": self._browser.patch(record),
            }

        return await self._shown(request, "task.html", meanings=_MEANINGS, **await able(values))


def _said(entry: QALogEntry) -> str:
    told = {
        name: value
        for name, value in entry.data.items()
        if name not in _ABOUT and value not in ("", [], None)
    }
    return ", ".join(f"{name} {value}" for name, value in told.items())
