"""A survey of indexed documents: the sections of the pages that say most of what is asked, each with those beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import versions_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import SurveyPlan
    from kr_core.toolkit import DocumentHit, Documents

_LOOKED_AT = 40
_SHOWN = 24
_MOST_PAGES = 3
_BEST = 4
"""So many of its passages say how well a page fits."""
_ABOUT = 0.34
"""How much of the question a passage says that is about it."""
_BESIDE = 0.2
"""The same for one below a heading that is."""
_NEAR_BEST = 0.55
_CALLED = 0.5
_SMALL = 24
"""Passages of a page that is about one thing."""
_LISTS_CHANGES = re.compile(
    r"(?:change[-_]?(?:s|log)|release[-_]?notes?|history|news)\b[^/]*$", re.IGNORECASE
)
"""The name of a page that tells of versions, and not of what is so now."""
_VERSION = re.compile(r"(?:version|release|^v|/ v)\s*(\d+(?:\.\d+)+)", re.IGNORECASE)


class SurveyedSection(NamedTuple):
    """A passage of an overview, and how much of the question it says."""

    hit: DocumentHit
    coverage: float


def survey(documents: Documents, question: str, plan: SurveyPlan) -> list[SurveyedSection]:
    """The sections that a survey is about, those of one page together.

    Args:
        documents: the index.
        question: as it was asked.
        plan: what it asks for.
    """
    asked = plan.about if len(plan.about.split()) > 1 else question
    found = documents.search(asked, _LOOKED_AT)
    shares = dict(zip((hit.stored.id for hit in found), documents.coverage(asked, found).shares, strict=True))
    if plan.kind == "changes" and (changed := _changes(documents, found, plan.versions)):
        return [SurveyedSection(hit, 1.0) for hit in changed]
    pages: dict[int, list[DocumentHit]] = defaultdict(list)
    for hit in found:
        if shares[hit.stored.id] >= _ABOUT and not _LISTS_CHANGES.search(hit.stored.path):
            pages[hit.stored.file].append(hit)
    worth = {
        page: sum(sorted((shares[hit.stored.id] for hit in hits), reverse=True)[:_BEST])
        for page, hits in pages.items()
    }
    best = sorted(pages, key=lambda page: -worth[page])
    best = [page for page in best[:_MOST_PAGES] if worth[page] >= _NEAR_BEST * worth[best[0]]]
    chosen: list[SurveyedSection] = []
    for page in best:
        chosen += _sections(documents, pages[page], asked)[: _SHOWN // len(best)]
    known = {one.hit.stored.id for one in chosen}
    chosen += [
        SurveyedSection(hit, shares[hit.stored.id])
        for page in sorted(pages, key=lambda one: -worth[one])
        for hit in pages[page][:1]
        if page not in best and hit.stored.id not in known
    ][: _SHOWN // 4]
    return chosen


def _sections(documents: Documents, hits: Sequence[DocumentHit], asked: str) -> list[SurveyedSection]:
    """The sections of a page that are about what is asked, in their order: all of a small page, else those beside the hits."""
    page = documents.page_of(hits[0])
    shares = documents.coverage(asked, page).shares
    if len(page) <= _SMALL and _says_title(documents, page[0], asked):
        return [SurveyedSection(hit, share) for hit, share in zip(page, shares, strict=True)]
    heads = {_head(hit) for hit in hits[:_BEST]}
    return [
        SurveyedSection(hit, share)
        for hit, share in zip(page, shares, strict=True)
        if share >= _ABOUT or (_head(hit) in heads and share >= _BESIDE)
    ]


def _says_title(documents: Documents, hit: DocumentHit, asked: str) -> bool:
    """Whether a page is called by most of what is asked: then all of it is about that."""
    title = f"{hit.stored.title} {hit.stored.path}"
    return documents.coverage(asked, [hit._replace(text=title)]).shares[0] >= _CALLED


def _head(hit: DocumentHit) -> str:
    """The headings that a section stands below."""
    return hit.stored.outer or hit.stored.name


def _changes(
    documents: Documents, found: Sequence[DocumentHit], versions: Sequence[str]
) -> list[DocumentHit]:
    """The sections of a page that lists versions, of those asked for."""
    wanted = versions_between(versions)
    seen: set[int] = set()
    for hit in [
        *found,
        *documents.search("changes upgrading checklist changelog release notes version", _LOOKED_AT),
    ]:
        if hit.stored.file in seen:
            continue
        seen.add(hit.stored.file)
        told = [
            one
            for one in documents.page_of(hit)
            if any(wanted(version) for version in _VERSION.findall(f"{one.stored.outer} / {one.stored.name}"))
        ]
        if versions and len(told) > 1:
            return told[: 2 * _SHOWN]
    return []
