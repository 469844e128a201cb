"""What comes from outside the machine, and where it is asked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Page(NamedTuple):
    """A fetched web page."""

    url: str
    """Its address after redirects."""
    media_type: str
    """`text/html`, ...; in lower case, without parameters."""
    text: str


class Program(NamedTuple):
    """An MCP server that KR starts for a call and talks to over standard input and output."""

    argv: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    """Variables in addition to the few that every program needs."""
    folder: str | None = None
    """The folder in which it starts; default: the working folder."""


class ToolResult(NamedTuple):
    """The answer of a tool of an MCP server."""

    text: str
    """Its text blocks, joined by blank lines."""
    structured: Any
    """Its structured content; None where it has none."""
    is_error: bool
    """The server's own claim; some servers return False for failures, too."""
