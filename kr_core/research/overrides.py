"""What an embedding program hands over in place of configured plugins, checked when it is handed over."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from kr_core.errors import ConfigError
from kr_core.protocols import (
    ABILITIES,
    Agent,
    Escalation,
    Journal,
    Log,
    Lookup,
    Renderer,
    Router,
    Scorer,
    Source,
    Store,
    lacking,
    misspelt,
)

__all__ = ["Overrides", "OwnComponents", "check_overrides"]


class OwnComponents(TypedDict, total=False):
    """What an embedding program may give a `Pipeline` in place of configured plugins, by keyword."""

    store: Store | None
    lookup: Lookup | None
    sources: Mapping[str, Source | str] | Sequence[Source | str] | None
    scorer: Scorer | None
    renderer: Renderer | None
    journal: Journal | None
    logs: Mapping[str, Log] | Sequence[Log] | None
    routers: Mapping[str, Router] | Sequence[Router] | None
    agents: Mapping[str, Agent] | None
    escalations: Mapping[str, Escalation] | Sequence[Escalation] | None


class Overrides(NamedTuple):
    """Objects that the embedding program hands over in place of configured plugins."""

    store: Store | None = None
    sources: Mapping[str, Source | str] | None = None
    """A text is the name of a configured plugin or instance."""
    lookup: Lookup | None = None
    scorer: Scorer | None = None
    renderer: Renderer | None = None
    journal: Journal | None = None
    logs: Mapping[str, Log] | None = None
    routers: Mapping[str, Router] | None = None
    agents: Mapping[str, Agent] | None = None
    """By the agents' names in the roster."""
    escalations: Mapping[str, Escalation] | None = None


_PROTOCOLS: dict[str, type] = {
    "store": Store, "lookup": Lookup, "source": Source, "scorer": Scorer, "renderer": Renderer, "journal": Journal, "log": Log,
    "router": Router, "agent": Agent, "escalation": Escalation,
}  # fmt: skip


def check_overrides(objects: Mapping[str, Any]) -> Overrides:
    """What the embedding program hands over, once it is what the protocols ask for.

    Those of a list are called after their `name` or their class, as `ReleaseNotes` -> `release_notes`.

    Args:
        objects: by the names of the fields of `Overrides`; None for what is not handed over.

    Raises:
        ConfigError: an object is not one of its kind, or two of a list have the same name.
    """
    checked: dict[str, Any] = {}
    for name, value in objects.items():
        if name not in Overrides._fields:
            raise TypeError(f"Pipeline() got an unexpected keyword argument {name!r}")
        if name not in _PROTOCOLS:
            checked[name] = _named(value, name.removesuffix("s"))
            continue
        if value is not None:
            _check(value, name, f"Pipeline({name}=...)")
        checked[name] = value
    return Overrides(**checked)


def _named(components: Any, noun: str) -> Mapping[str, Any] | None:
    where = f"Pipeline({noun}s=...)"
    if components is None:
        return None
    if isinstance(components, str) or not isinstance(components, Mapping | Sequence):
        hint = f"hand over a list of {noun}s, or a mapping of names to {noun}s"
        raise ConfigError(f"is {_shown(components)}", where=where, hint=hint)
    mapping = components if isinstance(components, Mapping) else None
    pairs = [(_name_of(each), each) for each in components] if mapping is None else list(mapping.items())
    named: dict[str, Any] = {}
    for number, (name, component) in enumerate(pairs, 1):
        at = (
            f"Pipeline({noun}s={{{name!r}: ...}})"
            if mapping is not None
            else f"Pipeline({noun}s=[...]) number {number}"
        )
        if not isinstance(name, str) or not name.isprintable() or not name.strip():
            raise ConfigError(
                f"{name!r} is not a name", where=at, hint="use letters, digits and _ on one line"
            )
        if name in named:
            raise ConfigError(
                f"two of the {noun}s are called `{name}`",
                where=where,
                hint=f"hand over a mapping of names to {noun}s",
            )
        if not (noun == "source" and isinstance(component, str)):
            _check(component, noun, at)
        named[name] = component
    return named


def _check(component: Any, noun: str, where: str) -> None:
    """Refuse what does not satisfy the protocol of its kind."""
    protocol = _PROTOCOLS[noun]
    if isinstance(component, type):
        hint = f"hand over an object of it: `{component.__name__}(...)`"
        raise ConfigError(f"is the class {component.__name__}, not a {noun}", where=where, hint=hint)
    faults = list(lacking(component, protocol))
    if not faults:
        for fault in misspelt(component, ABILITIES.get(noun, ())):
            what, _, hint = fault.partition(": ")
            raise ConfigError(f"{_shown(component)}: {what}", where=where, hint=hint)
        return
    if len(faults) == _asked(protocol):  # it has nothing of one
        name = f", or the name of a configured {noun}" if noun == "source" else ""
        raise ConfigError(
            f"is {_shown(component)}, not a {noun}", where=where,
            hint=f"hand over an object that offers kr_core.{protocol.__name__}{name}",
        )  # fmt: skip
    raise ConfigError(
        f"{_shown(component)} is not a kr_core.plugin.{protocol.__name__}: {faults[0].partition(':')[0]}", where=where,
        hint=faults[0].partition(": ")[2],
    )  # fmt: skip


def _asked(protocol: type) -> int:
    """How many methods and attributes a protocol asks for."""
    methods = [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]
    return len(methods) + len(protocol.__annotations__)


def _shown(component: Any) -> str:
    """What was handed over, in a word or two."""
    if component is None:
        return "None"
    if isinstance(component, str):
        return f"the text {component[:40]!r}"
    if inspect.isroutine(component):
        return f"the function {component.__name__}"
    return f"an object of {type(component).__name__}"


def _name_of(component: Any) -> Any:
    if isinstance(component, str):
        return component
    name = getattr(component, "name", None)
    if isinstance(name, str) and name:
        return name
    kind = component if isinstance(component, type) else type(component)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()
