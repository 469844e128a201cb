"""A case as people read it: all that is needed to decide, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.escalation.harmless import clipped, harmless_line, quoted
from kr_core.escalation.options import letter
from kr_core.model.questions import GENERAL
from kr_core.protocols import Case
from kr_core.templating import render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.model.questions import Answer, EscalationRequest

__all__ = ["shown"]

_LONGEST_TEXT = 8_000
"""Characters of a question, a context or a rationale; services take comments of 65,536 in all."""
_LONGEST_ANSWERS = 24_000
"""Characters of all answers together."""
_LONGEST_LINE = 400
_MOST_LINES = 20
"""Reasons, notes and choices that are listed."""


def shown(request: EscalationRequest, folders: tuple[Path, ...]) -> Case:
    """A case as Markdown, of at most some 60,000 characters.

    What models and the web have written is quoted line by line, so that none of it is at the start of a line, where
    replies are read; nothing in it steers a terminal, mentions anybody or ends its quote. What is too long is cut off, and
    says so: `kr inbox show --json` has all of it.
    """
    question = request.question
    answers = request.alternatives or (() if request.answer is None else (request.answer,))
    text = render(
        folders,
        "escalations/case.md.j2",
        id=request.id,
        revision=request.revision,
        reason=_line(request.reason),
        topic=_line(question.topic),
        feature="" if question.feature_id == GENERAL else _line(question.feature_id),
        question=_quote(question.text),
        context=_quote(question.context),
        choices=_lines([f"{letter(number)}: {choice}" for number, choice in enumerate(question.choices)]),
        answers=[_answer(one, _LONGEST_ANSWERS // len(answers)) for one in answers],
        letters=[letter(number) for number in range(len(request.alternatives))],
        agent=None if request.agent is None else _line(request.agent),
        threshold=request.threshold,
        notes=_lines(request.notes),
    )
    return Case(request, text)


def _answer(answer: Answer, longest: int) -> dict[str, object]:
    return {
        "content": quoted(clipped(answer.content.strip(), longest)),
        "rationale": quoted(clipped(answer.rationale.strip(), min(longest, _LONGEST_TEXT))),
        "confidence": answer.confidence,
        "uncertainty_reasons": _lines(answer.uncertainty_reasons),
        "agent": _line(answer.agent),
        "model": _line(answer.model),
    }


def _quote(text: str) -> str:
    return quoted(clipped(text.strip(), _LONGEST_TEXT))


def _lines(texts: Sequence[str]) -> list[str]:
    more = len(texts) - _MOST_LINES
    return [_line(text) for text in texts[:_MOST_LINES]] + ([f"and {more} more"] if more > 0 else [])


def _line(text: str) -> str:
    return harmless_line(clipped(text, _LONGEST_LINE))
