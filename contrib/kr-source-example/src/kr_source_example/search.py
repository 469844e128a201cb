"""Sections found by KR's own search: an index in memory, and the share of the question that each section holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, build_index, question_terms, rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.toolkit import RankedPassage
    from kr_source_example.sections import Section

_CONTENTS = re.compile(r"^\s*[-*+]\s+\[.*\]\(#[^)]*\)\s*$", re.MULTILINE)
"""A line of a table of contents: it names everything and says nothing."""


class Place(NamedTuple):
    """A section and the note it stands in."""

    path: str
    section: Section


class Hit(NamedTuple):
    """A section that holds words of the question."""

    location: Place
    coverage: float
    """Share of the question's words that it holds, weighted by rarity, 0-1."""
    covered: frozenset[str]
    """The words of the question that it holds."""


class Index:
    """The words of all sections; for one question at a time."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places: list[Place] = []
        self._index = build_index(None, self._listed(places))

    def search(self, question: str, limit: int) -> tuple[list[Hit], tuple[str, ...]]:
        """The sections that hold words of the question, best first, and those of its words that stand in no note."""
        terms = question_terms(self._index, question)
        missing = tuple(term.word for term in terms if not term.known and not term.weak)
        return [self._hit(found) for found in rank(self._index, terms, limit)], missing

    def close(self) -> None:
        """Let go of the memory."""
        self._index.close()

    def _listed(self, places: Iterable[Place]) -> Iterator[IndexedPassage]:
        for number, place in enumerate(places):
            self._places.append(place)
            yield _indexed(number, place)

    def _hit(self, found: RankedPassage) -> Hit:
        return Hit(self._places[found.passage.data["place"]], found.coverage, found.covered)


def _indexed(number: int, place: Place) -> IndexedPassage:
    """A section as it is searched: its headings count most, then its first paragraph, then the rest and the path."""
    path, section = place
    return IndexedPassage(
        kind="section",
        title=section.title,
        text=section.text,
        locator=f"{path}:{section.line}",
        name=section.title,
        lead=section.lead,
        code=section.code,
        words=path,
        prose=_CONTENTS.sub("", section.text),
        data={"place": number},
    )
