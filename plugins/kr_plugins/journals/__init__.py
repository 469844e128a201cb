"""First-party plugins of the kind `journal`."""
