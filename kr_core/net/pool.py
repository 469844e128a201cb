"""The connections of one pipeline, shared by all that ask at the same time in one event loop."""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    import ssl

MAX_CONNECTIONS = 100


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that the machine trusts; read once, since that takes as long as a request."""
    return httpx.create_ssl_context()


class ClientPool:
    """Clients by event loop; each is closed when its last user lets go of it.

    Args:
        transport: what answers in place of the network.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._clients: dict[asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, int]] = {}

    def take(self) -> httpx.AsyncClient:
        """The running loop's client, to be let go of with `release`."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client, users = self._clients.get(loop) or (self._made(), 0)
            self._clients[loop] = client, users + 1
        return client

    async def release(self) -> None:
        """Let go of the running loop's client."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client, users = self._clients[loop]
            if users > 1:
                self._clients[loop] = client, users - 1
                return
            del self._clients[loop]
        await client.aclose()

    def _made(self) -> httpx.AsyncClient:
        if self._transport is not None:
            return httpx.AsyncClient(transport=self._transport)
        # The environment's proxies serve; timeouts come with each request.
        limits = httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS)
        return httpx.AsyncClient(verify=trusted(), limits=limits, follow_redirects=False)
