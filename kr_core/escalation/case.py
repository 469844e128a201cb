"""A case: the question put to a human, its state, what was done for it, and what the human may choose between."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from kr_core.escalation.schedule import WAITING, CaseActions, CaseSchedule, Delivery
from kr_core.model.base import Value
from kr_core.model.questions import Answer, EscalationRequest, Resolution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.model.research import ResearchQuery
    from kr_core.model.routing import Route
    from kr_core.protocols import Notice

__all__ = ["Case", "ChatTurn", "ResearchSubject", "letter", "options"]


class ResearchSubject(NamedTuple):
    """The answer of research that a case is about."""

    query: ResearchQuery
    report: str | None
    """The path of its report in the knowledge base; None if it has none."""


class ChatTurn(Value):
    """One turn of a talk about a case: what a human said, or what the agent answered."""

    by: str
    text: str
    answer: Answer | None = None
    """The agent's; None where a human spoke."""
    exchange_id: str
    time: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))


class Case(NamedTuple):
    """A case as it is kept."""

    request: EscalationRequest
    route: Route
    status: str
    version: int
    resolution: Resolution | None = None
    answer: Answer | None = None
    """The final answer, once it is resolved or expired."""
    turns: tuple[ChatTurn, ...] = ()
    """The talk about it, so far."""
    care: CaseActions = CaseActions()
    """What was done for it."""

    @property
    def waits(self) -> bool:
        """Whether no one has decided yet."""
        return self.status in WAITING

    @property
    def since(self) -> dt.datetime:
        """When the present revision was put to a human."""
        return self.care.since or self.request.opened

    @property
    def asking(self) -> bool:
        """Whether its agent is being asked again, with what a human has added."""
        return self.waits and self.care.pending is not None

    @property
    def owes_report(self) -> bool:
        """Whether a human has decided about a research answer, and its report does not say so yet."""
        return self.status == "resolved" and self.request.query is not None and not self.care.report

    @property
    def decided_by_person(self) -> bool:
        """Whether a person gave or confirmed the answer: not time, nor an agent that was asked again."""
        return self.resolution is not None and self.resolution.action not in {
            "add_context",
            "timeout",
            "withdraw",
        }

    @property
    def answered_by(self) -> str:
        """Who gave the answer: the person who decided, or the agent that was sure enough with what a person added."""
        if self.resolution is None:
            return ""
        if self.resolution.action == "add_context" and self.answer is not None:
            return self.answer.agent
        return self.resolution.by

    @property
    def channels(self) -> Mapping[str, Delivery]:
        """What each channel has of it."""
        return self.care.channels

    @property
    def standing(self) -> CaseSchedule:
        """The case as far as it decides what is due."""
        request = self.request
        return CaseSchedule(
            request.id,
            self.status,
            request.revision,
            request.question.topic,
            request.opened,
            request.answer is not None and not request.alternatives,
            self.care,
            self.owes_report,
        )

    def ended(self, notice: Notice, but: str = "") -> Case:
        """The case as it is decided: all channels that may have shown it are to say so, but one.

        Args:
            notice: what they say.
            but: the one that says so otherwise.
        """
        care = self.care._replace(decided=dt.datetime.now(dt.UTC), pending=None)
        for name, state in care.channels.items():
            care = care.with_channel(name, state._replace(faults=0, again=None))
        return self._replace(
            care=care.owing(
                notice, [name for name in care.channels if name != but and care.channels[name].tried]
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """The case as plain values, in the published shape."""
        return {
            "id": self.request.id,
            "status": self.status,
            "revision": self.request.revision,
            "case": self.request.model_dump(mode="json"),
            "resolution": None
            if self.resolution is None
            else self.resolution.model_dump(mode="json", include={"action", "by", "content"}),
        }


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def options(request: EscalationRequest) -> list[tuple[str, Answer | str]]:
    """Each option with the letter that stands for it."""
    listed: tuple[Answer | str, ...] = request.alternatives or request.question.choices
    return [(letter(number), option) for number, option in enumerate(listed)]


def letter(number: int) -> str:
    """The letter of an option, from 0: A to Z, then AA, AB and so on."""
    before, last = divmod(number, len(_LETTERS))
    return (letter(before - 1) if before else "") + _LETTERS[last]
