"""Who may ask over HTTP: a page in somebody's browser may not, and beyond this machine only who knows the token."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    Application = Callable[[Scope, Receive, Send], Awaitable[None]]

__all__ = ["SHORTEST_TOKEN", "Guard", "check_token", "is_loopback"]

SHORTEST_TOKEN = 16
"""Characters."""
UNAUTHORISED, FORBIDDEN, MISDIRECTED = 401, 403, 421


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address, or the name `localhost`."""
    address = _address(host)
    return host.casefold() == "localhost" if address is None else address.is_loopback


def check_token(host: str, token: str | None) -> None:
    """See that what is reached from other machines asks for a token, and that no token is easily guessed.

    Raises:
        ConfigError: it does not, or it is.
    """
    if token is None and not is_loopback(host):
        todo = "name an environment variable that holds a token: --token-env KR_MCP_TOKEN"
        raise ConfigError(
            "is reached from other machines, and so needs a token", where=f"--host {host}", todo=todo
        )
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"has less than {SHORTEST_TOKEN} characters", where="the token", todo="take a longer one"
        )


class Guard:
    """An application that lets pass only who may ask.

    A page that a browser has loaded from a stranger can make the stranger's name point to this machine (DNS rebinding). So the
    Host must be an address, `localhost` or this machine's own name, which no stranger can point anywhere; and an Origin must
    be on this machine, or the same as the Host.

    Args:
        inner: the application.
        token: what `Authorization: Bearer` must carry; None asks for nothing.
    """

    def __init__(self, inner: Application, token: str | None) -> None:
        self._inner = inner
        self._token = token
        own = socket.gethostname().casefold()
        self._names = {"localhost", own, f"{own}.local", socket.getfqdn().casefold()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        refused = self._refusal(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._inner(scope, receive, send)
            return
        status, said = refused
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        if status == UNAUTHORISED:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": said.encode()})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = _host(f"//{headers.get(b'host', '')}")
        if not self._is_ours(host):
            return MISDIRECTED, "Invalid Host header"
        origin = headers.get(b"origin")
        if origin is not None and not self._may_come_from(origin, host):
            return FORBIDDEN, "Invalid Origin header"
        if self._token is not None:
            given = headers.get(b"authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
                return UNAUTHORISED, "Authorization: Bearer with the server's token is needed"
        return None

    def _is_ours(self, host: str) -> bool:
        return bool(host) and (_address(host) is not None or host in self._names)

    @staticmethod
    def _may_come_from(origin: str, host: str) -> bool:
        there = _host(origin)
        return bool(there) and (is_loopback(there) or there == host)


def _host(url: str) -> str:
    """The host of an address, in small letters; empty where there is none, or a name of a user stands before it."""
    try:
        parts = urlsplit(url)
        return "" if "@" in parts.netloc else (parts.hostname or "").casefold()
    except ValueError:
        return ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
