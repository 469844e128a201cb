"""The protocol over streamable HTTP, at `/mcp`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from mcp.server.transport_security import TransportSecuritySettings

from kr_core.server.access import AccessGuard
from kr_core.server.connection_limits import max_connections
from kr_core.server.http_server import ListeningSocket
from kr_core.server.mcp.mcp_server import server_of
from kr_core.server.mcp.session_limits import SessionLimits

if TYPE_CHECKING:
    from kr_core.server.access import Application
    from kr_core.server.served_project import ServedProject

__all__ = ["application", "serve"]

_IDLE_SECONDS = 1800.0
"""A session that has had no request and no open stream for so long ends."""
_MAX_SESSIONS = 2_000
"""At a time, of some 36 kB each; the newer generation of clients has none."""
_MAX_STREAMS = max(1, max_connections() // 2)
"""Sessions that may keep a stream open, which is a connection: the other half is for requests."""


def application(
    project: ServedProject,
    token: str | None = None,
    idle_seconds: float = _IDLE_SECONDS,
    max_sessions: int = _MAX_SESSIONS,
    max_streams: int = _MAX_STREAMS,
) -> Application:
    """The ASGI application.

    Args:
        project: what it serves.
        token: what callers must know; None asks for nothing.
        idle_seconds: how long a session may be without a request and without an open stream.
        max_sessions: how many there may be at a time; one more ends the one whose client has been silent longest.
        max_streams: how many of them may have an open stream; the same.
    """
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard checks more
    inner = server_of(project).streamable_http_app(
        transport_security=unchecked, session_idle_timeout=idle_seconds, max_sessions=2 * max_sessions
    )  # many that begin at once are one too many for a moment
    return AccessGuard(SessionLimits(cast("Application", inner), max_sessions, max_streams), token)


async def serve(project: ServedProject, host: str, port: int, token: str | None) -> None:
    """Serve until SIGTERM or Ctrl-C; what is under way is then cancelled, and the project closed.

    Args:
        project: what is served.
        host: where it listens.
        port: 0 takes a free one; the address is told on standard error.
        token: what callers must know; None asks for nothing.

    Raises:
        ConfigError: nobody can listen there.
    """
    listening = ListeningSocket(host, port)
    print(f"kr: MCP is served at {listening.url}/mcp", file=sys.stderr, flush=True)
    try:
        await listening.serve(application(project, token))
    finally:
        await project.close()
