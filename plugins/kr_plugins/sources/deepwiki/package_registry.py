"""In which repository a library is made that is not installed, as the registry of its packages says.

PyPI's JSON API (https://docs.pypi.org/api/json/) and npm's (https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md)
are asked for the metadata of one package; its name is all that they learn. They learn none that a lock file has from elsewhere.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import httpx

from kr_core import RequestError
from kr_core.toolkit import LocalProject, json_of
from kr_plugins.sources.repositories import in_package, in_project_urls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.plugin import Project, SourceContext

__all__ = ["Registries", "Sought"]

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
_NOT_FOUND = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})


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
