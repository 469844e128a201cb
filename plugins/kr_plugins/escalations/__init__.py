"""First-party plugins of the kind `escalation`."""
