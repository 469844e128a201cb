"""What a human may choose between: the question's choices, or the answers of agents that do not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.model.questions import Answer, EscalationRequest

__all__ = ["letter", "options"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def options(request: EscalationRequest) -> list[tuple[str, Answer | str]]:
    """Each option with the letter that stands for it."""
    listed: tuple[Answer | str, ...] = request.alternatives or request.question.choices
    return [(letter(number), option) for number, option in enumerate(listed)]


def letter(number: int) -> str:
    """The letter of an option, from 0: A to Z, then AA, AB and so on."""
    before, last = divmod(number, len(_LETTERS))
    return (letter(before - 1) if before else "") + _LETTERS[last]
