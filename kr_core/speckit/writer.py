"""Answers in spec-kit's own form: a bullet each, and in the place of the marker; nothing else of the file changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.speckit.lines import FileLine, closed_end, key, lines_of, section
from kr_core.speckit.spec_parser import CLARIFICATIONS, read
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.speckit.spec_parser import SpecFile, SpecQuestion
    from kr_core.speckit.spec_question import MarkerPlace

__all__ = ["LONGEST", "replied", "with_answers"]

LONGEST = 1000
"""Characters of an answer in a bullet."""
_MARK = re.compile(r"\[(NEEDS CLARIFICATION[^\[\]]*+)(?P<closed>\])?", re.IGNORECASE)
_MARKED = re.compile(r"\bNEEDS CLARIFICATION\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*+(?:(?:[-*+>]|\d{1,9}[.)])\s++)*+")
"""What begins a line, and is followed by what may be a block of its own."""
_BLOCK = re.compile(
    r"\A(?P<number>\d{1,9}(?=[.)](?:\s|$)))?(?(number)|(?=[#>|]|`{3}|~{3}|[-+*](?:\s|$)|(?:[-=*_]\s*+){2,}+$))"
)
"""Where a backslash makes an answer text that would begin a heading, a list, a table, code or a line across the page."""
_OVERVIEWS = {"overview", "summary", "context", "introduction", "background"}


def with_answers(text: str, answers: Iterable[tuple[str, str]], day: dt.date) -> str:
    """The file with answers under `## Clarifications`, in the day's session, and in place of the markers that they answer.

    What has a bullet already gets no other one. Where a bullet of the file answers a marker, its answer takes the marker's place,
    as `specify` has it: `plan` stops on what is marked. The section is made where `clarify` makes it: after the file's overview,
    or before its first section.

    Args:
        text: the file's, with its line ends and its byte order mark, if any.
        answers: question and answer.
        day: of the session.
    """
    file = read(text)
    given = {key(question): (question, answer) for question, answer in answers}
    bullets = [_bullet(*both) for one, both in given.items() if one not in file.answers]
    whole = {one: answer for one, (_, answer) in given.items()}
    filled = _filled(text, file, {**file.answers, **whole})
    return _with_bullets(filled, bullets, f"Session {day.isoformat()}") if bullets else filled


def _with_bullets(text: str, bullets: list[str], session: str) -> str:
    lines = lines_of(text)
    ends = "\r\n" if "\r\n" in text else "\n"
    position, added = _place(lines, closed_end(text), session, bullets)
    before = "".join(line.raw for line in lines[:position])
    after = "".join(line.raw for line in lines[position:])
    if before and not before.endswith("\n"):
        before += ends
    return before + "".join(f"{line}{ends}" for line in added) + after


def _filled(text: str, file: SpecFile, answers: Mapping[str, str]) -> str:
    """The file with answers in place of markers.

    A question that quotes the other markers of its line would become another one by their answers, so its line waits for it.
    """
    waiting = {
        one.place.line for one in file.asked if one.place and not one.by_itself and one.key not in answers
    }
    raw = [line.raw for line in lines_of(text)]
    for one in reversed([one for one in file.asked if one.place is not None]):
        answer = answers.get(one.key)
        if one.place is None or answer is None or waiting & {one.place.line, one.place.last_line}:
            continue
        if not _MARKED.search(answer) and answer.strip():
            _replace(raw, one.place, _one_line(answer))
    return "".join(raw)


def _replace(raw: list[str], place: MarkerPlace, answer: str) -> None:
    """Put an answer in the place of a marker; the lines that it goes over become one."""
    mark = "\ufeff" if place.line == 0 and raw[0].startswith("\ufeff") else ""
    line = raw[place.line].removeprefix("\ufeff") if mark else raw[place.line]
    rest = raw[place.last_line][place.end :] if place.last_line > place.line else line[place.end :]
    before = line[: place.column]
    raw[place.line : place.last_line + 1] = [f"{mark}{before}{_within(answer, before)}{rest}"]


def _within(answer: str, before: str) -> str:
    """An answer as a part of a line: it begins no heading, list, table or code."""
    if answer.count("`") % 2:
        answer = answer.replace("`", "'")
    if before.lstrip().startswith("|"):
        answer = answer.replace("|", "\\|")
    if _ITEM.fullmatch(before):
        answer = _BLOCK.sub(lambda found: f"{found[0]}\\", answer, count=1)
    return answer


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
    line = _MARK.sub(lambda mark: f"({mark[1]})" if mark["closed"] else f"({mark[1]}", line)
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
