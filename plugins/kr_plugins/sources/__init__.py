"""First-party plugins of the kind `source`."""
