"""An answer that a human judged, and one that a human is to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RESEARCH", "Judged", "OpenCheck", "Quantity", "Subject", "says_right", "subject_of"]

Quantity: TypeAlias = Literal["agent", "research"]
"""What a confidence measures: what an agent states of itself, or the score of research. A map has one of them."""


class Subject(NamedTuple):
    """Whose confidence it is: a map is fitted for each, and a certificate speaks of one."""

    quantity: Quantity
    agent: str
    """The agent; `research` for the answers of research."""
    model: str
    prompt: str
    """The version of the prompt."""


RESEARCH = Subject("research", "research", "", "")
"""The subject of all answers of research: its score is of one kind, also where an agent wrote the text."""


class Judged(NamedTuple):
    """An answer that a human judged."""

    subject: Subject
    topic: str
    confidence: int
    """As it was stated, 0-100."""
    right: bool
    probability: float | None
    """With which the gate asked a human about an answer that met the threshold; None for one that did not."""
    run: str
    """Its exchange, or the run of research."""


class OpenCheck(NamedTuple):
    """An accepted answer that waits for a spot check."""

    id: str
    """Such as `S7`."""
    subject: Subject
    topic: str
    confidence: int
    probability: float
    """With which it was drawn."""
    run: str
    time: str
    """When it was accepted, in ISO 8601."""


def subject_of(data: Mapping[str, Any]) -> Subject:
    """The agent that an entry names; what an older version did not write is empty."""
    agent, model, prompt = (
        value if isinstance(value := data.get(name), str) else "" for name in ("agent", "model", "prompt")
    )
    return Subject("agent", agent, model, prompt)


def says_right(action: str, said: str, answer: str) -> bool | None:
    """What a reply says of an answer: more context means that it was not good enough; a withdrawal means nothing.

    Args:
        action: what the human did.
        said: what the human wrote.
        answer: the agent's.
    """
    if action == "confirm":
        return True
    if action == "withdraw":
        return None
    return action != "add_context" and _same(said) == _same(answer)


def _same(text: str) -> str:
    return " ".join(text.casefold().split())
