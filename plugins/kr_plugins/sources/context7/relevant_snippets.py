"""The snippets that are about a question, best first, as passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.plugin import Passage
from kr_core.toolkit import IndexedPassage, build_index, question_terms, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import ResearchQuery
    from kr_core.toolkit import PassageIndex, Term
    from kr_plugins.sources.context7.libraries import Library
    from kr_plugins.sources.context7.library_versions import RequestedVersion
    from kr_plugins.sources.context7.snippets import Snippet

_ABOUT = 0.4
"""What holds less of the question is not about it."""
_NEAR = 0.25
"""Where nothing is about it, the two that are nearest are shown, if they hold so much; the chain goes on all the same."""
_SHOWN = 6
_HELD = 0.5
"""What a word counts that a snippet holds, against 1 for one that it does not hold."""
_WEAK = 0.3
"""What ordinary English counts against words that say what the question is about."""


class RelevantSnippets(NamedTuple):
    """What is about the question."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    """Words of the question that stand in no snippet."""


class _SnippetHit(NamedTuple):
    snippet: Snippet
    coverage: float
    covered: frozenset[str]


def answer(
    snippets: Sequence[Snippet], library: Library, chosen: RequestedVersion, query: ResearchQuery
) -> RelevantSnippets:
    """Rank the snippets by KR's own search; what is not about the question is dropped."""
    if not snippets:
        return RelevantSnippets((), ())
    index = build_index(None, map(_indexed, range(len(snippets)), snippets))
    try:
        names = {query.framework, library.title} - {""}
        terms = question_terms(index, query.question, without=names) or question_terms(index, query.question)
        coverage = _coverage(index, terms)
        ranked = [(found.passage.data["place"], found.covered) for found in rank(index, terms, len(snippets))]
    finally:
        index.close()
    hits = [_SnippetHit(snippets[place], coverage[place], covered) for place, covered in ranked]
    # among those that hold as much of the question, the search has put the better first
    hits.sort(key=lambda hit: -round(hit.coverage, 1))
    hits = [hit for hit in hits if hit.coverage >= _ABOUT] or [hit for hit in hits if hit.coverage >= _NEAR][
        :2
    ]
    missing = tuple(term.word for term in terms if not term.known and not term.weak)
    return RelevantSnippets(tuple(_passage(hit, library, chosen) for hit in hits[:_SHOWN]), missing)


def _coverage(index: PassageIndex, terms: Sequence[Term]) -> dict[int, float]:
    """How much of the question each snippet holds, 0-1, by its place.

    Rarity, by which KR's search weighs words, misleads here. The service chose these few snippets by the question, so what
    stands in all of them is not common: it is the subject. And one that does not stand in a snippet counts twice as
    much as one that does, since without it the snippet is likely about something else: what sets the height of a row
    does not set its colour. A word of the same meaning counts in part.
    """
    held: dict[int, dict[str, float]] = {}
    for term in terms:
        for root, likeness in term.alike.items():
            for number, _field in index.postings(root):
                words = held.setdefault(number, {})
                words[term.word] = max(likeness, words.get(term.word, 0.0))
    single = [term for term in terms if " " not in term.word]
    return {
        hit.passage.data["place"]: _share(single, held.get(hit.id, {}))
        for hit in index.get(range(1, index.size + 1))
    }


def _share(terms: Sequence[Term], held: dict[str, float]) -> float:
    weights = [(_WEAK if term.weak else 1.0, min(1.0, held.get(term.word, 0.0))) for term in terms]
    gained = sum(weight * _HELD * likeness for weight, likeness in weights)
    lost = sum(weight * (1.0 - likeness) for weight, likeness in weights)
    return gained / (gained + lost) if gained else 0.0


def _indexed(place: int, snippet: Snippet) -> IndexedPassage:
    return IndexedPassage(
        kind="section",
        # no two are alike, and ties are broken by the service's own order
        title=f"{place:03} {snippet.title}",
        text=snippet.text,
        locator=snippet.locator,
        name=snippet.title,
        lead=snippet.lead,
        code=snippet.code,
        data={"place": place},
    )


def _passage(hit: _SnippetHit, library: Library, chosen: RequestedVersion) -> Passage:
    snippet = hit.snippet
    return Passage(
        text=snippet.text,
        url=snippet.url or library.page(chosen.tag),
        locator=snippet.locator,
        title=snippet.title,
        lead=snippet.lead,
        kind="section",
        code=snippet.code,
        version=chosen.version,
        official=library.official,
        coverage=hit.coverage,
        covered=hit.covered,
    )
