"""What every plugin keeps to, whatever its kind."""

from __future__ import annotations

import inspect
import pickle
import re
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import pluggy
import pytest
from pydantic import BaseModel, ValidationError

from kr_core import hookspecs, protocols
from kr_core.entry_points import GROUP, InstalledPlugin
from kr_core.hookspecs import NOUNS, Provider, Settings
from kr_core.protocols import ABILITIES, lacking, misspelt
from kr_core.registry import contract
from kr_core.testing import surroundings
from kr_core.testing.second_process import SecondProcess
from kr_core.testing.watchers import FreshRun, Touch, import_afresh, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pydantic.fields import FieldInfo

_UNKNOWN_KEY = "no_such_setting"


@lru_cache
def _fresh(module: str, hook: str) -> FreshRun:
    return import_afresh(module, hook)


class CompatibilityRules:
    """Whether a plugin goes together with this KR, as KR itself sees it."""

    module: ClassVar[str]

    def test_it_is_written_for_this_contract(self) -> None:
        """`KR_CONTRACT` of the module is a version of the contract that this KR offers."""
        other = contract.mismatch(self._installed(), surroundings.plugin_at(self.module))
        assert other is None, (
            f"KR refuses `{self.module}`: {other and other[0]}; set KR_CONTRACT to the version that the code is written for, "
            f"now {hookspecs.CONTRACT_VERSION} (docs/versioning.md says what changed)"
        )

    def test_it_imports_public_modules_only(self) -> None:
        """Of KR the code imports `kr_core`, `kr_core.plugin` and `kr_core.toolkit` only."""
        private = contract.private_imports(self._installed())
        assert not private, (
            f"`{self.module}` imports {', '.join(private)}, which may change at any time; "
            "use names of kr_core, kr_core.plugin and kr_core.toolkit"
        )

    def _installed(self) -> InstalledPlugin:
        return InstalledPlugin(self.module, self.module, "", "")


class PluginContract(CompatibilityRules):
    """The rules for plugins of every kind; the contracts of the kinds inherit them.

    Attributes:
        noun: the kind of plugin: one of `kr_core.hookspecs.NOUNS`.
        module: the value of the entry point: the module with the hook, or `module:attribute`.
        settings: the plugin's settings, as under `plugins.<name>`.
    """

    noun: ClassVar[str]
    module: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}

    def prepare(self, project: Path) -> None:
        """Create the files that the plugin reads; `project` is the root of a temporary project."""

    def build(self, project: Path) -> Any:
        """Build a component with `settings`, as the engine does.

        A second process builds its own component from `module` and `settings` alone, without your override of this
        method.
        """
        return surroundings.build(self.module, self.noun, self.settings, project)

    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        """The root of a temporary project, prepared."""
        root = tmp_path / "project"
        root.mkdir()
        self.prepare(root)
        return root

    # -- import and hook ---------------------------------------------------------------------------------

    def test_importing_it_does_no_io(self) -> None:
        """Importing the module reads, writes, connects and starts nothing."""
        fresh = _fresh(self.module, NOUNS[self.noun])
        assert not fresh.error, f"importing `{self.module}` failed in a fresh interpreter: {fresh.error}"
        assert not fresh.at_import, (
            f"importing `{self.module}` {_listed(fresh.at_import)}; do that in `build(settings, setup)`, "
            "which is called once, on first use"
        )

    def test_importing_it_pulls_no_other_plugin(self) -> None:
        """Importing this plugin does not import another one."""
        mine = self.module.partition(":")[0].strip()
        others = {
            point.module: point.name
            for point in entry_points(group=GROUP)
            if point.module != mine and not mine.startswith(f"{point.module}.")
        }
        pulled = sorted(_fresh(self.module, NOUNS[self.noun]).modules & others.keys())
        named = ", ".join(f"`{others[module]}` ({module})" for module in pulled)
        assert not pulled, (
            f"importing `{mine}` also imports the plugin {named}; import what both need from a module "
            "that is no plugin, or inside the function that uses it"
        )

    def test_the_hook_is_there_and_marked(self) -> None:
        """The module has the hook of its kind, with `@kr_core.hookimpl`, and no misspelt one."""
        plugin, name = self._plugin(), NOUNS[self.noun]
        hook = getattr(plugin, name, None)
        assert callable(hook), (
            f"`{self.module}` has no function `{name}`; a {self.noun} is provided by\n"
            f"    @kr_core.hookimpl\n    def {name}() -> Provider[...]: ..."
        )
        assert hasattr(hook, "kr_impl"), (
            f"`{name}` is not marked, so KR would not see it; write `@kr_core.hookimpl` above `def {name}()`"
        )
        manager = pluggy.PluginManager("kr")
        manager.add_hookspecs(hookspecs)
        try:
            manager.register(plugin)
            manager.check_pending()
        except pluggy.PluginValidationError as error:
            pytest.fail(
                f"the hooks of `{self.module}` do not fit: {error}; "
                f"a hook takes no argument and is called one of: {', '.join(NOUNS.values())}"
            )

    def test_the_hook_returns_a_provider(self) -> None:
        """The hook is sync, takes no argument and returns a Provider whose settings inherit from `kr_core.Settings`."""
        provider = self._provider()
        assert isinstance(provider, Provider), (
            f"`{NOUNS[self.noun]}` returned {provider!r}; return `kr_core.Provider(build, SettingsModel)`"
        )
        assert callable(provider.build), (
            f"`build` of the Provider is {provider.build!r}; give a function `build(settings, setup)`"
        )
        model = provider.settings
        assert isinstance(model, type), (
            f"the Provider's settings are {model!r}; give the class, not an instance of it"
        )
        assert issubclass(model, Settings), (
            f"the settings model {model.__qualname__} is no subclass of kr_core.Settings; derive it from that, "
            "so that a wrong key is reported with file and line"
        )

    def test_the_hook_does_no_io(self) -> None:
        """Calling the hook does no I/O: it only describes how to build."""
        touched = _fresh(self.module, NOUNS[self.noun]).in_hook
        assert not touched, (
            f"`{NOUNS[self.noun]}()` {_listed(touched)}; do that in `build(settings, setup)`, "
            "which is called once, on first use"
        )

    # -- settings ----------------------------------------------------------------------------------------

    def test_settings_forbid_unknown_keys(self) -> None:
        """Every settings model, including nested ones, refuses unknown keys."""
        for model in self._models():
            assert model.model_config.get("extra") == "forbid", (
                f"{model.__qualname__} takes keys that it does not know, so a misspelt setting is ignored; "
                'derive it from kr_core.Settings, or set model_config = ConfigDict(extra="forbid")'
            )

    def test_settings_are_documented(self) -> None:
        """Every setting has a description."""
        bare = [
            f"{model.__qualname__}.{name}"
            for model in self._models()
            for name, field in model.model_fields.items()
            if not (field.description or "").strip()
        ]
        assert not bare, (
            f"no description: {', '.join(bare)}; write a docstring below the field, "
            'or `Field(description="...")`'
        )

    def test_defaults_are_plain_values(self) -> None:
        """A setting's default is a plain value, not an open resource."""
        for model in self._models():
            with watched("reads", "writes", "network", "process") as touched:
                defaults = {name: _default(field) for name, field in model.model_fields.items()}
            assert not touched, (
                f"making the defaults of {model.__qualname__} {_listed(touched)}; "
                "let the default be a plain value, and open what it names in `build`"
            )
            for name, value in defaults.items():
                assert _is_plain(value), (
                    f"the default of {model.__qualname__}.{name} is a live {type(value).__qualname__}; "
                    "let the default be a plain value, and open what it names in `build`"
                )

    def test_an_unknown_setting_is_refused_by_name(self) -> None:
        """A misspelt setting is an error that names it."""
        model = self._provider().settings
        refused = _refusal(model, {**self.settings, _UNKNOWN_KEY: 1})
        assert refused is not None, (
            f"{model.__qualname__} accepted the unknown setting `{_UNKNOWN_KEY}`; derive it from "
            "kr_core.Settings and take no key away before it is checked"
        )
        named = {str(part) for fault in refused.errors() for part in fault["loc"]}
        assert _UNKNOWN_KEY in named, (
            f"the setting `{_UNKNOWN_KEY}` was refused, but the error does not name it: {refused}; "
            "leave unknown keys to pydantic"
        )

    def test_missing_settings_are_named(self) -> None:
        """Without settings the plugin uses its defaults, or raises an error that names the required settings."""
        model = self._provider().settings
        required = {name for name, field in model.model_fields.items() if field.is_required()}
        refused = _refusal(model, {})
        if refused is not None:
            named = {str(fault["loc"][0]) for fault in refused.errors() if fault["loc"]}
            said = " ".join(
                fault["msg"] for fault in refused.errors() if not fault["loc"]
            )  # of the model as a whole
            named |= set(re.findall(r"\w+", said)) & model.model_fields.keys()
            assert named, (
                f"without settings {model.__qualname__} says {refused}, which does not name the key to set; "
                "declare the field without a default and leave the check to pydantic, or name the key in your validator's message"
            )
            assert named >= required, (
                f"{', '.join(required - named)}: required, but the error does not say so"
            )

    # -- what is built -----------------------------------------------------------------------------------

    def test_it_builds_with_its_settings(self, project: Path) -> None:
        """`build(settings, setup)` makes a component from the settings."""
        model = self._provider().settings
        refused = _refusal(model, self.settings)
        assert refused is None, (
            f"`settings` of the contract class are not valid: {refused}; give the keys that are required"
        )
        try:
            component = self.build(project)
        except Exception as error:
            pytest.fail(
                f"`build(settings, setup)` raised {type(error).__name__}: {error}; it gets the settings model "
                "and a kr_core.plugin.Setup, and `prepare` must lay out whatever it reads"
            )
        assert component is not None, "`build(settings, setup)` returned None; return the component"

    def test_what_is_built_satisfies_the_protocol(self, project: Path) -> None:
        """Each method of the protocol exists, accepts the engine's arguments, and is async if the protocol's is."""
        faults = list(lacking(self.build(project), getattr(protocols, self.noun.capitalize())))
        assert not faults, (
            f"what `build` returned is not a kr_core.plugin.{self.noun.capitalize()}: " + "; ".join(faults)
        )

    def test_optional_abilities_have_their_names(self, project: Path) -> None:
        """No name is that of an optional Protocol misspelt: KR would never use it."""
        faults = list(misspelt(self.build(project), ABILITIES.get(self.noun, ())))
        assert not faults, "; ".join(faults)

    def _second_process(self, project: Path, task: str, **arguments: Any) -> SecondProcess:
        """Another process that has built the plugin and waits to begin with a task."""
        return SecondProcess(task, self.module, self.noun, self.settings, project, **arguments)

    # -- parts -------------------------------------------------------------------------------------------

    def _plugin(self) -> object:
        return surroundings.plugin_at(self.module)

    def _provider(self) -> Provider[Any]:
        name = NOUNS[self.noun]
        hook: Callable[[], Provider[Any]] = getattr(self._plugin(), name)
        assert not inspect.iscoroutinefunction(hook), f"`{name}` is async; write `def {name}()`"
        try:
            return hook()
        except TypeError as error:
            pytest.fail(f"`{name}()` could not be called: {error}; a hook takes no argument")

    def _models(self) -> list[type[BaseModel]]:
        """The settings model and those it is made of."""
        found: list[type[BaseModel]] = []
        waiting: list[Any] = [self._provider().settings]
        while waiting:
            kind = waiting.pop()
            waiting.extend(get_args(kind))
            if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
                found.append(kind)
                waiting.extend(field.annotation for field in kind.model_fields.values())
        return found


def _refusal(model: type[BaseModel], values: Mapping[str, Any]) -> ValidationError | None:
    """Why a model refuses these settings; None if it takes them."""
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        return error
    except Exception as error:
        pytest.fail(
            f"checking its settings, {model.__qualname__} raised {type(error).__name__}: {error}; "
            "raise ValueError in a validator, so that KR can say which key in which file is wrong"
        )
    return None


def _default(field: FieldInfo) -> Any:
    """A field's default, as it is: pydantic would copy it."""
    if field.default_factory is None:
        return None if field.is_required() else field.default
    if field.default_factory_takes_validated_data:
        return field.default_factory({})  # type: ignore[call-arg]  # pydantic has both forms of factories
    return field.default_factory()  # type: ignore[call-arg]  # pydantic has both forms of factories


def _listed(touched: Iterable[Touch]) -> str:
    return ", ".join(map(str, dict.fromkeys(touched)))


def _is_plain(value: Any) -> bool:
    """Whether a value can be written down: what holds a file, a connection or a lock cannot be pickled."""
    try:
        pickle.dumps(value)
    except (TypeError, AttributeError, pickle.PicklingError):
        return False
    return True
