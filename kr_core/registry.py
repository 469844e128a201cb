"""From a name in the configuration to a component: entry point, plugin, provider, settings, component.

    registry = Registry(config, setup_for)
    store = registry.build("store", config.settings.store)

Only the module of a plugin that is named is imported; `PluginManager.load_setuptools_entrypoints` would import
them all and let the first ImportError escape. Whatever goes wrong is said with the plugin's name.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import pluggy
from pydantic import ValidationError

from kr_core import hookspecs
from kr_core.config.environment import resolve_env
from kr_core.config.faults import config_error, suggestion
from kr_core.errors import ConfigError, PluginError, StorageError
from kr_core.hookspecs import NOUNS, Provider, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from importlib.metadata import EntryPoint

    from kr_core.config import Config
    from kr_core.config.documents import KeyPath
    from kr_core.hookspecs import Setup
    from kr_core.protocols import Journal, Log, Renderer, Scorer, Source, Store

__all__ = ["GROUP", "PluginInfo", "Registry"]

GROUP = "kr"
"""The entry-point group that plugins are found in."""


class PluginInfo(NamedTuple):
    """An installed plugin, known without importing it."""

    name: str
    module: str
    """Where the plugin is, as its entry point says."""
    distribution: str
    """The distribution that ships it; empty where the entry point has none."""
    version: str


class Registry:
    """The plugins of one configuration; each component is built once, on first use.

    Args:
        config: the configuration, whose names say what is built.
        setup_for: what a component of this name may know when it is built.
        entry_points: the plugins there are; None takes those that are installed.
    """

    def __init__(
        self,
        config: Config,
        setup_for: Callable[[str], Setup],
        *,
        entry_points: Iterable[EntryPoint] | None = None,
    ) -> None:
        self._config = config
        self._setup_for = setup_for
        self._given = None if entry_points is None else tuple(entry_points)
        self._found: dict[str, list[EntryPoint]] | None = None
        self._built: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()  # a library may be called from several threads
        self._manager = pluggy.PluginManager("kr")
        self._manager.add_hookspecs(hookspecs)

    # -- what there is -----------------------------------------------------------------------------------

    def installed(self) -> tuple[PluginInfo, ...]:
        """All installed plugins by name, none of them imported."""
        return tuple(_info(point) for _, points in sorted(self._points().items()) for point in points)

    def kind_of(self, name: str) -> tuple[str, ...]:
        """What a plugin provides, as nouns; imports this one plugin.

        Raises:
            ConfigError: no plugin, or two, have this name.
            PluginError: it cannot be imported or registered.
        """
        with self._lock:
            plugin = self._plugin(self._point(name, ("plugins", name)))
            return tuple(noun for noun in NOUNS if self._implementation(noun, plugin) is not None)

    def check_names(self) -> None:
        """Check every plugin name that the configuration file has, importing none.

        Raises:
            ConfigError: the first name that is not installed, with its file and line.
        """
        settings = self._config.settings
        named = [(noun, getattr(settings, noun)) for noun in ("store", "journal", "scorer", "renderer")]
        named += [("log", name) for name in settings.logs]
        named += [("source", name) for name in settings.knowledge_research.sources or ()]
        keys = [(name, self._named_at(noun, name)) for noun, name in named]
        keys += [(name, ("plugins", name, "use")) for name in settings.plugins]
        for name, key in keys:
            self._point(self._config.plugin_of(name), key)

    # -- building ----------------------------------------------------------------------------------------

    @overload
    def build(self, noun: Literal["store"], name: str) -> Store: ...
    @overload
    def build(self, noun: Literal["source"], name: str) -> Source: ...
    @overload
    def build(self, noun: Literal["scorer"], name: str) -> Scorer: ...
    @overload
    def build(self, noun: Literal["renderer"], name: str) -> Renderer: ...
    @overload
    def build(self, noun: Literal["journal"], name: str) -> Journal: ...
    @overload
    def build(self, noun: Literal["log"], name: str) -> Log: ...
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
            if (noun, name) not in self._built:
                self._built[noun, name] = self._build(noun, name)
            return self._built[noun, name]

    def _build(self, noun: str, name: str) -> Any:
        named_at = self._named_at(noun, name)
        point = self._point(self._config.plugin_of(name), named_at)
        provider = self._provider(noun, point, named_at)
        settings = self._settings(provider, point, name)
        with _attributed(point, "build", name):
            component = provider.build(settings, self._setup_for(name))
            if component is None:
                raise TypeError("its `build` returned None")
            return component

    def _provider(self, noun: str, point: EntryPoint, named_at: KeyPath) -> Provider[Any]:
        plugin = self._plugin(point)
        implementation = self._implementation(noun, plugin)
        if implementation is None:
            kinds = [known for known in NOUNS if self._implementation(known, plugin) is not None]
            if not kinds:
                raise _fault(point, "it has no hook", f"mark a function {NOUNS[noun]} with @kr_core.hookimpl")
            raise ConfigError(
                f"`{point.name}` is a {' and a '.join(kinds)}, not a {noun}",
                where=self._config.origin(named_at),
                todo=f"name a {noun}",
            )
        with _attributed(point, "say what it provides"):
            # not through the hook caller: it would ask the other plugins of this kind as well
            provider = implementation()
            if not isinstance(provider, Provider):
                raise TypeError(f"{NOUNS[noun]} returned {provider!r} instead of a kr_core.Provider")
            if not (isinstance(provider.settings, type) and issubclass(provider.settings, Settings)):
                raise TypeError(f"its settings {provider.settings!r} are no subclass of kr_core.Settings")
            return provider

    def _settings(self, provider: Provider[Any], point: EntryPoint, name: str) -> Settings:
        below, origin = ("plugins", name), self._config.origin
        written = resolve_env(self._config.plugin_settings(name), self._config.environ, origin, below=below)
        with _attributed(point, "read its settings", name):
            try:
                return provider.settings.model_validate(written)
            except ValidationError as error:
                # a setting may be a secret, so values are not shown
                raise config_error(error, provider.settings, origin, below=below, show_values=False) from None

    # -- finding and importing ---------------------------------------------------------------------------

    def _points(self) -> dict[str, list[EntryPoint]]:
        if self._found is None:
            found: dict[str, list[EntryPoint]] = {}
            for point in _scan() if self._given is None else self._given:
                same = found.setdefault(point.name, [])
                if all(_info(point) != _info(other) for other in same):
                    same.append(point)
            self._found = found
        return self._found

    def _named_at(self, noun: str, name: str) -> KeyPath:
        """The key that names a plugin, for messages."""
        settings = self._config.settings
        if self._config.plugin_of(name) != name:
            return ("plugins", name, "use")
        if noun == "log" and name in settings.logs:
            return ("logs", settings.logs.index(name))
        sources = settings.knowledge_research.sources or ()
        if noun == "source" and name in sources:
            return ("knowledge_research", "sources", sources.index(name))
        if noun == "source" and name == settings.knowledge_research.fallback_if_mcp_unavailable:
            return ("knowledge_research", "fallback_if_mcp_unavailable")
        return (noun,)

    def _point(self, plugin: str, named_at: KeyPath) -> EntryPoint:
        points = self._points().get(plugin, [])
        if len(points) == 1:
            return points[0]
        where = self._config.origin(named_at)
        if not points:
            raise ConfigError(
                f"no plugin is called `{plugin}`",
                where=where,
                todo=suggestion(plugin, self._points(), "installed"),
            )
        shipped = " and ".join(_shipped_by(point) for point in points)
        raise ConfigError(
            f"two plugins are called `{plugin}`: from {shipped}", where=where, todo="uninstall one"
        )

    def _plugin(self, point: EntryPoint) -> object:
        plugin = self._manager.get_plugin(point.name)
        if plugin is not None:
            return plugin
        with _attributed(point, "import"):
            plugin = point.load()
        if self._manager.is_registered(plugin):  # a second name for the same module
            return plugin
        with _attributed(point, "register"):
            _check_marks(plugin)
            self._register(plugin, point)
        return plugin

    def _register(self, plugin: object, point: EntryPoint) -> None:
        self._manager.register(plugin, point.name)  # checks the arguments of each hook
        try:
            self._manager.check_pending()
        except pluggy.PluginValidationError:
            callers = self._manager.get_hookcallers(plugin) or ()
            unknown = [caller.name for caller in callers if not caller.has_spec()]
            self._manager.unregister(plugin)  # else the next plugin would be blamed for this one
            todo = suggestion(unknown[0], NOUNS.values(), "hooks")
            raise _fault(point, f"there is no hook called {unknown[0]}", todo) from None

    def _implementation(self, noun: str, plugin: object) -> Callable[..., Any] | None:
        for implementation in getattr(self._manager.hook, NOUNS[noun]).get_hookimpls():
            if implementation.plugin is plugin:
                return implementation.function  # type: ignore[no-any-return]
        return None


# -- what to say about a plugin --------------------------------------------------------------------------


def _scan() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # its import is the cost, not the scan

    return entry_points(group=GROUP)


def _info(point: EntryPoint) -> PluginInfo:
    if point.dist is None:
        return PluginInfo(point.name, point.value, "", "")
    return PluginInfo(point.name, point.value, point.dist.name, point.dist.version)


def _shipped_by(point: EntryPoint) -> str:
    info = _info(point)
    return f"{info.distribution} {info.version}" if info.distribution else info.module


def _fault(point: EntryPoint, what: str, todo: str = "", name: str = "") -> PluginError:
    alias = f" as `{name}`" if name not in {"", point.name} else ""
    return PluginError(what, where=f"plugin `{point.name}`{alias} ({_shipped_by(point)})", todo=todo)


@contextmanager
def _attributed(point: EntryPoint, phase: str, name: str = "") -> Iterator[None]:
    """Turn whatever a plugin raises into an error that names the plugin and what it was doing."""
    try:
        yield
    except (ConfigError, PluginError):
        raise
    except StorageError as error:
        what = f"failed to {phase}: {f'{error.where}: ' if error.where else ''}{error.what}"
        raise _fault(point, what, error.todo, name) from error
    except ModuleNotFoundError as error:
        if not error.name:
            raise _fault(point, f"failed to {phase}: {error}", name=name) from error
        if error.name.split(".")[0] == point.module.split(".")[0]:
            what, todo = f"its module `{error.name}` is not there", f"reinstall {_shipped_by(point)}"
        else:
            what = f"it needs the module `{error.name}`, which is not installed"
            todo = _install_command(point, error.name.split(".")[0])
        raise _fault(point, what, todo, name) from error
    except (Exception, SystemExit) as error:  # a plugin may raise anything, and some modules call sys.exit
        raise _fault(point, f"failed to {phase}: {type(error).__name__}: {error}", name=name) from error


def _install_command(point: EntryPoint, module: str) -> str:
    """The command that installs a missing module: through an extra of the plugin's distribution if it has one.

    Requirements name distributions, not modules; where the two differ, the module's name is the best guess.
    """
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    for text in (point.dist.requires if point.dist else None) or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        if canonicalize_name(requirement.name) != canonicalize_name(module):
            continue
        assert point.dist is not None, "it has requirements"
        for extra in point.dist.metadata.get_all("Provides-Extra") or ():
            if marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}):
                return f'pip install "{point.dist.name}[{extra}]"'
        return f"pip install {requirement.name}"
    return f"pip install {module}"


def _check_marks(plugin: object) -> None:
    """Refuse a function that is named like a hook but not marked: pluggy would pass over it in silence."""
    for name in dir(plugin):
        value = getattr(plugin, name, None) if name.startswith("kr_") else None
        if isinstance(value, FunctionType) and not hasattr(value, "kr_impl"):
            from difflib import get_close_matches

            near = get_close_matches(name, NOUNS.values(), n=1, cutoff=0.8)
            if near:
                raise TypeError(f"{name} is not marked; write @kr_core.hookimpl above `def {near[0]}()`")
