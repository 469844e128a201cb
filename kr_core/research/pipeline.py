"""One project's pipeline: what programs that embed KR hold on to."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from kr_core.config import Config, given, load
from kr_core.errors import ConfigError
from kr_core.git.ownership import require_own_state
from kr_core.model import ResearchRequest, new_id
from kr_core.model.research import DISABLED
from kr_core.project.project import LocalProject
from kr_core.qalog.delivery import deliver
from kr_core.research import requests, results
from kr_core.research.container import Container
from kr_core.research.memory_cache import RequestCache, ResultCache
from kr_core.research.overrides import OwnComponents, check_overrides
from kr_core.research.request_form import InvalidRequest
from kr_core.research.results import CompletedResearch
from kr_core.research.run import ResearchRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.lessons.lesson_service import Lessons
    from kr_core.model import Event
    from kr_core.protocols import (
        Journal,
        Store,
    )
    from kr_core.registry import Registry

Asked = str | Mapping[str, Any] | ResearchRequest | InvalidRequest
"""A question, a request in the published form (R1), or one that was read before."""


class Pipeline:
    """The pipeline of one project. It has no global state; a process may have any number of them.

    KR builds components that you do not pass from the configuration when it first needs them, so a cache hit builds no
    source.

        with Pipeline.open() as pipeline:
            answer = pipeline.research("How do I follow redirects in httpx?")
        print(answer.result.results.summary)

    Args:
        config: keys and values as in a `kr.yaml`; if not given, found from the working folder.
        project: the project's environments and lock files.
        store: replaces the configured one; `lookup`, `scorer`, `renderer` and
            `journal` likewise. Closing the pipeline does not close a journal that you pass.
        sources: replaces the configured chain, in order: a list of objects, or a mapping of names to objects. Objects
            in a list take their name from their `name` attribute or their class (`ReleaseNotes` becomes
            `release_notes`). A string in the list names an installed plugin or a configured instance.
        logs: replaces the configured ones, in the same two forms; `routers` and `escalations` likewise.
        agents: agent components by the agents' names in the roster (`{"duc": MyModel()}`).
        on_event: called with every event at once, in the thread where it happens; exceptions are ignored.
        today: the date that entries and reports carry.

    Raises:
        ConfigError: the configuration is wrong, or an object that you pass is not a component of its kind.
        StorageError: the project's `.kr/` is a link, belongs to another user, or is tracked by git.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | None = None,
        *,
        project: LocalProject | None = None,
        on_event: Callable[[Event], object] | None = None,
        today: Callable[[], date] = date.today,
        **components: Unpack[OwnComponents],
    ) -> None:
        if config is not None and not isinstance(config, Config | Mapping):
            hint = "hand over keys and values, or open the project: `Pipeline.open(...)`"
            raise ConfigError(f"is {config!r}, no configuration", where="Pipeline(config)", hint=hint)
        if on_event is not None:
            _check_observer(on_event)
        if project is not None and not isinstance(project, LocalProject):
            hint = "leave it out, or open the project in a folder: `Pipeline.open(folder=...)`"
            raise ConfigError(f"is {project!r}, not a LocalProject", where="Pipeline(project=...)", hint=hint)
        if not callable(today):
            hint = "hand over a function that returns a date, such as `datetime.date.today`"
            raise ConfigError(f"is {today!r}, not a function", where="Pipeline(today=...)", hint=hint)
        overrides = check_overrides(components)
        here = Path.cwd()
        self.config = given(config, here) if isinstance(config, Mapping) else config or load(here)
        require_own_state(self.config)
        start = self.config.root if config else here
        self.project = project or LocalProject(self.config.root, start, self.config.environ)
        self._components = Container(self.config, self.project, overrides, today)
        self._observers = (on_event,) if on_event else ()
        self._questions = RequestCache(self.project)
        self._warm = ResultCache(self._components, self._observers)
        self._recalled: ResearchRun | None = None
        """The hit before, whose record was not waited for."""

    @classmethod
    def open(
        cls,
        config: str | Path | Mapping[str, Any] | None = None,
        *,
        folder: str | Path | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> Pipeline:
        """Open the pipeline of a project and check every plugin name in its configuration.

        Args:
            config: the configuration file, or its keys and values; if not given, found from the folder.
            folder: the project's folder; default: the working folder.
            on_event: called with every event at once.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
            StorageError: the project's `.kr/` is a link, belongs to another user, or is tracked by git.
        """
        _check_paths(config, folder)
        start = Path(folder or Path.cwd()).resolve()
        if isinstance(config, Mapping):
            loaded = given(config, start)
        else:
            loaded = load(start, None if config is None else Path(config))
        project = LocalProject(loaded.root, start, loaded.environ)
        pipeline = cls(loaded, project=project, on_event=on_event)
        pipeline.check_names()
        return pipeline

    def check_names(self) -> None:
        """Check every plugin name in the configuration; a BMAD file may list names that KR does not have.

        Raises:
            ConfigError: a plugin is not installed.
        """
        if not self._components.under_bmad:
            self.registry.check_names()

    @property
    def components(self) -> Container:
        """The components of this pipeline; for KR's own code."""
        return self._components

    @property
    def observers(self) -> tuple[Callable[[Event], object], ...]:
        """The callables that receive every event."""
        return self._observers

    @property
    def registry(self) -> Registry:
        """The plugins of this configuration."""
        return self._components.registry

    @property
    def store(self) -> Store:
        """The knowledge base."""
        return self._components.store

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self._components.journal

    # -- research ----------------------------------------------------------------------------------------

    def request(self, question: str, **options: Any) -> ResearchRequest | InvalidRequest:
        """Make a request from a question; KR infers what is missing from the question and the project.

        Args:
            question: in English, naming the library.
            options: framework, version, topic, tags, names, context, story_key, session_id, max_calls, timeout_seconds,
                max_tokens, refresh.

        Raises:
            TypeError: an option is unknown.
        """
        return self._questions.request(question, options)

    def read_request(self, raw: Any) -> ResearchRequest | InvalidRequest:
        """Read a request in the published form (R1)."""
        return requests.from_mapping(raw, self.project)

    def research(self, asked: Asked, **options: Any) -> CompletedResearch:
        """Answer a question; a cache hit starts no event loop.

        Args:
            asked: a question, a request in the published form, or the result of `read_request`.
            options: as for `request`; only with a question.

        Raises:
            StorageError: the journal cannot be written.
            ConfigError: a plugin is wrongly configured.
            PluginError: the store, journal, scorer or renderer cannot be built.
            RuntimeError: called inside a running event loop; await `aresearch` there.
            TypeError: options without a question, or unknown options.
        """
        _refuse_inside_loop()
        begun = self._begin(asked, options)
        if isinstance(begun, CompletedResearch):
            return begun
        from kr_core.aio import run

        try:
            return run(begun.consult()) or begun.conclude()
        except BaseException as error:
            begun.end(error)
            raise

    async def aresearch(self, asked: Asked, **options: Any) -> CompletedResearch:
        """The same inside an event loop; disk access never blocks the loop.

        Raises:
            StorageError: the journal cannot be written.
            ConfigError: a plugin is wrongly configured.
            PluginError: the store, journal, scorer or renderer cannot be built.
            TypeError: options without a question, or unknown options.
        """
        from kr_core.aio import shielded

        return await _researched(await shielded(lambda: self._begin(asked, options), _in_vain))

    async def aresearch_as(self, request: ResearchRequest | InvalidRequest, grants: str) -> CompletedResearch:
        """The same for a request that another worker may have begun: under one name its calls are charged once.

        Raises:
            StorageError: the journal cannot be written.
            ConfigError: a plugin is wrongly configured.
            PluginError: the store, journal, scorer or renderer cannot be built.
        """
        from kr_core.aio import shielded

        return await _researched(await shielded(lambda: self._begin(request, {}, grants), _in_vain))

    def recall(self, request: ResearchRequest) -> CompletedResearch | None:
        """The answer from the knowledge base, or None if KR would have to consult sources.

        A hit goes to the journal without waiting for it. If that fails, the next hit waits and reports it. A look-up
        that finds no answer leaves no record: the research that follows looks again when its turn comes.

        Raises:
            ConfigError: the argument is not a request.
            StorageError: the journal cannot be written.
            PluginError: the store or the journal cannot be built.
        """
        _check_request(request, "recall")
        if not self.config.settings.knowledge_research.enabled or request.refresh:
            return None
        if (known := self._warm.answer(request)) is not None:
            return known
        guards = self._warm.guards(request)
        research_run = ResearchRun(request, self._components, self._observers)
        answer = research_run.recall(wait=self._recalled is not None and self._recalled.failed)
        if answer is not None:
            self._recalled = research_run
            self._warm.keep(request, answer, research_run.read, guards)
        return answer

    def peek(self, request: ResearchRequest) -> CompletedResearch | None:
        """What a repeated request would find, without counting as a use; None if it would not be a hit.

        Raises:
            ConfigError: the argument is not a request.
        """
        _check_request(request, "peek")
        return ResearchRun(request, self._components).peek()

    def _begin(
        self, asked: Asked, options: Mapping[str, Any], grants: str = ""
    ) -> CompletedResearch | ResearchRun:
        """Everything before a source is asked: refusals and cache hits end here."""
        if isinstance(asked, str) and (known := self._known(asked, options)) is not None:
            return known
        request = self._requested(asked, options)
        settings = self.config.settings.knowledge_research
        calls = settings.max_calls_per_story
        if isinstance(request, InvalidRequest):
            return results.refused(request.story_key, request.session_id, request.faults, calls)
        if not settings.enabled:
            return results.refused(request.story_key, request.session_id, (DISABLED,), calls)
        if (known := self._warm.answer(request)) is not None:
            return known
        guards = self._warm.guards(request)
        research_run = ResearchRun(request, self._components, self._observers, grants)
        try:
            answer = research_run.begin()
        except BaseException as error:
            research_run.end(error)
            raise
        if answer is None:
            return research_run
        self._warm.keep(request, answer, research_run.read, guards)
        return answer

    def _known(self, question: str, options: Mapping[str, Any]) -> CompletedResearch | None:
        """The answer to a question that this process has understood and answered before."""
        request = self._questions.known(question, options)
        if request is None:
            return None
        return self._warm.answer(request, None if "session_id" in options else new_id())

    def _requested(self, asked: Asked, options: Mapping[str, Any]) -> ResearchRequest | InvalidRequest:
        if isinstance(asked, str):
            return self.request(asked, **options)
        if options:
            raise TypeError(f"{', '.join(options)}: options go with a question; a request has its own")
        return asked if isinstance(asked, ResearchRequest | InvalidRequest) else self.read_request(asked)

    # -- lessons -----------------------------------------------------------------------------------------

    @property
    def lessons(self) -> Lessons:
        """The project's lessons: `inject(phase)` selects them for a phase, `add` records one, `read` returns all."""
        from kr_core.lessons.lesson_service import Lessons

        return Lessons(self.config, self._components.today)

    # -- the record --------------------------------------------------------------------------------------

    def deliver_logs(self) -> list[str]:
        """Send each log the events that it does not have yet; returns a note for each log that failed.

        Raises:
            ConfigError: a log is wrongly configured.
        """
        logs, notes = self._components.logs()
        return notes + deliver(self.journal, logs, self._components.turns)

    def close(self) -> None:
        """Wait until all events are durable, then close the journal."""
        self._components.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        import asyncio

        await asyncio.to_thread(self.close)


def _check_paths(config: object, folder: object) -> None:
    """Refuse what is neither a path nor, for the configuration, keys and values."""
    if config is not None and not isinstance(config, str | Path | Mapping):
        hint = "hand over the path of a file, or keys and values"
        raise ConfigError(f"is {config!r:.60}, no configuration", where="Pipeline.open(config)", hint=hint)
    if folder is not None and not isinstance(folder, str | Path):
        hint = "hand over the path of the project's folder"
        raise ConfigError(f"is {folder!r:.60}, not a path", where="Pipeline.open(folder=...)", hint=hint)


def _check_observer(on_event: object) -> None:
    """Refuse what cannot be called with an event."""
    if callable(on_event) and not inspect.iscoroutinefunction(on_event):
        return
    what = "is async, and nobody awaits it" if callable(on_event) else f"is {on_event!r}, no function"
    raise ConfigError(what, where="Pipeline(on_event=...)", hint="hand over `def tell(event): ...`")


async def _researched(begun: CompletedResearch | ResearchRun) -> CompletedResearch:
    """The answer of what was begun."""
    from kr_core.aio import shielded

    if isinstance(begun, CompletedResearch):
        return begun
    try:
        answer = await begun.consult()
        return await shielded(begun.conclude) if answer is None else answer
    except BaseException as error:
        await shielded(partial(begun.end, error))
        raise


def _in_vain(begun: CompletedResearch | ResearchRun) -> None:
    """End what was begun for somebody who does not wait any more."""
    from asyncio import CancelledError

    if isinstance(begun, ResearchRun):
        begun.end(CancelledError())


def _check_request(request: object, method: str) -> None:
    """Refuse what is not a request.

    Raises:
        ConfigError: it is something else, or a request whose faults the error names.
    """
    if isinstance(request, ResearchRequest):
        return
    where = f"Pipeline.{method}(request)"
    if isinstance(request, InvalidRequest):
        raise ConfigError("; ".join(fault.message for fault in request.faults), where=where)
    hint = "make a request first: `Pipeline.request(question)`"
    raise ConfigError(f"is {request!r:.60}, not a `ResearchRequest`", where=where, hint=hint)


def _refuse_inside_loop() -> None:
    import sys

    asyncio = sys.modules.get("asyncio")  # without it no loop can be running, and a hit does not import it
    # The one that raises where no loop runs takes 5 us of a hit's 50.
    if asyncio is not None and asyncio.events._get_running_loop() is not None:  # noqa: SLF001  named in its `__all__`
        raise RuntimeError(
            "research() cannot run inside a running event loop; use `await pipeline.aresearch(question)`"
        )
