"""`kr trust`: allow what the project's configuration would run and send, where it leads out of the project, and its templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.config import load, template_trust, trust_store
from kr_core.config.plugin_names import dotted
from kr_core.config.trust_policy import further
from kr_core.errors import ConfigError
from kr_core.git.ownership import adopt, is_foreign
from kr_core.registry import Registry
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.config import Config
    from kr_core.config.trust_policy import TrustedSetting
    from kr_core.hookspecs import Setup


def run(options: argparse.Namespace) -> int:
    """Trust the configuration file as it stands, or with `--forget` no longer."""
    config = load((options.folder or Path.cwd()).resolve(), options.config)
    adopted = not options.forget and is_foreign(config)
    if adopted:
        adopt(config)
        print(printable(f"{config.state_folder}: not made by your KR; what it holds is used from now on"))
    if options.forget:
        return _forget(config)
    templates = template_trust.found(config.root)
    if config.document is None and adopted and not templates:
        return 0
    if config.document is None and not templates:
        raise ConfigError(
            "no configuration file was found", where=str(config.root), hint="there is nothing to trust"
        )
    found = [] if config.document is None else _sensitive(config)
    for setting in found:
        print(printable(f"{config.origin(setting.key)}: {dotted(setting.key)} {setting.does}"))
    own = set(template_trust.replaced(config.root))
    for template in templates:
        does = "replaces KR's own" if template in own else "may be used by another template or a plugin"
        print(printable(f"templates/{template}: {does}").replace("\n", "\\n"))
    if config.document is not None:
        trust_store.trust(config, found)
    if templates or trust_store.trusted_templates(config.root):
        template_trust.trust(config.root, templates)
    name = "one of them" if config.document is None else config.document.shown
    until = f"{name} or a template" if templates and config.document is not None else name
    some = "this" if found or templates else f"{name} runs nothing and sends no secret; it"
    print(f"{some} is trusted until {until} changes; `kr trust --forget` undoes it")
    return 0


def _forget(config: Config) -> int:
    of_templates = template_trust.forget(config.root)
    if config.document is None and not of_templates:
        raise ConfigError(
            "no configuration file was found", where=str(config.root), hint="there is nothing to trust"
        )
    if config.document is not None:
        name = config.document.shown
        print(f"{name}: no longer trusted" if trust_store.forget(config) else f"{name}: was not trusted")
    if of_templates:
        print("templates: no longer trusted")
    return 0


def _sensitive(config: Config) -> list[TrustedSetting]:
    """All that needs trust; a plugin is imported to learn which addresses are its service's own, and none is built."""
    base = trust_store.knowledge_base(config)
    policy = Registry(config, _no_setup).address_policy
    of_plugins = trust_store.sensitive(config, policy)
    found = [*([base] if base else []), *(one for settings in of_plugins.values() for one in settings)]
    return further(found, trust_store.ignored(config, policy))


def _no_setup(name: str) -> Setup:
    """Stand in for the setup of a plugin: KR asks for addresses alone here, and builds none."""
    raise NotImplementedError(f"{name} is not built here")
