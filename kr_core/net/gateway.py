"""The line out of the machine of one consultation: each request has its turn, its circuit and its event."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx

from kr_core.errors import RequestError
from kr_core.model import Outcome
from kr_core.net.circuit_breaker import CircuitBreakers
from kr_core.net.pool import ClientPool
from kr_core.net.rate_limit import RateLimiters
from kr_core.net.redaction import redacted
from kr_core.net.ssrf import origin
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from kr_core.net.rate_limit import RateLimiter
    from kr_core.protocols import Rate

_MAX_SENT_LENGTH = 1000
_MAX_ERROR_LENGTH = 300


def place_of(url: httpx.URL) -> tuple[str, str]:
    """Whose circuit it is (`docs.python.org:443`), and what a person is told of the URL: no query, no password."""
    host, port = origin(url)
    return f"{host}:{port}", str(url.copy_with(query=None, username=None, password=None, fragment=None))


class CircuitOpen(httpx.ConnectError):
    """The host has failed again and again, and is left alone for now; nothing was sent."""


class RateReached(httpx.ConnectError):
    """The source's own rate limit leaves no turn before the deadline; nothing was sent."""


class GatewayRequest:
    """One request and its answer, as far as they came."""

    def __init__(self, line: Gateway) -> None:
        self.status: int | None = None
        """The HTTP status of the answer."""
        self.received = 0
        """Bytes of the answer, decoded."""
        self._line = line

    def was_sent(self) -> None:
        """From now on the consultation costs a call."""
        self._line.sent = True

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx tells while it sends (its `trace` extension)."""
        # CONNECT asks a proxy for a way to the host, and tells the host nothing.
        to_proxy = getattr(info.get("request"), "method", b"") == b"CONNECT"
        if event.endswith("send_request_headers.started") and not to_proxy:
            self.was_sent()


class Gateway:
    """The way out for one consultation of one source.

    Args:
        source: its name, for events.
        deadline: when the consultation will be cancelled, in the event loop's time.
        emit: says what happens.
        breakers: the circuits of all sources.
        limiter: the source's turns; None where it has no limit.
        connections: where clients are taken from.
    """

    def __init__(
        self,
        source: str,
        deadline: float,
        emit: Callable[[str, dict[str, Any]], None],
        breakers: CircuitBreakers,
        limiter: RateLimiter | None,
        connections: ClientPool,
    ) -> None:
        self.source = source
        self.deadline = deadline
        self.tried = False
        """Whether a request was begun."""
        self.sent = False
        """Whether one was sent, and so the consultation costs a call."""
        self._emit = emit
        self._breakers = breakers
        self._limiter = limiter
        self._connections = connections
        self._client: httpx.AsyncClient | None = None
        self._closed = False

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - asyncio.get_running_loop().time())

    @property
    def client(self) -> httpx.AsyncClient:
        """The shared connections, taken at first use until `close`."""
        if self._client is None:
            self._client = self._connections.take()
        return self._client

    @asynccontextmanager
    async def exchange(
        self, host: str, method: str, url: str, sent: str = "", *, limited: bool = True
    ) -> AsyncIterator[GatewayRequest]:
        """One request: waits for its turn, and says afterwards how it went.

        Args:
            host: whose circuit it is (`docs.python.org:443`).
            method: `GET`, `tools/call`, ...
            url: where it goes, without its query.
            sent: what is told there: query, body or arguments.
            limited: whether it counts towards the source's rate.

        Raises:
            CircuitOpen: the host is left alone for now.
            RateReached: there is no turn before the deadline.
            RuntimeError: the consultation is over; a source has left something running.
        """
        if self._closed:  # else what nobody waits for would be sent, and its connections never be let go of
            raise RuntimeError("the consultation is over: await all that it starts before it returns")
        self.tried = True
        loop = asyncio.get_running_loop()
        exchange = GatewayRequest(self)
        started, error = loop.time(), ""
        try:
            await self._admitted(host, limited=limited)
            started = loop.time()
            breaker = self._breakers.of(host)
            try:
                yield exchange
            except RequestError as raised:
                is_down = raised.outcome in {Outcome.unavailable, Outcome.timeout}
                breaker.failed() if is_down else breaker.succeeded()  # what answers rubbish is there
                raise
            except asyncio.CancelledError:
                if self.left <= 0:  # it was too slow; else nobody wanted to know any more
                    breaker.failed()
                raise
            except Exception:
                breaker.failed()
                raise
            if exchange.status is not None and exchange.status >= httpx.codes.INTERNAL_SERVER_ERROR:
                breaker.failed()
            else:
                breaker.succeeded()
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}".removesuffix(": ")
            raise
        finally:
            self._emit(
                "source.request",
                {
                    "source": self.source,
                    "method": method,
                    "url": printable(redacted(url)),
                    "sent": printable(redacted(sent))[:_MAX_SENT_LENGTH],
                    "status": exchange.status,
                    "received": exchange.received,
                    "seconds": round(loop.time() - started, 3),
                    "error": printable(redacted(error))[:_MAX_ERROR_LENGTH],
                },
            )

    async def _admitted(self, host: str, *, limited: bool) -> None:
        seconds = self._breakers.of(host).admits()
        if seconds:
            raise CircuitOpen(f"{host} failed again and again; not asked for another {seconds:.0f} s")
        if limited and self._limiter is not None and not await self._limiter.turn(self.left):
            raise RateReached("its rate limit leaves no turn in time")

    async def close(self) -> None:
        """Let go of the connections; nothing is sent any more."""
        self._closed = True
        if self._client is not None:
            self._client = None
            await self._connections.release()


class GatewayState:
    """What the lines of one pipeline share.

    Args:
        transport: what answers in place of the network.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._breakers = CircuitBreakers()
        self._limiters = RateLimiters()
        self._connections = ClientPool(transport)

    def line(
        self, source: str, rate: Rate | None, deadline: float, emit: Callable[[str, dict[str, Any]], None]
    ) -> Gateway:
        """A line for one consultation."""
        limiter = self._limiters.of(source, rate)
        return Gateway(source, deadline, emit, self._breakers, limiter, self._connections)
