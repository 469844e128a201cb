"""The client of MCP servers: programs on this machine, and services."""
