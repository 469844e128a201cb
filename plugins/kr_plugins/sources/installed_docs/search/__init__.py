"""What helps to find a passage of an installed package."""
