"""The file of lessons: its two forms read tolerantly, and one lesson written; pure.

    - [2026-02-07] [dev-execution, vue] Rows need a fixed height. Ref: src/Grid.vue:12

    ### [2026-02-07] [dev-execution] [3-1]
    Rows need a fixed height | src/Grid.vue

Text from the file becomes lines of text and nothing else: no line of it begins a line of its own anywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import date
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.lessons import PHASES, Lesson
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "LessonsFile",
    "canonical_path",
    "canonical_summary",
    "holds_reference",
    "is_date",
    "line_of",
    "parse",
    "same_words",
]

_PHASES = frozenset(PHASES)
_LEADS = frozenset("-*+#<=>|")
"""The first character of every line that matters; spares a file of 10 MB most of its time."""
_MARK = re.compile(
    r"""[ \t]*(?:
      (?P<item>[-*+][ \t]+(?=\[))
    | (?P<heading>\#{1,6}(?:[ \t]+|$))
    | (?P<conflict><{7}(?=[ ]|$))
    | (?P<part>(?:={7}|>{7}|\|{7})(?=[ ]|$))
    | (?P<rule>-[ \t]*-[ \t]*-[- \t]*$)
    )""",
    re.VERBOSE,
)
_GROUP = re.compile(r"\[([^\[\]]*)\](?!\()[ \t]*")
"""A group in brackets; followed by a parenthesis it would be a link."""
_DATE = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_COMMENT_END = "-->"
_HIDING = ("```", "~~~", _COMMENT_END)
"""Without any of these nothing is hidden."""
_COMMENT = re.compile(r"[ \t]{0,3}<!--")
_REF = re.compile(r"[ (]ref:[ ]?", re.IGNORECASE)
_PLAIN_PATH = re.compile(r"[\w./:#@+-]*[\w/:#@+-]\.?")
_BULLET = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+")


class LessonsFile(NamedTuple):
    """What a file of lessons holds: its lessons in order, and what is none.

    `others` counts the lines that are neither form (headings without brackets, rules and blank lines are not
    counted), `first_other` is the first of them; `conflicts` are the lines where a merge conflict begins.
    """

    lessons: tuple[Lesson, ...]
    others: int
    first_other: int | None
    conflicts: tuple[int, ...]


def parse(text: str) -> LessonsFile:
    """Read a file of lessons.

    An item needs a date and tags, or at least the tag of a phase; a heading likewise. A lesson may go on in
    indented lines; of what stands below a heading the first paragraph counts, up to a vertical bar and the path.
    Lines in a closed code block, or in a comment (`<!--` to `-->`) that begins a line, are no lessons.
    """
    return _LessonsReader(text).read()


def line_of(lesson: Lesson) -> str:
    """Write a dated lesson as one line, which `parse` reads as the same lesson again."""
    stop = "" if lesson.summary.endswith(tuple("!?。！？")) else "."
    day = f"[{lesson.date.isoformat()}] " if lesson.date else ""
    ref = f" Ref: {lesson.path}" if lesson.path else ""
    return f"- {day}[{', '.join(lesson.tags)}] {lesson.summary}{stop}{ref}"


def canonical_summary(text: str) -> str:
    """A summary as it is kept: one line, spaces folded, without the full stop at its end."""
    return printable(" ".join(text.split())).rstrip(" .")


def canonical_path(text: str) -> str | None:
    """A path as it is kept, without the marks around it; None where nothing is left."""
    return printable(" ".join(text.split())).lstrip(" `").rstrip(" `.") or None


def holds_reference(text: str) -> bool:
    """Whether a summary or a path holds what would be read as the beginning of a reference."""
    return _REF.search(f" {text} ") is not None


def is_date(tag: str) -> bool:
    """Whether a tag would be read as the date of its lesson."""
    return _DATE.fullmatch(tag) is not None


def same_words(a: str, b: str) -> bool:
    """Whether two summaries are the same but for case, spaces and the mark at their end."""
    return _level(a) == _level(b)


def _level(summary: str) -> str:
    return " ".join(summary.split()).casefold().rstrip(" .!?。！？")


class _LessonsReader:
    """One pass over the lines of a file."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self._lines = text.split("\n")
        self._fences = _Fences(self._lines) if any(mark in text for mark in _HIDING) else None
        self._lessons: list[Lesson] = []
        self._others = 0
        self._first_other: int | None = None
        self._conflicts: list[int] = []

    def read(self) -> LessonsFile:
        at, last = 0, len(self._lines)
        while at < last:
            line = self._lines[at]
            if line.lstrip(" \t")[:1] in _LEADS:
                at = self._marked(at)
                continue
            if line and not line.isspace():
                self._other(at)
            at += 1
        return LessonsFile(tuple(self._lessons), self._others, self._first_other, tuple(self._conflicts))

    def _marked(self, at: int) -> int:
        """Read what begins at a line that may mean something; returns the line after it."""
        mark = None if self._in_fence(at) else _MARK.match(self._lines[at])
        kind = mark.lastgroup if mark else None
        if mark and kind == "item":
            return self._item(at, mark.end())
        if mark and kind == "heading":
            return self._heading(at, mark.end())
        if kind == "conflict":
            self._conflicts.append(at + 1)
        elif kind is None or (kind == "part" and not self._conflicts):
            self._other(at)
        return at + 1

    def _item(self, at: int, start: int) -> int:
        groups, rest = _groups(self._lines[at], start, most=2)
        head = _head(groups)
        after = at + 1
        if head is not None:
            while after < len(self._lines) and self._goes_on(after):
                after += 1
            more = self._lines[at + 1 : after]
            summary, path = _item_text(" ".join([rest, *more]) if more else rest)
            if summary:
                return self._found(at, after, head, summary, path)
        self._other(at)
        return at + 1

    def _goes_on(self, at: int) -> bool:
        """Whether a line is the indented continuation of an item."""
        line = self._lines[at]
        if line[:1] not in {" ", "\t"} or line.isspace():
            return False
        return not _BULLET.match(line.lstrip(" \t")) and not _starts(line)

    def _heading(self, at: int, start: int) -> int:
        groups, rest = _groups(self._lines[at], start)
        head = _head(groups)
        after, last = at + 1, len(self._lines)
        if head is None:
            return after
        while after < last:
            line = self._lines[after]
            # most lines need no more than this look
            if line and line.lstrip(" \t")[:1] in _LEADS and not self._in_fence(after) and _starts(line):
                break
            after += 1
        summary, path = _body_text(chain([rest], map(self._lines.__getitem__, range(at + 1, after))))
        if summary:
            return self._found(at, after, head, summary, path)
        self._other(at)
        return at + 1

    def _found(self, at: int, after: int, head: _Head, summary: str, path: str | None) -> int:
        lesson = Lesson(line=at + 1, date=head.day, tags=head.tags, summary=summary, path=path)
        self._lessons.append(lesson)
        return after

    def _other(self, at: int) -> None:
        self._others += 1
        if self._first_other is None:
            self._first_other = at + 1

    def _in_fence(self, at: int) -> bool:
        return self._fences is not None and self._fences.hold(at)


class _Fences:
    """The closed code blocks and comments of a file; one that is never closed is none, or it would hide all that follows."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in _closed_fences(lines):
            self._starts.append(start)
            self._ends.append(end)

    def hold(self, at: int) -> bool:
        """Whether a line, from 0, stands in a code block or comment, or is an edge of one."""
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at <= self._ends[before]


def _closed_fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    opened, mark = 0, ""
    last = max((at for at, line in enumerate(lines) if _COMMENT_END in line), default=-1)
    for at, line in enumerate(lines):
        begin = _COMMENT.match(line) if at <= last and mark in {"", _COMMENT_END} else None
        if begin is not None:
            opened, mark = at, _COMMENT_END  # one inside another: that was never closed
        if mark == _COMMENT_END:
            if line.find(_COMMENT_END, begin.end() if begin else 0) >= 0:
                yield opened, at
                mark = ""
            continue
        edge = _FENCE.match(line)
        if edge is None:
            continue
        if not mark:
            opened, mark = at, edge[1]
        elif edge[1].startswith(mark) and not line[edge.end() :].strip():
            yield opened, at
            mark = ""


class _Head(NamedTuple):
    day: date | None
    tags: tuple[str, ...]


def _groups(line: str, at: int, most: int = 9) -> tuple[tuple[str, ...], str]:
    """The groups in brackets from a place on, and what follows them."""
    groups: list[str] = []
    while len(groups) < most and (found := _GROUP.match(line, at)):
        groups.append(found[1].strip())
        at = found.end()
    return tuple(groups), line[at:]


@lru_cache(maxsize=4096)
def _head(groups: tuple[str, ...]) -> _Head | None:
    """The date and the tags in the groups of a lesson, or None for groups that are something else."""
    words = [word.strip() for group in groups for word in group.replace("，", ",").split(",")]
    dates = [found for found in map(_DATE.fullmatch, words) if found]
    tags = tuple(printable(word) for word in words if word and not _DATE.fullmatch(word))
    if not tags or not (dates or not _PHASES.isdisjoint(tags)):
        return None
    return _Head(_day(dates[0]) if dates else None, tags)


def _day(found: re.Match[str]) -> date | None:
    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:  # 30 February
        return None


def _item_text(text: str) -> tuple[str, str | None]:
    """Summary and path of an item; the last `Ref:` counts."""
    if (plain := _plain_text(text)) is not None:
        return plain
    folded = " ".join(text.split())
    at = max(0, folded.rfind(" Ref: "))  # most often the last one in any spelling, and found at once
    last = None
    for found in _REF.finditer(folded, at):
        last = found
    if last is None:
        return canonical_summary(folded), None
    path = folded[last.end() :]
    if last[0].startswith("("):
        path = path.rstrip(" .").removesuffix(")")
    return canonical_summary(folded[: last.start()]), canonical_path(path)


def _plain_text(text: str) -> tuple[str, str | None] | None:
    """The same of an item as KR writes it, in a third of the time; None for any other."""
    if not (text.isascii() and text.isprintable()) or "  " in text or text.startswith(" "):
        return None
    before, ref, path = text.rpartition(" Ref: ")
    if not ref or not _PLAIN_PATH.fullmatch(path):
        return None
    return before.rstrip(" ."), path.rstrip(".")


def _body_text(lines: Iterable[str]) -> tuple[str, str | None]:
    """Summary and path of a heading's text: its first paragraph, up to a vertical bar and the path behind it."""
    paragraph: list[str] = []
    for line in lines:
        text = line.strip()
        if not text and not paragraph:
            continue
        if bullet := _BULLET.match(text):
            text = text[bullet.end() :]
        open_bar = bool(paragraph) and paragraph[-1].endswith("|")
        if not text:
            if paragraph and not open_bar:
                break
            continue
        if open_bar and "|" not in text:
            paragraph[-1] += f" {text}"  # the path on a line of its own
        else:
            paragraph.append(text)
        before, bar, path = paragraph[-1].rpartition("|")
        if bar and path.strip() and not before.endswith("|"):
            return canonical_summary(" ".join([*paragraph[:-1], before])), canonical_path(path)
    return _item_text(" ".join(paragraph).rstrip(" |"))


def _starts(line: str) -> bool:
    """Whether a line begins something of its own, and so ends the lesson above it."""
    mark = _MARK.match(line) if line.lstrip(" \t")[:1] in _LEADS else None
    if mark is None or mark.lastgroup != "item":
        return mark is not None
    return _head(_groups(line, mark.end(), most=2)[0]) is not None
