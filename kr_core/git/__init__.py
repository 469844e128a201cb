"""The knowledge base in git: its repository, and commits of what was written."""
