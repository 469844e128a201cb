"""What a project has installed and locked, in which versions."""
