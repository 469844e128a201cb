"""Pages of documentation that packages bring along."""
