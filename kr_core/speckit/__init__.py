"""spec-kit's files (github/spec-kit): the questions in them, and answers in its own form; pure functions on text."""
