"""Answers of a tool of any MCP server, at an address or started as a program, by configuration alone."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, ClassVar, Self

import httpx
from pydantic import Field, ValidationInfo, field_validator, model_validator

from kr_core.plugin import Program, Provider, Settings, Source, hookimpl
from kr_core.toolkit import require
from kr_plugins.sources.mcp.arguments import filled
from kr_plugins.sources.mcp.tool_answer import told

if TYPE_CHECKING:
    from kr_core.plugin import Finding, ResearchQuery, Setup, SourceContext

__all__ = ["Tool", "ToolSettings", "kr_source"]

_MOST_PATTERNS = 50
_LONGEST_PATTERN = 500
"""Characters; a longer one may take seconds to compile."""
_SHOWN = 80


class ToolSettings(Settings):
    """Settings of one server and tool, `plugins.<name>` in `kr.yaml`."""

    calls_are_chosen: ClassVar[bool] = True
    command: tuple[str, ...] = ()
    """The program and its arguments, for a server on standard input and output. It runs in the project's folder, once
    for each question; KR ends it with every program it started.
    """
    url: str = ""
    """The address of a server over streamable HTTP, on this machine or elsewhere. Set either `command` or `url`."""
    tool: str
    """The name of the tool on the server."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments of the tool. In each text, including nested ones, KR replaces `{question}`, `{framework}`,
    `{version}`, `{topic}` and `{tags}` by those of the question.
    """
    failure_patterns: tuple[str, ...] = ()
    """Regular expressions that mark a text as a failure instead of an answer; they ignore case. At most 50, of 500
    characters each.
    """
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers of each HTTP request, such as `Authorization`."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the program, in addition to `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL` and `TERM`."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and not re.match(r"https?://[^/\s]", url):
            raise ValueError("give the address of a server, such as https://mcp.example.org/mcp")
        return url

    @field_validator("failure_patterns")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...], said: ValidationInfo) -> tuple[str, ...]:
        """Compile them once the rest is in order: a file that names no server needs no trust, and a pattern may take long."""
        if bool(said.data.get("command")) == bool(said.data.get("url")):
            return patterns  # `_is_one_server` refuses them
        if len(patterns) > _MOST_PATTERNS:
            raise ValueError(f"are more than {_MOST_PATTERNS}: write one pattern with `|`, or leave some out")
        for pattern in patterns:
            shown = repr(pattern[:_SHOWN] + "..." if len(pattern) > _SHOWN else pattern)
            if len(pattern) > _LONGEST_PATTERN:
                raise ValueError(f"{shown} is longer than {_LONGEST_PATTERN} characters: write a shorter one")
            try:
                re.compile(pattern, re.IGNORECASE)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"{shown} is not a regular expression: {error}") from None
        return patterns

    @model_validator(mode="after")
    def _is_one_server(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("say either `command` or `url`")
        return self


class Tool:
    """The source.

    Args:
        settings: which server, which tool, and how it is called.
        setup: its name, and where a program is started.
    """

    external = True
    timeout_seconds = 60.0

    def __init__(self, settings: ToolSettings, setup: Setup) -> None:
        self._settings = settings
        self._patterns = [re.compile(pattern, re.IGNORECASE) for pattern in settings.failure_patterns]
        self._server: str | Program = settings.url or Program(
            settings.command, settings.environment, str(setup.project.root)
        )
        self._url = _address(settings.url) if settings.url else f"mcp:{setup.name}/{settings.tool}"

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Call the tool, and search what it says."""
        settings = self._settings
        arguments = filled(settings.arguments, query)
        result = await context.call_tool(self._server, settings.tool, arguments, headers=settings.headers)
        return await asyncio.to_thread(told, result, query.question, self._patterns, settings.tool, self._url)


def _address(url: str) -> str:
    """An address as it is cited: a query or a password in it is nobody's business."""
    return str(httpx.URL(url).copy_with(query=None, fragment=None, username=None, password=None))


@hookimpl
def kr_source() -> Provider[Source]:
    """Provide the source."""

    def build(settings: ToolSettings, setup: Setup) -> Tool:
        require("mcp", "mcp")
        return Tool(settings, setup)

    return Provider(build, ToolSettings, mcp_server=True)
