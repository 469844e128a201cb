"""Texts that a service answered, as passages: their sections, verbatim, with how much of the question each holds."""

from __future__ import annotations

import re
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Passage
from kr_core.toolkit import IndexedPassage, build_index, question_terms, rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "ABOUT",
    "LONGEST_NAME",
    "MOST_CHARACTERS",
    "MOST_SECTIONS",
    "AnswerText",
    "BestSections",
    "Section",
    "indexed",
    "passage",
    "search",
    "sections_of",
]

ABOUT = 0.4
"""A section that holds less of the question is shown only where no other one is about it."""
_SHOWN = 5
_LONGEST = 3000
"""Characters; a longer section is divided at blank lines, since a passage should be small enough to be cited."""
MOST_CHARACTERS = 400_000
"""Characters of one answer that are looked at: some tools return everything they have."""
MOST_SECTIONS = 5_000
"""Of one answer; a page that people write has some hundred."""
LONGEST_NAME = 200
"""Characters of a heading or a title: each section below it has it, and is searched by it."""
_CUT = re.compile(rf".{{1,{_LONGEST}}}(?:\s|$)|.{{{_LONGEST}}}")
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)([^`]*+)$")
_HEADING = re.compile(
    r" {0,3}(#{1,6})[ \t]++((?:[^ \t\n]++|[ \t]++(?!#*+[ \t]*+$))*+)(?:[ \t]++#++)?+[ \t]*+$"
)
_NOT_PROSE = ("<", "|", "![", ">")


class AnswerText(NamedTuple):
    """One text of an answer."""

    text: str
    name: str
    """What a section is called that stands below no heading."""
    title: str = ""
    """The same, where the service calls it so: then it is searched, too."""


class Section(NamedTuple):
    """What stands below one heading, or a part of it."""

    name: str
    title: str
    """The headings that lead to it, outermost first; empty where there is none."""
    text: str
    lead: str
    """The first paragraph, folded into one line; empty where there is none."""
    code: tuple[str, ...]
    """What stands between fences, dedented."""


class BestSections(NamedTuple):
    """The sections that say most of what was asked, best first; where none says anything of it, the first one."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    """Words of the question that none of them holds."""
    cut: bool
    """Whether there was more than is looked at."""


class _SectionHit(NamedTuple):
    section: Section
    coverage: float
    covered: frozenset[str]


class _SectionLine(NamedTuple):
    text: str
    kind: str
    """`prose`, `code`, `fence` or `heading`."""
    level: int = 0
    heading: str = ""


def search(texts: Iterable[AnswerText], question: str, **values: Any) -> BestSections:
    """The sections of some texts that hold words of the question; takes up to a second for the longest.

    Args:
        texts: in the order of the answer, read as Markdown.
        question: what was asked.
        values: what each passage says besides, such as its `url`.
    """
    sections: list[Section] = []
    left = MOST_CHARACTERS
    for one in texts:
        sections += sections_of(one._replace(text=one.text[:left]))
        left -= len(one.text)
        if left <= 0 or len(sections) > MOST_SECTIONS:
            break
    cut = left < 0 or len(sections) > MOST_SECTIONS
    del sections[MOST_SECTIONS:]
    index = build_index(None, map(indexed, range(len(sections)), sections))
    try:
        terms = question_terms(index, question)
        ranked = rank(index, terms, _SHOWN)
        missing = tuple(term.word for term in terms if not term.known and not term.weak)
    finally:
        index.close()
    about = [found for found in ranked if found.coverage >= ABOUT] or ranked[:1]
    hits = [
        _SectionHit(sections[found.passage.data["place"]], found.coverage, found.covered) for found in about
    ]
    hits = hits or [_SectionHit(section, 0.0, frozenset()) for section in sections[:1]]
    passages = (passage(hit.section, hit.section.name, hit.coverage, hit.covered, **values) for hit in hits)
    return BestSections(tuple(passages), missing, cut)


def indexed(place: int, section: Section, words: str = "") -> IndexedPassage:
    """A section as it is searched; `data["place"]` of a hit is the place given here, `words` are searched besides."""
    return IndexedPassage(
        kind="section",
        title=section.title,
        text=section.text,
        locator="",
        name=section.title,
        lead=section.lead,
        code=section.code,
        words=words,
        data={"place": place},
    )


def passage(section: Section, name: str, coverage: float, covered: frozenset[str], **values: Any) -> Passage:
    """A section as it is cited, by this name; `values` are what a passage of its source says besides, such as its `url`."""
    return Passage(
        text=section.text,
        locator=name,
        title=name,
        lead=section.lead,
        kind="section",
        code=section.code,
        coverage=coverage,
        covered=covered,
        **values,
    )


def sections_of(text: AnswerText) -> Iterator[Section]:
    """The sections of a text in Markdown, verbatim and in order, one more than are looked at in the longest."""
    return islice(_sections_of(text), MOST_SECTIONS + 1)


def _sections_of(text: AnswerText) -> Iterator[Section]:
    trail: list[_SectionLine] = []
    for lines in _parts(_lines(text.text)):
        if lines[0].level:
            trail = [*(outer for outer in trail if outer.level < lines[0].level), lines[0]]
        title = " / ".join(outer.heading for outer in trail if outer.heading) or text.title[:LONGEST_NAME]
        for piece in _pieces(lines):
            if any(line.kind != "heading" and line.text.strip() for line in piece):
                whole = "\n".join(line.text for line in piece).strip("\n").rstrip()
                yield Section(title or text.name, title, whole, _lead(piece), tuple(_code(piece)))


def _lines(text: str) -> Iterator[_SectionLine]:
    fence = ""
    for line in re.split(r"\r\n|\r|\n", text):
        mark, marked = _FENCE.match(line), _HEADING.match(line)
        if fence:
            closing = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closing else fence
            yield _SectionLine(line, "fence" if closing else "code")
        elif mark:
            fence = mark[1]
            yield _SectionLine(line, "fence")
        elif marked:
            yield _SectionLine(line, "heading", len(marked[1]), marked[2].strip()[:LONGEST_NAME])
        else:
            yield from (_SectionLine(piece, "prose") for piece in _CUT.findall(line) or [""])


def _parts(lines: Iterable[_SectionLine]) -> Iterator[list[_SectionLine]]:
    """The lines above the first heading, and those of each heading."""
    part: list[_SectionLine] = []
    for line in lines:
        if line.level and part:
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _pieces(lines: Sequence[_SectionLine]) -> Iterator[list[_SectionLine]]:
    """The lines of a section, divided at blank lines where there are too many characters."""
    piece: list[_SectionLine] = []
    size = 0
    for line in lines:
        limit = _LONGEST if not line.text.strip() else 2 * _LONGEST
        if size > limit and line.kind == "prose":
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += len(line.text) + 1
    yield piece


def _lead(lines: Sequence[_SectionLine]) -> str:
    for prose, block in groupby(lines, lambda line: line.kind == "prose" and bool(line.text.strip())):
        folded = " ".join(" ".join(line.text for line in block).split())
        if prose and not folded.startswith(_NOT_PROSE):
            return folded
    return ""


def _code(lines: Sequence[_SectionLine]) -> Iterator[str]:
    for kind, block in groupby(lines, lambda line: line.kind):
        texts = [line.text for line in block]
        if kind == "code" and any(text.strip() for text in texts):
            indent = min(len(text) - len(text.lstrip()) for text in texts if text.strip())
            yield "\n".join(text[indent:].rstrip() for text in texts).strip("\n")
