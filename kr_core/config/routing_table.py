"""The roster and the rules that a configuration comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.errors import ConfigError, suggestion
from kr_core.model.routing import HUMAN, AgentProfile
from kr_core.routing.defaults import DEFAULT_PLUGIN, ROSTER, RULES
from kr_core.routing.table import PlacedRule, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.config.config_file import KeyPath
    from kr_core.config.schema import Schema
    from kr_core.model.routing import RoutingRule

__all__ = ["changed", "roster", "table"]


def roster(settings: Schema, origin: Callable[[KeyPath], str]) -> dict[str, AgentProfile]:
    """The agents by name: the usual ones, with what the configuration says of them, and then its own.

    Raises:
        ConfigError: an agent has no role, a name or role that means something else, or a fallback that is nobody.
    """
    names = [*ROSTER, *(name for name in settings.agents if name not in ROSTER)]
    agents = {name: _profile(name, settings, origin) for name in names}
    roles = {agent.role for agent in agents.values()}
    _check_names(settings, agents, origin)
    for name in settings.agents:
        for number, other in enumerate(agents[name].fallback):
            if other not in agents or other == name:
                what = "itself" if other == name else f"`{other}`, which is not an agent"
                raise ConfigError(
                    f"`agents.{name}.fallback` names {what}",
                    where=origin(("agents", name, "fallback", number)),
                    hint=suggestion(other, [one for one in agents if one != name], "agents"),
                )
    for role in settings.roles:
        if role not in roles:
            raise ConfigError(
                f"no agent has the role `{role}`",
                where=origin(("roles", role)),
                hint=suggestion(role, roles, "roles"),
            )
    return agents


def _check_names(settings: Schema, agents: dict[str, AgentProfile], origin: Callable[[KeyPath], str]) -> None:
    """Refuse what would be two things under one name; askers write names in any case of letters."""
    known = {HUMAN: "a person"}
    known |= {agent.role.casefold(): "a role" for agent in agents.values()}
    first = {name.casefold(): name for name in reversed(agents)}
    for name in settings.agents:
        folded = name.casefold()
        if folded in known or first[folded] != name:
            raise ConfigError(
                f"an agent cannot be called `{name}`, which is {known.get(folded, f'the agent `{first[folded]}`')}",
                where=origin(("agents", name)),
                hint="give it another name",
            )
    for name, agent in agents.items():
        folded = agent.role.casefold()
        if folded == HUMAN or folded in first:
            raise ConfigError(
                f"`agents.{name}.role` cannot be `{agent.role}`, which is {'a person' if folded == HUMAN else 'an agent'}",
                where=origin(("agents", name, "role")),
                hint="give it another role",
            )


def _profile(name: str, settings: Schema, origin: Callable[[KeyPath], str]) -> AgentProfile:
    usual = ROSTER.get(name)
    entry = settings.agents.get(name)
    given = {} if entry is None else entry.model_dump(exclude_none=True, exclude_unset=True)
    role = given.get("role", usual.role if usual else None)
    if role is None:
        raise ConfigError(
            f"`agents.{name}` has no role", where=origin(("agents", name)), hint="add `role: ...`"
        )
    of_role = settings.roles.get(role)
    inherited = {} if of_role is None else of_role.model_dump(exclude_none=True)
    return AgentProfile.model_validate(
        {"plugin": DEFAULT_PLUGIN, **inherited, **given, "name": name, "role": role}
    )


def table(settings: Schema, origin: Callable[[KeyPath], str]) -> Table:
    """The rules in force.

    Raises:
        ConfigError: roster or rules are wrong; with file and line.
    """
    rules, agents = settings.routing.rules, roster(settings, origin)
    if rules is None:
        placed = [_default(rule, settings, agents) for rule in RULES]
    else:
        placed = [PlacedRule(rule, origin(("routing", "rules", number))) for number, rule in enumerate(rules)]
    only = next(iter(settings.agents)) if len(settings.agents) == 1 and not rules else None
    return Table(placed, agents, settings.routing.default_threshold, only)


def _default(rule: RoutingRule, settings: Schema, agents: dict[str, AgentProfile]) -> PlacedRule:
    """A default rule; its agent yields to one that is set up, where itself is not: the only one, or one of its role."""
    usual = rule.agent
    assert usual is not None, "a default rule says who answers"
    if usual in settings.agents:
        return PlacedRule(rule, "default rules")
    # who only changes a setting of a usual agent relies on the others as they are
    own = [
        name for name in settings.agents if name not in ROSTER or agents[name].plugin != agents[usual].plugin
    ]
    of_role = [name for name in own if agents[name].role == agents[usual].role]
    other = next(iter(of_role or own), None) if of_role or len(settings.agents) == 1 else None
    if other is None:
        return PlacedRule(rule, "default rules")
    return PlacedRule(rule.model_copy(update={"agent": other}), f"default rules, {other} in place of {usual}")


def changed(before: Table, rules: Sequence[RoutingRule]) -> Table:
    """The same roster under other rules, which a program gives at run time.

    Raises:
        ConfigError: a rule is wrong; it is named by its number, from 1.
    """
    placed = [PlacedRule(rule, f"rule {number}") for number, rule in enumerate(rules, 1)]
    return Table(placed, before.agents, before.default_threshold)
