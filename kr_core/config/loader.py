"""A project's configuration: from a working folder to one that is checked, as everything else gets it."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from kr_core.config import config_file
from kr_core.config.config_file import ConfigDocument, DiscoveredProject, find
from kr_core.config.plugin_names import dotted
from kr_core.config.schema import Schema
from kr_core.config.trust_policy import check_variable
from kr_core.config.trust_store import is_trusted, require_knowledge_base
from kr_core.config.validation_errors import config_error
from kr_core.errors import ConfigError, suggestion
from kr_core.user_state import STATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_core.config.config_file import KeyPath
    from kr_core.model import Egress
    from kr_core.model.time_limits import TimeLimits
    from kr_core.routing.table import Table

__all__ = ["Config", "given", "given_at", "load", "with_text"]

_ROOT = "{project-root}"
_BMAD_DEFAULTS = {"git_commit": "auto", "max_age_days": None}
_OWN = "knowledge_research"
"""The section of BMAD's file that is KR's; the others have other readers too, and so values that KR does not know."""


@dataclass(frozen=True)
class Config:
    """A project's configuration, checked."""

    root: Path
    """The project root, absolute."""
    file: Path | None
    """The file it was read from; None where the defaults hold."""
    settings: Schema
    knowledge_base_path: Path
    """Absolute, wherever it leads; what reads or writes there takes `knowledge_base`."""
    looked_at: tuple[Path, ...]
    """Every path that decided, existing or not; a memoised result is void once one of them changes."""
    environ: Mapping[str, str] = field(repr=False)
    """Where `{env: NAME}` is looked up when a plugin is built."""
    check_knowledge_base: Callable[[Config], None] = field(repr=False, compare=False)
    """Raises ConfigError where the knowledge base lies outside of the root and the user does not trust that."""
    document: ConfigDocument | None = field(repr=False, default=None)
    """The file as read; None where there is none."""
    by_program: bool = False
    """Whether the program that embeds KR gave it, rather than a file."""
    bmad: bool = False
    """Whether the file is BMAD's own, which has other readers and may name what KR does not have."""
    passed_over: tuple[KeyPath, ...] = ()
    """Keys of BMAD's file whose values KR does not know; their defaults hold."""
    temporary_state: Path | None = None
    """Where KR's state lies for one command in a project that cannot be written."""

    @cached_property
    def knowledge_base(self) -> Path:
        """The folder of the knowledge base.

        Raises:
            ConfigError: it really lies outside of the root, and the user does not trust that.
        """
        self.check_knowledge_base(self)
        return self.knowledge_base_path

    @cached_property
    def routing(self) -> Table:
        """The rules in force, over the roster."""
        from kr_core.config.routing_table import table  # which a cache hit does without

        return table(self.settings, self.origin)

    @property
    def state_folder(self) -> Path:
        """The project's `.kr/`; the part that needs it makes it."""
        return self.temporary_state or self.root / STATE_FOLDER

    def origin(self, key: KeyPath) -> str:
        """`kr.yaml:12`, where a key stands, or its nearest parent; for messages."""
        if self.document is not None:
            return self.document.origin(key)
        return given_at(key) if self.by_program else "default configuration"

    def plugin_of(self, name: str) -> str:
        """The plugin that a name stands for: what `plugins.<name>.use` says, or the name itself."""
        entry = self.settings.plugins.get(name)
        return name if entry is None or entry.use is None else entry.use

    @property
    def reads_environment(self) -> bool:
        """Whether a plugin's settings take a value from the environment, so that they may change without the file."""
        return any(_takes_env(entry.model_extra) for entry in self.settings.plugins.values())

    def plugin_settings(self, name: str) -> dict[str, Any]:
        """A plugin's or instance's own settings as written, without `use`; a copy.

        `{env: NAME}` is still in place; see `resolve_env`.
        """
        entry = self.settings.plugins.get(name)
        return {} if entry is None else copy.deepcopy(entry.model_extra or {})

    def egress_of(self, name: str) -> Egress:
        """What may leave the machine for a source or an instance of one; code only where the user trusts the file."""
        entry = self.settings.plugins.get(name)
        if entry is None or (entry.egress == "code" and not is_trusted(self)):
            return "question"
        return entry.egress


def _takes_env(value: Any) -> bool:
    if isinstance(value, dict):
        return set(value) == {"env"} or any(map(_takes_env, value.values()))
    return isinstance(value, list) and any(map(_takes_env, value))


def given_at(key: KeyPath) -> str:
    """Where a key stands that a program has given."""
    return (
        f"configuration given by the program, {dotted(key)}" if key else "configuration given by the program"
    )


def load(working_folder: Path, file: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """Find, read and check the configuration of a working folder.

    Args:
        working_folder: the folder to start from.
        file: a file to read instead of the one found (`--config`).
        environ: where `{env: NAME}` values of plugins come from.

    Raises:
        ConfigError: with file and line, what is wrong and what would be right.
    """
    if not os.path.isdir(working_folder):  # noqa: PTH112  False, not an error, where it may not be looked at
        raise ConfigError(
            "there is no such folder", where=str(working_folder), hint="check the path given with -C"
        )
    check_variable(environ)
    found = find(working_folder, file)
    document = None
    if found.file is not None:
        document = config_file.read(found.file, config_file.shown(found.file, working_folder))
    return _config(found, document, environ)


def with_text(config: Config, file: Path, text: str) -> Config:
    """The configuration as it would be with this text in its file; nothing is read or written.

    Args:
        config: as it is.
        file: where the text would be.
        text: of the whole file.

    Raises:
        ConfigError: with file and line, what would be wrong.
    """
    shown = file.name if config.document is None else config.document.shown
    found = DiscoveredProject(config.root, file, config.bmad, config.looked_at)
    return _config(found, ConfigDocument(file, shown, text.encode("utf-8", "replace")), config.environ)


def _config(found: DiscoveredProject, document: ConfigDocument | None, environ: Mapping[str, str]) -> Config:
    values = {} if document is None else _with_root(document.values, str(found.root))
    settings, passed_over = _checked(values, found, document)
    config = Config(
        root=found.root,
        file=found.file,
        settings=settings,
        knowledge_base_path=_folder(settings.knowledge_research.knowledge_base_path, found.root),
        looked_at=found.looked_at,
        environ=environ,
        check_knowledge_base=require_knowledge_base,
        document=document,
        bmad=found.bmad,
        passed_over=passed_over,
    )
    _check_routing(config)
    return config


def given(values: Mapping[str, Any], working_folder: Path, environ: Mapping[str, str] = os.environ) -> Config:
    """Check a configuration that a program gives in place of a file; no file is read.

    Args:
        values: keys and values as a `kr.yaml` would have them.
        working_folder: the project root.
        environ: where `{env: NAME}` values of plugins come from.

    Raises:
        ConfigError: with the key, what is wrong and what would be right.
    """
    root = Path(os.path.abspath(working_folder))  # noqa: PTH100  resolve() would follow symlinks
    try:
        settings = Schema.model_validate(_with_root(copy.deepcopy(dict(values)), str(root)))
    except ValidationError as error:
        raise config_error(error, Schema, given_at) from None
    config = Config(
        root=root,
        file=None,
        settings=settings,
        knowledge_base_path=_folder(settings.knowledge_research.knowledge_base_path, root),
        looked_at=(),
        environ=environ,
        check_knowledge_base=require_knowledge_base,
        by_program=True,
    )
    _check_routing(config)
    return config


def _check_routing(config: Config) -> None:
    """Refuse a roster or rules that are wrong, also where nothing is asked; what nobody wrote is right."""
    if not config.settings.model_fields_set.isdisjoint({"agents", "roles", "routing"}):
        assert config.routing is not None, "it is made here, or says what is wrong"
    _check_tiers(config)
    writer = config.settings.knowledge_research.agent
    if writer is not None and writer not in config.routing.agents:
        raise ConfigError(
            f"`knowledge_research.agent` is `{writer}`, which is not an agent",
            where=config.origin(("knowledge_research", "agent")),
            hint=suggestion(writer, config.routing.agents, "agents"),
        )


def _check_tiers(config: Config) -> None:
    """Refuse a tier that names a way to a human that is not one of the configuration's."""
    known = config.settings.escalations
    of_rules = enumerate(config.settings.routing.rules or ())
    limits: list[tuple[KeyPath, TimeLimits]] = [(("escalation",), config.settings.escalation)]
    limits += [
        (("routing", "rules", n, "escalation"), one.escalation) for n, one in of_rules if one.escalation
    ]
    for place, one in limits:
        for number, tier in enumerate(one.tiers):
            for name in tier.escalations:
                if name not in known:
                    key = (*place, "tiers", number, "escalations", tier.escalations.index(name))
                    raise ConfigError(
                        f"`{dotted(key)}` is `{name}`, which is not in `escalations`",
                        where=config.origin(key),
                        hint=suggestion(name, known, "escalations"),
                    )


def _checked(
    values: dict[str, Any], found: DiscoveredProject, document: ConfigDocument | None
) -> tuple[Schema, tuple[KeyPath, ...]]:
    """The settings, and the keys that were passed over for them."""
    passed_over: tuple[KeyPath, ...] = ()
    if found.bmad:
        values = _known(values, Schema)
        research = values.get(_OWN)
        if research is None or isinstance(research, dict):
            said = {key: value for key, value in (research or {}).items() if value is not None}
            values[_OWN] = _BMAD_DEFAULTS | said
        values, passed_over = _understood(values)
    try:
        return Schema.model_validate(values), passed_over
    except ValidationError as error:
        assert document is not None, "the defaults are valid"
        raise config_error(error, Schema, document.origin) from None


def _understood(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[KeyPath, ...]]:
    """The values without those of others' keys that KR does not know, and the keys that were left out."""
    try:
        Schema.model_validate(values)
    except ValidationError as error:
        values = copy.deepcopy(values)
        left_out = [_removed(values, fault["loc"]) for fault in error.errors() if fault["loc"][:1] != (_OWN,)]
        return values, tuple(dict.fromkeys(left_out))
    return values, ()


def _removed(values: dict[str, Any], key: KeyPath) -> KeyPath:
    """Remove a key, or the nearest one above it that stands in a mapping; returns it."""
    inner: dict[Any, Any] = values
    for length, part in enumerate(key, 1):
        following = inner.get(part)
        if length == len(key) or not isinstance(following, dict) or key[length] not in following:
            inner.pop(part, None)
            return key[:length]
        inner = following
    return key


def _known(values: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """BMAD's file has other readers: keys that KR does not know are theirs."""
    known = {key: value for key, value in values.items() if key in model.model_fields}
    for key, value in known.items():
        inner = model.model_fields[key].annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            known[key] = _known(value, inner)
    return known


def _with_root(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace(_ROOT, root)
    if isinstance(value, dict):
        return {key: _with_root(item, root) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_root(item, root) for item in value]
    return value


def _folder(path: str, root: Path) -> Path:
    return Path(os.path.normpath(root / os.path.expanduser(path)))  # noqa: PTH111  pathlib raises for an unknown user
