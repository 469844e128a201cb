"""From a name in the configuration to a component: installed plugin, module, provider, settings, component.

    registry = Registry(config, setup_for)
    store = registry.build("store", config.settings.store)

Only the module of a plugin that is named is imported; `PluginManager.load_setuptools_entrypoints` would import
them all and let the first ImportError escape. Whatever goes wrong is said with the plugin's name.
"""

from kr_core.entry_points import GROUP, InstalledPlugin
from kr_core.registry.hooks import StageHooks
from kr_core.registry.registry import Registry

__all__ = ["GROUP", "InstalledPlugin", "Registry", "StageHooks"]
