"""Whether the user trusts a configuration file: `kr trust`.

A configuration comes with a project, which may be anybody's. What it says is data, but for the settings that run a program,
or send a secret or documents to an address (`sensitive`): those work only once the user has trusted this very text of the file in this
very place. What is trusted is kept in the user's own state folder, where no project can write it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from kr_core.config.naming import dotted
from kr_core.config.sensitive import sending_documents, sensitive_in
from kr_core.errors import ConfigError, StorageError
from kr_core.files import locked, read_bytes, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kr_core.config.loading import Config
    from kr_core.config.sensitive import Sensitive

__all__ = ["VARIABLE", "check_variable", "forget", "is_trusted", "require", "sensitive", "trust"]

VARIABLE = "KR_TRUST"
"""`all` trusts every file, for a machine whose every project is trusted already, as in CI."""
_ALL = "all"
_LARGEST = 10_000_000


def check_variable(environ: Mapping[str, str]) -> None:
    """Refuse a `KR_TRUST` that means nothing.

    Raises:
        ConfigError: it is set to something else than `all`.
    """
    if environ.get(VARIABLE) not in {None, "", _ALL}:
        raise ConfigError(
            f"{VARIABLE} is {environ[VARIABLE]!r}",
            where="environment",
            todo=f"its only value is `{_ALL}`, which trusts every configuration file; else leave it unset",
        )


def sensitive(config: Config) -> dict[str, list[Sensitive]]:
    """The settings that work only in a trusted file, by the name under which they stand in `plugins`."""
    found = {name: _found(config, name) for name in config.settings.plugins}
    return {name: settings for name, settings in found.items() if settings}


def require(config: Config, name: str) -> None:
    """Refuse the settings of a plugin or instance where the user has not trusted what they would do.

    Raises:
        ConfigError: they run a program, or send a secret or documents, and the file is not trusted.
    """
    found = _found(config, name)
    if found and not is_trusted(config):
        raise untrusted(config, found[0])


def _found(config: Config, name: str) -> list[Sensitive]:
    settings, below = config.plugin_settings(name), ("plugins", name)
    sent = sending_documents(settings, below) if name == config.settings.embedder else []
    return [*sensitive_in(settings, below), *sent]


def untrusted(config: Config, setting: Sensitive) -> ConfigError:
    """What to say about a setting that is not trusted."""
    return ConfigError(
        f"`{dotted(setting.key)}` {setting.does}, and this file is not trusted",
        where=config.origin(setting.key),
        todo="read it, then allow it with `kr trust`",
    )


def is_trusted(config: Config) -> bool:
    """Whether the user trusts the configuration as it was read; one that a program gives is that program's own."""
    if config.document is None or config.environ.get(VARIABLE) == _ALL:
        return True
    return _kept(_file()).get(_place(config)) == config.document.sha256


def trust(config: Config) -> None:
    """Trust the configuration file as it was read; any change of it is asked about anew.

    Raises:
        StorageError: this cannot be kept.
    """
    assert config.document is not None, "there is a file"
    _change(_place(config), config.document.sha256)


def forget(config: Config) -> bool:
    """Trust the configuration file no longer; returns whether it was trusted, in this or an earlier text.

    Raises:
        StorageError: this cannot be kept.
    """
    return _change(_place(config), None) is not None


def _place(config: Config) -> str:
    """Where the file is found, links resolved but for its own name.

    A link to a file that is trusted elsewhere is another place: `{project-root}/tool` would be another tool there.
    """
    assert config.file is not None, "there is a file"
    return os.path.join(os.path.realpath(config.root), os.path.relpath(config.file, config.root))  # noqa: PTH118  text, not files: part of a key


def _file() -> Path:
    import platformdirs

    return platformdirs.user_state_path("kr", appauthor=False) / "trusted.json"


def _kept(path: Path) -> dict[str, Any]:
    """What is trusted; nothing where that cannot be read."""
    try:
        kept = json.loads(read_bytes(path, limit=_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    files = kept.get("files") if isinstance(kept, dict) else None
    return files if isinstance(files, dict) else {}


def _change(place: str, sha256: str | None) -> Any:
    """Keep or drop what is trusted in a place; returns what was kept before."""
    path = _file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(path.parent):
            files = _kept(path)
            before = files.pop(place, None)
            if sha256 is not None:
                files[place] = sha256
            if files or before is not None:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # a new file is the user's alone
                write_atomically(path, json.dumps({"files": files}, indent=2) + "\n")
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error.strerror or error}", where=str(path), todo="check its permissions"
        ) from error
    return before
