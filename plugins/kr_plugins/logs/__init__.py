"""First-party plugins of the kind `log`."""
