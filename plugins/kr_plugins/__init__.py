"""First-party plugins, one folder per noun; they use the public door only."""
