"""Pages of the web, fetched safely (Z2): public addresses, known ports, few redirects, bounded, and as robots.txt allows."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import httpcore
import httpx

from kr_core.errors import RequestError
from kr_core.model import Outcome, Page
from kr_core.net import bodies
from kr_core.net.addresses import PublicBackend
from kr_core.net.connections import trusted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core.net.line import Line
    from kr_core.net.memory import Shelf

MOST_BYTES = 2 * 2**20
"""Of one page, decoded."""
MOST_REDIRECTS = 3
MOST_SECONDS = 20.0
"""For one page, redirects and all."""
_STEP_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
_TYPES = re.compile(
    r"text/|application/(?:xhtml\+xml|xml|json)\b|application/[\w.-]+\+(?:xml|json)\b", re.IGNORECASE
)
_ACCEPT = (
    "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, text/*;q=0.5, application/json;q=0.5"
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_ROBOTS_BYTES = 500 * 1024
"""Of a robots.txt; RFC 9309 asks for no more."""
_ROBOTS_SECONDS = 86_400.0
_ROBOT = "kr-core"
"""The product token that robots.txt knows KR by."""


class Fetcher:
    """Fetches pages for one consultation.

    Args:
        line: each request has its circuit and its event there.
        shelf: where robots.txt is remembered.
        user_agent: who KR says it is.
        allow_hosts: `host` or `host:port` as they stand in URLs, which may be fetched although private, at any port.
        transport: what answers in place of the network.
    """

    def __init__(
        self,
        line: Line,
        shelf: Shelf,
        user_agent: str,
        allow_hosts: Sequence[str] = (),
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._line = line
        self._shelf = shelf
        self._headers = {
            "User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": bodies.ACCEPTED,
            "Accept-Language": "en;q=1.0, *;q=0.5",
        }  # fmt: skip
        self._allowed = frozenset(allowed_hosts(allow_hosts))
        self._transport = transport

    async def fetch(self, url: str) -> Page:
        """Fetch one page.

        Raises:
            RequestError: it must not be fetched, or could not be.
        """
        try:
            async with asyncio.timeout(min(MOST_SECONDS, self._line.left)):
                return await self._followed(url)
        except TimeoutError:
            raise RequestError(Outcome.timeout, "not there in time", where=url) from None

    async def _followed(self, url: str) -> Page:
        for _ in range(MOST_REDIRECTS + 1):
            self._check(url)
            if not await self._robots_allow(url):
                raise RequestError(Outcome.blocked, "its robots.txt asks not to fetch it", where=url)
            response = await self._get(url, MOST_BYTES)
            if response.status_code in _REDIRECTS and "location" in response.headers:
                url = _joined(url, response.headers["location"])
                continue
            return _page(url, response)
        raise RequestError(Outcome.bad_answer, f"more than {MOST_REDIRECTS} redirects", where=url)

    def _check(self, url: str) -> None:
        """Refuse what is no address of a page, whatever it would resolve to."""
        try:
            parts = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise RequestError(Outcome.blocked, f"no address of a page: {error}", where=url[:200]) from None
        if parts.scheme not in _PORTS or not parts.host:
            raise RequestError(Outcome.blocked, "only http and https are fetched", where=url[:200])
        if parts.userinfo:
            raise RequestError(Outcome.blocked, "the address holds a password", where=parts.host)
        if parts.port is not None and _origin(parts) not in self._allowed:
            todo = "if it is a host of yours, name it in `allow_hosts`"
            raise RequestError(
                Outcome.blocked, "only the ports 80 and 443 are fetched", where=url[:200], todo=todo
            )

    async def _get(self, url: str, most: int) -> httpx.Response:
        """One request, without following anything."""
        parts = httpx.URL(url).copy_with(fragment=None)
        host, port = _origin(parts)
        place = str(parts.copy_with(query=None))
        # Content and settings of a host are the host's own: no cookies, no connections kept, no proxy that would resolve.
        transport = self._transport or _Public(self._allowed)
        try:
            async with (
                httpx.AsyncClient(
                    transport=transport, timeout=_STEP_SECONDS, follow_redirects=False
                ) as client,
                self._line.exchange(
                    f"{host}:{port}", "GET", place, parts.query.decode("ascii", "replace"), limited=False
                ) as exchange,
            ):
                request = client.build_request("GET", parts, headers=self._headers)
                request.extensions = {**request.extensions, "trace": exchange.trace}
                response = await client.send(request, stream=True)
                exchange.was_sent()
                exchange.status = response.status_code
                try:
                    body = b"" if response.status_code in _REDIRECTS else await bodies.read(response, most)
                finally:
                    await response.aclose()
                exchange.received = len(body)
        except RequestError as error:
            raise RequestError(error.outcome, error.what, where=place, todo=error.todo) from None
        except httpx.TimeoutException as error:
            raise RequestError(
                Outcome.timeout, f"no answer in time ({type(error).__name__})", where=place
            ) from None
        except httpx.HTTPError as error:
            raise RequestError(Outcome.unavailable, f"{type(error).__name__}: {error}", where=place) from None
        kept = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
        return httpx.Response(response.status_code, headers=kept, content=body)

    # -- robots.txt (RFC 9309) -----------------------------------------------------------------------------

    async def _robots_allow(self, url: str) -> bool:
        from protego import Protego

        parts = httpx.URL(url)
        address = str(parts.copy_with(raw_path=b"/robots.txt", fragment=None))
        rules = await self._shelf.get(f"robots {address}")
        if rules is None:
            rules = await self._robots(address)
        return bool(Protego.parse(rules).can_fetch(url, _ROBOT))

    async def _robots(self, address: str) -> str:
        """The rules of a host: all is allowed where it has none, and nothing while it cannot say."""
        try:
            response = await self._get(address, _ROBOTS_BYTES)
        except RequestError as error:
            if error.outcome is Outcome.bad_answer:  # too long, or unreadable: as if there were none
                return ""
            raise
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise RequestError(
                Outcome.unavailable, f"its robots.txt says {response.status_code}", where=address
            )
        rules = _decoded(response) if response.status_code == httpx.codes.OK else ""
        await self._shelf.set(f"robots {address}", rules, _ROBOTS_SECONDS)
        return rules


class _Public(httpx.AsyncBaseTransport):
    """httpx over connections that are vetted as they are made."""

    def __init__(self, allowed: Collection[tuple[str, int]]) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted(), max_keepalive_connections=0, network_backend=PublicBackend(allowed)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; errors are httpx's, as from its own transport."""
        assert isinstance(request.stream, httpx.AsyncByteStream), "it is a request without a body"
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        asked = httpcore.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await self._pool.handle_async_request(asked)
        except httpcore.ConnectTimeout as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(str(error)) from error
        except httpcore.ConnectError as error:
            raise httpx.ConnectError(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise httpx.ReadError(str(error)) from error
        return httpx.Response(answer.status, headers=answer.headers, stream=_Stream(answer), request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


class _Stream(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self):  # type: ignore[no-untyped-def]  # noqa: ANN204  an async generator, as its base declares
        try:
            async for chunk in self._answer.aiter_stream():
                yield chunk
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise httpx.ReadError(str(error)) from error

    async def aclose(self) -> None:
        await self._answer.aclose()


def allowed_hosts(named: Sequence[str]) -> list[tuple[str, int]]:
    """(host, port) for each host that is named; one without a port is meant at both usual ones."""
    found = []
    for one in named:
        parts = httpx.URL(f"http://{one.strip()}")
        ports = [parts.port] if ":" in one.rpartition("]")[2] and parts.port else list(_PORTS.values())
        found += [(parts.host, port) for port in ports]
    return found


def _origin(parts: httpx.URL) -> tuple[str, int]:
    return parts.host, parts.port or _PORTS.get(parts.scheme, 0)


def _joined(url: str, location: str) -> str:
    try:
        return str(httpx.URL(url).join(location))
    except (httpx.InvalidURL, ValueError):
        raise RequestError(Outcome.bad_answer, "its redirect leads nowhere", where=url) from None


def _page(url: str, response: httpx.Response) -> Page:
    """The page of an answer that is none of a redirect."""
    status = response.status_code
    if status != httpx.codes.OK:
        raise RequestError(_OUTCOMES.get(status, _of_status(status)), f"answered {status}", where=url)
    declared = response.headers.get("content-type", "")
    if not _TYPES.match(declared):
        kind = declared[:60] or "no type"
        raise RequestError(Outcome.bad_answer, f"is {kind}, which is not read as text", where=url)
    return Page(url, declared.partition(";")[0].strip().lower(), _decoded(response))


_OUTCOMES = {
    401: Outcome.blocked, 402: Outcome.limited, 403: Outcome.blocked, 404: Outcome.empty, 410: Outcome.empty,
    429: Outcome.limited, 451: Outcome.blocked,
}  # fmt: skip


def _of_status(status: int) -> Outcome:
    return Outcome.unavailable if status >= httpx.codes.INTERNAL_SERVER_ERROR else Outcome.bad_answer


def _decoded(response: httpx.Response) -> str:
    """The text of a body in the encoding that it declares, else UTF-8; what cannot be read is U+FFFD."""
    body = response.content
    declared = response.charset_encoding
    if declared is None and (found := _META_CHARSET.search(body[:4096])):
        declared = found.group(1).decode("ascii", "replace")
    try:
        return body.decode(declared or "utf-8", "replace")
    except LookupError:  # no encoding that anybody knows
        return body.decode("utf-8", "replace")
