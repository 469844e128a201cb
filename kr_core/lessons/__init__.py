"""Lessons learned: their file, and which of them go along with a question."""
