"""Jinja templates, found as package data."""
