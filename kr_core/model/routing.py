"""Rules, the roster, and the way of a question."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kr_core.model.base import Score100, Value, Whole
from kr_core.model.time_limits import TimeLimits

__all__ = ["HUMAN", "LONGEST_PATTERN", "AgentProfile", "Route", "RoutingRule"]

LONGEST_PATTERN = 500
"""Characters of a rule's topic: what a topic of many levels lies below fills the memory."""

HUMAN = "human"
"""The target that is nobody's agent."""


class RoutingRule(Value):
    """How KR treats questions of some topics."""

    topic: str = Field(min_length=1, max_length=LONGEST_PATTERN)
    """One topic, one with all below it (`security/*`), or a pattern (`*-auth`)."""
    agent: str | None = Field(default=None, min_length=1)
    """The agent that answers, a role, or `human`."""
    threshold: Score100 | None = None
    """The confidence that answers need to be accepted."""
    override: bool = False
    """`true`: the rule overrides the target that the question suggests."""
    always_escalate: bool = False
    """`true`: every answer goes to a human."""
    certified: Annotated[Whole, Field(ge=1, le=99)] | None = None
    """A percentage. An answer that meets the threshold still goes to a human until verdicts prove that as many of them are
    right.
    """
    escalation: TimeLimits | None = None
    """Settings for escalated questions of this topic, in place of those in `escalation`."""
    examples: tuple[str, ...] = ()
    """Example questions of this topic. KR proposes a topic from them if a question has none; a proposal decides
    nothing.
    """


class AgentProfile(Value):
    """An agent of the roster as configured, completed with the defaults of its role.

    `plugin` sends its prompts; `knowledge` is a folder of texts that every prompt includes.
    """

    name: str
    plugin: str
    role: str
    model: str | None = None
    timeout_seconds: Annotated[Whole, Field(ge=1)] = 120
    fallback: tuple[str, ...] = ()
    threshold: Score100 | None = None
    persona: str | None = None
    knowledge: str | None = None


class Route(Value):
    """Where a question goes, and why.

    `target` is a role, an agent or `human`; `agent` is None if a human answers. `also` are agents that KR asks at the
    same time. `rule` is the pattern of the rule that decided, `where` its file and line. `certified` is the percentage that
    verdicts must have proven. `proposed_topic` decides nothing.
    """

    target: str
    agent: str | None = None
    also: tuple[str, ...] = ()
    rule: str | None = None
    where: str = ""
    reason: str
    threshold: Score100
    threshold_reason: str = ""
    always_escalate: bool = False
    certified: int | None = None
    proposed_topic: str | None = None
