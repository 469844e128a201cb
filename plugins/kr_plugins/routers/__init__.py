"""First-party plugins of the kind `router`."""
