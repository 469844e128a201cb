"""What a pipeline works with: the objects it was given, and for the rest what the configuration names."""

from __future__ import annotations

import json
import threading
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from kr_core.config.plugin_names import DEFAULT_CHAIN, DEFAULT_EMBEDDER, DEFAULT_RUNTIME
from kr_core.errors import ConfigError
from kr_core.hookspecs import Setup
from kr_core.net.shared_resources import SharedResources
from kr_core.plugin_calls import CALL_SECONDS, PluginCalls
from kr_core.protocols import Closable, Selective
from kr_core.registry import Registry, StageHooks
from kr_core.terminal_text import printable
from kr_core.turns import Turns

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from datetime import date

    import httpx

    from kr_core.config import Config
    from kr_core.model import Egress, ResearchQuery
    from kr_core.model.routing import AgentProfile, RoutingRule
    from kr_core.project.project import LocalProject
    from kr_core.protocols import (
        Agent,
        Embedder,
        Escalation,
        Journal,
        Log,
        Lookup,
        Renderer,
        Router,
        Runtime,
        Scorer,
        Source,
        Store,
    )
    from kr_core.research.overrides import Overrides
    from kr_core.routing.table import Table
    from kr_core.verdicts import VerdictRecord

__all__ = ["Container", "SourceSlot"]

_RENDER_SECONDS = 15.0
"""A template has a limit of its own, whose message says more."""


class SourceSlot(NamedTuple):
    """A source in the chain; `build` may fail, and then the source is unavailable."""

    name: str
    build: Callable[[], Source]
    built: bool = False
    """Whether `build` only hands over what is there already, and so may be called in the event loop."""
    egress: Egress = "question"
    """What may leave the machine, where the source is external."""
    identity: str = ""
    """What its answers are remembered under; empty where they are not, since nobody knows what an object is."""
    mcp: Callable[[], bool] = bool
    """Tells whether it stands for an MCP server, for which another source may take over."""


class Container:
    """The components of one pipeline; each that is configured is built once, when it is first needed.

    Args:
        config: names what is built.
        project: where versions are looked up.
        given: what need not be built.
        today: the date that entries and reports carry.
    """

    def __init__(
        self, config: Config, project: LocalProject, given: Overrides, today: Callable[[], date]
    ) -> None:
        self.config = config
        self.project = project
        self.today = today
        self.registry = Registry(config, self._setup)
        self._given = given
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, asyncio.Semaphore]] = (
            WeakKeyDictionary()
        )
        self._gates_lock = threading.Lock()
        self._lock = threading.Lock()

    @property
    def under_bmad(self) -> bool:
        """Whether the configuration is a BMAD file, which may name what KR does not have."""
        return self.config.bmad

    @cached_property
    def store(self) -> Store:
        """The knowledge base."""
        given = self._given.store
        return self.registry.build("store", self.config.settings.store) if given is None else given

    @cached_property
    def lookup(self) -> PluginCalls[Lookup]:
        """What decides whether a kept report answers."""
        return self._one("lookup", self.config.settings.lookup, self._given.lookup, CALL_SECONDS)

    @cached_property
    def journal(self) -> Journal:
        """The journal."""
        given = self._given.journal
        return self.registry.build("journal", self.config.settings.journal) if given is None else given

    @cached_property
    def turns(self) -> Turns:
        """What one does at a time."""
        return Turns(lambda: self.journal, self.config.state_folder)

    @cached_property
    def verdicts(self) -> VerdictRecord:
        """What people said of answers."""
        from kr_core.verdicts import VerdictRecord  # which a hit does not need

        return VerdictRecord(lambda: self.journal)

    @cached_property
    def scorer(self) -> PluginCalls[Scorer]:
        """The scorer."""
        return self._one("scorer", self.config.settings.scorer, self._given.scorer, CALL_SECONDS)

    @cached_property
    def renderer(self) -> PluginCalls[Renderer]:
        """The renderer, which may take longer than a template may."""
        return self._one("renderer", self.config.settings.renderer, self._given.renderer, _RENDER_SECONDS)

    def _one(self, noun: Any, name: str, given: Any, seconds: float) -> PluginCalls[Any]:
        """The one component of a kind, and how it is called; one that was given is called after its class."""
        if given is not None:
            return PluginCalls(type(given).__name__, given, seconds)
        return PluginCalls(name, self.registry.build(noun, name), seconds)

    @cached_property
    def runtime(self) -> Runtime | None:
        """What hands work to workers; None where the process that asks does it."""
        return None if self.is_local else self.registry.build("runtime", self.config.settings.runtime)

    @property
    def is_local(self) -> bool:
        """Whether the process that asks does the work."""
        return self.config.settings.runtime == DEFAULT_RUNTIME

    def embedder(self) -> Embedder | None:
        """What makes vectors; None where words alone are to be searched.

        Raises:
            ConfigError: it is wrongly configured.
            PluginError: it cannot be built.
            StorageError: the table that is shipped with KR cannot be read.
        """
        name = self.config.settings.embedder
        if name == DEFAULT_EMBEDDER:
            from kr_core.search.word_vectors import word_table

            return word_table()
        return None if name is None else self.registry.build("embedder", name)

    @cached_property
    def table(self) -> Callable[[], Table]:
        """Gives the rules in force; `change_rules` puts others in their place."""
        return lambda: self._table

    @cached_property
    def _table(self) -> Table:
        return self.config.routing

    def change_rules(self, rules: Sequence[RoutingRule]) -> None:
        """Replace the routing rules from the next question on.

        Raises:
            ConfigError: a rule is wrong; the rules do not change.
        """
        from kr_core.config.routing_table import changed

        self._table = changed(self._table, rules)

    def routers(self) -> tuple[dict[str, Router], list[str]]:
        """The routers by name, in order, and a note for each that cannot be built.

        Raises:
            ConfigError: a router is wrongly configured.
        """
        return self._several("router", self.config.settings.routers, self._given.routers)

    def escalations(self) -> tuple[dict[str, Escalation], list[str]]:
        """The ways to a human by name, and a note for each that cannot be built.

        Raises:
            ConfigError: one is wrongly configured.
        """
        return self._several("escalation", self.config.settings.escalations, self._given.escalations)

    def agent(self, profile: AgentProfile) -> Agent:
        """What carries an agent's prompts to a model.

        Raises:
            ConfigError: the plugin is wrongly configured, or not trusted.
            PluginError: it cannot be imported or built.
        """
        given = self._given.agents or {}
        return given[profile.name] if profile.name in given else self.registry.build("agent", profile.plugin)

    def configured_agents(self) -> tuple[str, ...]:
        """The agents that somebody has configured or handed over, without the rest of the usual roster."""
        return tuple(dict.fromkeys([*self.config.settings.agents, *(self._given.agents or {})]))

    def logs(self) -> tuple[dict[str, Log], list[str]]:
        """The logs by name, and a note for each that cannot be built.

        Raises:
            ConfigError: a log is wrongly configured.
        """
        return self._several("log", self.config.settings.logs, self._given.logs)

    @cached_property
    def hooks(self) -> StageHooks:
        """What plugins add to the stages."""
        return StageHooks(self.config.settings.hooks, self.registry.stage_plugin)

    def _several(
        self, noun: Any, names: Sequence[str], given: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], list[str]]:
        """The components of a kind that is listed, and a note for each that cannot be built."""
        if given is not None:
            return dict(given), []
        built, notes = {}, []
        for name in names:
            try:
                built[name] = self.registry.build(noun, name)
            except ConfigError:
                raise
            except Exception as error:
                notes.append(f"{noun} {name}: {error}")
        return built, notes

    @property
    def outside(self) -> SharedResources:
        """What all consultations share."""
        with self._lock:  # two threads would make two, and each would keep to its own rate limits
            return self._outside

    @cached_property
    def _outside(self) -> SharedResources:
        return SharedResources(self._cache_folder / "answers")

    def gate(self, *, spent: bool = False) -> asyncio.Semaphore:
        """What lets in at most `defaults.max_concurrent` questions at once to ask sources, in the running event loop.

        Args:
            spent: the gate of those that have no call left. They ask what is on the machine, and do not wait for those
                that wait for the outside.
        """
        import asyncio

        with self._gates_lock:
            gates = self._gates.setdefault(asyncio.get_running_loop(), {})
            if spent not in gates:
                gates[spent] = asyncio.Semaphore(self.config.settings.defaults.max_concurrent)
            return gates[spent]

    @property
    def default_chain(self) -> bool:
        """Whether nobody said which sources to ask."""
        return self._given.sources is None and self.config.settings.knowledge_research.sources is None

    def chain(self, query: ResearchQuery) -> tuple[SourceSlot, ...]:
        """The sources to ask, in order.

        A default chain has only those that are installed and know the framework.
        """
        links = self.sources()
        return tuple(link for link in links if self._knows(link, query)) if self.default_chain else links

    def sources(self, beside: Sequence[str] = ()) -> tuple[SourceSlot, ...]:
        """Every source that may be asked, in order, whatever it knows.

        Args:
            beside: plugins that a default chain has as well, where they are installed.
        """
        if self._given.sources is not None:
            handed = self._given.sources.items()
            return tuple(
                self._link(source) if isinstance(source, str) else _there(name, source)
                for name, source in handed
            )
        configured = self.config.settings.knowledge_research.sources
        if configured is not None:
            return tuple(self._link(name) for name in configured)
        installed = {plugin.name for plugin in self.registry.installed()}
        return tuple(self._link(name) for name in (*DEFAULT_CHAIN, *beside) if name in installed)

    def fallback(self) -> SourceSlot | None:
        """The source that takes over where no MCP source of the chain can be reached; only a configuration has one."""
        research = self.config.settings.knowledge_research
        name = research.fallback_if_mcp_unavailable
        if name is None or self._given.sources is not None:
            return None
        nobody_asked = "fallback_if_mcp_unavailable" not in research.model_fields_set
        if nobody_asked and all(plugin.name != name for plugin in self.registry.installed()):
            return None
        return self._link(name)

    def _link(self, name: str) -> SourceSlot:
        plugin = self.config.plugin_of(name)
        return SourceSlot(
            printable(name),
            lambda: self.registry.build("source", name),
            egress=self.config.egress_of(name),
            identity=self._identity(name, plugin),
            mcp=lambda: self.registry.stands_for_mcp_server(name),
        )

    def _identity(self, name: str, plugin: str) -> str:
        """Plugin, version and settings; the project too, since settings may name files and programs in it."""
        versions = [
            installed.shipped_by for installed in self.registry.installed() if installed.name == plugin
        ]
        what = [name, plugin, versions, self.config.plugin_settings(name), str(self.config.root)]
        return json.dumps(what, sort_keys=True, default=str)

    def _knows(self, link: SourceSlot, query: ResearchQuery) -> bool:
        try:
            source = link.build()
            return not isinstance(source, Selective) or source.knows(query, self.project)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return True  # its fault is told when its turn comes

    @cached_property
    def _cache_folder(self) -> Path:
        import platformdirs

        return Path(
            self.config.environ.get("KR_CACHE_DIR") or platformdirs.user_cache_dir("kr", appauthor=False)
        )

    @cached_property
    def _template_folders(self) -> tuple[Path, ...]:
        from kr_core.config.template_trust import template_folders

        return template_folders(self.config.root, self.config.environ)

    def _setup(self, name: str) -> Setup:
        from kr_core.config.trust_store import is_trusted

        return Setup(
            name=name,
            project=self.project,
            knowledge_base=self.config.knowledge_base,
            state_folder=self.config.state_folder,
            cache_folder=self._cache_folder,
            template_folders=self._template_folders,
            today=self.today,
            routing=self.table,
            embedder=self.embedder,
            journal=lambda: self.journal,
            max_entries=self.config.settings.knowledge_research.max_entries,
            cache_ttl_days=self.config.settings.knowledge_research.cache_ttl_days,
            parallel=self.config.settings.defaults.parallel,
            trusted=is_trusted(self.config),
            http=lambda seconds: self._http(name, seconds),
        )

    @asynccontextmanager
    async def _http(self, name: str, seconds: float) -> AsyncIterator[httpx.AsyncClient]:
        import asyncio

        from kr_core.net.source_context import ConsultationContext

        deadline = asyncio.get_running_loop().time() + seconds
        context = ConsultationContext(self.project, lambda _kind, _data: None, deadline, self.outside, name)
        try:
            yield context.http
        finally:
            await context.close()

    def close(self) -> None:
        """Wait until everything said is durable, and let go of store and journal; what was given stays the caller's."""
        if "_outside" in self.__dict__:
            self._outside.close()
        if "store" in self.__dict__ and self._given.store is None and isinstance(self.store, Closable):
            self.store.close()
        if "journal" in self.__dict__ and self._given.journal is None:
            self.journal.close()


def _there(name: str, source: Source) -> SourceSlot:
    return SourceSlot(name, lambda: source, built=True)
