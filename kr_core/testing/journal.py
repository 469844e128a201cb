"""Stub."""

from kr_core.testing.plugin import PluginContract


class JournalContract(PluginContract):
    """Stub."""

    noun = "journal"
