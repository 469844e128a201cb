"""Answers of a tool of any MCP server, at an address or started as a program, by configuration alone."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import httpx
from pydantic import Field, ValidationInfo, field_validator, model_validator

from kr_core.plugin import Finding, Outcome, Program, Provider, Settings, Source, hookimpl
from kr_core.toolkit import refusal, require
from kr_plugins.sources.sections import LONGEST_NAME, MOST_CHARACTERS, MOST_SECTIONS, AnswerText, search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.plugin import ResearchQuery, Setup, SourceContext, ToolResult

__all__ = ["Tool", "ToolSettings", "kr_source"]

_MOST_PATTERNS = 50
_LONGEST_PATTERN = 500
"""Characters; a longer one may take seconds to compile."""
_SHOWN = 80
_PLACE = re.compile(r"\{(question|framework|version|topic|tags)\}")
_SHORTEST = 4
"""Words; a shorter text of structured content is a name, a date, a state."""
_DEEPEST = 50
_TITLES = ("title", "name", "heading", "subject")


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


def filled(arguments: Mapping[str, Any], query: ResearchQuery) -> dict[str, Any]:
    """The arguments of one call; what comes from the question is text, and is not looked through again."""
    parts = {
        "question": query.question,
        "framework": query.framework,
        "version": query.framework_version,
        "topic": query.topic,
        "tags": ", ".join(query.tags),
    }
    return {name: _filled(value, parts) for name, value in arguments.items()}


def _filled(value: Any, parts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACE.sub(lambda found: parts[found.group(1)], value)
    if isinstance(value, dict):
        return {name: _filled(item, parts) for name, item in value.items()}
    return [_filled(item, parts) for item in value] if isinstance(value, list | tuple) else value


def told(
    result: ToolResult, question: str, patterns: Sequence[re.Pattern[str]], tool: str, url: str
) -> Finding:
    """What a tool answered; takes up to a second for a long answer.

    Args:
        result: what came back.
        question: what was asked.
        patterns: of texts that are a failure.
        tool: its name, by which a text without a heading is called.
        url: where passages can be looked up.
    """
    texts = texts_of(result, tool)
    whole = "\n\n".join(text.text for text in texts)
    said = result.text if result.is_error else whole
    outcome = refusal(said, question, is_error=result.is_error)
    if outcome is None and any(pattern.search(said) for pattern in patterns):
        outcome = Outcome.unavailable
    if outcome is not None:
        return Finding(outcome=outcome, reason=" ".join(said.split())[:300] or "it said nothing", url=url)
    found = search(texts, question, url=url)
    return Finding(
        outcome=Outcome.ok if found.passages else Outcome.empty,
        passages=found.passages,
        missing=found.missing,
        notes=("only the beginning of its answer was looked at",) if found.cut else (),
        url=url,
    )


def texts_of(result: ToolResult, tool: str) -> list[AnswerText]:
    """The texts of a result; structured content, given again as JSON in a text block, counts once."""
    plain = result.text.strip()
    data = _json(plain)
    if data is None:
        known = "".join(plain[:MOST_CHARACTERS].split())
        found = [AnswerText(result.text, tool)] if plain else []
        more = _bounded(_leaves(result.structured, tool, "", _DEEPEST))
        return found + [one for one in more if "".join(one.text.split()) not in known]
    leaves = list(_bounded(_leaves(data, tool, "", _DEEPEST)))
    return leaves or [AnswerText(result.text, tool)]


def _json(text: str) -> Any:
    """What a text block says in JSON, where it holds structured content; None for prose."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _bounded(texts: Iterator[AnswerText]) -> Iterator[AnswerText]:
    """The first texts, just more of them than is looked at."""
    left = MOST_CHARACTERS
    for one in islice(texts, MOST_SECTIONS + 1):
        yield one
        left -= len(one.text)
        if left < 0:
            break


def _leaves(value: Any, place: str, title: str, depth: int) -> Iterator[AnswerText]:
    """The texts in structured content, each called by its title or by its place in there."""
    if isinstance(value, str):
        if len(value.split()) >= _SHORTEST:
            yield AnswerText(value, title or place, title)
    elif depth and isinstance(value, dict):
        said = next((value[key] for key in _TITLES if isinstance(value.get(key), str)), "")
        own = " ".join(said[: 2 * LONGEST_NAME].split())[:LONGEST_NAME]
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}"[-LONGEST_NAME:], own, depth - 1)
    elif depth and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{place}[{number}]"[-LONGEST_NAME:], title, depth - 1)
