"""What KR adds to the stages itself."""
