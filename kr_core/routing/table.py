"""The rules in force: who answers a question, and how sure an answer must be.

Each of a rule's settings (agent, threshold, always_escalate) holds for a topic where no rule before it has that setting
for it; rules that override come before all others. So the list is read from the top, and a rule whose settings are all
taken by rules before it can never apply, which `check` refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError, suggestion
from kr_core.model.routing import HUMAN, AgentProfile, Route, RoutingRule
from kr_core.routing.topics import covers, folded, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.model.questions import Question

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
        rules: in the order in which they were written.
        agents: the roster by name, in order.
        default_threshold: what an answer needs where neither topic nor agent say.

    Raises:
        ConfigError: a rule names nobody, sets nothing, or can never apply; with where it stands.
    """

    def __init__(
        self, rules: Sequence[PlacedRule], agents: Mapping[str, AgentProfile], default_threshold: int
    ) -> None:
        self.agents = agents
        self.default_threshold = default_threshold
        # rules that override come first, and the order is kept
        self.rules = tuple(sorted(rules, key=lambda placed: not placed.rule.override))
        self._check(rules)

    def route(self, question: Question) -> Route | None:
        """Where a question goes; None where neither a rule nor the asker says.

        Raises:
            ConfigError: the suggested target is no agent, no role and not `human`.
        """
        topic = folded(question.topic)
        suggested = None
        if question.suggested_target is not None:
            suggested = self._suggested(question.suggested_target)
        deciding = next((placed for placed in self._matching(topic) if placed.rule.agent is not None), None)
        if deciding is not None and (deciding.rule.override or suggested is None):
            assert deciding.rule.agent is not None, "it was chosen for that"
            kind = "override rule" if deciding.rule.override else "topic rule"
            return self.routed(topic, deciding.rule.agent, f"{kind} {deciding.told}", deciding)
        if suggested is not None:
            return self.routed(topic, suggested, f"the asker suggested {question.suggested_target}")
        return None

    def routed(self, topic: str, target: str, reason: str, placed: PlacedRule | None = None) -> Route:
        """A route to a target, with the threshold that holds for the topic there."""
        agent = self.agent_of(target)
        threshold, why = self.threshold(topic, agent)
        return Route(
            target=target,
            agent=agent,
            rule=None if placed is None else placed.rule.topic,
            where="" if placed is None else placed.where,
            reason=reason,
            threshold=threshold,
            threshold_reason=why,
            always_escalate=self.always_escalates(topic),
        )

    def threshold(self, topic: str, agent: str | None) -> tuple[int, str]:
        """What an answer needs: the topic's threshold, else the agent's, else the default; and whose it is."""
        for placed in self._matching(folded(topic)):
            if placed.rule.threshold is not None:
                return placed.rule.threshold, f"rule {placed.told}"
        profile = self.agents.get(agent or "")
        if profile is not None and profile.threshold is not None:
            return profile.threshold, f"agent {profile.name}"
        return self.default_threshold, "default"

    def always_escalates(self, topic: str) -> bool:
        """Whether answers of a topic go to a human however sure they are."""
        return any(placed.rule.always_escalate for placed in self._matching(folded(topic)))

    def agent_of(self, target: str) -> str | None:
        """The agent that a target means: itself, or the first of a role; None for a human."""
        if target == HUMAN:
            return None
        if target in self.agents:
            return target
        return next(name for name, profile in self.agents.items() if profile.role == target)

    def targets(self) -> list[str]:
        """Everybody a question can be sent to: agents, roles and `human`."""
        return [*dict.fromkeys([*self.agents, *(one.role for one in self.agents.values()), HUMAN])]

    def _suggested(self, written: str) -> str:
        target = written.strip().removeprefix("@").casefold()
        known = {name.casefold(): name for name in self.targets()}
        if target not in known:
            raise ConfigError(
                f"no agent or role is called `{written}`",
                where="suggested target",
                todo=suggestion(target, self.targets(), "there are"),
            )
        return known[target]

    def _matching(self, topic: str) -> Iterator[PlacedRule]:
        return (placed for placed in self.rules if matches(placed.pattern, topic))

    # -- what a person has to mend -------------------------------------------------------------------------

    def _check(self, rules: Sequence[PlacedRule]) -> None:
        for placed in rules:
            rule = placed.rule
            if rule.agent is not None and rule.agent not in self.targets():
                raise ConfigError(
                    f"the rule for `{rule.topic}` names `{rule.agent}`, which is no agent or role",
                    where=placed.where,
                    todo=suggestion(rule.agent, self.targets(), "there are"),
                )
            if rule.override and rule.agent is None:
                raise ConfigError(
                    f"the rule for `{rule.topic}` overrides the target and names none",
                    where=placed.where,
                    todo="add `agent`, or remove `override`",
                )
        for number, placed in enumerate(self.rules):
            self._refuse_idle(placed, self.rules[:number])

    @staticmethod
    def _refuse_idle(placed: PlacedRule, before: Sequence[PlacedRule]) -> None:
        """Refuse a rule that can never apply."""
        over = [one for one in before if covers(one.pattern, placed.pattern)]
        by: list[PlacedRule] = []
        for name in _set_by(placed.rule):
            taken = next((one for one in over if name in _set_by(one.rule)), None)
            if taken is None:
                return
            by.append(taken)
        if not by:
            raise ConfigError(
                f"the rule for `{placed.rule.topic}` says nothing",
                where=placed.where,
                todo="add `agent`, `threshold` or `always_escalate`",
            )
        first = by[0]
        raise ConfigError(
            f"the rule for `{placed.rule.topic}` can never apply: the one for `{first.rule.topic}` ({first.where})"
            " comes before it and takes all its questions",
            where=placed.where,
            todo="move it up, or remove it",
        )


def _set_by(rule: RoutingRule) -> list[str]:
    """The settings of a rule that decide something; examples may stand anywhere."""
    given = {
        "agent": rule.agent is not None,
        "threshold": rule.threshold is not None,
        "always_escalate": rule.always_escalate,
        "examples": bool(rule.examples),
    }
    return [name for name, there in given.items() if there]
