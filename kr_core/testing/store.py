"""Stub."""

from kr_core.testing.plugin import PluginContract


class StoreContract(PluginContract):
    """Stub."""

    noun = "store"
