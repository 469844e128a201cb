"""Answers in spec-kit's own form, and nothing else of the file changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.speckit.lines import FileLine, closed_end, key, lines_of, section
from kr_core.speckit.parser import CLARIFICATIONS, answers_in
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from kr_core.speckit.parser import SpecQuestion

__all__ = ["LONGEST", "replied", "with_answers"]

LONGEST = 1000
"""Characters of an answer in a bullet."""
_MARK = re.compile(r"\[NEEDS CLARIFICATION", re.IGNORECASE)
_OVERVIEWS = {"overview", "summary", "context", "introduction", "background"}


def with_answers(text: str, answers: Iterable[tuple[str, str]], day: dt.date) -> str:
    """The file with answers under `## Clarifications`, in the day's session; those that it has already are left out.

    The section is made where `clarify` makes it: after the file's overview, or before its first section.

    Args:
        text: the file's, with its line ends and its byte order mark, if any.
        answers: question and answer.
        day: of the session.
    """
    there = answers_in(text)
    missing = {key(question): _bullet(question, answer) for question, answer in answers}
    bullets = [bullet for one, bullet in missing.items() if one not in there]
    if not bullets:
        return text
    lines = lines_of(text)
    ends = "\r\n" if "\r\n" in text else "\n"
    position, added = _place(lines, closed_end(text), f"Session {day.isoformat()}", bullets)
    before = "".join(line.raw for line in lines[:position])
    after = "".join(line.raw for line in lines[position:])
    if before and not before.endswith("\n"):
        before += ends
    return before + "".join(f"{line}{ends}" for line in added) + after


def _place(lines: Sequence[FileLine], limit: int, session: str, bullets: list[str]) -> tuple[int, list[str]]:
    """Where new lines go, and which they are: no more than is needed; never behind the limit, where nobody would see them."""
    whole = section(lines, CLARIFICATIONS)
    if whole is None:
        position = min(_start(lines), limit)
        blank = [""] if position and lines[position - 1].raw.strip() else []
        after = [""] if position < len(lines) else []
        return position, [*blank, f"## {CLARIFICATIONS}", "", f"### {session}", "", *bullets, *after]
    today = section(lines, session, *whole)
    first, end = today or whole
    end = min(end, limit)
    last = max(number for number in range(first, end) if lines[number].raw.strip() or number == first)
    if _is_rule(lines[last].text) and last > first:  # a line across the page ends the section: before it
        last = max(number for number in range(first, last) if lines[number].raw.strip() or number == first)
    heading = [] if today else ["", f"### {session}"]
    gap = [""] if not today or last == first else []
    closing = [""] if last + 1 < len(lines) and lines[last + 1].raw.strip() else []
    return last + 1, [*heading, *gap, *bullets, *closing]


def _start(lines: Sequence[FileLine]) -> int:
    sections = [number for number, line in enumerate(lines) if line.level == 2]
    if sections and lines[sections[0]].path[-1].casefold() in _OVERVIEWS:
        sections = sections[1:]
    return sections[0] if sections else len(lines)


def _is_rule(text: str) -> bool:
    return re.fullmatch(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*", text) is not None


def _bullet(question: str, answer: str) -> str:
    return f"- Q: {_one_line(question)} → A: {_one_line(answer)}"


def _one_line(text: str) -> str:
    """A text as part of a bullet: it ends no bullet, hides nothing after it, and marks nothing."""
    line = " ".join(printable(text).split()).replace("→", "->").replace("<!--", "&lt;!--")
    line = _MARK.sub("(NEEDS CLARIFICATION", line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 12]} [shortened]"


def replied(answers: Iterable[tuple[SpecQuestion, str]]) -> str:
    """The reply to blocks with a number, as spec-kit's commands read it: `Q1: A, Q2: Custom - text`."""
    return ", ".join(
        f"Q{found.number}: {_choice(found, answer)}" for found, answer in answers if found.number is not None
    )


def _choice(found: SpecQuestion, answer: str) -> str:
    said = " ".join(printable(answer).split())
    letter = next((letter for letter, option in found.options if option.casefold() == said.casefold()), "")
    return letter or (f"{found.custom} - {said}" if found.custom else said)
