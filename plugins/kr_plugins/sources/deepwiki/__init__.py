"""Answers of DeepWiki, which describes a library's GitHub repository in its own words.

It calls the tool `ask_question` of https://mcp.deepwiki.com/mcp over MCP: free, without a key, public repositories
only. The repository of a library is in its installed metadata; of one that is not installed PyPI or npm is asked, which
learn its name. DeepWiki names neither a commit nor the place it read, so its answers are hints: KR rates them `medium` at best.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic import field_validator

from kr_core.plugin import Finding, Outcome, Provider, Settings, Source, hookimpl
from kr_core.toolkit import require
from kr_plugins.sources.deepwiki.package_registry import Registries
from kr_plugins.sources.deepwiki.wiki_answer import told
from kr_plugins.sources.repositories import repository_of

if TYPE_CHECKING:
    from kr_core.plugin import ResearchQuery, Setup, SourceContext

__all__ = ["DeepWiki", "DeepWikiSettings", "kr_source"]

_TOOL = "ask_question"


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
