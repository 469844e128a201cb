"""Where a contract builds a plugin: a temporary project, and what the engine would hand over."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

from kr_core.hookspecs import NOUNS, Provider, Setup
from kr_core.installed import InstalledPlugin
from kr_core.knowledge.project import LocalProject
from kr_core.pipeline.context import Context
from kr_core.pipeline.outside import Outside
from kr_core.templating import search_folders

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    import httpx

DAY = date(2026, 2, 5)
"""Today, for what is built here."""


def setup_for(project: Path, name: str) -> Setup:
    """What a component may know when it is built in this project; the cache folder lies beside it."""
    return Setup(
        name=name,
        project=LocalProject(project, project, {}, own_prefix=None),
        knowledge_base=project / "knowledge-base",
        state_folder=project / ".kr",
        cache_folder=project.parent / "cache",
        template_folders=search_folders(project),
        today=lambda: DAY,
    )


def plugin_at(module: str) -> object:
    """The plugin that an entry point of this value leads to: `module`, or `module:attribute`."""
    return InstalledPlugin("", module, "", "").load()


def provider_of(module: str, noun: str) -> Provider[Any]:
    """What the module's hook for this kind of plugin provides."""
    provider: Provider[Any] = getattr(plugin_at(module), NOUNS[noun])()
    return provider


def build(module: str, noun: str, settings: Mapping[str, Any], project: Path) -> Any:
    """A component of this project, as the engine builds it."""
    provider = provider_of(module, noun)
    made = provider.settings.model_validate(dict(settings))
    return provider.build(made, setup_for(project, module.partition(":")[0].rpartition(".")[2]))


@asynccontextmanager
async def context_in(
    project: Path, deadline: float, transport: httpx.AsyncBaseTransport, mcp_server: Any = None
) -> AsyncIterator[Context]:
    """What a source is handed with a question in this project; no request leaves the machine.

    Args:
        project: the project root.
        deadline: in the event loop's time.
        transport: what answers the requests.
        mcp_server: what answers calls of MCP tools: an `mcp.server.MCPServer`.
    """
    setup = setup_for(project, "tried")
    outside = Outside(setup.cache_folder / "answers", transport, mcp_server)
    context = Context(setup.project, lambda _kind, _data: None, deadline, outside, setup.name)
    try:
        yield context
    finally:
        await context.close()
        outside.close()
