"""The protocol over streamable HTTP, at `/mcp`, for a limited number of sessions and open streams.

The newest client is let in, the one silent longest leaves. The SDK ends a session that has no request and no open stream for
a while. A client that keeps a stream open (GET) would keep its session for ever, and the SDK refuses new sessions once there
are too many. Here the session ends whose client has sent nothing for the longest time, by the protocol's own DELETE; its
client is answered 404 and begins a new one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.server.transport_security import TransportSecuritySettings

from kr_core.server.access import AccessGuard
from kr_core.server.http_server import ListeningSocket, max_connections
from kr_core.server.mcp.mcp_server import server_of

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from kr_core.server.access import Application, Receive, Scope, Send
    from kr_core.server.served_project import ServedProject

__all__ = ["SessionLimits", "application", "serve"]

_SESSION = b"mcp-session-id"
_MOST_FAILED = 400
_LARGEST_BODY = 4 * 1024 * 1024
"""Bytes; the SDK refuses a larger one."""


@dataclass
class _Session:
    requests: int = 0
    """Messages of its client that are being answered: it stays."""
    streams: int = 0


class SessionLimits:
    """An application whose sessions and streams are bounded.

    Args:
        inner: the SDK's application.
        sessions: how many sessions there may be at a time.
        streams: how many of them may keep a stream open.
    """

    def __init__(self, inner: Application, sessions: int, streams: int) -> None:
        self._inner = inner
        self._sessions = sessions
        self._streams = streams
        self._known: dict[str, _Session] = {}
        """By id, the one whose client has been silent longest first."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and end other sessions where it is one too many."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        plain = dict(scope)  # the application writes into its own
        name = _header(scope["headers"])
        session = self._known.get(name)
        opens = session is not None and scope["method"] == "GET"
        if session is not None:
            if opens:
                session.streams += 1
            else:
                session.requests += 1
                self._known[name] = self._known.pop(name)
        status, begun = 0, ""

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status = message["status"]
                if not name and status < _MOST_FAILED and (begun := _header(message.get("headers", ()))):
                    self._known[begun] = _Session(requests=1)
                    await self._make_room(plain)
            await send(message)

        try:
            if opens:
                await self._make_room(plain)
            await self._inner(scope, receive, noting)
        finally:
            if session is not None:
                session.streams -= opens
                session.requests -= not opens
            if begun in self._known:
                self._known[begun].requests -= 1
            if status == 404 or (scope["method"] == "DELETE" and status):
                self._known.pop(name, None)

    async def _make_room(self, scope: Scope) -> None:
        """End sessions until there are few enough, but none whose request is being answered."""
        while len(self._known) > self._sessions and await self._end_one(scope, lambda _one: True):
            pass
        while sum(one.streams > 0 for one in self._known.values()) > self._streams:
            if not await self._end_one(scope, lambda one: one.streams > 0):
                break

    async def _end_one(self, scope: Scope, may_end: Callable[[_Session], bool]) -> bool:
        name = next((name for name, one in self._known.items() if not one.requests and may_end(one)), None)
        if name is None:
            return False
        del self._known[name]
        headers = [(one, value) for one, value in scope["headers"] if one == b"host"]
        await self._inner(
            {**scope, "method": "DELETE", "headers": [*headers, (_SESSION, name.encode("latin-1"))]},
            _nothing,
            _unheard,
        )
        return True


class WholeBodies:
    """An application whose requests come whole.

    The SDK would keep what has come of one that is cut off, in the trace of its failure. What is larger than it takes, it
    refuses.

    Args:
        inner: the application.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request once its body is there."""
        if scope["type"] != "http" or _declared_length(scope["headers"]) > _LARGEST_BODY:
            await self._inner(scope, receive, send)
            return
        body, more = bytearray(), True
        while more and len(body) <= _LARGEST_BODY:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        came = [{"type": "http.request", "body": bytes(body), "more_body": more}]
        del body

        async def receive_whole() -> MutableMapping[str, Any]:
            return came.pop() if came else await receive()

        await self._inner(scope, receive_whole, send)


def _declared_length(headers: Any) -> int:
    given = next((value for name, value in headers if name.lower() == b"content-length"), b"0")
    return int(given) if given.isdigit() else 0


def _header(headers: Any) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == _SESSION), "")


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: MutableMapping[str, Any]) -> None:
    """Its answer is for no client; a session that has ended already is as good."""


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
    limited = SessionLimits(cast("Application", inner), max_sessions, max_streams)
    return AccessGuard(WholeBodies(limited), token)


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
