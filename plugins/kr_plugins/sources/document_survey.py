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

_LOOKED_AT = 120
_SHOWN = 24
_MOST_PAGES = 12
_MOST_UNITS = 3
_BEST, _NEXT = 4, 0.7
"""So many of its passages say how well a unit fits."""
_ABOUT = 0.34
"""How much of the question a passage says that is about it."""
_NEAR_BEST = 0.6
_CALLED = 0.5
_SMALL = 24
"""Passages of a page that is about one thing."""
_WARNS = re.compile(
    r"\b(?:must not|should not|never|cannot|caution|warning|danger\w*|risk\w*|break\w*|not (?:supported|safe|guarantee\w*)|avoid\w*|unsafe|insecure)\b",
    re.IGNORECASE,
)
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
    found = documents.search(question, _LOOKED_AT)
    if plan.kind == "changes" and (changed := _changes(documents, found, plan.versions)):
        return [SurveyedSection(hit, 1.0) for hit in changed]
    found = [hit for hit in found if not _LISTS_CHANGES.search(hit.stored.path)]
    shares = documents.coverage(question, found).shares
    fit = {hit.stored.id: hit.score * share for hit, share in zip(found, shares, strict=True)}
    found.sort(key=lambda hit: -fit[hit.stored.id])
    files = dict.fromkeys(hit.stored.file for hit in found)
    first = {hit.stored.file: hit for hit in reversed(found)}
    pages = {file: documents.page_of(first[file]) for file in [*files][:_MOST_PAGES]}
    depths = {file: _depth(page) for file, page in pages.items()}
    units: dict[_Unit, list[DocumentHit]] = defaultdict(list)
    for hit in found:
        if hit.stored.file in pages:
            units[_unit(hit, depths[hit.stored.file])].append(hit)
    worth = {
        unit: sum(fit[hit.stored.id] * _NEXT**place for place, hit in enumerate(hits[:_BEST]))
        for unit, hits in units.items()
    }
    ranked = sorted(units, key=lambda unit: -worth[unit])
    best = [unit for unit in ranked[:_MOST_UNITS] if worth[unit] >= _NEAR_BEST * worth[ranked[0]]]
    asked = plan.about if len(plan.about.split()) > 1 else question
    chosen = [
        one for unit in best for one in _sections(documents, unit, units[unit], pages[unit.file], asked, plan)
    ]
    shares = documents.coverage(asked, found[:_SHOWN]).shares
    known = {one.hit.stored.id for one in chosen}
    chosen += [
        SurveyedSection(hit, share)
        for hit, share in zip(found[:_SHOWN], shares, strict=True)
        if share >= _ABOUT
        and hit.stored.id not in known
        and fit[hit.stored.id] >= _NEAR_BEST * fit[found[0].stored.id]
    ][: _SHOWN // 4]
    return chosen if any(one.coverage >= _ABOUT for one in chosen) else []


class _Unit(NamedTuple):
    """A text about one thing: a small page, or a section of a large one."""

    file: int
    heading: str


def _depth(page: Sequence[DocumentHit]) -> int:
    """How many headings from the top name a unit of a page; none of a small page, which is one."""
    if len(page) <= _SMALL:
        return 0
    return 1 if len({_headings(one)[0] for one in page}) > 1 else 2


def _unit(hit: DocumentHit, depth: int) -> _Unit:
    return _Unit(hit.stored.file, " / ".join(_headings(hit)[:depth]))


def _headings(hit: DocumentHit) -> list[str]:
    """The headings that lead to a section, and its own."""
    return [*filter(None, hit.stored.outer.split(" / ")), hit.stored.name]


def _sections(
    documents: Documents,
    unit: _Unit,
    hits: Sequence[DocumentHit],
    page: Sequence[DocumentHit],
    asked: str,
    plan: SurveyPlan,
) -> list[SurveyedSection]:
    """The passages of a unit about the question, in its order: all of a small unit with that title, else its hits and those that say as much."""
    depth = _depth(page)
    of_unit = [hit for hit in page if _unit(hit, depth) == unit]
    shares = documents.coverage(asked, of_unit).shares
    found = {hit.stored.id for hit in hits}
    whole = len(of_unit) <= _SMALL and _says_title(documents, of_unit[0], asked)
    return [
        SurveyedSection(hit, share)
        for hit, share in zip(of_unit, shares, strict=True)
        if whole
        or share >= _ABOUT
        or hit.stored.id in found
        or (plan.kind == "limits" and _WARNS.search(hit.text))
    ][:_SHOWN]


def _says_title(documents: Documents, hit: DocumentHit, asked: str) -> bool:
    """Whether a page is called by most of what is asked: then all of it is about that."""
    title = f"{hit.stored.title} {hit.stored.path}"
    return documents.coverage(asked, [hit._replace(text=title)]).shares[0] >= _CALLED


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
