"""`kr trust`: allow what the project's configuration would run, and the secrets that it would send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.config import load, trust
from kr_core.config.naming import dotted
from kr_core.errors import ConfigError
from kr_core.printable import printable

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Trust the configuration file as it stands, or with `--forget` no longer."""
    config = load((options.folder or Path.cwd()).resolve(), options.config)
    if config.document is None:
        raise ConfigError(
            "no configuration file was found", where=str(config.root), todo="there is nothing to trust"
        )
    name = config.document.shown
    if options.forget:
        print(f"{name}: no longer trusted" if trust.forget(config) else f"{name}: was not trusted")
        return 0
    for settings in trust.sensitive(config).values():
        for setting in settings:
            print(printable(f"{config.origin(setting.key)}: {dotted(setting.key)} {setting.does}"))
    trust.trust(config)
    some = "this" if trust.sensitive(config) else f"{name} runs nothing and sends no secret; it"
    print(f"{some} is trusted until {name} changes; `kr trust --forget` undoes it")
    return 0
