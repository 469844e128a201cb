"""Which agent answers a question, and how sure it must be: pure functions over rules."""
