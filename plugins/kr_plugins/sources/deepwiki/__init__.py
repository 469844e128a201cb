"""Answers of DeepWiki, which describes a library's GitHub repository in its own words.

It calls the tool `ask_question` of https://mcp.deepwiki.com/mcp over MCP: free, without a key, public repositories
only. The repository of a library is in its installed metadata; of one that is not installed PyPI or npm is asked, which
learn its name. DeepWiki names neither a commit nor the place it read, so its answers are hints: KR rates them `medium` at best.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from pydantic import field_validator

from kr_core.plugin import Finding, Outcome, Provider, Settings, Source, hookimpl
from kr_core.toolkit import refusal, require
from kr_plugins.sources.deepwiki.package_registry import Registries
from kr_plugins.sources.repositories import repository_of
from kr_plugins.sources.sections import AnswerText, search

if TYPE_CHECKING:
    from kr_core.plugin import ResearchQuery, Setup, SourceContext, ToolResult

__all__ = ["DeepWiki", "DeepWikiSettings", "kr_source"]

_TOOL = "ask_question"
_NOT_INDEXED = re.compile(r"repository not found|visit https://deepwiki\.com", re.IGNORECASE)
_SHORT = 600
"""Characters; a longer text says something besides."""
_TAIL = re.compile(
    r"^[ \t#*]*(?:wiki pages you might want to explore|view this search on deepwiki)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Where the answer ends and its links begin."""
_SEARCH = re.compile(r"https://deepwiki\.com/search/[\w%.~-]+")
_MADE_FROM_ITS_OWN_CODE = 2
"""Places that say the same: what DeepWiki tells is made from the library's repository, and so stands there, too."""


class DeepWikiSettings(Settings):
    """Settings of the source, `plugins.deepwiki` in `kr.yaml`."""

    url: str = "https://mcp.deepwiki.com/mcp"
    """The address of the MCP server."""

    pypi_url: str = "https://pypi.org"
    """Where KR asks for the repository of a Python package that is not installed; empty: nowhere."""
    npm_url: str = "https://registry.npmjs.org"
    """The same for a package of npm."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if not url.startswith(("https://", "http://")):
            raise ValueError("give the address of a server, such as https://mcp.deepwiki.com/mcp")
        return url

    @field_validator("pypi_url", "npm_url")
    @classmethod
    def _is_registry(cls, url: str) -> str:
        if url and not url.startswith(("https://", "http://")):
            raise ValueError("give the address of a registry, such as https://pypi.org, or nothing for none")
        return url


class DeepWiki:
    """The source.

    Args:
        url: the server's address.
        registries: tell the repository of what is not installed.
    """

    external = True
    timeout_seconds = 120.0

    def __init__(self, url: str, registries: Registries) -> None:
        self._url = url
        self._registries = registries

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Find the library's repository, and ask about it."""
        repository = await asyncio.to_thread(repository_of, query.framework, context.project)
        if repository is None:
            sought = await self._registries.repository_of(query.framework, context)
            repository = sought.repository
            if repository is None:
                return Finding(
                    outcome=Outcome.unavailable,
                    reason=f"it is not known in which repository on GitHub {query.framework} is made{sought.said}: install it, "
                    "or name it by that (--framework owner/repository)",
                    reached=sought.sent,
                )
        arguments = {"repoName": repository, "question": query.question}
        result = await context.call_tool(self._url, _TOOL, arguments)
        return await asyncio.to_thread(told, result, query.question, repository)


@hookimpl
def kr_source() -> Provider[Source]:
    """Provide the source."""

    def build(settings: DeepWikiSettings, setup: Setup) -> DeepWiki:
        del setup
        require("mcp", "mcp")
        return DeepWiki(settings.url, Registries(settings.pypi_url, settings.npm_url))

    return Provider(build, DeepWikiSettings, mcp_server=True)


def told(result: ToolResult, question: str, repository: str) -> Finding:
    """What DeepWiki answered about a repository; takes up to a second for a long answer."""
    wiki = f"https://deepwiki.com/{repository}"
    text = result.text or _text_in(result.structured)
    if len(text) <= _SHORT and _NOT_INDEXED.search(text):
        # Not `empty`: that would be remembered for a day, and it says so of repositories that it knows, too.
        reason = f"it does not know the repository {repository}; {wiki} asks it to read it"
        return Finding(outcome=Outcome.unavailable, reason=reason, url=wiki)
    tail = _TAIL.search(text)
    said = text[: tail.start()] if tail else text
    outcome = refusal(said, question, is_error=result.is_error)
    if outcome is not None:
        return Finding(outcome=outcome, reason=" ".join(said.split())[:300] or "it said nothing", url=wiki)
    there = _SEARCH.search(text, tail.start()) if tail else None
    found = search(
        [AnswerText(said, repository)],
        question,
        url=there.group() if there else wiki,
        agreement=_MADE_FROM_ITS_OWN_CODE,
    )
    if not any(passage.coverage for passage in found.passages):
        return Finding(outcome=Outcome.empty, reason="its answer is not about the question", url=wiki)
    return Finding(outcome=Outcome.ok, passages=found.passages, missing=found.missing, url=wiki)


def _text_in(structured: object) -> str:
    """The same text as structured content has it."""
    said = structured.get("result") if isinstance(structured, dict) else None
    return said if isinstance(said, str) else ""
