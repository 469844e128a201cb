"""What passes for a request of the page or the API, and what every answer says to browsers.

A page of somebody else in a browser can send requests here, and can make its own name point here (DNS rebinding). So the
Host must be this machine's, an Origin must be the page's own, and what changes anything must not come from another site.
A webhook of a service (`/hooks/...`) comes under any name; its channel looks at its signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kr_core.server.access import FORBIDDEN, MISDIRECTED, host_of, is_ours, own_names
from kr_core.server.web.problems import refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from kr_core.server.access import Application, Receive, Scope, Send

__all__ = ["HOOKS", "MAX_BYTES", "RequestMiddleware"]

HOOKS = "/hooks/"
MAX_BYTES = 700_000
"""Of a request's body: a text of `MAX_TEXT_LENGTH` characters as a form sends it."""
_MAX_HOOK_BYTES = 1_000_000
"""A comment with its issue is a fifth of that."""
TOO_LARGE = 413
_READS = {"GET", "HEAD", "OPTIONS"}
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    b" form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with `no-referrer` browsers hide the Origin of forms
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class RequestMiddleware:
    """An application that is handed only requests that may come in, each with its whole body.

    Args:
        inner: the application.
        url: the address under which people reach it, beside those of the machine; it needs no slash at its end.
    """

    def __init__(self, inner: Application, url: str) -> None:
        self._inner = inner
        self._names = own_names() | {host_of(url)}
        self._origin = _origin(url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *_HEADERS]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        refused = self._refused(scope)
        body = b""
        if refused is None:
            most = _MAX_HOOK_BYTES if _is_hook(scope) else MAX_BYTES
            read = await _body(scope, receive, most)
            if read is None:
                refused = TOO_LARGE, f"The request is too long: at most {most:,} bytes are read."
            else:
                body = read
        if refused is not None:
            await refusal(scope["path"], *refused)(scope, receive, safely)
            return
        handed = False

        async def whole() -> MutableMapping[str, Any]:
            nonlocal handed
            if handed:
                return await receive()  # that the other side has left
            handed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._inner(scope, whole, safely)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        if _is_hook(scope):
            return None
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not is_ours(host_of(f"//{host}"), self._names):
            return MISDIRECTED, "The Host of the request is no name of this machine."
        origin = headers.get(b"origin")
        if origin is not None and origin.casefold() not in {
            f"{scope['scheme']}://{host}".casefold(), self._origin,
        }:  # fmt: skip
            return FORBIDDEN, "The request comes from a page of somebody else."
        if scope["method"] not in _READS and headers.get(b"sec-fetch-site", "none") not in {
            "none", "same-origin",
        }:  # fmt: skip
            return FORBIDDEN, "The request comes from a page of somebody else."
        return None


def _origin(url: str) -> str:
    """How a browser names the page of an address: without the port that is its scheme's own."""
    parts = urlsplit(url.casefold())
    own = {"http": 80, "https": 443}.get(parts.scheme)
    host = parts.netloc.rpartition(":")[0] if parts.port is not None and parts.port == own else parts.netloc
    return f"{parts.scheme}://{host}"


def _is_hook(scope: Scope) -> bool:
    return str(scope["path"]).startswith(HOOKS)


async def _body(scope: Scope, receive: Receive, most: int) -> bytes | None:
    """The whole body; None where it is longer, or has not come whole."""
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    if any(not value.isdigit() or int(value) > most for value in lengths):
        return None
    parts: list[bytes] = []
    read = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        read += len(parts[-1])
        if read > most:
            return None
        if not message.get("more_body"):
            return b"".join(parts)
