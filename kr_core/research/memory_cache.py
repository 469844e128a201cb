"""Questions and answers of this process, understood and given again while nothing they rest on has changed.

No inference, no parsing, no matching, no disk sync: what is left is a `stat` of each file that an answer rests on, the budget
of the story, and an event.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from kr_core.model import ResearchRequest, new_id
from kr_core.project.project import BELIEVED_SECONDS
from kr_core.research import requests
from kr_core.research.budget import RunBudget
from kr_core.research.results import CompletedResearch
from kr_core.research.stage_runner import StageRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date
    from pathlib import Path

    from kr_core.model import Event, ResearchQuery, ResearchResult
    from kr_core.model.events.runs import RunRepeated
    from kr_core.project.project import LocalProject
    from kr_core.research.container import Container
    from kr_core.research.request_form import InvalidRequest

Key = TypeVar("Key")
Value = TypeVar("Value")

_MOST = 1000
"""Questions and answers kept; the oldest goes first."""
_SETTLED_NS = 20_000_000
"""File systems keep coarse time: what changed less long ago may change again without another time."""

Stamp = tuple[int, int, int, int] | None
Guards = dict[str, Stamp]


class RequestCache:
    """What the questions of one pipeline ask for, by their text; safe to use from several threads.

    Which library is meant, and in which version, is read from the project. So a request is made again from what was read
    before only while every file and folder that says so has its stamp; as of all that is read of a project, that is looked
    at once a second. A question is kept from the second time on: then the project is read between two equal states.

    Args:
        project: tells which libraries there are.
    """

    def __init__(self, project: LocalProject) -> None:
        self._project = project
        self._asked: dict[tuple[str, str], None] = {}
        self._known: dict[tuple[str, str], ResearchRequest] = {}
        self._guards: Guards = {}
        self._looked = 0.0
        self._lock = threading.Lock()

    def request(self, question: str, options: Mapping[str, Any]) -> ResearchRequest | InvalidRequest:
        """The request that a question and its options make; a session that is not given is a new one."""
        known = self.known(question, options)
        if known is not None:
            return known if "session_id" in options else known.model_copy(update={"session_id": new_id()})
        key = _key(question, options)
        if key not in self._asked:
            _put(self._asked, key, None)
            return requests.from_question(question, self._project, **options)
        guards = stamps(self._project.files())
        self._project.look_again()
        request = requests.from_question(question, self._project, **options)
        if isinstance(request, ResearchRequest) and not _restless(guards):
            self._keep(key, request, guards)
        return request

    def known(self, question: str, options: Mapping[str, Any]) -> ResearchRequest | None:
        """The request that the question made before, if it would make the same one but for a session that is not given."""
        known = self._known.get(_key(question, options))
        return known if known is not None and self._holds() else None

    def _holds(self) -> bool:
        """Whether the project is as it was when it was last looked at, which is a second ago at most."""
        now = time.monotonic()
        if now - self._looked >= BELIEVED_SECONDS:
            with self._lock:
                if _changed(self._guards):
                    self._known.clear()
                    self._guards = {}
                self._looked = now
        return bool(self._guards)

    def _keep(self, key: tuple[str, str], request: ResearchRequest, guards: Guards) -> None:
        if stamps(self._project.files()) != guards:
            return
        with self._lock:
            if any(self._guards.get(path, stamp) != stamp for path, stamp in guards.items()):
                self._known.clear()  # they rest on another state
                self._guards = {}
            self._guards |= guards
            _put(self._known, key, request)


def _key(question: str, options: Mapping[str, Any]) -> tuple[str, str]:
    return question, repr(options) if options else ""  # 1 and True are equal, and not the same option


class _CachedResult:
    """An answer, as it was last given."""

    __slots__ = ("answer", "day", "guards")

    def __init__(self, day: date, guards: Guards, answer: CompletedResearch) -> None:
        self.day = day
        self.guards = guards
        self.answer = answer

    def given_to(self, story_key: str, session_id: str, budget_remaining: int) -> CompletedResearch:
        """The answer for a story and session; the very same one where they are those that had it last."""
        answer = self.answer
        result, report, depends_on = answer
        results = result.results
        if results.budget_remaining != budget_remaining:
            results = results.model_copy(update={"budget_remaining": budget_remaining})
        same = results is result.results and session_id == result.session_id
        if same and story_key == result.story_key:
            return answer
        changes = {"story_key": story_key, "session_id": session_id, "results": results}
        self.answer = answer = CompletedResearch(result.model_copy(update=changes), report, depends_on)
        return answer


class ResultCache:
    """The cache hits of one pipeline, by query; safe to use from several threads.

    The same idea as the command line's (`kr_core.cli.replay`): an answer is given again on the same day, while every file
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

    def __init__(self, components: Container, observers: tuple[Callable[[Event], object], ...]) -> None:
        self._components = components
        self._observers = observers
        self._known: dict[ResearchQuery, _CachedResult] = {}
        self._files: dict[ResearchQuery, tuple[str, ...]] = {}
        self._last_run: StageRunner | None = None

    def answer(self, request: ResearchRequest, new_session: str | None = None) -> CompletedResearch | None:
        """The answer that was given before; None where it may not hold any more.

        Args:
            request: what is asked, for which story.
            new_session: in place of the request's session; it was made for this call, and so has spent nothing.
        """
        query = request.query
        known = self._known.get(query)
        if known is None or request.refresh or request.max_tokens is not None:
            return None
        if known.day != self._components.today() or _changed(known.guards) or self._journal_failed():
            self._known.pop(query, None)
            return None
        answer = known.given_to(
            request.story_key, new_session or request.session_id, self._budget_left(request, new_session)
        )
        self._tell(request.query.question, answer.result)
        return answer

    def guards(self, request: ResearchRequest) -> Guards:
        """The stamps, before a look-up, of the files that the one before it read; none before the second."""
        return stamps(self._files.get(request.query, ()))

    def keep(
        self, request: ResearchRequest, answer: CompletedResearch, read: Iterable[Path], guards: Guards
    ) -> None:
        """Keep a hit that no change of a file fell into.

        Args:
            request: what was asked.
            answer: the hit.
            read: the files that the look-up read; none where the store does not tell.
            guards: their stamps from before the look-up.
        """
        files = tuple(map(os.fspath, read))
        if not files or answer.result.errors or request.max_tokens is not None:
            return
        if tuple(guards) != files:
            _put(self._files, request.query, files)
        elif not _changed(guards) and not _restless(guards):
            _put(self._known, request.query, _CachedResult(self._components.today(), guards, answer))

    def _budget_left(self, request: ResearchRequest, new_session: str | None) -> int:
        limit = self._components.config.settings.knowledge_research.max_calls_per_story
        if new_session is not None:
            return request.max_calls or limit
        journal = self._components.journal
        return RunBudget(journal, request.session_id, request.story_key, limit, request.max_calls).remaining

    def _tell(self, question: str, result: ResearchResult) -> None:
        self._last_run = StageRunner(self._components.journal, self._observers)
        data: RunRepeated = {
            "question": question,
            "status": result.status,
            "entry": result.results.cache_entry_id,
            "story_key": result.story_key,
            "session_id": result.session_id,
        }
        self._last_run.emit("run.repeated", data)

    def _journal_failed(self) -> bool:
        last_run = self._last_run
        if last_run is None or not last_run.failed:
            return False
        self._last_run = None
        return True


def _put(known: dict[Key, Value], key: Key, value: Value) -> None:
    while len(known) >= _MOST:
        known.pop(next(iter(known)), None)
    known[key] = value


def stamps(paths: Iterable[str | Path]) -> Guards:
    """What tells of each file whether it was changed or replaced."""
    return {name: _stamp(name) for name in (os.fspath(path) for path in paths)}


def _changed(guards: Guards) -> bool:
    for path, stamp in guards.items():  # noqa: SIM110  `any` takes a third longer, and each hit pays for it
        if _stamp(path) != stamp:
            return True
    return False


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
