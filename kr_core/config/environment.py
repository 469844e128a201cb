"""Values that a configuration takes from the environment: `token: {env: GITHUB_TOKEN}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.config.plugin_names import dotted
from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_core.config.config_file import KeyPath


def is_reference(value: Any) -> bool:
    """Whether a value is `{env: NAME}`."""
    return isinstance(value, dict) and list(value) == ["env"] and isinstance(value["env"], str)


def resolve_env(
    settings: Mapping[str, Any],
    environ: Mapping[str, str],
    where: Callable[[KeyPath], str],
    *,
    below: KeyPath = (),
) -> dict[str, Any]:
    """A plugin's settings with each `{env: NAME}` replaced by the variable's value.

    It is called when the plugin is built, so that a secret of a plugin that is not used need not be there.

    Args:
        settings: the settings as written.
        environ: the environment.
        where: the file and line of a key (`Config.origin`).
        below: the key under which the settings stand, such as `("plugins", "github")`.

    Raises:
        ConfigError: a variable is not set, or empty.
    """

    def resolved(value: Any, key: KeyPath) -> Any:
        if isinstance(value, dict):
            if is_reference(value):
                return _variable(value["env"], key)
            return {name: resolved(item, (*key, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [resolved(item, (*key, number)) for number, item in enumerate(value)]
        return value

    def _variable(name: str, key: KeyPath) -> str:
        value = environ.get(name)
        if not value:
            raise ConfigError(
                f"`{dotted(key)}` needs the environment variable {name}, which is {'not set' if value is None else 'empty'}",
                where=where(key),
                hint=f"set {name}, or remove the key",
            )
        return value

    return {name: resolved(value, (*below, name)) for name, value in settings.items()}
