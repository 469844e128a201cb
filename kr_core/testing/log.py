"""Stub."""

from kr_core.testing.plugin import PluginContract


class LogContract(PluginContract):
    """Stub."""

    noun = "log"
