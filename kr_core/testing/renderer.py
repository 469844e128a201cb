"""Stub."""

from kr_core.testing.plugin import PluginContract


class RendererContract(PluginContract):
    """Stub."""

    noun = "renderer"
