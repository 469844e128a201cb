"""First-party plugins of the kind `renderer`."""
