"""A case as people read it: all that is needed to decide, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.printable import printable
from kr_core.protocols import Case
from kr_core.templating import render

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.model.questions import Answer, EscalationRequest

__all__ = ["shown"]


def shown(request: EscalationRequest, folders: tuple[Path, ...]) -> Case:
    """A case as Markdown.

    What models and the web have written is quoted line by line, so that none of it is at the start of a line, where
    replies are read; and nothing in it steers a terminal.
    """
    text = render(
        folders,
        "escalations/case.md.j2",
        case=request,
        question=_quoted(request.question.text),
        context=_quoted(request.question.context),
        answer=None if request.answer is None else _answer(request.answer),
        alternatives=[_answer(one) for one in request.alternatives],
        notes=[_line(note) for note in request.notes],
        reason=_line(request.reason),
        choices=[_line(choice) for choice in request.question.choices],
        topic=_line(request.question.topic),
    )
    return Case(request, text)


def _answer(answer: Answer) -> dict[str, object]:
    return {
        "content": _quoted(answer.content),
        "rationale": _quoted(answer.rationale),
        "confidence": answer.confidence,
        "uncertainty_reasons": [_line(reason) for reason in answer.uncertainty_reasons],
        "agent": _line(answer.agent),
        "model": _line(answer.model),
    }


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in printable(text.strip()).splitlines())


def _line(text: str) -> str:
    return " ".join(printable(text).split())
