"""What a question is about: its framework, topics and packages, and what it asks for."""
