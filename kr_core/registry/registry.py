"""The plugins of one configuration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, overload

import pluggy
from pydantic import ValidationError

from kr_core import hookspecs
from kr_core.config import trust_store
from kr_core.config.environment import resolve_env
from kr_core.config.plugin_names import LISTED, SINGLE, dotted, named_in
from kr_core.config.trust_policy import UNKNOWN, AddressPolicy
from kr_core.config.validation_errors import config_error
from kr_core.entry_points import installed
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.hookspecs import NOUNS, STAGE_HOOKS, Provider, Settings
from kr_core.protocols import ABILITIES, misspelt
from kr_core.registry import contract
from kr_core.registry.attribution import attributed, fault_of, twice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kr_core.config import Config
    from kr_core.config.config_file import KeyPath
    from kr_core.config.plugin_names import NamedPlugin
    from kr_core.entry_points import InstalledPlugin
    from kr_core.errors import PluginError
    from kr_core.hookspecs import Setup
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


class Registry:
    """The plugins of one configuration; each component is built once, on first use.

    Args:
        config: the configuration, whose names say what is built.
        setup_for: what a component of this name may know when it is built.
        plugins: the plugins there are; None takes those that are installed.
    """

    def __init__(
        self,
        config: Config,
        setup_for: Callable[[str], Setup],
        *,
        plugins: Iterable[InstalledPlugin] | None = None,
    ) -> None:
        self._config = config
        self._setup_for = setup_for
        self._given = None if plugins is None else tuple(plugins)
        self._found: dict[str, list[InstalledPlugin]] | None = None
        self._built: dict[tuple[str, str], Any] = {}
        # a library may be called from several threads; who builds one component does not hold up the others
        self._lock = threading.RLock()
        self._locks: dict[tuple[str, str], threading.RLock] = {}
        self._manager = pluggy.PluginManager("kr")
        self._manager.add_hookspecs(hookspecs)

    # -- what there is -----------------------------------------------------------------------------------

    def installed(self) -> tuple[InstalledPlugin, ...]:
        """All installed plugins by name, none of them imported."""
        return tuple(plugin for _, plugins in sorted(self._plugins().items()) for plugin in plugins)

    def kind_of(self, name: str) -> tuple[str, ...]:
        """What a plugin provides, as nouns; imports this one plugin.

        Raises:
            ConfigError: no plugin has this name.
            PluginError: two have it, or it cannot be imported or registered.
        """
        plugin = self._plugin(name, ("plugins", name))
        kinds = self._kinds(self._module(plugin))
        if not kinds:
            raise _without_hook(plugin, "kr_source")
        return kinds

    def _kinds(self, module: object) -> tuple[str, ...]:
        kinds = tuple(noun for noun in NOUNS if self._implementation(noun, module) is not None)
        adds = any(hasattr(getattr(module, hook, None), "kr_impl") for hook in STAGE_HOOKS)
        return (*kinds, "hook") if adds else kinds

    def address_policy(self, name: str) -> AddressPolicy:
        """Which addresses a plugin or instance may name without trust; imports it, and knows nothing where that fails."""
        try:
            plugin = self._plugin(self._config.plugin_of(name), ("plugins", name))
            module = self._module(plugin)
            nouns = [noun for noun in NOUNS if self._implementation(noun, module) is not None]
            found = [_policy(self._provider(noun, plugin, ("plugins", name)).settings) for noun in nouns]
        except KRError:
            return UNKNOWN
        return AddressPolicy(
            frozenset().union(*(one.own for one in found)),
            tuple(name for one in found for name in one.vouching),
            any(one.calls_are_chosen for one in found),
        )

    def stands_for_mcp_server(self, name: str) -> bool:
        """Whether a source's plugin says so. One that is not loaded says nothing: its import may never end."""
        try:
            named_at = self._named_at("source", name)
            plugin = self._plugin(self._config.plugin_of(name), named_at)
            loaded = self._manager.get_plugin(plugin.name) is not None
            return loaded and self._provider("source", plugin, named_at).mcp_server is True
        except KRError:
            return False

    def named(self) -> list[NamedPlugin]:
        """The plugins and instances that the configuration names, with the keys that do."""
        return named_in(
            self._config.settings.model_dump(
                include={*SINGLE, *LISTED, "agents", "embedder", "runtime", "knowledge_research"}
            )
        )

    def check_names(self) -> None:
        """Check every plugin name that the configuration file has, importing none.

        Raises:
            ConfigError: the first name that is not installed, with its file and line.
        """
        keys = [(one.name, self._named_at(one.noun, one.name)) for one in self.named() if not one.by_default]
        keys += [(name, ("plugins", name, "use")) for name in self._config.settings.plugins]
        for name, key in keys:
            self._known(self._config.plugin_of(name), key)

    def stage_plugin(self, name: str) -> tuple[InstalledPlugin, object]:
        """A plugin that has hooks around stages, and its module; imports it.

        Raises:
            ConfigError: no plugin has this name, or the configuration has settings for it, which no hook takes.
            PluginError: two have it, or it cannot be imported or registered.
        """
        plugin = self._plugin(self._config.plugin_of(name), self._named_at("hook", name))
        module = self._module(plugin)
        settings = self._config.plugin_settings(name)
        if settings and self._kinds(module) == (
            "hook",
        ):  # one that is also a log, say, has settings as a log
            key = ("plugins", name, next(iter(settings)))
            raise ConfigError(
                f"unknown key `{dotted(key)}`",
                where=self._config.origin(key),
                hint="a hook around a stage has no settings, so remove it",
            )
        return plugin, module

    # -- building ----------------------------------------------------------------------------------------

    @overload
    def build(self, noun: Literal["store"], name: str) -> Store: ...
    @overload
    def build(self, noun: Literal["lookup"], name: str) -> Lookup: ...
    @overload
    def build(self, noun: Literal["source"], name: str) -> Source: ...
    @overload
    def build(self, noun: Literal["scorer"], name: str) -> Scorer: ...
    @overload
    def build(self, noun: Literal["renderer"], name: str) -> Renderer: ...
    @overload
    def build(self, noun: Literal["embedder"], name: str) -> Embedder: ...
    @overload
    def build(self, noun: Literal["journal"], name: str) -> Journal: ...
    @overload
    def build(self, noun: Literal["log"], name: str) -> Log: ...
    @overload
    def build(self, noun: Literal["runtime"], name: str) -> Runtime: ...
    @overload
    def build(self, noun: Literal["router"], name: str) -> Router: ...
    @overload
    def build(self, noun: Literal["agent"], name: str) -> Agent: ...
    @overload
    def build(self, noun: Literal["escalation"], name: str) -> Escalation: ...
    def build(self, noun: str, name: str) -> Any:
        """The component of a kind that a name stands for; the same one each time.

        Args:
            noun: one of `NOUNS`.
            name: a plugin, or an instance (`plugins.<name>.use`).

        Raises:
            ConfigError: the name, the kind or the plugin's settings are wrong.
            PluginError: the plugin cannot be imported, registered or built.
        """
        with self._lock:
            lock = self._locks.setdefault((noun, name), threading.RLock())
        with lock:
            if (noun, name) not in self._built:
                self._built[noun, name] = self._build(noun, name)
            return self._built[noun, name]

    def _build(self, noun: str, name: str) -> Any:
        named_at = self._named_at(noun, name)
        plugin = self._plugin(self._config.plugin_of(name), named_at)
        provider = self._provider(noun, plugin, named_at)
        settings, setup = self._settings(provider, plugin, name), self._setup_for(name)
        with attributed(plugin, "build", name):
            try:
                component = provider.build(settings, setup)
            except ConfigError as error:  # what the plugin's own author found wrong
                where = error.where or self._config.origin(("plugins", name))
                raise ConfigError(f"plugin `{name}`: {error.what}", where=where, hint=error.hint) from error
            if component is None:
                raise TypeError("its `build` returned None")
        for fault in misspelt(component, ABILITIES.get(noun, ())):
            what, _, hint = fault.partition(": ")
            raise fault_of(plugin, what, hint, name)
        return component

    def _provider(self, noun: str, plugin: InstalledPlugin, named_at: KeyPath) -> Provider[Any]:
        module = self._module(plugin)
        implementation = self._implementation(noun, module)
        if implementation is None:
            kinds = self._kinds(module)
            if not kinds:
                raise _without_hook(plugin, NOUNS[noun])
            raise ConfigError(
                f"`{plugin.name}` is {' and '.join(map(_one, kinds))}, not {_one(noun)}",
                where=self._config.origin(named_at),
                hint=f"name {_one(noun)}",
            )
        with attributed(plugin, "say what it provides"):
            # not through the hook caller: it would ask the other plugins of this kind as well
            provider = implementation()
            if not isinstance(provider, Provider):
                raise TypeError(f"{NOUNS[noun]} returned {provider!r} instead of a kr_core.Provider")
            if not (isinstance(provider.settings, type) and issubclass(provider.settings, Settings)):
                raise TypeError(f"its settings {provider.settings!r} are no subclass of kr_core.Settings")
            return provider

    def _settings(self, provider: Provider[Any], plugin: InstalledPlugin, name: str) -> Settings:
        """A plugin's settings. Every component is built through here, and so nothing is run or sent untrusted."""
        below, origin = ("plugins", name), self._config.origin
        trust_store.require(self._config, name, _policy(provider.settings))
        written = resolve_env(self._config.plugin_settings(name), self._config.environ, origin, below=below)
        with attributed(plugin, "read its settings", name):
            try:
                return provider.settings.model_validate(written)
            except ValidationError as error:
                # a setting may be a secret, so values are not shown
                raise config_error(error, provider.settings, origin, below=below, show_values=False) from None

    # -- finding and importing ---------------------------------------------------------------------------

    def _plugins(self) -> dict[str, list[InstalledPlugin]]:
        if self._found is None:
            found: dict[str, list[InstalledPlugin]] = {}
            for plugin in installed() if self._given is None else dict.fromkeys(self._given):
                found.setdefault(plugin.name, []).append(plugin)
            self._found = found
        return self._found

    def _named_at(self, noun: str, name: str) -> KeyPath:
        """The key that names a plugin, for messages."""
        if self._config.plugin_of(name) != name:
            return ("plugins", name, "use")
        for one in self.named():
            if (one.noun, one.name) == (noun, name):
                return one.key
        if noun == "source" and name == self._config.settings.knowledge_research.fallback_if_mcp_unavailable:
            return ("knowledge_research", "fallback_if_mcp_unavailable")
        return (noun,)

    def _known(self, name: str, named_at: KeyPath) -> list[InstalledPlugin]:
        plugins = self._plugins().get(name, [])
        if not plugins:
            raise ConfigError(
                f"no plugin is called `{name}`",
                where=self._config.origin(named_at),
                hint=self._nearest(name, named_at),
            )
        return plugins

    def _nearest(self, name: str, named_at: KeyPath) -> str:
        """The installed plugin of the same kind whose name is near, and all of the kind where they are few."""
        noun = _noun_at(named_at)
        if noun is None:
            return suggestion(name, self._plugins(), "installed", cutoff=_NEAR)
        known = [plugin for plugin in self._plugins() if self._provides(plugin, noun)]
        return suggestion(name, known, f"installed {noun}s", cutoff=_NEAR)

    def _provides(self, name: str, noun: str) -> bool:
        """Whether the source code of an installed plugin names a hook of a kind; what is not configured is not imported."""
        hooks = tuple(STAGE_HOOKS) if noun == "hook" else (NOUNS[noun],)
        return any(contract.names_hook(plugin, hooks) for plugin in self._plugins()[name])

    def _plugin(self, name: str, named_at: KeyPath) -> InstalledPlugin:
        plugins = self._known(name, named_at)
        if len(plugins) > 1:
            raise twice(plugins)
        return plugins[0]

    def _module(self, plugin: InstalledPlugin) -> object:
        module = self._manager.get_plugin(plugin.name)
        if module is not None:
            return module
        with attributed(plugin, "import"):
            module = plugin.load()
        with self._lock:
            if self._manager.is_registered(module):  # a second name for the same module
                return module
            other = contract.mismatch(plugin, module)
            if other is not None:
                raise fault_of(plugin, *other)
            with attributed(plugin, "register"):
                contract.check_hooks(module)
                self._register(module, plugin)
            return module

    def _register(self, module: object, plugin: InstalledPlugin) -> None:
        try:
            self._manager.register(module, plugin.name)  # checks the arguments of each hook
            self._manager.check_pending()
        except pluggy.PluginValidationError:
            callers = self._manager.get_hookcallers(module) or ()
            unknown = [caller.name for caller in callers if not caller.has_spec()]
            if self._manager.is_registered(module):
                self._manager.unregister(module)  # else the next plugin would be blamed for this one
            if not unknown:
                raise
            hint = suggestion(unknown[0], [*NOUNS.values(), *STAGE_HOOKS], "hooks")
            raise fault_of(plugin, f"there is no hook called {unknown[0]}", hint) from None

    def _implementation(self, noun: str, module: object) -> Callable[..., Any] | None:
        for implementation in getattr(self._manager.hook, NOUNS[noun]).get_hookimpls():
            if implementation.plugin is module:
                return implementation.function  # type: ignore[no-any-return]  # pluggy says Any
        return None


def _policy(settings: type[Settings]) -> AddressPolicy:
    """What a plugin's settings may name without trust: among their defaults are the addresses of the service it is made for."""
    defaults = (field.default for field in settings.model_fields.values())
    own = frozenset(one for one in defaults if isinstance(one, str) and "://" in one)
    return AddressPolicy(own, settings.vouching, settings.calls_are_chosen)


_KEYS = {"sources": "source", "fallback_if_mcp_unavailable": "source", "plugin": "agent", "hooks": "hook"} | {
    key: noun for key, (noun, _) in LISTED.items()
}
"""The kind of the plugins that a key names, where it is not called after it."""
_NEAR = 0.6


def _noun_at(key: KeyPath) -> str | None:
    """The kind of plugin that a key names; None where it may be of any kind."""
    words = [part for part in key if isinstance(part, str)]
    if words[:1] == ["plugins"]:
        return None
    last = _KEYS.get(words[-1], words[-1])
    return last if last in NOUNS or last == "hook" else None


def _one(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _without_hook(plugin: InstalledPlugin, hook: str) -> PluginError:
    return fault_of(plugin, "it has no hook", f"mark a function {hook} with @kr_core.hookimpl")
