"""The protocol over streamable HTTP, at `/mcp`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from mcp.server.transport_security import TransportSecuritySettings

from kr_core.server.access import AccessGuard
from kr_core.server.http_server import ListeningSocket
from kr_core.server.mcp.mcp_server import server_of

if TYPE_CHECKING:
    from kr_core.server.access import Application
    from kr_core.server.served_project import ServedProject

__all__ = ["application", "serve"]

_IDLE_SECONDS = 1800.0
"""A session without a request, or a stream that waits for messages, ends after so long."""
_MAX_SESSIONS = 2_000
"""At a time, of some 36 kB each; the newer generation of clients has none."""


def application(
    project: ServedProject,
    token: str | None = None,
    idle_seconds: float = _IDLE_SECONDS,
    max_sessions: int = _MAX_SESSIONS,
) -> Application:
    """The ASGI application.

    Args:
        project: what it serves.
        token: what callers must know; None asks for nothing.
        idle_seconds: how long a session may be without a request.
        max_sessions: how many there may be at a time; one more is refused with 503.
    """
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard checks more
    inner = server_of(project).streamable_http_app(
        transport_security=unchecked, session_idle_timeout=idle_seconds, max_sessions=max_sessions
    )
    return AccessGuard(cast("Application", inner), token)


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
