"""Where a server listens and how it ends; how many connections it has at a time, and how long each may wait.

uvicorn ends idle connections after a request alone, and asyncio prints a traceback for each connection that it has no
descriptor for. So each connection here has a deadline for its request and for taking its answer, and there are fewer of
them than the process may have files. Where one comes too many, the one that has waited longest for its request goes:
clients that hold connections open and send nothing keep no one out.
"""

from __future__ import annotations

import signal
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kr_core.errors import ConfigError
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import asyncio

    from kr_core.server.access import Application

__all__ = ["ConnectionLimits", "LimitedServer", "ListeningSocket", "max_connections"]

try:
    import resource
except ImportError:  # pragma: no cover  Windows, where sockets are not files
    resource = None  # type: ignore[assignment]  # mypy reads the module of this system


_MAX_CONNECTIONS = 1_000
_ACCEPTED_AT_ONCE = 16
"""Connections taken in one round of the event loop; they cannot be counted, and refused, before the next."""
_QUEUED = 256
"""Connections that the system holds until they are taken."""
_LAST_SECONDS = 1
"""So long calls may take at the end before they are cancelled."""


def max_connections() -> int:
    """Three quarters of the files that this process may have open; the rest is for the journal, reports and programs."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource is not None else -1
    return _MAX_CONNECTIONS if files < 0 else max(1, min(_MAX_CONNECTIONS, files * 3 // 4))


@dataclass(frozen=True)
class ConnectionLimits:
    """What a server allows its clients; None takes what the process can have."""

    connections: int | None = None
    head_seconds: float = 10
    """From the connection, or from the last answer, to the end of a request's headers."""
    body_seconds: float = 30
    """From there to the end of its body."""
    read_seconds: float = 30
    """So long a client may take nothing of its answer."""
    held_bytes: int = 64_000_000
    """Of requests that have not come whole, together."""
    refused_seconds: float = 2
    """So long a client whose body was refused may take to read that."""


_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)


class _Config(uvicorn.Config):
    """uvicorn's, with what its connections share."""

    def __init__(self, application: Application, limits: ConnectionLimits) -> None:
        super().__init__(
            application,
            http=_LimitedConnection,
            log_config=None,
            access_log=False,
            ws="none",
            backlog=_ACCEPTED_AT_ONCE,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        self.limits = limits
        self.most = limits.connections or max_connections()
        self.without_request: dict[_LimitedConnection, None] = {}
        """Those that have not sent a whole request, the one that has waited longest first."""
        self.held = 0
        """Bytes that came over them so far."""


class LimitedServer(uvicorn.Server):
    """uvicorn's server within limits.

    Args:
        application: what it serves.
        limits: of its connections.
    """

    def __init__(self, application: Application, limits: ConnectionLimits) -> None:
        super().__init__(_Config(application, limits))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; the system's queue is longer than what is taken at once."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_QUEUED)


class _LimitedConnection(H11Protocol):
    """A connection that ends where it waits too long, or is one too many."""

    config: _Config

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._stage = ""
        self._has_begun = False
        self._is_refused = False
        self.held = 0
        """Bytes of a request that has not come whole."""
        self._request_deadline: asyncio.TimerHandle | None = None
        self._read_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > self.config.most:
            longest = next(iter(self.config.without_request))
            longest.end(f"{self.config.most} are open, the most at a time; it has sent no whole request")

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        self._follow()
        self._has_begun = self._stage == "headers"
        if self in self.config.without_request:
            self._hold(self.held + len(data))
            if self.config.held > self.config.limits.held_bytes:
                longest = next(one for one in self.config.without_request if one.held)
                longest.refuse(
                    "requests that have not come whole are too large together; it has waited longest"
                )

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        for timer in (self._request_deadline, self._read_deadline):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        seconds = self.config.limits.read_seconds
        said = f"its client has read nothing of its answer for {seconds:g} s"
        self._read_deadline = self.loop.call_later(seconds, self.end, said)

    def resume_writing(self) -> None:
        if self._read_deadline is not None:
            self._read_deadline.cancel()
        super().resume_writing()

    def end(self, said: str) -> None:
        """End it at once, and say why."""
        if self.transport.is_closing() and self._read_deadline is None:
            return
        self._forget()
        self._tell(said)
        self.transport.abort()

    def refuse(self, said: str) -> None:
        """Answer a request whose body has not come, that it may come later; end the connection when its client has read that."""
        cycle = self.cycle
        if self._stage != "body" or cycle is None or cycle.response_started or self.transport.is_closing():
            self.end(said)
            return
        self._forget()
        self._tell(said)
        self._is_refused = True
        cycle.disconnected, cycle.body = True, bytearray()
        cycle.message_event.set()
        self.transport.write(_REFUSAL)
        if self._request_deadline is not None:
            self._request_deadline.cancel()
        # Closed at once, with data that was not read, the connection would be reset and its answer lost.
        self.transport.resume_reading()
        seconds = self.config.limits.refused_seconds
        self._request_deadline = self.loop.call_later(seconds, self.transport.abort)

    def _tell(self, said: str) -> None:
        if said:
            client = printable(self.client[0]) if self.client else "a client"
            print(f"kr: closed a connection from {client}: {said}", file=sys.stderr, flush=True)

    def _hold(self, size: int) -> None:
        self.config.held += size - self.held
        self.held = size

    def _forget(self) -> None:
        """Its request is whole, or comes no more."""
        self._hold(0)
        self.config.without_request.pop(self, None)

    def _follow(self) -> None:
        """Set the deadline of the stage that it has come to."""
        stage = "headers"
        if self.cycle is not None and not self.cycle.response_complete:
            stage = "body" if self.cycle.more_body else "answer"
        if stage == self._stage:
            return
        self._stage, self._has_begun = stage, False
        if self._request_deadline is not None:
            self._request_deadline.cancel()
        if stage == "answer":
            self._forget()
            return
        self.config.without_request.setdefault(self)
        limits = self.config.limits
        seconds = limits.head_seconds if stage == "headers" else limits.body_seconds
        self._request_deadline = self.loop.call_later(seconds, self._end_request, seconds)

    def _end_request(self, seconds: float) -> None:
        """End it for its deadline; a browser opens connections that it may never use, and no word is lost on them."""
        unused = self._stage == "headers" and not self._has_begun
        self.end("" if unused else f"the {self._stage} of its request did not come within {seconds:g} s")


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
