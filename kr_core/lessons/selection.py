"""Which lessons an agent is handed, and the block of text that holds them; pure."""

from __future__ import annotations

import re
import textwrap
from datetime import date
from itertools import takewhile
from typing import TYPE_CHECKING

from kr_core.knowledge.matching import keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model.lessons import Lesson

__all__ = ["LINES", "MAX_PATH_LENGTH", "WIDTH", "block", "lines_taken", "of_phase", "select"]

WIDTH = 80
LINES = 2
"""A lesson takes at most so many lines of so many characters, its number and its path included."""

MAX_PATH_LENGTH = 100
"""A longer path is cut at its beginning."""
_PATH_OF_ONE_LINE = WIDTH - 10
_CUT = " ..."
_TITLE = re.compile(r"\[(\s*LESSONS\s*)\]", re.IGNORECASE)


def of_phase(lessons: Iterable[Lesson], phase: str) -> list[Lesson]:
    """The lessons that have the phase among their tags, exactly."""
    return [lesson for lesson in lessons if phase in lesson.tags]


def select(lessons: Sequence[Lesson], budget: int, about: str = "") -> list[Lesson]:
    """Choose the newest lessons, those of one day by how much they share with what the caller is about.

    What is left equal is decided by the place in the file, where the newest stand last. A lesson without a date is
    older than all others.
    """
    newest = sorted(lessons, key=lambda lesson: (_day(lesson), lesson.line), reverse=True)
    ours = keywords(about) if about.strip() else frozenset()
    if ours and len(newest) > 1:
        last = _day(newest[: max(1, budget)][-1])
        # only those that may be chosen are looked at: their words cost more than all the rest
        contenders = takewhile(lambda lesson: _day(lesson) >= last, newest)
        shared = _SharedKeywords(ours)
        newest = sorted(contenders, key=lambda lesson: (_day(lesson), shared.of(lesson)), reverse=True)
    return newest[:budget]


def block(phase: str, lessons: Sequence[Lesson]) -> str:
    """The block that an agent is handed: a title, and a numbered line for each lesson; empty where there is none.

    No lesson begins a line of its own or repeats the title, whatever its text.
    """
    if not lessons:
        return ""
    lines = [_shown(f"{number}. ", lesson.summary, lesson.path) for number, lesson in enumerate(lessons, 1)]
    return "\n".join([f"[LESSONS] {phase} phase warnings:", *lines]) + "\n"


def lines_taken(summary: str, path: str | None) -> int:
    """How many lines of 80 characters a lesson takes in a block, in one of the first 99 places."""
    return len(_wrapped(_line("00. ", summary, path)))


def _day(lesson: Lesson) -> date:
    return lesson.date or date.min


class _SharedKeywords:
    """How many keywords lessons share with a text; each word of theirs is looked at once.

    The keywords of a word take fifty times as long as the look whether it can have any of those.
    """

    def __init__(self, ours: frozenset[str]) -> None:
        self._ours = ours
        self._may_share = _beginnings(ours)
        self._known: dict[str, frozenset[str]] = {}

    def of(self, lesson: Lesson) -> int:
        found: set[str] = set()
        for word in " ".join([lesson.summary, *lesson.tags, lesson.path or ""]).split():
            shared = self._known.get(word)
            if shared is None:
                may = self._may_share.search(word.lower()) or not word.isascii()
                shared = self._known[word] = keywords(word) & self._ours if may else frozenset()
            found |= shared
        return len(found)


def _beginnings(stems: Iterable[str]) -> re.Pattern[str]:
    """What is found in every lower-case ASCII word that has one of some stems: its first letters.

    A stem begins as its word does, but for the end of a short one (`ays` has `ai`, `ating` has `ate`). A number may stand
    behind a slash (`HTTP/2` has `http2`), and what is `+` or `#` in a word is spelt out in its stem.
    """
    found = (re.match(r"[a-z]{1,3}|[^a-z]+", stem) for stem in stems if stem.isascii())
    parts = (each[0][: (len(each.string) + 1) // 2] for each in found if each)
    return re.compile("|".join([*map(re.escape, dict.fromkeys(parts)), r"\+", "#"]))


def _shown(number: str, summary: str, path: str | None) -> str:
    """A lesson as one line, its summary cut where the whole would take too many, and then its path."""
    summary = _TITLE.sub(r"(\1)", summary[: LINES * WIDTH + 1])
    if path is None:
        return _fitted(number, summary, None)
    path = _TITLE.sub(r"(\1)", path)
    line = _fitted(number, summary, _end(path, MAX_PATH_LENGTH))
    if len(_wrapped(line)) > LINES:  # a long word in it takes a line, and what is beside it a third
        line = _fitted(number, summary, _end(path, _PATH_OF_ONE_LINE))
    return line


def _fitted(number: str, summary: str, path: str | None) -> str:
    line = _line(number, summary, path)
    size = LINES * WIDTH - len(_line(number, _CUT, path))
    while len(_wrapped(line)) > LINES and size:
        line = _line(number, _cut(summary, size), path)
        size -= 1
    return line


def _end(path: str, size: int) -> str:
    return path if len(path) <= size else f"...{path[3 - size :]}"


def _cut(text: str, size: int) -> str:
    """The beginning of a text, up to a word's end where one is near."""
    kept = text[:size]
    if not text[size : size + 1].isspace():
        word = kept.rpartition(" ")[0]
        kept = word if len(word) > size // 2 else kept
    return kept.rstrip() + _CUT


def _line(number: str, summary: str, path: str | None) -> str:
    return f"{number}{summary} -- {path}" if path else f"{number}{summary}"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, break_on_hyphens=False)
