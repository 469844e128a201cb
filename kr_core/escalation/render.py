"""A case as people read it, as Markdown and on a terminal: all that is needed to decide, and how to answer."""

from __future__ import annotations

import os
import re
import textwrap
from typing import TYPE_CHECKING

from kr_core.escalation.case import letter
from kr_core.escalation.sanitize import as_written, harmless_line, quoted
from kr_core.model.execution_task import GRANT_TOPIC
from kr_core.model.questions import GENERAL
from kr_core.protocols import CaseView
from kr_core.templates import render
from kr_core.terminal_text import columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TextIO

    from kr_core.model.questions import Answer, EscalationRequest, Question

__all__ = ["for_terminal", "shown"]


_MAX_QUESTION_LENGTH = 6_000
"""Characters as they are shown; services take comments of 65,536 in all."""
_MAX_CONTEXT_LENGTH = 8_000
_MAX_ANSWERS_LENGTH = 16_000
"""All answers together."""
_MAX_RATIONALES_LENGTH = 6_000
_MAX_LINE_LENGTH = 250
_MOST_LINES = 20
"""Choices and notes that are listed, and reasons of all answers together."""


def shown(request: EscalationRequest, folders: tuple[Path, ...]) -> CaseView:
    """A case as Markdown, of at most 60,000 characters.

    What models and the web have written is quoted line by line, so that none of it is at the start of a line, where
    replies are read; nothing in it steers a terminal, mentions anybody or ends its quote. What is too long is cut off, and
    says so: `kr inbox show --json` has all of it. What a template leaves out or may hide of what is decided about, KR puts
    before its text.
    """
    question = request.question
    answers = request.alternatives or (() if request.answer is None else (request.answer,))
    of = len(answers) + len(request.outside)
    text = render(
        folders,
        "escalations/case.md.j2",
        id=request.id,
        revision=request.revision,
        reason=_line(request.reason),
        topic=_line(question.topic),
        feature="" if question.feature_id == GENERAL else _line(question.feature_id),
        question=quoted(question.text, _MAX_QUESTION_LENGTH),
        context=quoted(question.context, _MAX_CONTEXT_LENGTH),
        choices=_choices(question),
        answers=[_answer(one, of) for one in answers],
        outside=[_answer(one, of) for one in request.outside],
        letters=[letter(number) for number in range(len(request.alternatives))],
        agent=None if request.agent is None else _line(request.agent),
        partner=None if request.partner is None else _line(request.partner),
        threshold=request.threshold,
        notes=_lines(request.notes),
    )
    own = _decided_about(request)
    held = not _MARKUP.search(text) and all(said in text for _heading, said in own)
    return CaseView(
        request, text if held else "\n\n".join([_OWN_WORDS, *(part for one in own for part in one), text])
    )


_MARKUP = re.compile(r"<[A-Za-z!/?]")
"""In what a template made: HTML may hide what it holds. In texts of others something invisible stands behind each `<`."""
_OWN_WORDS = "**What is decided here** (KR's own words; below it is what the project's template says):"


def _decided_about(request: EscalationRequest) -> list[tuple[str, str]]:
    """What a person decides about in a case: each part with its heading."""
    question = request.question
    parts = [("**Question**:", quoted(question.text, _MAX_QUESTION_LENGTH))]
    if question.topic == GRANT_TOPIC:  # the path and the patch
        parts.append(("**Context**:", quoted(question.context, _MAX_CONTEXT_LENGTH)))
    choices = _choices(question)
    parts += [("**Choices**:", "\n".join(f"- {choice}" for choice in choices))] if choices else []
    of = len(request.alternatives or (request.answer,)) + len(request.outside)
    for number, one in enumerate(request.alternatives):
        parts.append((f"**Answer {letter(number)}**:", quoted(one.content, _MAX_ANSWERS_LENGTH // of)))
    if request.answer is not None and not request.alternatives:
        parts.append(("**Tentative answer**:", quoted(request.answer.content, _MAX_ANSWERS_LENGTH // of)))
    return [(heading, said) for heading, said in parts if said]


def _choices(question: Question) -> list[str]:
    return _lines([f"{letter(number)}: {choice}" for number, choice in enumerate(question.choices)])


def _answer(answer: Answer, of: int) -> dict[str, object]:
    """One of so many answers, as the template has it."""
    return {
        "content": quoted(answer.content, _MAX_ANSWERS_LENGTH // of),
        "rationale": quoted(answer.rationale, _MAX_RATIONALES_LENGTH // of),
        "confidence": answer.confidence,
        "uncertainty_reasons": _lines(answer.uncertainty_reasons, _MOST_LINES // of),
        "agent": _line(answer.agent),
        "model": _line(answer.model),
    }


def _lines(texts: Sequence[str], most: int = _MOST_LINES) -> list[str]:
    more = len(texts) - most
    return [_line(text) for text in texts[:most]] + ([f"and {more} more"] if more > 0 else [])


def _line(text: str) -> str:
    return harmless_line(text, _MAX_LINE_LENGTH)


_WIDEST = 100
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")


def for_terminal(case: str, stream: TextIO) -> str:
    """The text of a case for a stream, as it was written; coloured and wrapped on a terminal with colours.

    It does not render Markdown, which would turn `__init__` in an answer into bold text.
    """
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return as_written(case)
    width = min(_WIDEST, columns(stream, _WIDEST))
    return "\n".join(_styled(line, width) for line in as_written(case).split("\n"))


def _styled(line: str, width: int) -> str:
    if line.startswith("# "):
        return f"\x1b[1;33m{line[2:]}\x1b[0m"
    if line.startswith(">"):
        bar = "\x1b[36m\N{BOX DRAWINGS LIGHT VERTICAL}\x1b[0m "
        return "\n".join(f"{bar}{piece}" for piece in _wrapped(line[2:], width - 2))
    if line.startswith("- "):
        return "\n".join(_wrapped(line, width, "  "))
    if line.startswith("    "):
        return f"\x1b[36m{line}\x1b[0m"
    return _BOLD.sub("\x1b[1m\\1\x1b[0m", line)


def _wrapped(line: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        line,
        max(width, 20),
        subsequent_indent=indent,
        replace_whitespace=False,
        drop_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
