"""The HTTP client that a source is handed: an `httpx.AsyncClient` whose requests are retried, bounded and on record.

What the status of an answer means, whoever gives it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from kr_core.model import Outcome
from kr_core.net import body as bodies
from kr_core.net.gateway import CircuitOpen, RateReached, place_of
from kr_core.net.retry import ATTEMPTS, is_in_time, wait_after_answer, wait_after_error

if TYPE_CHECKING:
    from kr_core.net.gateway import Gateway


_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
"""For each step of a request; the deadline of the consultation holds as well."""
_DECODED = {"content-encoding", "content-length", "transfer-encoding"}


def client(line: Gateway, user_agent: str) -> httpx.AsyncClient:
    """A client that sends through this line; close it with the line."""
    headers = {"User-Agent": user_agent, "Accept-Encoding": bodies.ACCEPTED}
    return httpx.AsyncClient(
        transport=_Transport(line), headers=headers, timeout=_TIMEOUT, follow_redirects=False
    )


class _Transport(httpx.AsyncBaseTransport):
    """Answers come whole: so a connection that breaks in the middle of one is a reason to ask again."""

    def __init__(self, line: Gateway) -> None:
        self._line = line

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._tried(request)
        for attempt in range(1, ATTEMPTS):
            if isinstance(answer, httpx.Response):
                wait = wait_after_answer(request, answer, attempt)
            else:
                wait = wait_after_error(request, answer, attempt)
            if wait is None or not self._worth(request, wait):
                break
            await asyncio.sleep(wait)
            another = await self._tried(request)
            if isinstance(
                another, CircuitOpen | RateReached
            ):  # it was not sent: what was answered before stands
                break
            answer = another
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer

    async def _tried(self, request: httpx.Request) -> httpx.Response | httpx.TransportError:
        try:
            return await self._sent(request)
        except httpx.TransportError as error:
            return error

    def _worth(self, request: httpx.Request, wait: float) -> bool:
        """Whether to send it again after so many seconds: a body that was streamed is gone."""
        return is_in_time(wait, self._line.left) and isinstance(request.stream, httpx.ByteStream)

    async def _sent(self, request: httpx.Request) -> httpx.Response:
        host, place = place_of(request.url)
        async with self._line.exchange(host, request.method, place, _told(request)) as exchange:
            request.extensions = {**request.extensions, "trace": exchange.trace}
            answer = await self._line.client.send(request, stream=True)
            exchange.was_sent()
            exchange.status = answer.status_code
            try:
                body = await bodies.read(answer, bodies.MAX_BYTES)
            finally:
                await answer.aclose()
            exchange.received = len(body)
        headers = [(name, value) for name, value in answer.headers.multi_items() if name not in _DECODED]
        return httpx.Response(answer.status_code, headers=headers, content=body, request=request)


def _told(request: httpx.Request) -> str:
    """What a request tells: its query and its body, as a person would read them."""
    query = " ".join(f"{name}={value}" for name, value in request.url.params.multi_items())
    body = request.content if isinstance(request.stream, httpx.ByteStream) else b""
    return f"{query} {body[:4000].decode('utf-8', 'replace')}".strip()


REFUSED = {
    401: Outcome.blocked,
    402: Outcome.limited,
    403: Outcome.blocked,
    429: Outcome.limited,
}
"""Outcomes by HTTP status; what else a status means depends on what was asked."""
