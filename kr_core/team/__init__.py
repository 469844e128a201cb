"""The resident member of a team of agents: its messages, what it holds, and in which order it works."""
