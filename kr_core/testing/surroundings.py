"""Where a contract builds a plugin: a temporary project, and what the engine would hand over."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.agents.caller import AgentJob, AgentPrompt
from kr_core.agents.replies import answer_schema
from kr_core.config.plugin_names import SINGLE
from kr_core.entry_points import InstalledPlugin, installed
from kr_core.errors import RequestError
from kr_core.hookspecs import NOUNS, Provider, Setup
from kr_core.model import Outcome
from kr_core.model.questions import Question
from kr_core.model.routing import AgentProfile
from kr_core.net.shared_resources import SharedResources
from kr_core.net.source_context import ConsultationContext
from kr_core.project.project import LocalProject
from kr_core.routing.defaults import ROSTER, RULES
from kr_core.routing.table import PlacedRule, Table
from kr_core.templates import search_folders

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.protocols import Journal

DAY = date(2026, 2, 5)
"""Today, for what is built here."""
TABLE = Table([PlacedRule(rule, "default rules") for rule in RULES], ROSTER, 80)
"""The usual rules over the usual roster."""


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
        routing=lambda: TABLE,
        journal=lambda: _journal(project),
        http=lambda seconds: _client_in(project, name, seconds),
    )


@asynccontextmanager
async def _client_in(project: Path, name: str, seconds: float) -> AsyncIterator[httpx.AsyncClient]:
    """The client of a component that is handed none with what it is asked; it reaches what the settings name."""
    deadline = asyncio.get_running_loop().time() + seconds
    async with context_in(project, deadline, None, name=name) as context:
        yield context.http


def _journal(project: Path) -> Journal:
    """The journal where none is configured, for a component that needs one."""
    (plugin,) = (one for one in installed() if one.name == SINGLE["journal"])
    journal: Journal = build(plugin.module, "journal", {}, project)
    return journal


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
    project: Path,
    deadline: float,
    transport: httpx.AsyncBaseTransport | None,
    mcp_server: Any = None,
    *,
    name: str = "tried",
) -> AsyncIterator[ConsultationContext]:
    """What a source is handed with a question in this project; with a transport no request leaves the machine.

    Args:
        project: the project root.
        deadline: in the event loop's time.
        transport: what answers the requests; None for the network.
        mcp_server: what answers calls of MCP tools: an `mcp.server.MCPServer`.
        name: the source's.
    """
    setup = setup_for(project, name)
    outside = SharedResources(setup.cache_folder / "answers", transport, mcp_server)
    context = ConsultationContext(setup.project, lambda _kind, _data: None, deadline, outside, setup.name)
    try:
        yield context
    finally:
        await context.close()
        outside.close()


class JobOptions(NamedTuple):
    """What an agent is asked beside the question."""

    system: str = "You are an experienced engineer."
    """Who answers."""
    prompt: str = ""
    """What is asked; empty for the question, with the form of the reply."""
    model: str | None = None
    """The model that is configured."""
    max_tokens: int | None = None
    """The longest reply that is wanted."""


@asynccontextmanager
async def job_in(
    project: Path,
    question: str,
    deadline: float,
    transport: httpx.AsyncBaseTransport | None = None,
    *,
    options: JobOptions = JobOptions(),  # noqa: B008  a value that does not change
    emit: Callable[[str, dict[str, Any]], None] = lambda _kind, _data: None,
    researcher: Callable[..., Awaitable[ResearchResult]] | None = None,
) -> AsyncIterator[AgentJob]:
    """What an agent is handed with a question in this project.

    Args:
        project: the project root.
        question: in plain form.
        deadline: in the event loop's time.
        transport: what answers its requests in place of the network.
        options: what is asked beside it.
        emit: says what happens.
        researcher: answers from the sources; None where nothing does.
    """
    setup = setup_for(project, "tried")
    outside = SharedResources(setup.cache_folder / "answers", transport)
    context = ConsultationContext(setup.project, emit, deadline, outside, "agent tried")
    profile = AgentProfile(name="tried", plugin="tried", role="architect", model=options.model)
    asked = Question(text=question)
    form = "Reply with one JSON object: answer, rationale, confidence (0 to 100), uncertainty_reasons (a list of texts)."

    async def nothing(_question: str, **_options: Any) -> ResearchResult:
        raise RequestError(Outcome.unavailable, "there is nothing to research in")

    try:
        yield AgentJob(
            profile,
            AgentPrompt(
                asked,
                options.system,
                options.prompt or f"{question}\n\n{form}",
                answer_schema(),
                options.max_tokens,
            ),
            context,
            researcher or nothing,
        )
    finally:
        await context.close()
        outside.close()
