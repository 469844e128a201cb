"""Agents: what carries a question to a model, and brings back what it wrote."""
