"""Sections found by the words of a question, and the share of the question that each one holds."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, NamedTuple

from Stemmer import Stemmer

from kr_core import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_source_example.sections import Section

_IN_HEADING, _ABOVE = 4, 2
"""What a word of the section's heading counts, and one of the headings above it or the path, against one of the text."""
_UNKNOWN = 2
"""A word of the question that stands in no note counts double: the notes may well be about something else."""
_SATURATION, _LENGTH = 1.2, 0.75
"""BM25's k1 and b (S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework, 2009)."""
_CONTENTS = re.compile(r"^\s*[-*+]\s+\[.*\]\(#[^)]*\)\s*$", re.MULTILINE)
"""A line of a table of contents: it names everything and says nothing."""
_english = Stemmer("english")


class Place(NamedTuple):
    """A section and the note it stands in."""

    path: str
    section: Section


class Hit(NamedTuple):
    """A section that holds words of the question."""

    place: Place
    score: float
    coverage: float
    """Share of the question's words that it holds, weighted by rarity, 0-1."""
    covered: frozenset[str]
    """The words of the question that it holds."""


class Index:
    """The words of all sections; for one thread at a time, as the stemmer is."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = tuple(places)
        self._postings: dict[str, dict[int, int]] = defaultdict(dict)
        self._lengths: list[int] = []
        for number, place in enumerate(self._places):
            counts = dict.fromkeys(_stems(_CONTENTS.sub("", place.section.text)), 1)
            self._lengths.append(len(counts))
            above, _, heading = place.section.title.rpartition(" / ")
            counts |= dict.fromkeys(_stems(f"{above} {place.path}"), _ABOVE)
            counts |= dict.fromkeys(_stems(heading), _IN_HEADING)
            for stem, count in counts.items():
                self._postings[stem][number] = count
        self._mean = sum(self._lengths) / max(1, len(self._lengths)) or 1.0

    def search(self, question: str, limit: int) -> list[Hit]:
        """The sections that hold words of the question, best first."""
        asked = self._asked(question)
        total = sum(rarity for rarity, _word in asked.values())
        scores: dict[int, float] = defaultdict(float)
        held: dict[int, list[str]] = defaultdict(list)
        for stem, (rarity, _word) in asked.items():
            for number, count in self._postings.get(stem, {}).items():
                size = 1 - _LENGTH + _LENGTH * self._lengths[number] / self._mean
                scores[number] += rarity * count * (_SATURATION + 1) / (count + _SATURATION * size)
                held[number].append(stem)
        hits = []
        for number, stems in held.items():
            coverage = sum(asked[stem][0] for stem in stems) / total
            words = frozenset(asked[stem][1] for stem in stems)
            # a section with two words of the question once is better than one with one of them often
            hits.append(Hit(self._places[number], scores[number] * coverage, coverage, words))
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def missing(self, question: str) -> tuple[str, ...]:
        """The words of the question that stand in no note."""
        return tuple(word for stem, (_, word) in self._asked(question).items() if stem not in self._postings)

    def _asked(self, question: str) -> dict[str, tuple[float, str]]:
        """The question's words by their stems, each with its rarity."""
        return {_stem(word): (self._rarity(_stem(word)), word) for word in content_words(question)}

    def _rarity(self, stem: str) -> float:
        """BM25's inverse document frequency; more for a word that is unknown."""
        holding = len(self._postings.get(stem, ()))
        rarity = log(1 + (len(self._places) - holding + 0.5) / (holding + 0.5))
        return rarity if holding else _UNKNOWN * rarity


def _stems(text: str) -> set[str]:
    return set(map(_stem, content_words(text)))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_english.stemWord(word)) if word.isascii() else word
