"""Where a server listens, and how it ends."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError
from kr_core.server.connection_limits import ConnectionLimits, LimitedServer

if TYPE_CHECKING:
    from kr_core.server.access import Application

__all__ = ["ListeningSocket"]

_BACKLOG = 256
_HIGHEST_PORT = 65_535
_USUAL = ConnectionLimits()


class ListeningSocket:
    """A socket that listens.

    Args:
        host: a name or an address of this machine.
        port: 0 takes a free one.

    Raises:
        ConfigError: nobody can listen there.
    """

    def __init__(self, host: str, port: int) -> None:
        self._bound = _bound(host, port)
        self.port = int(self._bound.getsockname()[1])
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def reached_at(self) -> str:
        """An address under which it can be reached: that of this machine where it listens on all."""
        if self._bound.getsockname()[0] in {"0.0.0.0", "::"}:  # noqa: S104  it is compared, not bound
            return f"http://{socket.gethostname()}:{self.port}"
        return self.url

    async def serve(self, application: Application, limits: ConnectionLimits = _USUAL) -> None:
        """Serve until SIGTERM or Ctrl-C; what is under way is then cancelled.

        Args:
            application: what is served.
            limits: of its connections.
        """
        # uvicorn sends itself again the signal that has ended it; of SIGTERM enough was heard then
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        server = LimitedServer(application, limits)
        try:
            await server.serve(sockets=[self._bound])
        finally:
            self.close()

    def close(self) -> None:
        """Listen no longer."""
        self._bound.close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; its protocol is named, since asyncio sends small answers at once only where it is."""
    if not 0 <= port <= _HIGHEST_PORT:  # `getaddrinfo` would take the rest of it
        raise _cannot_listen(host, port, ValueError("is no port"))
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:  # a name that is none
        raise _cannot_listen(host, port, error) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise _cannot_listen(host, port, error) from error
    return bound


def _cannot_listen(host: str, port: int, error: Exception) -> ConfigError:
    said = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ConfigError(said, where=f"{host}:{port}", hint="choose another with --host and --port")
