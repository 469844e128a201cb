"""The keys of a configuration, their defaults and what each may hold.

A key with nothing after it (`plugins:` and all its lines commented out) has its default. Where nothing is a
value of its own, as in `max_age_days`, it may be written as null, `off`, `no` or `none`. The text below a key is what
docs/reference/configuration.md says about it.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from kr_core.config.plugin_names import (
    DEFAULT_EMBEDDER,
    DEFAULT_ESCALATIONS,
    DEFAULT_LOGS,
    DEFAULT_ROUTERS,
    DEFAULT_RUNTIME,
    SINGLE,
)
from kr_core.model import Egress, MatchTier
from kr_core.model.base import Score100, Whole
from kr_core.model.routing import RoutingRule
from kr_core.model.time_limits import TimeLimits

__all__ = [
    "AgentEntry",
    "AgentTimeouts",
    "Defaults",
    "DetectorEntry",
    "Dispatch",
    "KnowledgeResearch",
    "PluginEntry",
    "Retro",
    "RoleEntry",
    "RoleMapping",
    "Routing",
    "Schema",
    "ScopeEntry",
]


def _nothing(value: Any) -> Any:
    if value is False or (isinstance(value, str) and value.lower() in {"off", "no", "none"}):
        return None
    return value


def _commit(value: Any) -> Any:
    if isinstance(value, str):
        value = value.lower()
    return {True: "auto", "on": "auto", "yes": "auto", False: "off", "no": "off"}.get(value, value)


_MAX_NAMES = 100
"""In a list of plugins, agents, files or patterns."""


def _distinct(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(value) > _MAX_NAMES:
        raise ValueError(f"has more than {_MAX_NAMES} names")
    if twice := next((item for item, count in Counter(value).items() if count > 1), None):
        raise ValueError(f"names {twice!r} twice")
    return value


def _path(value: str) -> str:
    if "\0" in value or not value.strip():
        raise ValueError("must be a path")
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_CENTURY = 36_500  # days; beyond it date arithmetic would overflow, and nobody means it

DetectorName = Literal[
    "unsure_topic",
    "repeated_context",
    "overconfident_agent",
    "outgrown_threshold",
    "uninformative_confidence",
    "needless_escalation",
    "slow_human",
    "unavailable_agent",
    "unknown_topics",
    "overturned_knowledge",
]
Count = Annotated[Whole, Field(ge=1)]
Days = Annotated[Whole, Field(ge=1, le=_CENTURY)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], AfterValidator(_distinct)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {key: value for key, value in values.items() if value is not None or not cls._needs(key)}

    @classmethod
    def _needs(cls, key: object) -> bool:
        field = cls.model_fields.get(str(key))
        return field is not None and type(None) not in get_args(field.annotation)


class KnowledgeResearch(_Section):
    """`knowledge_research`: how research looks, how long it may take and how long answers are kept.

    Days are counted from 1 to a century, calls and entries from 1, scores from 0 to 100.
    """

    enabled: bool = True
    """`false` ends every run at once with status `failure`."""
    knowledge_base_path: Annotated[str, AfterValidator(_path)] = "knowledge-base"
    """The folder of the knowledge base; relative to the project root."""
    sources: Names | None = None
    """Plugins or instances, in the order in which KR asks them. Not set: those of `installed_docs`, `context7`,
    `deepwiki`, `web_search` that are installed. An empty list asks none.
    """
    fallback_if_mcp_unavailable: Annotated[Name | None, BeforeValidator(_nothing)] = "web_search"
    """The source that KR asks instead when it cannot reach the MCP sources of the list."""
    max_calls_per_story: Count = 3
    """How many calls may leave the machine, for each session and story."""
    max_tokens: Count = 1_500
    """How many tokens the passages of a result may have in all (`results.passages`)."""
    timeout_seconds: Annotated[Whole, Field(ge=1, le=600)] | None = None
    """The time limit of one call of a source. Not set: the source's own limit."""
    cache_ttl_days: Days = 30
    """An entry becomes stale when no one has used it for this many days."""
    archive_after_days: Days = 60
    """An entry that no one has used for this many days is a miss, and the next write archives it."""
    max_age_days: Annotated[Days | None, BeforeValidator(_nothing)] = 180
    """An entry becomes stale this many days after its research, used or not; `off` for never. Off if KR reads a BMAD
    configuration.
    """
    max_entries: Count = 200
    """The largest number of entries. Each write archives the least recently used ones beyond it. It overrides the
    number in the index.
    """
    cache_fuzzy_match: bool = True
    """`false`: only the same topic is a hit."""
    cache_match_tiers: Annotated[tuple[MatchTier, ...], Field(min_length=1), AfterValidator(_distinct)] = (
        "full",
        "topic",
        "tags",
    )
    """How KR finds an entry: by framework, topic and tags; by framework and topic; by framework and tags. It tries only
    those in the list.
    """
    version_match: Literal["auto", "major"] = "auto"
    """`auto`: a different minor version makes an entry stale if both sides name one. `major`: only a different major
    version does.
    """
    sufficient_at: Score100 = 0
    """KR stops asking sources when an answer has this score; at 0, any answer about the question is enough."""
    escalate_below: Annotated[Score100 | None, BeforeValidator(_nothing)] = None
    """KR asks a human about answers below this score; the answer comes at once, with a note that names the case. Not
    set: no human is asked.
    """
    lessons_injection_budget: Count = 10
    """How many lessons an agent gets for a phase, at most."""
    git_commit: Annotated[Literal["auto", "off"], BeforeValidator(_commit)] = "off"
    """`auto`: KR commits changes of the knowledge base, and nothing else, if it is in a git work tree and not ignored.
    `off`: you commit. `auto` if KR reads a BMAD configuration.
    """
    agent: Annotated[Name | None, BeforeValidator(_nothing)] = None
    """The agent that writes the Summary and Details of reports from what the sources found. KR checks each sentence
    against the passages that it cites. Not set: KR composes them by rule.
    """


class RoleMapping(_Section):
    """`role_mapping`: who plays which part; BMAD's other roles are accepted and not used."""

    model_config = ConfigDict(extra="allow")

    knowledge_researcher_persona: Annotated[Name | None, BeforeValidator(_nothing)] = None
    """The persona of the agent that writes reports: a BMAD agent of the project (`bmad:bmm:agents:architect`) or a
    file in the project.
    """


class AgentTimeouts(_Section):
    """`defaults.agent_timeout_seconds`: limits of whole runs; those of BMAD's other agents are accepted."""

    model_config = ConfigDict(extra="allow")

    knowledge_research: Annotated[Whole, Field(ge=1, le=86_400)] = 600
    """The time limit of a whole run."""


class Defaults(_Section):
    """`defaults`: what holds for every run."""

    parallel: Count = 1
    """How many runs BMAD starts at once. From 2, runs write to the knowledge base in the order in which they arrive."""
    agent_timeout_seconds: AgentTimeouts = AgentTimeouts()
    agent_timeout_action: Literal["mark_needs_intervention", "retry_once", "skip"] = "mark_needs_intervention"
    """What KR does when a run reaches that limit."""
    max_concurrent: Count = 32
    """How many questions one process works on at once, as with `--batch`."""


class AgentEntry(_Section):
    """`agents.<name>`: an agent of the roster; what is not set of one of the usual roster stays as it is there."""

    plugin: Name | None = None
    """The plugin, or instance of one, that sends its prompts to a model. Not set: `claude_cli`."""
    role: Name | None = None
    """Its role: `architect`, `product`, ... Rules and questions may name the role instead of the agent. An agent
    outside the built-in roster needs one.
    """
    model: Name | None = None
    """Its model. Not set: the model of its role, or the plugin's default."""
    timeout_seconds: Annotated[Whole, Field(ge=1, le=86_400)] | None = None
    """Its time limit. Not set: the limit of its role, or 120."""
    fallback: Names = ()
    """The agents that KR asks in turn when this one fails, before it asks a human."""
    threshold: Score100 | None = None
    """The confidence that its answers need to be accepted. Not set: `routing.default_threshold`. The threshold of a
    topic overrides it.
    """
    persona: Name | None = None
    """Its persona: a file, or the name of a BMAD agent. Not set: the template of its role."""
    knowledge: Annotated[str, AfterValidator(_path)] | None = None
    """A folder of texts that every prompt includes; relative to the project root."""


class RoleEntry(_Section):
    """`roles.<role>`: what holds for all agents of a role that do not say otherwise."""

    model: Name | None = None
    """The model of these agents."""
    timeout_seconds: Annotated[Whole, Field(ge=1, le=86_400)] | None = None
    """The time limit of these agents."""


class Routing(_Section):
    """`routing`: which agent answers which questions, and how sure it must be."""

    default_threshold: Score100 = 80
    """The confidence that an answer needs to be accepted, unless the topic or the agent sets one; 100 sends every
    answer to a human.
    """
    rules: tuple[RoutingRule, ...] | None = None
    """Read from the top: for each of `agent`, `threshold`, `always_escalate`, `certified` and `escalation`, the first rule for the topic that has it
    holds; those with `override` come before all others. Not set: technical topics go to duc, product topics to veuve.
    """


def _empty_is_no_settings(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: {} if settings is None else settings for name, settings in value.items()}


class DetectorEntry(_Section):
    """`retro.detectors.<name>`: when a detector of `kr retro` speaks; what is not set is as the detector has it."""

    enabled: bool = True
    """`false`: KR does not look for this pattern."""
    minimum: Count | None = None
    """How many cases it needs."""
    limit: Annotated[float, Field(ge=0)] | None = None
    """What it measures must reach this; the unit is the detector's."""


class Retro(_Section):
    """`retro`: what `kr retro` looks for, and what it may change."""

    intake_template: Annotated[str, AfterValidator(_path)] = ".specify/templates/spec-template.md"
    """The template of a feature, to which `kr retro accept` adds what people keep adding; relative to the project root."""
    detectors: Annotated[dict[DetectorName, DetectorEntry], BeforeValidator(_empty_is_no_settings)] = {}
    """The detectors that look for other limits than usual, by name."""


WorkerName = Literal["marie", "dede", "gustave", "degaulle"]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
_MAX_PATTERNS = 50


def _few(value: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if value is not None and len(value) > _MAX_PATTERNS:  # each path of a task is held against all of them
        raise ValueError(f"has more than {_MAX_PATTERNS} patterns")
    return value


class ScopeEntry(_Section):
    """`dispatch.scopes.<role>`: what a role may write, as patterns relative to the repository.

    `tests/` covers all below it; `*` and `?` match within a part of a path, `**` any number of parts.
    A list has at most 50 patterns.
    """

    allow: Annotated[tuple[Pattern, ...] | None, BeforeValidator(_as_list), AfterValidator(_few)] = None
    """What it may write. Not set: its usual folders."""
    deny: Annotated[tuple[Pattern, ...], BeforeValidator(_as_list), AfterValidator(_few)] = ()
    """What it may not write, even where `allow` matches. A pattern without `/` counts in every folder."""


class Dispatch(_Section):
    """`dispatch`: who works on the tasks of `kr dispatch`, and where each may write."""

    scopes: Annotated[dict[WorkerName, ScopeEntry], BeforeValidator(_empty_is_no_settings)] = {}
    """The scopes that differ from the usual ones: marie `tests/`; dede `src/`; gustave `k8s/`, `argocd/`, `kustomize/`,
    `helm/`, `.github/workflows/`; degaulle nothing.
    """
    roles: dict[WorkerName, Name] = {}
    """The agents that take a role's tasks. Not set: the agent of the role's name."""


class PluginEntry(_Section):
    """`plugins.<name>`: which plugin it is, and the plugin's own settings as further keys."""

    model_config = ConfigDict(extra="allow")

    use: Name | None = None
    """The plugin that this entry configures under a name of its own. Not set: the name is the plugin's."""
    egress: Egress = "question"
    """What a source may send off the machine: `names` (framework, version, topic and tags), `question` (without code),
    or `code` (the question with its code), which counts only after `kr trust`. KR redacts secrets from all of it.
    """


class Schema(_Section):
    """The whole of a configuration."""

    knowledge_research: KnowledgeResearch = KnowledgeResearch()
    role_mapping: RoleMapping = RoleMapping()
    defaults: Defaults = Defaults()
    status_file_search_paths: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    """KR accepts this key because BMAD's configuration has it; KR never writes story state."""
    store: Name = SINGLE["store"]
    """The plugin that stores the knowledge base."""
    lookup: Name = SINGLE["lookup"]
    """The plugin that decides whether a stored report answers."""
    journal: Name = SINGLE["journal"]
    """The plugin that stores events and budgets."""
    scorer: Name = SINGLE["scorer"]
    """The plugin that rates how sure an answer is."""
    renderer: Name = SINGLE["renderer"]
    """The plugin that turns a report into text."""
    embedder: Annotated[Name | None, BeforeValidator(_nothing)] = DEFAULT_EMBEDDER
    """What turns documents and questions into vectors, so that `kr docs search` and the source `local_docs` find the same
    meaning in other words: `static`, the table that comes with KR, or a plugin such as `minilm`. `none`: KR searches
    words alone.
    """
    runtime: Name = DEFAULT_RUNTIME
    """What does the work: `local`, the process that asks, or a plugin such as `procrastinate`, which hands it to `kr worker` on any
    machine.
    """
    routers: Names = DEFAULT_ROUTERS
    """The plugins that decide where a question goes, in the order in which KR asks them."""
    escalations: Names = DEFAULT_ESCALATIONS
    """The plugins that show a question to a human; KR uses all of them."""
    logs: Names = DEFAULT_LOGS
    """The plugins that receive every event."""
    hooks: Names = ()
    """The plugins that add to a stage, such as `deprecation`. KR calls their hooks before it consults a source, when it
    finds passages, when a report is ready, when a case opens, and when it accepts an answer; plugins take turns in this
    order.
    """
    agents: Annotated[dict[str, AgentEntry], BeforeValidator(_empty_is_no_settings)] = {}
    """The roster, beside the usual one: duc, veuve, marie, dede, gustave and degaulle."""
    roles: Annotated[dict[str, RoleEntry], BeforeValidator(_empty_is_no_settings)] = {}
    """What holds for all agents of a role."""
    routing: Routing = Routing()
    calibration: Literal["raw", "shadow", "calibrated"] = "shadow"
    """What the gate does with what humans said of earlier answers. `raw`: nothing. `shadow`: KR shows what a confidence
    is worth beside it. `calibrated`: the gate uses that value where it predicts the verdicts better.
    """
    audit: bool = True
    """KR draws some accepted answers for a spot check by a human, who decides in the inbox whether they are right; no one
    waits for it. `false`: none.
    """
    retro: Retro = Retro()
    """What `kr retro` looks for."""
    dispatch: Dispatch = Dispatch()
    """Who works on the tasks of `kr dispatch`."""
    escalation: TimeLimits = TimeLimits()
    """How long a human may take, and what follows when nobody answers."""
    plugins: Annotated[dict[str, PluginEntry], BeforeValidator(_empty_is_no_settings), Field(repr=False)] = {}
    """Each plugin's own settings as written; its own model checks them when it is built.

    Not printed with the rest, since a token may have been written there in the clear.
    """
