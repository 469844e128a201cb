"""A survey of one index: what it has of a kind, found in its structure, and what else says most of what is asked."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.plugin import Family
from kr_core.toolkit import (
    Focus,
    Pin,
    described_parameters,
    parse_question,
    question_terms,
    rank,
    resolve,
    stem,
    words,
)
from kr_plugins.sources.installed_docs.changes import changelog_entries, difference, marked_changes
from kr_plugins.sources.installed_docs.cited_passages import passage_or_site
from kr_plugins.sources.installed_docs.families import FamilyFinder, FamilyOfNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core import Passage
    from kr_core.plugin import ResearchQuery, SurveyPlan
    from kr_core.toolkit import Hit, IndexedPassage, PassageIndex, Term
    from kr_plugins.sources.installed_docs.changes import ChangedName
    from kr_plugins.sources.installed_docs.cited_passages import Origin

_RANKED = 24
_SHOWN = 8
_SAYS_ENOUGH = 0.34
"""How much of the question a passage says that belongs to no family."""
_SAYS_ITSELF = 0.3
"""And how much of it in its own words: the name of its file alone is not about it."""
_MOST_FAMILIES = 4
_SEVERAL = 2
_WORTH_SHOWING = 0.035
_NEAR_BEST = 0.3
_TELLING_WEIGHT = 0.35
_AS_GOOD = 0.75
_VAGUE = 0.1
_LIKELY = 0.55
"""How likely users ask for a member, beside the likeliest one."""
_OF_FAMILY = 20
_MOST_UNSHOWN = 40
_OF_SHARE = 0.6
"""The coverage of a member that was not ranked, beside what its name and first sentence say of the question."""
_SAID = 0.9
_WARNS = (
    "warning::",
    "untrusted",
    "unsafe",
    "insecure",
    "not safe",
    "not secure",
    "arbitrary code",
    "malicious",
)
_MOST_WARNING = 400
_HALF = 0.5
_IS_CHANGE = 0.6
"""The coverage of a change in the versions asked about."""
_WITH_PARAMETERS = 4
_BEST_KNOWN = 5.0
_MOST_KNOWN = 80
_PARAMETERS = 8
_PARAMETERS_SHOWN = 0.12
_MOST_SUBJECTS = 6
_MOST_CHANGES = 30
"""Entries of changelogs, and as many marks."""


class Survey(NamedTuple):
    """What an index has for a survey."""

    passages: tuple[Passage, ...]
    families: tuple[Family, ...]


def survey(
    index: PassageIndex,
    query: ResearchQuery,
    plan: SurveyPlan,
    names: Sequence[str],
    origin: Origin,
    modules: Sequence[str] = (),
    earlier: tuple[str, PassageIndex] | None = None,
) -> Survey:
    """The passages of the families that a survey is about, then of what else says most of it.

    Args:
        index: where they are looked up.
        query: the question.
        plan: what the survey asks for.
        names: names of the whole, which say nothing about one passage.
        origin: where the passages come from.
        modules: top-level modules that the question names.
        earlier: the version that a question about changes begins with, and its index.
    """
    parsed = parse_question(query.question)
    named = resolve(index, parsed, names, modules)
    pins = [
        Pin(one.entry.passage, one.entry.name)
        for one in named.subjects[:_MOST_SUBJECTS]
        if one.identifier.form != "weak"
    ]
    terms = question_terms(index, plan.about, without=names)
    focus = Focus(modules, pins, frozenset(one.entry.name for one in named.context), by_meaning=not pins)
    ranked = rank(index, terms, _RANKED, focus=focus)
    gathered = _Gathered(origin, {found.passage.title: found.coverage for found in ranked})
    if plan.kind == "changes":
        if earlier is not None:
            _add_difference(earlier, index, terms, gathered)
        _add_changes(index, plan, terms, gathered)
        if gathered.passages:
            return Survey(tuple(gathered.passages.values()), tuple(gathered.families))
    finder = FamilyFinder(index, terms)
    for found in ranked[: len(pins)]:
        gathered.add(found.passage, pinned=True, coverage=max(found.coverage, 0.5))
    families = _chosen(finder, finder.find(ranked)) if _tells(terms) else []
    for family in families:
        gathered.add_family(family, finder)
    if plan.kind == "limits":
        for hit in _warning(index, finder):
            gathered.add(hit.passage, coverage=finder.share(hit))
    for found in ranked[len(pins) :][:_SHOWN]:
        if found.coverage >= _SAYS_ENOUGH and finder.share_of(found.passage) >= _SAYS_ITSELF:
            gathered.add(found.passage, coverage=found.coverage)
    first = [found.passage for found in ranked[:_WITH_PARAMETERS]]
    first += [hit.passage for family in families[:1] for hit in _distinct(family.members)[:_WITH_PARAMETERS]]
    for passage in first:
        _add_parameters(index, terms, passage, gathered)
    is_vague = not families or families[0].worth < _VAGUE
    if plan.kind != "changes" and (not _tells(terms) or (plan.kind == "comparison" and is_vague)):
        _add_overview(index, gathered)
    return Survey(tuple(gathered.passages.values()), tuple(gathered.families))


def _warning(index: PassageIndex, finder: FamilyFinder) -> list[Hit]:
    """The passages with a warning that say most of the question."""
    hits = [hit for hit in index.with_text(_WARNS, _MOST_WARNING) if hit.passage.data.get("public", True)]
    worth = {hit.id: finder.share(hit) * hit.passage.prior**_HALF for hit in hits}
    return [hit for hit in sorted(hits, key=lambda hit: -worth[hit.id]) if finder.share(hit) >= _SAYS_ENOUGH][
        :_SHOWN
    ]


class _Gathered:
    def __init__(self, origin: Origin, ranked: Mapping[str, float]) -> None:
        self._ranked = ranked
        self.passages: dict[str, Passage] = {}
        self.families: list[Family] = []
        self._origin = origin

    def add(self, indexed: IndexedPassage, *, coverage: float, pinned: bool = False) -> str:
        """Add a passage once; its title."""
        passage = passage_or_site(indexed, self._origin)
        key = f"{passage.title} {passage.locator}"
        if key not in self.passages:
            self.passages[key] = passage.model_copy(update={"coverage": min(1.0, coverage), "pinned": pinned})
        return passage.title

    def add_changed(self, one: ChangedName, earlier: str) -> str:
        """Add a name that changed since an earlier version; its title."""
        gone = one.change == "removed"
        url = f"{self._origin.url.rpartition('@')[0]}@{earlier}"
        origin = self._origin._replace(url=url, version=earlier) if gone else self._origin
        now = self._origin.version or "the installed version"
        passage = passage_or_site(one.passage, origin).model_copy(
            update={"coverage": _IS_CHANGE, "changed": f"{one.told} ({now} compared with {earlier})."}
        )
        self.passages[f"{passage.title} {passage.locator}"] = passage
        return passage.title

    def add_family(self, family: FamilyOfNames, finder: FamilyFinder) -> None:
        """Add the first members of a family; of the others their names."""
        members = _varied(_distinct(family.members))
        shown = members[:_OF_FAMILY]
        titles = [
            self.add(hit.passage, coverage=self._ranked.get(hit.passage.title, _OF_SHARE * finder.share(hit)))
            for hit in shown
        ]
        rest = [hit.passage.title for hit in members[_OF_FAMILY:][:_MOST_UNSHOWN]]
        self.families.append(
            Family(
                name=family.name, kind=family.kind, titles=tuple(dict.fromkeys(titles)), unshown=tuple(rest)
            )
        )


def _chosen(finder: FamilyFinder, families: Sequence[FamilyOfNames]) -> list[FamilyOfNames]:
    """The best family, and for each word of the question that it is not about the best one that is."""
    best = families[:1]
    if not best or best[0].worth < _WORTH_SHOWING:
        return []
    for word in finder.telling(_TELLING_WEIGHT):
        if len(best) < _MOST_FAMILIES and not any(finder.speaks_of(one, word) for one in best):
            more = next(
                (one for one in families[1:] if finder.speaks_of(one, word) and not _is_part(one, best)), None
            )
            if more is not None and more.worth >= _NEAR_BEST * best[0].worth:
                best = [*best, more]
    best = list(best)
    spoken = sum(finder.speaks_of(best[0], word) for word in finder.telling(_TELLING_WEIGHT))
    for one in families[1:]:
        if len(best) == _MOST_FAMILIES or not spoken or one.worth < _AS_GOOD * best[0].worth or one in best:
            continue
        if _is_part(one, best):
            continue
        if sum(finder.speaks_of(one, word) for word in finder.telling(_TELLING_WEIGHT)) >= spoken:
            best.append(one)
    return _of_classes(finder, best)


def _is_part(family: FamilyOfNames, best: Sequence[FamilyOfNames]) -> bool:
    """Whether these are the members of a member of a chosen family, which the report already describes."""
    return any(hit.passage.symbol == family.owner for one in best for hit in one.members)


def _of_classes(finder: FamilyFinder, best: list[FamilyOfNames]) -> list[FamilyOfNames]:
    """Where the members of several classes were chosen, the classes: `Lock`, `Event` and `Semaphore`, not what each has."""
    classes = [one for one in best if one.owner.rpartition(".")[2][:1].isupper()]
    hits = [hit for hit in finder.owners(classes) if hit.passage.lead]
    if len(hits) < _SEVERAL:
        return best
    family = FamilyOfNames("classes that the question names", tuple(hits), max(one.worth for one in classes))
    return [family, *(one for one in best if one not in classes)]


def _distinct(members: Iterable[Hit]) -> list[Hit]:
    """The members without those that a documented one of the same name stands for, and what is documented first."""
    members = list(members)
    best = max((hit.passage.prior for hit in members), default=0.0)
    members = [hit for hit in members if hit.passage.prior >= _LIKELY * best]
    documented = [hit for hit in members if hit.passage.lead]
    names = {hit.passage.title.rpartition(".")[2] for hit in documented}
    rest = [
        hit for hit in members if not hit.passage.lead and hit.passage.title.rpartition(".")[2] not in names
    ]
    return [*documented, *rest]


def _tells(terms: Sequence[Term]) -> bool:
    """Whether a survey says what of the library it is about."""
    return any(not term.weak and term.known for term in terms)


def _add_overview(index: PassageIndex, gathered: _Gathered) -> None:
    """Add what a library shows first of all: what its README lists, and its best-known names with their parameters."""
    known = sorted(index.public_names(_BEST_KNOWN), key=lambda entry: -entry.standing)[:_MOST_KNOWN]
    found = _distinct(index.get(list(dict.fromkeys(entry.passage for entry in known))))
    hits = sorted(found, key=lambda hit: -len(hit.passage.data.get("parameters", ())))[: _OF_FAMILY // 2]
    for number, title, _file in index.headings():
        if title.startswith("README") and len(gathered.passages) < _SHOWN:
            gathered.add(index.get([number])[0].passage, coverage=_SAYS_ENOUGH)
    titles = [gathered.add(hit.passage, coverage=_SAYS_ENOUGH) for hit in hits]
    if titles:
        gathered.families.append(Family(name="best-known names", titles=tuple(titles)))
    for hit in hits[:_WITH_PARAMETERS]:
        for parameter in index.parameters_of(hit.passage.symbol or "")[:_OF_FAMILY]:
            if parameter.passage.lead:
                gathered.add(parameter.passage, coverage=_SAYS_ENOUGH)


def _varied(members: Sequence[Hit]) -> list[Hit]:
    """Of many members those first whose names have a word that no name before has: one of each kind."""
    if len(members) <= _OF_FAMILY:
        return list(members)
    seen: set[str] = set()
    first: list[Hit] = []
    for hit in members:
        parts = {stem(part) for part in words(hit.passage.title.rpartition(".")[2])}
        if not parts <= seen:
            first.append(hit)
            seen |= parts
    return [*first, *(hit for hit in members if hit not in first)]


def _add_parameters(
    index: PassageIndex, terms: Sequence[Term], found: IndexedPassage, gathered: _Gathered
) -> None:
    """Add the documented parameters of a callable, those first that the question asks about."""
    symbol = found.symbol if found.parameter is None else None
    if symbol is None:
        return
    for share, one in described_parameters(index, terms, symbol)[:_PARAMETERS]:
        if one.lead and share >= _PARAMETERS_SHOWN:
            gathered.add(one, coverage=share)


def _add_changes(index: PassageIndex, plan: SurveyPlan, terms: Sequence[Term], gathered: _Gathered) -> None:
    """Add the entries of the changelog for the versions asked about, and what says of itself that it changed then."""
    asked = {root for term in terms if not term.weak for root, near in term.alike.items() if near >= _SAID}
    for name, hits in (
        ("entries of the changelog", changelog_entries(index, plan.versions)),
        ("names that say when they changed", marked_changes(index, plan.versions)),
    ):
        kept = [hit for hit in hits if not asked or asked & _told_in(hit.passage)][:_MOST_CHANGES]
        if kept:
            titles = [gathered.add(hit.passage, coverage=_IS_CHANGE) for hit in kept]
            gathered.families.append(Family(name=name, kind="changes", titles=tuple(dict.fromkeys(titles))))


def _add_difference(
    earlier: tuple[str, PassageIndex], index: PassageIndex, terms: Sequence[Term], gathered: _Gathered
) -> None:
    """Add the names that are not what they were in an earlier version, of those that are asked about."""
    version, before = earlier
    asked = {root for term in terms if not term.weak for root, near in term.alike.items() if near >= _SAID}
    kept: list[ChangedName] = []
    times = Counter[str]()
    for one in difference(before, index):
        if not asked or asked & {stem(word) for word in words(f"{one.name} {one.told}")}:
            times[one.change] += 1
            kept += [one] if times[one.change] <= _MOST_CHANGES else []
    if kept:
        titles = [gathered.add_changed(one, version) for one in kept]
        gathered.families.append(
            Family(
                name=f"names that changed since {version}",
                kind="changes",
                titles=tuple(dict.fromkeys(titles)),
            )
        )


def _told_in(passage: IndexedPassage) -> set[str]:
    """The stems by which a change is about a thing: of an entry all, of a symbol those of its name and its deprecation."""
    said = passage.text if passage.kind == "section" else str(passage.data.get("deprecated") or "")
    own = re.split(r" § | / ", passage.title)[-1]
    return {stem(word) for word in words(f"{own} {said}")}
