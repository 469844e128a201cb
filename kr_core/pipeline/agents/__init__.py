"""Agents at work: their prompts, their replies, and what follows a failure."""
