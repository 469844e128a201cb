"""Tasks of `tasks.md` sent to specialists, each in a worktree of its own; what is outside of a scope never lands."""
