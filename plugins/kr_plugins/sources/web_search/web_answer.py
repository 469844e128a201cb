"""What pages say about a question: their sections, ranked together, and how many sites say the same."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, repeat, starmap
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, build_index, question_terms, rank, site_of
from kr_plugins.sources.sections import AnswerText, Section, indexed, passage, sections_of
from kr_plugins.sources.web_search.query import framework_words, letters
from kr_plugins.sources.web_search.site_corroboration import Corroboration, PlacedPassage, agreements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import Passage, ResearchQuery
    from kr_core.toolkit import RankedPassage
    from kr_plugins.sources.web_search.result_pages import ReadPage

__all__ = ["WebAnswer", "answer"]

_ABOUT = 0.4
"""A section that holds less of the question is not about it."""
_RANKED = 20
_SHOWN = 6
_OF_ONE_PAGE = 2
_CONTENTS = re.compile(
    r"(?:^|/ )(?:(?:table of )?contents|on this page|in this article|navigation|related (?:topics|articles|posts)|see also)$",
    re.IGNORECASE,
)
"""Sections that name everything and say nothing."""
_BLANK = IndexedPassage(kind="section", title="", text="", locator="")
_ELSEWHERE = 1000
"""Blank passages that stand for the rest of the web: the pages were searched for by the words of the question, so that these
would be taken for common ones, and those that miss their point for telling."""
_MOST = 300_000
"""Characters of a page that are searched."""
_WEAK = 0.25
"""A passage that says so much less than the best one is left out, unless it agrees with another."""
_LIFT = 0.1
"""So much more counts a passage for each further place that says the same."""
_MAX_LIFTS = 2


class WebAnswer(NamedTuple):
    """What the pages say; no passages where none of them is about the question."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    """Words of the question that stand on none of the pages."""


class _Place(NamedTuple):
    page: ReadPage
    section: Section


class _PageHit(NamedTuple):
    location: _Place
    found: RankedPassage
    standing: Corroboration

    @property
    def score(self) -> float:
        return self.found.score * (1 + _LIFT * min(self.standing.agreement - 1, _MAX_LIFTS))


def answer(pages: Sequence[ReadPage], query: ResearchQuery) -> WebAnswer:
    """The sections that say most of what was asked, best first; of pages that never name the framework none.

    A page that says that it is the official documentation is as unofficial as any: nobody vouches for it.
    """
    framework = framework_words(query.framework)
    places = [
        _Place(page, section)
        for page in pages
        if _names(page, framework)
        for section in sections_of(AnswerText(page.text[:_MOST], _clean(page.title) or site_of(page.url)))
        if not _CONTENTS.search(section.title)
    ]
    index = build_index(None, chain(starmap(_indexed, enumerate(places)), repeat(_BLANK, _ELSEWHERE)))
    try:
        terms = question_terms(index, query.question, without=(query.framework, framework))
        ranked = rank(index, terms, _RANKED)
        missing = tuple(term.word for term in terms if not term.known and not term.weak)
    finally:
        index.close()
    about = [(places[found.passage.data["place"]], found) for found in ranked if found.coverage >= _ABOUT]
    said = [
        PlacedPassage(site_of(place.page.url), place.page.text, place.section.text) for place, _found in about
    ]
    standings = agreements(said, f"{framework} {query.question}")
    hits = [
        _PageHit(place, found, standing) for (place, found), standing in zip(about, standings, strict=True)
    ]
    return WebAnswer(tuple(map(_passage, _shown(hits))), missing)


def _names(page: ReadPage, framework: str) -> bool:
    """Whether a page is about the framework at all; signs within the name do not count."""
    name = letters(framework)
    return not name or name in letters(f"{page.url} {page.title} {page.text}")


def _clean(title: str) -> str:
    return " ".join(title.split())[:200]


def _indexed(number: int, place: _Place) -> IndexedPassage:
    return indexed(number, place.section, words=_clean(place.page.title))


def _shown(hits: Sequence[_PageHit]) -> list[_PageHit]:
    """The best hits and those that agree with others: not all of one page, and none that is a copy of one before it."""
    best = sorted(hits, key=lambda hit: (-hit.score, hit.found.passage.data["place"]))
    shown: list[_PageHit] = []
    of: Counter[str] = Counter()
    site_at: dict[int, str] = {}
    for hit in best:
        url, site = hit.location.page.url, site_of(hit.location.page.url)
        is_weak = hit.score < _WEAK * best[0].score and hit.standing.agreement == 1
        if is_weak or of[url] == _OF_ONE_PAGE or site_at.setdefault(hit.standing.location, site) != site:
            continue
        of[url] += 1
        shown.append(hit)
    return shown[:_SHOWN]


def _passage(hit: _PageHit) -> Passage:
    page, section = hit.location
    return passage(
        section,
        section.title,
        hit.found.coverage,
        hit.found.covered,
        url=page.url,
        official=False,
        agreement=hit.standing.agreement,
    )
