"""Plugins that hand work to workers on any machine."""
