"""What a source is handed with a question."""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kr_core.aio import GRACE_SECONDS, consume_exception, wait_or_abandon

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    import httpx

    from kr_core.model import Page, Program, ToolResult
    from kr_core.net.disk_cache import CacheNamespace
    from kr_core.net.gateway import Gateway, GatewayRequest
    from kr_core.net.shared_resources import SharedResources
    from kr_core.protocols import Project, Rate


class ConsultationContext:
    """What a source is handed with a question (`SourceContext`).

    Args:
        project: where it is asked.
        emit: says what happens.
        deadline: in the event loop's time.
        outside: what all consultations share.
        name: the source's.
        rate: how often it may send; None for as often as it likes.
    """

    def __init__(
        self,
        project: Project,
        emit: Callable[[str, dict[str, Any]], None],
        deadline: float,
        outside: SharedResources,
        name: str,
        rate: Rate | None = None,
    ) -> None:
        self.project = project
        self.emit = emit
        self.deadline = deadline
        self._outside = outside
        self._name = name
        self._rate = rate
        self._line: Gateway | None = None
        self._http: httpx.AsyncClient | None = None

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared client, made on first use."""
        if self._http is None:
            from kr_core.net.http_client import client

            self._http = client(self._opened(), _user_agent())
        return self._http

    @property
    def cache(self) -> CacheNamespace:
        """What the source remembers on disk."""
        return self._outside.shelf(self._name)

    def exchange(
        self, host: str, method: str, url: str, sent: str = "", *, limited: bool = True
    ) -> AbstractAsyncContextManager[GatewayRequest]:
        """One request that does not go through `http`."""
        return self._opened().exchange(host, method, url, sent, limited=limited)

    async def fetch(self, url: str, *, allow_hosts: Sequence[str] = ()) -> Page:
        """One page of the web, fetched safely."""
        from kr_core.net.page_fetcher import Fetcher

        return await Fetcher(
            self._opened(), self._outside.shelf("pages"), _user_agent(), allow_hosts, self._outside.transport
        ).fetch(url)

    async def call_tool(
        self,
        server: str | Program,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> ToolResult:
        """One call of a tool of an MCP server."""
        from kr_core.net.mcp.call import call_tool

        called = self._outside.mcp or server
        return await call_tool(
            self._opened(), called, tool, arguments, headers, _user_agent(), self._outside.transport
        )

    def _opened(self) -> Gateway:
        if self._line is None:
            self._line = self._outside.line(self._name, self._rate, self.deadline, self.emit)
        return self._line

    @property
    def reached(self) -> bool:
        """Whether a request was sent; True as well where the source used none of KR's ways, since nobody knows then."""
        return self._line is None or not self._line.tried or self._line.sent

    @property
    def tried(self) -> bool:
        """Whether a request was begun by one of KR's ways."""
        return self._line is not None and self._line.tried

    async def close(self) -> BaseException | None:
        """Close what was opened; returns a cancellation of the run meanwhile."""
        if self._line is None:
            return None
        closing = asyncio.ensure_future(self._close())
        closing.add_done_callback(consume_exception)  # a connection that breaks as it is closed is closed
        return await wait_or_abandon(closing, GRACE_SECONDS)

    async def _close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
        if self._line is not None:
            await self._line.close()


def _user_agent() -> str:
    from kr_core._version import __version__

    return f"kr-core/{__version__}"
