"""What a source must offer, and what it is handed with each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    import httpx

    from kr_core.model import Finding, Page, Program, ResearchQuery, ToolResult

__all__ = [
    "Cache",
    "Derived",
    "Limited",
    "Project",
    "Rate",
    "RequestRecord",
    "Selective",
    "Source",
    "SourceContext",
    "Unready",
    "Versioned",
]


class Project(Protocol):
    """The project that KR works in."""

    root: Path
    working_folder: Path

    def version_of(self, framework: str) -> tuple[str, str] | None:
        """The version in use and the file or environment it was read from, or None where unknown."""


class Rate(NamedTuple):
    """At most so many requests in so many seconds, over all questions that are asked at once."""

    calls: int
    seconds: float


class Cache(Protocol):
    """What a source remembers on disk, apart from other sources; it may forget anything at any time.

    Values are plain data, as JSON has it.
    """

    async def get(self, key: str) -> Any:
        """The value kept under a key; None if there is none, or its time is over."""

    async def set(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value for so many seconds."""


class RequestRecord(Protocol):
    """One request that does not go through `http`: what its source says of it, for the event."""

    status: int | None
    """The HTTP status of the answer."""
    received: int
    """Bytes of the answer."""

    def was_sent(self) -> None:
        """The request is on its way: from now on the consultation costs a call."""


class SourceContext(Protocol):
    """What a source is handed with each question."""

    deadline: float
    """When the call will be cancelled, in the event loop's time (`loop.time()`)."""
    project: Project
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress or a request that was sent; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client; closed by the engine.

        It sends again what failed in passing, honours `Retry-After`, keeps to the source's rate, leaves alone a host that
        keeps failing, reads no answer beyond 8 MB, and makes one event of each request. It follows no redirect.
        """

    @property
    def cache(self) -> Cache:
        """What the source remembers from one question to the next."""

    def exchange(
        self, host: str, method: str, url: str, sent: str = "", *, limited: bool = True
    ) -> AbstractAsyncContextManager[RequestRecord]:
        """One request that does not go through `http`: it has its turn, its circuit and its event all the same.

        Args:
            host: whose circuit it is (`mcp.example.org:443`).
            method: `tools/call` and the like.
            url: where it goes; for the event.
            sent: what is told there; for the event, without what looks like a secret.
            limited: whether it takes a turn of the source's rate.

        Raises:
            httpx.ConnectError: the host is left alone for now, or there is no turn before the deadline.
        """

    async def fetch(self, url: str, *, allow_hosts: Sequence[str] = ()) -> Page:
        """One page of the web, fetched safely: from the public internet alone, bounded, as its robots.txt allows.

        Args:
            url: where it is; http or https.
            allow_hosts: `host` or `host:port`, as they stand in URLs, that may be fetched although they are private.

        Raises:
            RequestError: it must not be fetched, or could not be; its `outcome` says of which kind that is.
        """

    async def call_tool(
        self,
        server: str | Program,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = ...,
    ) -> ToolResult:
        """One call of a tool of an MCP server; needs the extra `mcp`.

        Args:
            server: a streamable-HTTP address, or the program to start.
            tool: the tool's name.
            arguments: what it is called with.
            headers: sent with each HTTP request.

        Raises:
            RequestError: it could not be called; its `outcome` says of which kind that is.
        """


class Source(Protocol):
    """Finds passages that answer a question."""

    external: bool
    """True when a consultation leaves the machine, and so costs a call of the budget."""
    timeout_seconds: float
    """The limit for one consultation where nothing is configured."""

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Return a finding with a typed outcome; cancellation must pass through.

        Whatever is raised becomes the outcome `unavailable` and a note; it never reaches the caller.
        """


@runtime_checkable
class Versioned(Protocol):
    """A component with a program behind it: `kr doctor` tells its version."""

    async def version(self) -> str:
        """The program's version, as it says it itself.

        Raises:
            RequestError: it cannot be started, or does not say it.
        """


@runtime_checkable
class Unready(Protocol):
    """A source or an agent that can be built without all that it needs: `kr doctor` tells what is missing."""

    unready: str
    """Why it cannot be asked as it is configured, and what to do; empty where it can."""


@runtime_checkable
class Limited(Protocol):
    """A source that may send only so often."""

    rate: Rate


@runtime_checkable
class Selective(Protocol):
    """A source that knows beforehand which frameworks it has anything about.

    The default chain lists such a source only where this returns True; a configured chain is obeyed exactly.
    """

    def knows(self, query: ResearchQuery, project: Project) -> bool:
        """Whether the source has documentation of the query's framework."""


@runtime_checkable
class Derived(Protocol):
    """A source that may tell what expeditions have found; an expedition does not ask it for what would bear witness to itself."""

    from_expeditions: bool
