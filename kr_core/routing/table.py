"""The rules in force: who answers a question, and how sure an answer must be.

Each of a rule's settings (agent, threshold, always_escalate, certified, escalation) holds for a topic where no rule before it has that setting
for it; rules that override come before all others. So the list is read from the top. KR refuses a rule that can never apply, since
rules before it with the same pattern, or one that has all its topics, take its settings; `kr route --explain` shows what else decides.
A rule's examples decide nothing, and may stand anywhere.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError, suggestion
from kr_core.model.routing import HUMAN, AgentProfile, Route, RoutingRule
from kr_core.routing.patterns import Patterns, folded, nothing_fits
from kr_core.routing.topic_classifier import Proposer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.model.questions import Question
    from kr_core.model.time_limits import TimeLimits

__all__ = ["UNKNOWN_TOPIC", "PlacedRule", "Table"]

UNKNOWN_TOPIC = "unknown topic"


class PlacedRule(NamedTuple):
    """A rule and where it stands (`kr.yaml:12`)."""

    rule: RoutingRule
    where: str

    @property
    def pattern(self) -> str:
        """The rule's topic, folded."""
        return folded(self.rule.topic)

    @property
    def told(self) -> str:
        """The rule as messages name it."""
        return f"{self.rule.topic} ({self.where})"


class Table:
    """The rules in force, over a roster.

    Args:
        rules: the rules, in the order in which they were written.
        agents: the roster by name, in order.
        default_threshold: the confidence that an answer needs if neither the topic nor the agent sets one.
        only_agent: who is asked where nothing else decides; None for a human.

    Raises:
        ConfigError: a rule names an unknown agent, sets nothing, or can never apply; with its file and line.
    """

    def __init__(
        self,
        rules: Sequence[PlacedRule],
        agents: Mapping[str, AgentProfile],
        default_threshold: int,
        only_agent: str | None = None,
    ) -> None:
        self.agents = agents
        self._only_agent = only_agent
        self.default_threshold = default_threshold
        # rules that override come first, and the order is kept
        self.rules = tuple(sorted(rules, key=lambda placed: not placed.rule.override))
        self._patterns = Patterns(placed.pattern for placed in self.rules)
        self._names = list(dict.fromkeys([*agents, *(one.role for one in agents.values()), HUMAN]))
        self._known = {name.casefold(): name for name in self._names}
        self._check(rules)

    def route(self, question: Question) -> Route | None:
        """Where a question goes; None if neither a rule nor the question says.

        A rule that overrides sends it to its own target alone, and ignores suggested targets.

        Raises:
            ConfigError: a suggested target is not an agent, a role or `human`, or a human is one of several.
        """
        topic = folded(question.topic)
        suggested = self._suggested(question)
        deciding = next((placed for placed in self._matching(topic) if placed.rule.agent is not None), None)
        if deciding is not None and (deciding.rule.override or not suggested):
            assert deciding.rule.agent is not None, "it was chosen for that"
            kind = "override rule" if deciding.rule.override else "topic rule"
            return self.routed(topic, deciding.rule.agent, f"{kind} {deciding.told}", deciding)
        if not suggested:
            return None
        route = self.routed(topic, suggested[0], f"the asker suggested {', '.join(suggested)}")
        agents = list(dict.fromkeys(agent for agent in map(self.agent_of, suggested) if agent is not None))
        if len(agents) < 2:
            return route
        threshold, why = max((self.threshold(topic, one) for one in agents), key=lambda found: found[0])
        return route.model_copy(
            update={"also": tuple(agents[1:]), "threshold": threshold, "threshold_reason": why}
        )

    def unknown(self, question: Question) -> Route:
        """The route of a question without a rule or target: to the only agent, or to a human with a proposed topic."""
        if self._only_agent is not None:
            return self.routed(
                folded(question.topic), self._only_agent, "the only agent that is configured, without rules"
            )
        route = self.routed(folded(question.topic), HUMAN, UNKNOWN_TOPIC)
        proposed = self._proposer.propose(f"{question.topic} {question.text}")
        return route.model_copy(update={"proposed_topic": proposed})

    @cached_property
    def _proposer(self) -> Proposer:
        return Proposer(placed.rule for placed in self.rules)

    def routed(self, topic: str, target: str, reason: str, placed: PlacedRule | None = None) -> Route:
        """A route to a target, with the threshold that applies to the topic and the target."""
        agent = self.agent_of(target)
        threshold, why = self.threshold(topic, agent)
        escalating = self._escalating(topic)
        return Route(
            target=target,
            agent=agent,
            rule=None if placed is None else placed.rule.topic,
            where="" if placed is None else placed.where,
            reason=reason,
            threshold=threshold,
            threshold_reason=why if escalating is None else f"rule {escalating.told}",
            always_escalate=escalating is not None,
            certified=self._certified(topic),
        )

    def threshold(self, topic: str, agent: str | None) -> tuple[int, str]:
        """The threshold for an answer and where it comes from: topic, otherwise agent, otherwise default."""
        for placed in self._matching(folded(topic)):
            if placed.rule.threshold is not None:
                return placed.rule.threshold, f"rule {placed.told}"
        profile = self.agents.get(agent or "")
        if profile is not None and profile.threshold is not None:
            return profile.threshold, f"agent {profile.name}"
        return self.default_threshold, "default"

    def is_topics_own(self, topic: str) -> bool:
        """Whether a rule sets the threshold of a topic: no map of confidences makes that easier to pass."""
        return any(placed.rule.threshold is not None for placed in self._matching(folded(topic)))

    def limits(self, topic: str) -> TimeLimits | None:
        """The rules' escalation settings for a topic; None if there are none."""
        matching = (placed.rule.escalation for placed in self._matching(folded(topic)))
        return next((limits for limits in matching if limits is not None), None)

    def agent_of(self, target: str) -> str | None:
        """The agent behind a target: the agent itself, or the first with that role; None for a human."""
        if target == HUMAN:
            return None
        if target in self.agents:
            return target
        return next(name for name, profile in self.agents.items() if profile.role == target)

    def targets(self) -> list[str]:
        """All possible targets of a question: agents, roles and `human`."""
        return self._names

    def _suggested(self, question: Question) -> list[str]:
        written = [] if question.suggested_target is None else [question.suggested_target]
        targets: list[str] = []
        for one in (*written, *question.also):
            target = one.strip().removeprefix("@").casefold()
            if target not in self._known:
                several = all(name.strip() in self._known for name in target.split(","))
                hint = suggestion(target, self.targets(), "there are")
                raise ConfigError(
                    f"no agent or role is called `{one}`",
                    where="suggested target",
                    hint="repeat `--target` for each of them" if several else hint,
                )
            targets.append(self._known[target])
        if HUMAN in targets and len(set(targets)) > 1:
            raise ConfigError(
                "a human cannot be one of several targets",
                where="suggested target",
                hint="name the agents alone: where they are not sure, or do not agree, a human decides",
            )
        return list(dict.fromkeys(targets))

    def _escalating(self, topic: str) -> PlacedRule | None:
        """The rule that sends every answer of a topic to a human."""
        return next((placed for placed in self._matching(folded(topic)) if placed.rule.always_escalate), None)

    def _certified(self, topic: str) -> int | None:
        """The percentage that must be proven for a topic."""
        asked = (placed.rule.certified for placed in self._matching(topic))
        return next((percent for percent in asked if percent is not None), None)

    def _matching(self, topic: str) -> Iterator[PlacedRule]:
        return (self.rules[number] for number in self._patterns.matching(topic))

    # -- what a person has to mend -------------------------------------------------------------------------

    def _check(self, rules: Sequence[PlacedRule]) -> None:
        for placed in rules:
            rule = placed.rule
            if not placed.pattern:
                raise ConfigError(
                    f"`{rule.topic}` is no topic",
                    where=placed.where,
                    hint="write words, or `*` for all topics",
                )
            if nothing_fits(placed.pattern):
                raise ConfigError(
                    f"the rule for `{rule.topic}` can never apply: no topic fits it",
                    where=placed.where,
                    hint="mend its brackets: `[a-z]` is one letter from a to z",
                )
            if rule.agent is not None and rule.agent not in self.targets():
                raise ConfigError(
                    f"the rule for `{rule.topic}` names `{rule.agent}`, which is not an agent or role",
                    where=placed.where,
                    hint=suggestion(rule.agent, self.targets(), "there are"),
                )
            if rule.override and rule.agent is None:
                raise ConfigError(
                    f"the rule for `{rule.topic}` overrides the target and names none",
                    where=placed.where,
                    hint="add `agent`, or remove `override`",
                )
        for number, placed in enumerate(self.rules):
            covering = self._patterns.covering(placed.pattern)
            _refuse_idle(placed, [self.rules[one] for one in covering if one < number])


def _refuse_idle(placed: PlacedRule, before: Sequence[PlacedRule]) -> None:
    """Refuse a rule that says nothing, or whose settings rules before it take that have all its topics."""
    rule = placed.rule
    settings = _set_by(rule)
    if not settings and not rule.examples:
        raise ConfigError(
            f"the rule for `{rule.topic}` says nothing",
            where=placed.where,
            hint="add `agent`, `threshold`, `always_escalate`, `certified` or `escalation`",
        )
    by = [next((one for one in before if name in _set_by(one.rule)), None) for name in settings]
    if not by or None in by:
        return
    first = by[0]
    assert first is not None
    overrides = first.rule.override and not rule.override
    does = (
        "overrides it for all its topics" if overrides else "comes before it and decides for all its topics"
    )
    raise ConfigError(
        f"the rule for `{rule.topic}` can never apply: the one for `{first.rule.topic}` ({first.where}) {does}",
        where=placed.where,
        hint="remove one of them" if overrides else "move it up, or remove it",
    )


def _set_by(rule: RoutingRule) -> list[str]:
    """The settings of a rule that decide something."""
    given = {
        "agent": rule.agent is not None,
        "threshold": rule.threshold is not None,
        "always_escalate": rule.always_escalate,
        "certified": rule.certified is not None,
        "escalation": rule.escalation is not None,
    }
    return [name for name, there in given.items() if there]
