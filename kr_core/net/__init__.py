"""The way out of the machine: one HTTP client for every source, and what keeps it polite, bounded and on record."""
