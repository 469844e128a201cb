"""Pages of the web, fetched safely (Z2): public addresses, known ports, few redirects, bounded, and as robots.txt allows."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

import httpcore
import httpx

from kr_core.errors import RequestError
from kr_core.model import Outcome, Page
from kr_core.net import body as bodies
from kr_core.net.gateway import place_of
from kr_core.net.http_client import REFUSED
from kr_core.net.pool import trusted
from kr_core.net.retry import retry_after
from kr_core.net.ssrf import PORTS, PublicBackend, origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from kr_core.net.disk_cache import CacheNamespace
    from kr_core.net.gateway import Gateway

MAX_BYTES = 2 * 2**20
"""Of one page, decoded."""
MAX_REDIRECTS = 3
MAX_SECONDS = 20.0
"""For one page, redirects and all."""
MAX_URL_LENGTH = 2000
"""Characters of an address; a longer one carries something else than a page's name."""
_STEP_SECONDS = 10.0
_TYPES = re.compile(
    r"text/|application/(?:xhtml\+xml|xml|json)\b|application/[\w.-]+\+(?:xml|json)\b", re.IGNORECASE
)
_ACCEPT = (
    "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, text/*;q=0.5, application/json;q=0.5"
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_META_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*+=\s*+(?:["']\s*+)?([\w.:-]{1,40})""", re.IGNORECASE
)
_CHARSET = re.compile(
    r"(?:us-)?ascii|utf-?(?:8|16|32)(?:-?[bl]e)?|(?:iso-?|latin|koi8|windows-?|cp|mac|big5|gb|euc|shift|sjis|hz|tis-?620)[\w-]*",
    re.IGNORECASE,
)
"""Encodings of pages; Python knows others, some of which take minutes for a page made for that."""
_ROBOTS_BYTES = 500 * 1024
"""Of a robots.txt, from its beginning; RFC 9309 asks for no more."""
_ROBOTS_REDIRECTS = 5
"""RFC 9309, 2.3.1.2."""
_ROBOTS_SECONDS = 86_400.0
_ROBOT = "kr-core"
"""The product token that robots.txt knows KR by."""


class Fetcher:
    """Fetches pages for one consultation.

    Args:
        line: each request has its circuit and its event there.
        shelf: where robots.txt is remembered.
        user_agent: who KR says it is.
        allow_hosts: `host:port` as they stand in URLs, which may be fetched although private; a host without a port is meant
            at the usual ones.
        transport: what answers in place of the network.
    """

    def __init__(
        self,
        line: Gateway,
        shelf: CacheNamespace,
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
            async with asyncio.timeout(min(MAX_SECONDS, self._line.left)):
                return await self._followed(url)
        except TimeoutError:
            raise RequestError(Outcome.timeout, "not there in time", where=url) from None

    async def _followed(self, url: str) -> Page:
        for _ in range(MAX_REDIRECTS + 1):
            self._check(url)
            await self._rested(url)
            if not await self._robots_allow(url):
                raise RequestError(Outcome.blocked, "its robots.txt asks not to fetch it", where=url)
            response = await self._get(url, MAX_BYTES)
            if _leads_on(response):
                url = _joined(url, response.headers["location"])
                continue
            await self._remember_rest(url, response)
            return _page(url, response)
        raise RequestError(Outcome.bad_answer, f"more than {MAX_REDIRECTS} redirects", where=url)

    async def _rested(self, url: str) -> None:
        """Refuse a host that asked to be left alone for a while (`Retry-After`), until that is over."""
        if await self._shelf.get(f"rest {origin(httpx.URL(url))}"):
            raise RequestError(Outcome.limited, "its host asked to be left alone for now", where=url)

    async def _remember_rest(self, url: str, response: httpx.Response) -> None:
        seconds = retry_after(response.headers) if response.status_code in _RESTING else None
        if seconds:
            await self._shelf.set(f"rest {origin(httpx.URL(url))}", value=True, seconds=seconds)

    def _check(self, url: str) -> None:
        """Refuse what is no address of a page, whatever it would resolve to."""
        if len(url) > MAX_URL_LENGTH:
            raise RequestError(
                Outcome.blocked, f"the address has more than {MAX_URL_LENGTH} characters", where=url[:200]
            )
        try:
            parts = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise RequestError(Outcome.blocked, f"no address of a page: {error}", where=url[:200]) from None
        if parts.scheme not in PORTS or not parts.host:
            raise RequestError(Outcome.blocked, "only http and https are fetched", where=url[:200])
        if parts.userinfo:
            raise RequestError(Outcome.blocked, "the address holds a password", where=parts.host)
        if parts.port is not None and origin(parts) not in self._allowed:
            hint = "if it is a host of yours, name it in `allow_hosts`"
            raise RequestError(
                Outcome.blocked, "only the ports 80 and 443 are fetched", where=url[:200], hint=hint
            )

    async def _get(self, url: str, most: int, *, cut: bool = False) -> httpx.Response:
        """One request, without following anything; with `cut` the beginning of a long answer serves."""
        parts = httpx.URL(url).copy_with(fragment=None)
        host, place = place_of(parts)
        # No client of httpx stands between: of an odd redirect it makes an error, though it follows none. And no connection
        # is kept, no cookie, and no proxy is used that would resolve names by itself.
        own = _Public(self._allowed) if self._transport is None else nullcontext(self._transport)
        request = httpx.Request("GET", parts, headers=self._headers)
        request.extensions = {"timeout": httpx.Timeout(_STEP_SECONDS).as_dict()}
        told = parts.query.decode("ascii", "replace")
        try:
            async with (
                own as transport,
                self._line.exchange(host, "GET", place, told, limited=False) as exchange,
            ):
                request.extensions["trace"] = exchange.trace
                response = await transport.handle_async_request(request)
                exchange.was_sent()
                exchange.status = response.status_code
                try:
                    body = b"" if _leads_on(response) else await bodies.read(response, most, cut=cut)
                finally:
                    await response.aclose()
                exchange.received = len(body)
        except RequestError as error:
            raise RequestError(error.outcome, error.what, where=place, hint=error.hint) from None
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
        parts = httpx.URL(url)
        address = str(parts.copy_with(raw_path=b"/robots.txt", fragment=None))
        rules = await self._shelf.get(f"robots {address}")
        if rules is None:
            rules = await self._robots(address)
        # half a megabyte of rules takes a second
        return not rules or await asyncio.to_thread(_allows, rules, url)

    async def _robots(self, address: str) -> str:
        """The rules of a host: all is allowed where it has none, and nothing while it cannot say."""
        response = await self._robots_answer(address)
        status = response.status_code
        if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.TOO_MANY_REQUESTS:
            raise RequestError(_outcome(status), f"its robots.txt says {status}", where=address)
        # an application that answers everything answers here, too
        is_page = "html" in response.headers.get("content-type", "")
        rules = _decoded(response) if status == httpx.codes.OK and not is_page else ""
        await self._shelf.set(f"robots {address}", rules, _ROBOTS_SECONDS)
        return rules

    async def _robots_answer(self, address: str) -> httpx.Response:
        """The answer for a robots.txt, redirects followed; one that leads nowhere is as good as none."""
        url = address
        for _ in range(_ROBOTS_REDIRECTS + 1):
            try:
                response = await self._get(url, _ROBOTS_BYTES, cut=True)
                if not _leads_on(response):
                    return response
                url = _joined(url, response.headers["location"])
                self._check(url)
            except RequestError as error:
                if error.outcome is Outcome.bad_answer:  # unreadable: as if there were none
                    break
                raise
        return httpx.Response(httpx.codes.NOT_FOUND)


def _allows(rules: str, url: str) -> bool:
    from protego import Protego

    return bool(Protego.parse(rules).can_fetch(url, _ROBOT))


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

    async def __aiter__(self) -> AsyncIterator[bytes]:
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
    """(host, port) for each host that is named as in a URL; one without a port is meant at both usual ones.

    Raises:
        ValueError: it is no host, or more than one, such as a whole address.
    """
    found = []
    for one in named:
        said = _HOST.fullmatch(one.strip())
        try:
            host = httpx.URL(f"http://{said['host']}/").raw_host.decode("ascii") if said else ""
        except httpx.InvalidURL:
            host = ""
        if said is None or not host:
            raise ValueError(f"{one!r} is no `host` or `host:port`")
        found += [(host, port) for port in ([int(said["port"])] if said["port"] else PORTS.values())]
    return found


_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/@?#\[\]]+)(?::(?P<port>\d{1,5}))?")


def _leads_on(response: httpx.Response) -> bool:
    return response.status_code in _REDIRECTS and "location" in response.headers


def _joined(url: str, location: str) -> str:
    try:
        return str(httpx.URL(url).join(location))
    except (httpx.InvalidURL, ValueError):
        raise RequestError(Outcome.bad_answer, "its redirect leads nowhere", where=url) from None


def _page(url: str, response: httpx.Response) -> Page:
    """The page of an answer that is none of a redirect."""
    status = response.status_code
    if status != httpx.codes.OK:
        seconds = retry_after(response.headers) if status in _RESTING else None
        wait = f", and asks to wait for {seconds:.0f} s" if seconds else ""
        raise RequestError(_outcome(status), f"answered {status}{wait}", where=url)
    declared = response.headers.get("content-type", "")
    if not _TYPES.match(declared):
        kind = declared[:60] or "no type"
        raise RequestError(Outcome.bad_answer, f"is {kind}, which is not read as text", where=url)
    return Page(url, declared.partition(";")[0].strip().lower(), _decoded(response))


_OUTCOMES = REFUSED | {404: Outcome.empty, 410: Outcome.empty, 451: Outcome.blocked}
_RESTING = frozenset({429, 503})
"""Answers that may say for how long the host wants to be left alone."""


def _outcome(status: int) -> Outcome:
    down = status >= httpx.codes.INTERNAL_SERVER_ERROR
    return _OUTCOMES.get(status, Outcome.unavailable if down else Outcome.bad_answer)


def _decoded(response: httpx.Response) -> str:
    """The text of a body in the encoding that it declares, else UTF-8; what cannot be read is U+FFFD."""
    body = response.content
    declared = response.charset_encoding
    if declared is None and (found := _META_CHARSET.search(body[:4096])):
        declared = found.group(1).decode("ascii", "replace")
    if declared is None or not _CHARSET.fullmatch(declared):
        declared = "utf-8"
    try:
        text = body.decode(declared, "replace")
    except LookupError:  # no encoding that Python knows
        text = body.decode("utf-8", "replace")
    return text.removeprefix("\ufeff")
