"""The facts of an expedition: extracted, compared, merged and kept."""
