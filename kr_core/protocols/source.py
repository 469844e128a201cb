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
    "External",
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
        """The version in use and the file or environment it comes from, or None if unknown."""


class Rate(NamedTuple):
    """At most `calls` requests in `seconds` seconds, across all questions in progress."""

    calls: int
    seconds: float


class Cache(Protocol):
    """A source's own cache on disk; it may lose anything at any time.

    Values are plain JSON data.
    """

    async def get(self, key: str) -> Any:
        """The value of a key; None if there is none or it has expired."""

    async def set(self, key: str, value: Any, seconds: float) -> None:
        """Store a value for this number of seconds."""


class RequestRecord(Protocol):
    """One request that does not go through `http`, described by its source for the event."""

    status: int | None
    """The HTTP status of the answer."""
    received: int
    """The number of bytes of the answer."""

    def was_sent(self) -> None:
        """Mark the request as sent: from now on the consultation costs a call."""


class SourceContext(Protocol):
    """What a source receives with each question."""

    deadline: float
    """When KR cancels the call, in the event loop's time (`loop.time()`)."""
    project: Project
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress or a sent request; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client; the engine closes it.

        It retries temporary failures, honours `Retry-After`, respects the source's rate, skips a host that keeps
        failing, reads at most 8 MB of a response, and emits one event for each request. It follows no redirects.
        """

    @property
    def cache(self) -> Cache:
        """The source's cache between questions."""

    def exchange(
        self, host: str, method: str, url: str, sent: str = "", *, limited: bool = True
    ) -> AbstractAsyncContextManager[RequestRecord]:
        """One request that does not go through `http`, with the same rate limit, circuit breaker and event.

        Args:
            host: the host of the circuit breaker (`mcp.example.org:443`).
            method: `tools/call` and the like.
            url: where it goes; for the event.
            sent: the content; for the event, without anything that looks like a secret.
            limited: whether it counts towards the source's rate.

        Raises:
            httpx.ConnectError: the circuit breaker skips the host for now, or the rate allows no request before the
            deadline.
        """

    async def fetch(self, url: str, *, allow_hosts: Sequence[str] = ()) -> Page:
        """Fetch a web page safely: only from the public internet, with limits, and as its robots.txt allows.

        Args:
            url: the address; http or https.
            allow_hosts: private hosts that it may fetch from: `host` or `host:port`, as in URLs.

        Raises:
            RequestError: the page must not or could not be fetched; `outcome` is the kind of failure.
        """

    async def call_tool(
        self,
        server: str | Program,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = ...,
    ) -> ToolResult:
        """Call a tool of an MCP server once; needs the extra `mcp`.

        Args:
            server: a streamable-HTTP address, or the program to start.
            tool: the tool's name.
            arguments: the arguments of the call.
            headers: sent with each HTTP request.

        Raises:
            RequestError: the call failed; `outcome` is the kind of failure.
        """


class Source(Protocol):
    """Finds passages that answer a question."""

    external: bool
    """True if a consultation leaves the machine and so costs a call of the budget."""
    timeout_seconds: float
    """The time limit of one consultation, unless the configuration sets one."""

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Return a finding with a typed outcome; let cancellation propagate.

        An exception becomes the outcome `unavailable` and a note; it never reaches the caller.
        """


@runtime_checkable
class External(Protocol):
    """A component that says whether it leaves the machine, as every source does; `kr doctor` lists those that do."""

    external: bool


@runtime_checkable
class Versioned(Protocol):
    """A component that runs a program; `kr doctor` shows the program's version."""

    async def version(self) -> str:
        """The version that the program reports.

        Raises:
            RequestError: the program cannot be started, or does not report a version.
        """


@runtime_checkable
class Unready(Protocol):
    """A source or agent that KR can build although it lacks something it needs; `kr doctor` shows what is missing."""

    unready: str
    """Why KR cannot ask it with its configuration, and what to do; empty if KR can."""


@runtime_checkable
class Limited(Protocol):
    """A source with a rate limit."""

    rate: Rate


@runtime_checkable
class Selective(Protocol):
    """A source that knows in advance which frameworks it covers.

    The default chain includes such a source only if `knows` returns True; KR follows a configured chain exactly.
    """

    def knows(self, query: ResearchQuery, project: Project) -> bool:
        """Whether the source has documentation of the query's framework."""


@runtime_checkable
class Derived(Protocol):
    """A source that may return axioms of expeditions.

    An expedition skips such a source, so that it never confirms its own axioms.
    """

    from_expeditions: bool
