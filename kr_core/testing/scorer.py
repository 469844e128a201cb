"""Stub."""

from kr_core.testing.plugin import PluginContract


class ScorerContract(PluginContract):
    """Stub."""

    noun = "scorer"
