"""Python packages: their modules, definitions and docstrings."""
