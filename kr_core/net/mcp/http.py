"""The HTTP client under the MCP client of the SDK, which keeps what the SDK forgets: status, limits, and why nothing came."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import httpx2

from kr_core.errors import RequestError
from kr_core.model import Outcome
from kr_core.net.body import not_asked_for, too_long
from kr_core.net.http_client import REFUSED
from kr_core.net.pool import trusted
from kr_core.net.retry import ATTEMPTS, is_in_time, pause, retry_after

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from kr_core.net.gateway import GatewayRequest

_CONNECT_SECONDS = 10.0
_GOODBYE_SECONDS = 0.5
"""For the end of a session, which nobody waits for any longer."""
_OUTCOMES = REFUSED | {407: Outcome.blocked}
_REFUSALS = (Outcome.blocked, Outcome.limited)
_PACKED = "kr.packed"
"""Extension of an answer: the encoding in which it came although none was asked for."""
_TYPES = ("application/json", "text/event-stream")


class MCPConnection(httpx2.AsyncClient):
    """One connection to one server, for one call.

    Args:
        headers: sent with each request.
        exchange: is told what was sent, and with what status it was answered.
        deadline: in the event loop's time.
        seconds: until then.
        most: bytes of an answer that are read.
        user_agent: who asks.
        transport: what answers in place of the network.
    """

    def __init__(
        self,
        headers: Mapping[str, str],
        exchange: GatewayRequest,
        deadline: float,
        seconds: float,
        most: int,
        user_agent: str,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.fault: RequestError | None = None
        """What was wrong with the answer to the last message; None where nothing was."""
        self._exchange = exchange
        self._deadline = deadline
        self._most = most
        super().__init__(
            # Identity, so that what is counted is what is read.
            headers={"User-Agent": user_agent, **headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
            verify=trusted(),
            transport=None if transport is None else _Bridge(transport),
            event_hooks={"response": [self._bound]},
        )

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; messages again where that was asked for in time, or where no connection came about."""
        request.extensions = {**request.extensions, "trace": self._exchange.trace}
        if request.method != "POST":
            if request.method == "DELETE":
                request.extensions["timeout"] = httpx2.Timeout(_GOODBYE_SECONDS).as_dict()
            return await super().send(request, **options)
        attempt = 0
        while True:
            attempt += 1
            try:
                response = await super().send(request, **options)
            except httpx2.TransportError as error:
                self.fault = _fault_of(error)
                again = pause(attempt) if isinstance(error, httpx2.ConnectError) and attempt == 1 else None
                if not self._worth(again, attempt):
                    raise
            else:
                self._exchange.status = response.status_code
                self.fault = _fault_in(response)
                again = retry_after(response.headers) if response.status_code == 429 else None
                if not self._worth(again, attempt):
                    if self.fault is not None and self.fault.outcome in _REFUSALS:
                        await response.aclose()
                        raise self.fault  # else the SDK takes it for an old server, and asks in the old way
                    return response
                await response.aclose()
            await asyncio.sleep(again or 0.0)

    def _worth(self, again: float | None, attempt: int) -> bool:
        return attempt < ATTEMPTS and again is not None and is_in_time(again, self._left())

    def _left(self) -> float:
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    async def _bound(self, response: httpx2.Response) -> None:
        """Bound the body before anything of it is read; one that is packed all the same stays so, and is never unpacked."""
        response.stream = _Bounded(response.stream, self, self._most)
        encoding = response.headers.pop("content-encoding", "").strip().lower()
        if encoding not in {"", "identity"}:
            response.extensions[_PACKED] = encoding


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks off where it becomes too long."""

    def __init__(self, stream: Any, client: MCPConnection, most: int) -> None:
        self._stream = stream
        self._client = client
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for chunk in self._stream:
                read += len(chunk)
                if read > self._most:
                    raise httpx2.ReadError(too_long(self._most).what)
                yield chunk
        except httpx2.TransportError as error:
            self._client.fault = too_long(self._most) if read > self._most else _fault_of(error)
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Bridge(httpx2.AsyncBaseTransport):
    """A transport of httpx under a client of httpx2, the SDK's own copy of it: so one stand-in serves both."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        asked = httpx.Request(request.method, str(request.url), headers=request.headers.raw, content=body)
        try:
            response = await self._transport.handle_async_request(asked)
            content = await response.aread()
        except httpx.TransportError as error:
            raise getattr(httpx2, type(error).__name__, httpx2.TransportError)(str(error)) from error
        await self._told(request)
        return httpx2.Response(response.status_code, headers=response.headers.raw, content=content)

    @staticmethod
    async def _told(request: httpx2.Request) -> None:
        await request.extensions["trace"]("stand_in.send_request_headers.started", {})


def _fault_of(error: httpx2.TransportError) -> RequestError:
    if isinstance(error, httpx2.TimeoutException):
        return RequestError(Outcome.timeout, "no answer in time")
    return RequestError(Outcome.unavailable, f"{type(error).__name__}: {error}".removesuffix(": "))


def _fault_in(response: httpx2.Response) -> RequestError | None:
    """What is wrong with an answer, as far as its head says it."""
    status = response.status_code
    if status >= httpx.codes.BAD_REQUEST:
        return RequestError(_OUTCOMES.get(status, Outcome.unavailable), f"answered {status}")
    if packed := response.extensions.get(_PACKED):
        return not_asked_for(packed)
    kind = response.headers.get("content-type", "no type").partition(";")[0].strip().lower()
    if status == httpx.codes.OK and kind not in _TYPES:
        return RequestError(Outcome.bad_answer, f"answers with {kind[:60]}, and so is no MCP server")
    return None
