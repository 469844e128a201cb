"""Which plugins a configuration names, and by which keys; told from plain values, without the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.config.config_file import KeyPath

__all__ = [
    "DEFAULT_CHAIN",
    "DEFAULT_EMBEDDER",
    "DEFAULT_ESCALATIONS",
    "DEFAULT_LOGS",
    "DEFAULT_ROUTERS",
    "DEFAULT_RUNTIME",
    "DOCUMENTS_SOURCE",
    "LISTED",
    "OFF",
    "SINGLE",
    "NamedPlugin",
    "dotted",
    "named_in",
    "plugin_of",
]

SINGLE = {
    "store": "files",
    "lookup": "match",
    "journal": "sqlite",
    "scorer": "evidence",
    "renderer": "markdown",
}
"""The kinds of which there is exactly one, with its name where none is configured."""
OFF = (None, False, "off", "no", "none")
"""How nothing is written where a kind may be left out, `embedder`."""
DEFAULT_LOGS = ("jsonl",)
DEFAULT_ROUTERS = ("rules",)
DEFAULT_ESCALATIONS = ("stdout",)
LISTED = {
    "routers": ("router", DEFAULT_ROUTERS),
    "escalations": ("escalation", DEFAULT_ESCALATIONS),
    "logs": ("log", DEFAULT_LOGS),
    "hooks": ("hook", ()),
}
"""The keys that list any number of a kind: which kind, and the names where none are configured."""
DEFAULT_EMBEDDER = "static"
"""The vectors that are shipped with KR; no plugin."""
DEFAULT_RUNTIME = "local"
"""The process that asks does the work; no plugin."""
DEFAULT_CHAIN = ("installed_docs", "context7", "deepwiki", "web_search")
"""The sources asked where none are configured, as far as they are installed."""
DOCUMENTS_SOURCE = "local_docs"
"""The source that answers from what `kr docs` has indexed. Expeditions ask it too where no source is configured."""


class NamedPlugin(NamedTuple):
    """A plugin or instance that a configuration names."""

    noun: str
    name: str
    key: KeyPath
    """The key that names it."""
    by_default: bool = False
    """Whether nobody asked for it: a source of the default chain, which may be missing."""


def named_in(values: Mapping[str, Any]) -> list[NamedPlugin]:
    """The plugins that a configuration names; sources of the default chain where it names none.

    Args:
        values: a configuration as written, or as dumped from the schema; a key that is not there has its default.

    Raises:
        TypeError: a key holds something else than a name, or than a list of names.
    """
    found = [NamedPlugin(noun, _name(_or(values.get(noun), name)), (noun,)) for noun, name in SINGLE.items()]
    for key, (noun, default) in LISTED.items():
        names = _names(_or(values.get(key), default))
        found += [NamedPlugin(noun, name, (key, number)) for number, name in enumerate(names)]
    for agent, entry in _mapping(values.get("agents")).items():
        plugin = _mapping(entry).get("plugin")
        if plugin is not None:
            found.append(NamedPlugin("agent", _name(plugin), ("agents", agent, "plugin")))
    if (embedder := values.get("embedder")) not in (*OFF, DEFAULT_EMBEDDER):
        found.append(NamedPlugin("embedder", _name(embedder), ("embedder",)))
    if (runtime := _or(values.get("runtime"), DEFAULT_RUNTIME)) != DEFAULT_RUNTIME:
        found.append(NamedPlugin("runtime", _name(runtime), ("runtime",)))
    sources = _mapping(values.get("knowledge_research")).get("sources")
    below = ("knowledge_research", "sources")
    if sources is None:
        return [*found, *(NamedPlugin("source", name, below, by_default=True) for name in DEFAULT_CHAIN)]
    found += [NamedPlugin("source", name, (*below, number)) for number, name in enumerate(_names(sources))]
    return found


def plugin_of(values: Mapping[str, Any], name: str) -> str:
    """The plugin that a name stands for: what `plugins.<name>.use` says, or the name itself.

    Raises:
        TypeError: a key on the way holds something else than a mapping, or than a name.
    """
    return _name(_or(_mapping(_mapping(values.get("plugins")).get(name)).get("use"), name))


def dotted(key: KeyPath) -> str:
    """A key as people write it: `knowledge_research.sources[1]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) and text else f".{part}"
    return text.lstrip(".")


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("not a name")
    return value


def _names(values: Any) -> list[str]:
    if not isinstance(values, list | tuple):
        raise TypeError("not a list of names")
    return [_name(value) for value in values]


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict | None):
        raise TypeError("not a mapping")
    return value or {}
