"""One reader for each markup: HTML, Markdown, reStructuredText and their tables."""
