"""Faults on purpose: sources that misbehave, and a network that does, for programs that must bear both.

    pipeline = Pipeline(config, sources={"docs": FaultySource(real, faults=["raises", "hangs"])})

The first consultation raises, the second hangs until it is cancelled, from the third on the real source answers.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import httpx

from kr_core.model import Finding, Outcome, Passage
from kr_core.testing.samples import HOSTILE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from kr_core.model import ResearchQuery
    from kr_core.protocols import Source, SourceContext

QUOTA = "Quota exceeded: you have reached your monthly limit. Upgrade your plan to continue."
"""What services say in place of an answer."""
SLOW_SECONDS = 1.0
DEAF_SECONDS = 3.0
"""How long a source goes on that ignores its cancellation: longer than the engine waits, but not for ever."""


class SourceFault(StrEnum):
    """How a source may misbehave."""

    raises = "raises"
    hangs = "hangs"
    """It never answers; cancellation works."""
    ignores_cancellation = "ignores_cancellation"
    """It never answers, and continues for `DEAF_SECONDS` after cancellation."""
    slow = "slow"
    """It answers normally, `SLOW_SECONDS` later."""
    wrong_type = "wrong_type"
    """It returns a dict."""
    quota_text = "quota_text"
    """It returns the service's refusal as the answer."""
    hostile_text = "hostile_text"
    """It returns passages with template syntax, terminal sequences, lone surrogates and the like."""
    connection_refused = "connection_refused"


class FaultySource:
    """A source that misbehaves, with one fault for each consultation in turn, and then acts as the real one.

    Args:
        source: the real source; None for an external one that finds nothing.
        faults: the faults, in order.

    Raises:
        ValueError: there is no fault of that name.
    """

    def __init__(self, source: Source | None = None, faults: Sequence[SourceFault | str] = ()) -> None:
        self.external = True if source is None else source.external
        self.timeout_seconds = 5.0 if source is None else source.timeout_seconds
        self._source = source
        self._faults = iter([SourceFault(fault) for fault in faults])

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Misbehave in the way that is next."""
        fault = next(self._faults, None)
        if fault is not None:
            done: Finding | None = await _MISBEHAVIOUR[fault](
                query
            )  # or of a wrong type: that is one of the faults
            if done is not None:
                return done
        if self._source is None:
            return Finding(outcome=Outcome.empty, reason="there is no source behind this one")
        return await self._source.query(query, context)


async def _raise(_query: ResearchQuery) -> Any:
    raise RuntimeError("raised on purpose")


async def _hang(_query: ResearchQuery) -> Any:
    await asyncio.Event().wait()


async def _ignore_cancellation(_query: ResearchQuery) -> Any:
    loop = asyncio.get_running_loop()
    until: float | None = None
    while until is None or loop.time() < until:
        try:
            await (asyncio.Event().wait() if until is None else asyncio.sleep(until - loop.time()))
        except asyncio.CancelledError:
            until = loop.time() + DEAF_SECONDS if until is None else until
    return Finding(outcome=Outcome.empty, reason="ended long after it was cancelled")


async def _dawdle(_query: ResearchQuery) -> Any:
    await asyncio.sleep(SLOW_SECONDS)


async def _return_a_dict(query: ResearchQuery) -> Any:
    return {"answer": query.question}


async def _return_a_refusal(query: ResearchQuery) -> Any:
    return _found(query, QUOTA)


async def _return_hostile_text(query: ResearchQuery) -> Any:
    return _found(query, *HOSTILE.values())


async def _refuse(_query: ResearchQuery) -> Any:
    raise ConnectionRefusedError("connection refused on purpose")


_MISBEHAVIOUR: dict[SourceFault, Callable[[ResearchQuery], Awaitable[Any]]] = {
    SourceFault.raises: _raise,
    SourceFault.hangs: _hang,
    SourceFault.ignores_cancellation: _ignore_cancellation,
    SourceFault.slow: _dawdle,
    SourceFault.wrong_type: _return_a_dict,
    SourceFault.quota_text: _return_a_refusal,
    SourceFault.hostile_text: _return_hostile_text,
    SourceFault.connection_refused: _refuse,
}


def _found(query: ResearchQuery, *texts: str) -> Finding:
    """An answer that says it is about the question, so that nothing but its text speaks against it."""
    passages = (
        Passage(text=text, lead=text, url="https://faulty.invalid/page", title=query.question, coverage=0.9)
        for text in texts
    )
    return Finding(outcome=Outcome.ok, passages=tuple(passages), url="https://faulty.invalid/page")


# -- the network -----------------------------------------------------------------------------------------


class NetworkFault(StrEnum):
    """How a request may fail."""

    connection_refused = "connection_refused"
    timeout = "timeout"
    too_many_requests = "too_many_requests"
    """Status 429 with `Retry-After: 30`."""
    server_error = "server_error"
    html = "html"
    """An HTML page with status 200, like a login or maintenance page."""
    empty_body = "empty_body"
    cut_off = "cut_off"
    """The connection ends in the middle of the body."""
    quota_text = "quota_text"
    """A refusal with status 200."""
    hangs = "hangs"
    """There is never an answer; the client's own timeout does not help."""


class FaultyTransport(httpx.AsyncBaseTransport):
    """An httpx transport on which requests fail, with one fault for each in turn; then it uses the real one.

    Args:
        faults: the faults, in order.
        transport: the real transport; None refuses the connection.

    Raises:
        ValueError: there is no fault of that name.
    """

    def __init__(
        self,
        faults: Sequence[NetworkFault | str] = (),
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._faults = iter([NetworkFault(fault) for fault in faults])
        self._transport = transport
        self.requests: list[httpx.Request] = []
        """The requests that were sent, in order."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request with the fault that is next.

        Raises:
            httpx.TransportError: that is the fault.
        """
        self.requests.append(request)
        fault = next(self._faults, None)
        if fault is not None:
            return await _fail(fault, request)
        if self._transport is None:
            return await _fail(NetworkFault.connection_refused, request)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the real transport."""
        if self._transport is not None:
            await self._transport.aclose()


async def _fail(fault: NetworkFault, request: httpx.Request) -> httpx.Response:
    match fault:
        case NetworkFault.connection_refused:
            raise httpx.ConnectError("connection refused on purpose", request=request)
        case NetworkFault.timeout:
            raise httpx.ReadTimeout("timed out on purpose", request=request)
        case NetworkFault.hangs:
            await asyncio.Event().wait()
    return _ANSWERS[fault](request)


class _CutOff(httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"results": [{"title": "An ans'
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")


_ANSWERS: dict[NetworkFault, Callable[[httpx.Request], httpx.Response]] = {
    NetworkFault.too_many_requests: lambda request: httpx.Response(
        429, headers={"Retry-After": "30"}, text="Too many requests", request=request
    ),
    NetworkFault.server_error: lambda request: httpx.Response(
        500, text="Internal Server Error", request=request
    ),
    NetworkFault.html: lambda request: httpx.Response(
        200, html="<!doctype html><title>Sign in</title><h1>Please sign in</h1>", request=request
    ),
    NetworkFault.empty_body: lambda request: httpx.Response(
        200, headers={"Content-Type": "application/json"}, request=request
    ),
    NetworkFault.cut_off: lambda request: httpx.Response(
        200, headers={"Content-Type": "application/json"}, stream=_CutOff(), request=request
    ),
    NetworkFault.quota_text: lambda request: httpx.Response(200, text=QUOTA, request=request),
}
