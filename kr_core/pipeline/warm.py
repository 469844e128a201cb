"""Answers of this process, given again while nothing they rest on has changed: no parsing, no matching, no disk sync."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kr_core.pipeline.budget import Budget
from kr_core.pipeline.engine import Run
from kr_core.pipeline.results import Research

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date
    from pathlib import Path

    from kr_core.model import Event, ResearchQuery, ResearchRequest, ResearchResult
    from kr_core.pipeline.components import Components

Value = TypeVar("Value")

_MOST = 1000
"""Answers kept; the oldest goes first."""
_SETTLED_NS = 20_000_000
"""File systems keep coarse time: what changed less long ago may change again without another time."""

Stamp = tuple[int, int, int, int] | None
Guards = dict[str, Stamp]


class _Known(NamedTuple):
    day: date
    guards: Guards
    answer: Research


class Warm:
    """The cache hits of one pipeline, by query; safe to use from several threads.

    The same idea as the command line's (`kr_core.cli.hit`): an answer is given again on the same day, while every file
    that the look-up read has its stamp. What the configuration and the query say is fixed for a pipeline's life, so
    index, report and evidence are all there is to guard; a store that names no files is looked up each time. An answer
    is kept from the second hit on: only then are the files known whose stamps are to be taken before the look-up.

    The event of such an answer, `run.repeated`, goes to observers at once and to the journal's own writer. The answer
    does not wait until it is durable: nothing was written, spent or found that it would acknowledge. Where the journal
    fails, the next question takes the long way and hears of it.

    Args:
        components: what the pipeline works with.
        observers: called with every event at once.
    """

    def __init__(self, components: Components, observers: tuple[Callable[[Event], object], ...]) -> None:
        self._components = components
        self._observers = observers
        self._known: dict[ResearchQuery, _Known] = {}
        self._files: dict[ResearchQuery, tuple[str, ...]] = {}
        self._told: Run | None = None

    def answer(self, request: ResearchRequest) -> Research | None:
        """The answer that was given before, for this session and story; None where it may not hold any more."""
        query = request.query
        known = self._known.get(query)
        if known is None or request.refresh:
            return None
        if known.day != self._components.today() or _changed(known.guards) or self._journal_failed():
            self._known.pop(query, None)
            return None
        answer = known.answer
        results = answer.result.results
        left = self._budget_left(request)
        if left != results.budget_remaining:
            results = results.model_copy(update={"budget_remaining": left})
        changes = {"story_key": request.story_key, "session_id": request.session_id, "results": results}
        result = answer.result.model_copy(update=changes)
        self._tell(request, result)
        return Research(result, answer.report, answer.depends_on)

    def guards(self, request: ResearchRequest) -> Guards:
        """The stamps, before a look-up, of the files that the one before it read; none before the second."""
        return stamps(self._files.get(request.query, ()))

    def keep(self, request: ResearchRequest, answer: Research, read: Iterable[Path], guards: Guards) -> None:
        """Keep a hit that no change of a file fell into.

        Args:
            request: what was asked.
            answer: the hit.
            read: the files that the look-up read; none where the store does not tell.
            guards: their stamps from before the look-up.
        """
        files = tuple(map(os.fspath, read))
        if not files or answer.result.errors:
            return
        if tuple(guards) != files:
            _put(self._files, request.query, files)
        elif not _changed(guards) and not _restless(guards):
            _put(self._known, request.query, _Known(self._components.today(), guards, answer))

    def _budget_left(self, request: ResearchRequest) -> int:
        limit = self._components.config.settings.knowledge_research.max_calls_per_story
        journal = self._components.journal
        return Budget(journal, request.session_id, request.story_key, limit, request.max_calls).remaining

    def _tell(self, request: ResearchRequest, result: ResearchResult) -> None:
        self._told = Run(self._components.journal, self._observers)
        self._told.emit(
            "run.repeated",
            {
                "question": request.query.question,
                "status": result.status,
                "entry": result.results.cache_entry_id,
                "story_key": request.story_key,
                "session_id": request.session_id,
            },
        )

    def _journal_failed(self) -> bool:
        told = self._told
        if told is None or not told.failed:
            return False
        self._told = None
        return True


def _put(known: dict[ResearchQuery, Value], query: ResearchQuery, value: Value) -> None:
    while len(known) >= _MOST:
        known.pop(next(iter(known)), None)
    known[query] = value


def stamps(paths: Iterable[str | Path]) -> Guards:
    """What tells of each file whether it was changed or replaced."""
    return {name: _stamp(name) for name in (os.fspath(path) for path in paths)}


def _changed(guards: Guards) -> bool:
    return any(_stamp(path) != stamp for path, stamp in guards.items())


def _stamp(path: str) -> Stamp:
    """What tells whether a file was changed or replaced; a time that was set back shows in `ctime`."""
    try:
        status = os.stat(path)  # noqa: PTH116  a path object costs as much again
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _restless(guards: Guards) -> bool:
    """Whether a file changed so recently that its next change may not show."""
    since = time.time_ns() - _SETTLED_NS
    return any(stamp is not None and max(stamp[0], stamp[1]) >= since for stamp in guards.values())
