"""The contract between KR and its plugins.

A plugin is a module with one or more of the functions below, each marked `@kr_core.hookimpl`, and an entry
point in the group `kr`; the entry point's name is the one that configuration and errors use. A plugin that the
configuration does not name is never imported. There are two kinds of hooks:

- A hook that provides a part is sync, takes no argument, does no I/O and returns a `Provider`: how to build one
  component from its own settings. KR calls it once, when the configuration names the plugin. An exception, or a
  return value that is not a `Provider`, is reported as that plugin's fault.
- A hook around a stage (the last section) is sync and takes values. Any number of plugins have it: those that the key
  `hooks` names. One that fails is named in a note and skipped, and the run goes on.

A module says `KR_CONTRACT = 2`, the version of this contract that it was written for; without it, KR takes it for 2.
A KR that does not offer that version says so, and what to upgrade.

    import kr_core

    class Settings(kr_core.Settings):
        folder: str = "notes"

    @kr_core.hookimpl
    def kr_source() -> kr_core.Provider[kr_core.Source]:
        return kr_core.Provider(lambda settings, setup: Notes(settings.folder), Settings)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import pluggy
from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import date
    from pathlib import Path

    import httpx

    from kr_core.model import Passage, Report, ResearchQuery
    from kr_core.model.questions import AskResult, EscalationRequest, Question
    from kr_core.protocols import (
        Agent,
        Embedder,
        Escalation,
        Journal,
        Log,
        Lookup,
        Project,
        Renderer,
        Router,
        Runtime,
        Scorer,
        Source,
        Store,
    )
    from kr_core.routing.table import Table

__all__ = [
    "CONTRACT_VERSION",
    "NOUNS",
    "OLDEST_CONTRACT",
    "STAGE_HOOKS",
    "Provider",
    "Settings",
    "Setup",
    "hookimpl",
    "hookspec",
]

CONTRACT_VERSION = 2
"""The version of this contract. A plugin's module says `KR_CONTRACT = 2`, the one it was written for; without it, 2."""
OLDEST_CONTRACT = 2
"""The oldest version that plugins may still be written for."""

hookspec = pluggy.HookspecMarker("kr")
hookimpl = pluggy.HookimplMarker("kr")
"""Marks a function of a plugin's module as the hook with that name."""

Component_co = TypeVar("Component_co", covariant=True)


class Settings(BaseModel):
    """Base class of a plugin's settings: frozen; an unknown key is an error with file and line.

    The docstring below a field is its description. A number in the file is text where the setting is text.

    Names matter. Call a setting that runs a program `command` or `argv`, and one that is an address `url`, `base_url`,
    `host` or similar. A project's configuration may set those, but they work only after `kr trust`. An address also
    works without it if it has the scheme, host and port of a default in these settings, or if it is on this machine and
    the same entry neither takes a secret (`{env: NAME}`) nor chooses what is called there (see `calls_are_chosen`). So
    give the address of your service as a default. A path that leads out of the project works only after `kr trust`,
    too, and so does any path among the settings of an embedder. A plugin takes secrets from its settings alone, never
    from the environment.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, use_attribute_docstrings=True
    )
    calls_are_chosen: ClassVar[bool] = False
    """True if the settings choose not only an address but also what is called there, such as a tool and its
    arguments. Then an address on this machine needs trust, too.
    """
    vouching: ClassVar[tuple[str, ...]] = ()
    """Settings by which a file says that documents of its own project are official. `kr trust` lists them; until the user
    trusts the file, `Setup.trusted` is False, and a source rates such documents as any others.
    """


class Setup(NamedTuple):
    """What a component receives when KR builds it."""

    name: str
    """The plugin's (or instance's) name in the configuration."""
    project: Project
    knowledge_base: Path
    state_folder: Path
    """The project's `.kr/`; created on first use, never in git."""
    cache_folder: Path
    """The user's cache folder, shared by projects."""
    template_folders: tuple[Path, ...]
    """Where KR looks for templates, the user's own first."""
    today: Callable[[], date]
    max_entries: int = 200
    """The limit of entries for a new knowledge base; the engine enforces it."""
    cache_ttl_days: int = 30
    """Default lifetime of an answer, in days, for a new knowledge base."""
    routing: Callable[[], Table] | None = None
    """Returns the rules in force, which may change while the program runs; None outside a pipeline."""
    journal: Callable[[], Journal] | None = None
    """Opens and returns the journal; None outside a pipeline."""
    embedder: Callable[[], Embedder | None] | None = None
    """Returns the configured embedder, or None; raises what building it raises. None outside a pipeline."""
    parallel: int = 1
    """How many runs work at once (`defaults.parallel`); from 2, first come, first served."""
    trusted: bool = True
    """Whether the user trusts the configuration file. Settings that need trust are refused before; see `Settings.vouching`."""
    http: Callable[[float], AbstractAsyncContextManager[httpx.AsyncClient]] | None = None
    """Opens KR's client for a number of seconds, in the running event loop; None outside a pipeline."""


class Provider(NamedTuple, Generic[Component_co]):
    """How to build one component.

    `build(settings, setup)` may open files. KR calls it once for a pipeline, on first use.
    """

    build: Callable[[Any, Setup], Component_co]
    settings: type[Settings] = Settings
    mcp_server: bool = False
    """Whether the source represents an MCP server, which `fallback_if_mcp_unavailable` replaces if KR cannot reach
    it.
    """


# -- the stages of research, in the order in which they are met ------------------------------------------


@hookspec(firstresult=True)
def kr_store() -> Provider[Store]:
    """Provide the knowledge base (configuration key `store`; exactly one).

    KR builds it first in every run. If that fails, the program ends with exit code 3. A later failure is a miss, with a
    note.

        @hookimpl
        def kr_store() -> Provider[Store]:
            return Provider(lambda settings, setup: Files(setup.knowledge_base))
    """


@hookspec(firstresult=True)
def kr_lookup() -> Provider[Lookup]:
    """Provide the look-up, which decides whether a kept report answers (configuration key `lookup`; exactly one).

    When one of its methods raises, takes more than 5 seconds or returns something else, KR's own rules decide, and a note says so.

        @hookimpl
        def kr_lookup() -> Provider[Lookup]:
            return Provider(lambda settings, setup: TopicLookup())
    """


@hookspec(firstresult=True)
def kr_source() -> Provider[Source]:
    """Provide a source (configuration key `knowledge_research.sources`; any number, asked in that order).

    KR builds it on the first miss. If that fails, it is `unavailable`, with the reason, and KR asks the next one.

        @hookimpl
        def kr_source() -> Provider[Source]:
            return Provider(lambda settings, setup: Notes(settings.folder), NotesSettings)
    """


@hookspec(firstresult=True)
def kr_scorer() -> Provider[Scorer]:
    """Provide the scorer (configuration key `scorer`; exactly one).

    If `score` raises or takes more than 5 seconds, the report is `low` and a note says so.

        @hookimpl
        def kr_scorer() -> Provider[Scorer]:
            return Provider(lambda settings, setup: Evidence())
    """


@hookspec(firstresult=True)
def kr_renderer() -> Provider[Renderer]:
    """Provide the renderer (configuration key `renderer`; exactly one).

    If `render` raises or takes more than 15 seconds, the report is plain text and a note says so.

        @hookimpl
        def kr_renderer() -> Provider[Renderer]:
            return Provider(lambda settings, setup: Markdown(setup.template_folders))
    """


@hookspec(firstresult=True)
def kr_embedder() -> Provider[Embedder]:
    """Provide vectors for the search of documents (configuration key `embedder`; one, or none).

    KR builds it on the first search. If it cannot be built or fails, KR searches words alone, and a note says so.

        @hookimpl
        def kr_embedder() -> Provider[Embedder]:
            return Provider(lambda settings, setup: Model(settings.folder), ModelSettings)
    """


# -- questions to agents and people ------------------------------------------------------------------------


@hookspec(firstresult=True)
def kr_router() -> Provider[Router]:
    """Provide a router (configuration key `routers`; any number, asked in that order).

    If it cannot be built or raises, KR asks the next one, then a human.

        @hookimpl
        def kr_router() -> Provider[Router]:
            return Provider(lambda settings, setup: Rules(setup.routing))
    """


@hookspec(firstresult=True)
def kr_agent() -> Provider[Agent]:
    """Provide an agent (configuration key `agents.<name>.plugin`; any number).

    KR builds it when it first asks one of its agents. If it cannot be built or fails, KR asks the agent's fallbacks,
    then a human.

        @hookimpl
        def kr_agent() -> Provider[Agent]:
            return Provider(lambda settings, setup: Service(settings.base_url), ServiceSettings)
    """


@hookspec(firstresult=True)
def kr_escalation() -> Provider[Escalation]:
    """Provide an escalation (configuration key `escalations`; any number, KR uses all of them).

    If it cannot be built or fails, the others still work, and the question waits in the inbox.

        @hookimpl
        def kr_escalation() -> Provider[Escalation]:
            return Provider(lambda settings, setup: Chat(settings.url), ChatSettings)
    """


@hookspec(firstresult=True)
def kr_runtime() -> Provider[Runtime]:
    """Provide the runtime, which hands questions to workers (configuration key `runtime`; one, or `local`).

    With `local` KR builds none: the process that asks does the work. If it cannot be built, the program ends with exit code 3.

        @hookimpl
        def kr_runtime() -> Provider[Runtime]:
            return Provider(lambda settings, setup: Engine(settings.url), EngineSettings)
    """


# -- the record ------------------------------------------------------------------------------------------


@hookspec(firstresult=True)
def kr_journal() -> Provider[Journal]:
    """Provide the journal (configuration key `journal`; exactly one).

    If KR cannot build it or write to it, the program stops, so that nothing is lost.

        @hookimpl
        def kr_journal() -> Provider[Journal]:
            return Provider(lambda settings, setup: SQLite(setup.state_folder))
    """


@hookspec(firstresult=True)
def kr_log() -> Provider[Log]:
    """Provide a log, which receives every event (configuration key `logs`; any number).

    If it cannot be built or raises, the others still work, and its events wait in the journal.

        @hookimpl
        def kr_log() -> Provider[Log]:
            return Provider(lambda settings, setup: JSONLines(setup.state_folder))
    """


# -- around the stages: any number of plugins, named by the configuration key `hooks` -------------------------


@hookspec
def kr_before_consult(query: ResearchQuery, source: str) -> ResearchQuery | None:
    """Look at the query, or change it, before a source is consulted; None leaves it as it is.

    KR calls it once before each consultation. Other sources see the query unchanged. KR removes secrets and code
    afterwards, so that a plugin cannot send what `egress` forbids.

        @hookimpl
        def kr_before_consult(query: ResearchQuery, source: str) -> ResearchQuery:
            return query.model_copy(update={"question": query.question.replace("k8s", "Kubernetes")})
    """


@hookspec
def kr_passages_found(
    query: ResearchQuery, source: str, passages: Sequence[Passage]
) -> Sequence[Passage] | None:
    """Look at the passages that a source found, or leave out, reorder or annotate them; None leaves them as they are.

    KR calls it when a source has found passages, including those of a remembered answer. The texts of passages are
    evidence: to tell the reader something, set `notes`.

        @hookimpl
        def kr_passages_found(passages: Sequence[Passage]) -> Sequence[Passage]:
            return [passage for passage in passages if "/archive/" not in passage.url]
    """


@hookspec
def kr_report_ready(report: Report) -> Report | None:
    """Look at a report, or change it, before KR renders and stores it; None leaves it as it is.

    KR calls it for each report with content. `kr verify` looks up every claim, so add `notes` rather than claims. They are
    in the report and among the notes of this answer; an earlier answer, for which KR calls no hook, has them in its report only.

        @hookimpl
        def kr_report_ready(report: Report) -> Report:
            return report.model_copy(update={"notes": (*report.notes, "Ask #platform before you deploy this.")})
    """


@hookspec
def kr_case_opened(case: EscalationRequest) -> None:
    """See a question that KR escalates to a human. Return None.

    KR calls it when the case is on the record, before the channels show it.

        @hookimpl
        def kr_case_opened(case: EscalationRequest) -> None:
            counter.add(1, {"topic": case.question.topic})
    """


@hookspec
def kr_answer_accepted(exchange: AskResult, question: Question) -> None:
    """See an agent's answer that has passed the gate. Return None.

    KR calls it when the answer is on the record. It does not see people's decisions; logs do.

        @hookimpl
        def kr_answer_accepted(exchange: AskResult) -> None:
            confidence.record(exchange.answer.confidence)
    """


STAGE_HOOKS: dict[str, str] = {
    "kr_before_consult": "query",
    "kr_passages_found": "passages",
    "kr_report_ready": "report",
    "kr_case_opened": "",
    "kr_answer_accepted": "",
}
"""Each hook around a stage, and the argument that it may replace; empty for those that only observe."""

NOUNS: dict[str, str] = {
    "store": "kr_store",
    "lookup": "kr_lookup",
    "source": "kr_source",
    "scorer": "kr_scorer",
    "renderer": "kr_renderer",
    "embedder": "kr_embedder",
    "router": "kr_router",
    "agent": "kr_agent",
    "escalation": "kr_escalation",
    "journal": "kr_journal",
    "log": "kr_log",
    "runtime": "kr_runtime",
}
"""Each kind of plugin and its hook."""
