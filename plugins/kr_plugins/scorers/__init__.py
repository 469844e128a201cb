"""First-party plugins of the kind `scorer`."""
