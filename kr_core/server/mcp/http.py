"""The protocol over streamable HTTP, at `/mcp`."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING, cast

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from kr_core.errors import ConfigError
from kr_core.server.mcp.guard import Guard
from kr_core.server.mcp.serving import server_of

if TYPE_CHECKING:
    from kr_core.server.mcp.guard import Application
    from kr_core.server.mcp.project import Project

__all__ = ["application", "serve"]

_BACKLOG = 256
_LAST_SECONDS = 1
"""So long calls may take at the end before they are cancelled."""


def application(project: Project, token: str | None = None) -> Application:
    """The ASGI application.

    Args:
        project: what it serves.
        token: what callers must know; None asks for nothing.
    """
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard checks more
    inner = server_of(project).streamable_http_app(transport_security=unchecked)
    return Guard(cast("Application", inner), token)


async def serve(project: Project, host: str, port: int, token: str | None) -> None:
    """Serve until SIGTERM or Ctrl-C; what is under way is then cancelled, and the project closed.

    Args:
        project: what is served.
        host: where it listens.
        port: 0 takes a free one; the address is told on standard error.
        token: what callers must know; None asks for nothing.

    Raises:
        ConfigError: nobody can listen there.
    """
    bound = _bound(host, port)
    shown = f"[{host}]" if ":" in host else host
    # uvicorn sends itself again the signal that has ended it; of SIGTERM enough was heard then
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    server = uvicorn.Server(
        uvicorn.Config(
            application(project, token),
            log_config=None,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
    )
    print(f"kr: MCP is served at http://{shown}:{bound.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    try:
        await server.serve(sockets=[bound])
    finally:
        bound.close()
        await project.close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; its protocol is named, since asyncio sends small answers at once only where it is."""
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_listen(host, port, error) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise _cannot_listen(host, port, error) from error
    return bound


def _cannot_listen(host: str, port: int, error: OSError) -> ConfigError:
    todo = "choose another with --host and --port"
    return ConfigError(error.strerror or str(error), where=f"{host}:{port}", todo=todo)
