"""`kr mcp`: KR as an MCP server, for coding agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.entry_points import require
from kr_core.errors import ConfigError
from kr_core.server.access import check_token, token_in

if TYPE_CHECKING:
    import argparse

HOST, PORT = "127.0.0.1", 8001


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves or the process is told to end, and return the exit code."""
    require("mcp", "mcp")
    host, token = options.host or HOST, _token(options)
    check_token(host, token, "KR_MCP_TOKEN")
    from kr_core.aio import run as run_to_its_end
    from kr_core.server.served_project import ServedProject

    async def serve() -> None:
        project = ServedProject(options.config, options.folder)
        if options.http:
            from kr_core.server.mcp import http_transport

            await http_transport.serve(project, host, PORT if options.port is None else options.port, token)
        else:
            from kr_core.server.mcp import stdio_transport

            await stdio_transport.serve(project)

    run_to_its_end(serve())
    return 0


def _token(options: argparse.Namespace) -> str | None:
    """The token that callers must know."""
    given = {"--host": options.host, "--port": options.port, "--token-env": options.token_env}
    beside = [name for name, value in given.items() if value is not None]
    if beside and not options.http:
        raise ConfigError("goes with --http only", where=beside[0], hint="add --http")
    return token_in(options.token_env)
