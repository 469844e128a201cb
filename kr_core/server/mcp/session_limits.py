"""How many MCP sessions and open streams there are at a time: the newest client is let in, the one silent longest leaves.

The SDK ends a session that has no request and no open stream for a while. A client that keeps a stream open (GET) would keep its
session for ever, and the SDK refuses new sessions once there are too many. Here the session ends whose client has
sent nothing for the longest time, by the protocol's own DELETE; its client is answered 404 and begins a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from kr_core.server.access import Application, Receive, Scope, Send

__all__ = ["SessionLimits"]

_SESSION = b"mcp-session-id"
_MOST_FAILED = 400


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


def _header(headers: Any) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == _SESSION), "")


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: MutableMapping[str, Any]) -> None:
    """Its answer is for no client; a session that has ended already is as good."""
