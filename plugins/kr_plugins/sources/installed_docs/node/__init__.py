"""npm packages: their declarations, options and exports."""
