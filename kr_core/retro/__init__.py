"""What a feature's questions teach: figures, patterns and recommendations, from the log alone."""
