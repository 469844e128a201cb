"""First-party plugins of the kind `lookup`."""
