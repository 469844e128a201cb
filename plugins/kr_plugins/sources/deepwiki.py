"""Answers of DeepWiki, which describes a library's GitHub repository in its own words.

It calls the tool `ask_question` of https://mcp.deepwiki.com/mcp over MCP: free, without a key, public repositories
only. The repository of a library is in its installed metadata; of one that is not installed PyPI or npm is asked, which
learn its name. DeepWiki names neither a commit nor the place it read, so its answers are hints: KR rates them `medium` at best.
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from pydantic import field_validator

from kr_core import RequestError
from kr_core.plugin import Finding, Outcome, Provider, Settings, Source, hookimpl
from kr_core.toolkit import LocalProject, json_of, refusal, require
from kr_plugins.sources.repositories import in_package, in_project_urls, repository_of
from kr_plugins.sources.sections import AnswerText, search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.plugin import Project, ResearchQuery, Setup, SourceContext, ToolResult

__all__ = ["DeepWiki", "DeepWikiSettings", "Registries", "Sought", "kr_source"]

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
_PYTHON = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_NODE = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]{0,98}/)?[a-z0-9~-][a-z0-9._~-]{0,98}")
_OF_NODE = re.compile(
    r"package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|node_modules"
)
_OF_PYTHON = re.compile(
    r"(?:uv|poetry|pdm|pixi)\.lock|pylock\.|Pipfile|pyproject\.toml|requirements|setup\.(?:py|cfg)|venv|python"
)
_REMEMBERED_SECONDS = 7 * 86_400.0
_MOST_SECONDS = 4.0
"""For each registry, with what is tried again: on a machine without a network no one waits longer for a hint."""
_NOT_FOUND = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


_REGISTRY = re.compile(r"https?://[^\s/?#]++[^\s?#]*+")
_SERVER = re.compile(r"https?://[^\s/?#]++(?:/[^\s/?#]++)*+(?<=/mcp)/?")


class DeepWikiSettings(Settings):
    """Settings of the source, `plugins.deepwiki` in `kr.yaml`."""

    url: str = "https://mcp.deepwiki.com/mcp"
    """The address of the MCP server; its path ends with `/mcp`, so that a request means nothing to any other service."""

    pypi_url: str = "https://pypi.org"
    """Where KR asks for the repository of a Python package that is not installed; empty: nowhere."""
    npm_url: str = "https://registry.npmjs.org"
    """The same for a package of npm."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if not _SERVER.fullmatch(url):
            raise ValueError("give the address of a server, such as https://mcp.deepwiki.com/mcp")
        return url

    @field_validator("pypi_url", "npm_url")
    @classmethod
    def _is_registry(cls, url: str) -> str:
        if url and not _REGISTRY.fullmatch(url):
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
        repository, notes = await asyncio.to_thread(repository_of, query.framework, context.project)
        if repository is None:
            sought = await self._registries.repository_of(query.framework, context)
            repository = sought.repository
            if repository is None:
                return Finding(
                    outcome=Outcome.unavailable,
                    reason=f"it is not known in which repository on GitHub {query.framework} is made{sought.said}: install it, "
                    "or name it by that (--framework owner/repository)",
                    reached=sought.sent,
                    notes=notes,
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


class Sought(NamedTuple):
    """What the registries say of a library."""

    repository: str | None
    said: str
    """Why there is none."""
    sent: bool
    """Whether one of them was asked now."""


class Registries:
    """The registries that may be asked.

    Args:
        pypi: the address of PyPI, or of an index with its JSON API; empty for none.
        npm: the same of npm's registry.
    """

    def __init__(self, pypi: str, npm: str) -> None:
        self._addresses = {"PyPI": pypi.rstrip("/"), "npm": npm.rstrip("/")}

    async def repository_of(self, framework: str, context: SourceContext) -> Sought:
        """The repository of a package, `owner/name`; none where two registries know different ones by its name."""
        name = framework.strip()
        found: dict[str, str] = {}
        failed: list[str] = []
        sent = False
        registries, private = await asyncio.to_thread(_registries, name, context.project)
        if private:
            return Sought(None, f" (no public registry was asked: {private})", sent)
        for registry in registries:
            if url := _address(registry, self._addresses[registry], name):
                known, fault, asked = await _known(registry, url, context)
                found |= {registry: known} if known else {}
                failed += [f"{registry}: {fault}"] if fault else []
                sent = sent or asked
        if len({one.lower() for one in found.values()}) == 1:
            return Sought(next(iter(found.values())), "", sent)
        told = [f"{registry} has {one}" for registry, one in found.items()] or failed
        return Sought(None, f" ({'; '.join(told)})" if told else "", sent)


def _registries(framework: str, project: Project) -> tuple[tuple[str, ...], str]:
    """Those that may know a package of this name, or why none may learn it.

    The file that says which version is in use says which registry is meant.
    """
    if isinstance(project, LocalProject):
        if project.module(framework) or project.distribution(framework):
            return (), ""  # what is installed has the same metadata
        if private := project.why_private(framework):
            return (), private
    known = project.version_of(framework)
    origin = known[1] if known else ""
    if _OF_NODE.search(origin) or framework.startswith("@"):
        return ("npm",), ""
    if _OF_PYTHON.search(origin):
        return ("PyPI",), ""
    return () if origin else ("PyPI", "npm"), ""


def _address(registry: str, base: str, framework: str) -> str:
    """Where a package's metadata is; empty for a name that the registry cannot have."""
    if registry == "PyPI":
        return f"{base}/pypi/{framework.lower()}/json" if base and _PYTHON.fullmatch(framework) else ""
    return f"{base}/{quote(framework, safe='@')}/latest" if base and _NODE.fullmatch(framework) else ""


async def _known(registry: str, url: str, context: SourceContext) -> tuple[str, str, bool]:
    """What a registry says, or has said within a week; else why it does not, and whether it was asked now."""
    import httpx  # with its command line's libraries it takes a tenth of the time of an answer that needs no network

    known = await context.cache.get(url)
    if isinstance(known, str):
        return known, "", False
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            known = await _asked(registry, url, context)
    except TimeoutError:
        return "", f"no answer in {_MOST_SECONDS:g} s", False
    except (httpx.HTTPError, RequestError) as error:
        said = " ".join(str(error).split())[:200]
        return "", said or type(error).__name__, isinstance(error, RequestError)
    await context.cache.set(url, known, _REMEMBERED_SECONDS)
    return known, "", True


async def _asked(registry: str, url: str, context: SourceContext) -> str:
    """The repository that the metadata name; empty where there is none, or no such package.

    Raises:
        httpx.HTTPError: it cannot be reached.
        RequestError: it has not answered with metadata.
    """
    response = await context.http.get(url, headers={"Accept": "application/json"})
    if response.status_code in _NOT_FOUND:
        return ""
    if not response.is_success:
        raise RequestError("unavailable", f"answered {response.status_code}")
    told = json_of(response)
    if not isinstance(told, dict):
        raise RequestError("bad_answer", "the answer is not a JSON object")
    return (_of_pypi(told) if registry == "PyPI" else in_package(told)) or ""


def _of_pypi(told: Mapping[str, Any]) -> str | None:
    info = told.get("info")
    if not isinstance(info, dict):
        return None
    urls = info.get("project_urls")
    labelled = [(str(label), str(url)) for label, url in urls.items()] if isinstance(urls, dict) else []
    return in_project_urls([*labelled, ("homepage", str(info.get("home_page") or ""))])
