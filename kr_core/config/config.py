"""A project's configuration, as everything else is handed it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kr_core.config.plugin_names import dotted
from kr_core.user_state import STATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kr_core.config.config_file import ConfigDocument, KeyPath
    from kr_core.config.schema import Schema
    from kr_core.model import Egress
    from kr_core.routing.table import Table

__all__ = ["Config", "given_at"]


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
        """What may leave the machine for a source or an instance of one."""
        entry = self.settings.plugins.get(name)
        return "question" if entry is None else entry.egress


def _takes_env(value: Any) -> bool:
    if isinstance(value, dict):
        return set(value) == {"env"} or any(map(_takes_env, value.values()))
    return isinstance(value, list) and any(map(_takes_env, value))


def given_at(key: KeyPath) -> str:
    """Where a key stands that a program has given."""
    return (
        f"configuration given by the program, {dotted(key)}" if key else "configuration given by the program"
    )
