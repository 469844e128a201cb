"""First-party plugins of the kind `store`."""
