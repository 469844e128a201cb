"""Who may ask over HTTP: a page in somebody's browser may not, and beyond this machine only who knows the token."""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    Application = Callable[[Scope, Receive, Send], Awaitable[None]]

__all__ = [
    "SHORTEST_TOKEN",
    "AccessGuard",
    "check_token",
    "host_of",
    "is_loopback",
    "is_ours",
    "own_names",
    "token_in",
]

SHORTEST_TOKEN = 16
"""Characters."""
UNAUTHORISED, FORBIDDEN, MISDIRECTED = 401, 403, 421


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address, or the name `localhost`."""
    address = _address(host)
    return host.casefold() == "localhost" if address is None else address.is_loopback


def token_in(variable: str | None) -> str | None:
    """The token in an environment variable, if one is named; a command line is seen by everybody on the machine.

    Raises:
        ConfigError: the variable is not set.
    """
    if variable is None:
        return None
    token = os.environ.get(variable, "")
    if not token:
        raise ConfigError("is not set", where=f"--token-env {variable}", hint="put the token into it")
    return token


def check_token(host: str, token: str | None, variable: str) -> None:
    """See that what is reached from other machines asks for a token, and that no token is easily guessed.

    Args:
        host: where it listens.
        token: what callers must know, if anything.
        variable: the name of an environment variable that could hold one, as an example.

    Raises:
        ConfigError: it does not, or it is.
    """
    if token is None and not is_loopback(host):
        hint = f"name an environment variable that holds a token: --token-env {variable}"
        raise ConfigError(
            "is reached from other machines, and so needs a token", where=f"--host {host}", hint=hint
        )
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"has less than {SHORTEST_TOKEN} characters", where="the token", hint="take a longer one"
        )


def own_names() -> frozenset[str]:
    """The names of this machine, in small letters; no stranger can point one of them anywhere."""
    own = socket.gethostname().casefold()
    return frozenset({"localhost", own, f"{own}.local", socket.getfqdn().casefold()})


def is_ours(host: str, names: Container[str]) -> bool:
    """Whether the host of a request is an address, or one of these names."""
    return bool(host) and (_address(host) is not None or host in names)


class AccessGuard:
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
        self._names = own_names()

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
        host = host_of(f"//{headers.get(b'host', '')}")
        if not is_ours(host, self._names):
            return MISDIRECTED, "Invalid Host header"
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if not all(
            self._may_come_from(origin, host) for origin in origins
        ):  # of two, either may be the page's
            return FORBIDDEN, "Invalid Origin header"
        if self._token is not None:
            given = headers.get(b"authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
                return UNAUTHORISED, "Authorization: Bearer with the server's token is needed"
        return None

    @staticmethod
    def _may_come_from(origin: str, host: str) -> bool:
        there = host_of(origin)
        return bool(there) and (is_loopback(there) or there == host)


def host_of(url: str) -> str:
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
