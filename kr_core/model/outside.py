"""What comes from outside the machine, and where it is asked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Page(NamedTuple):
    """A page of the web as it was fetched."""

    url: str
    """Where it was found, after redirects."""
    media_type: str
    """`text/html`, ...; in small letters, without parameters."""
    text: str


class Program(NamedTuple):
    """An MCP server that is started for a call, and spoken to over its standard input and output."""

    argv: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    """Added to the few variables that every program needs."""
    folder: str | None = None
    """Where it is started; the working folder if not given."""


class ToolResult(NamedTuple):
    """What a tool of an MCP server answered."""

    text: str
    """Its text blocks, joined by blank lines."""
    structured: Any
    """Its structured content; None where it has none."""
    is_error: bool
    """What the server says itself; some say False of their failures, too."""
