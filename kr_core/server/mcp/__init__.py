"""KR as an MCP server: other agents research and ask through it, over standard input and output or over HTTP.

Both generations of the protocol are served: the one with a handshake (up to 2025-11-25), and the one in which each request
stands for itself (2026-07-28).
"""
