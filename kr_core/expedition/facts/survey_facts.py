"""Facts taken from the passages of an overview: what each of its subjects is, its warnings, its changes.

Such a passage is about the question by where it stands: its documentation begins with what matters most, so its first sentences are
facts, even without a word of the question.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.sentences import (
    documentation,
    explained_value,
    is_pointer,
    prose,
    says_something,
    sentences,
)
from kr_core.expedition.facts.axiom import category_of, of_quote
from kr_core.expedition.facts.extraction import directives, instructs, marks, warnings
from kr_core.expedition.passage_pool import title_of
from kr_core.expedition.survey_plan import short_name
from kr_core.question.analysis import versions_between
from kr_core.text import STOP_WORDS, root_of, roots, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import Passage, SurveyPlan
    from kr_core.model.expedition import Axiom

__all__ = ["cautions", "extracted"]

_FIRST = 2
"""Sentences of a subject that are facts because they stand first."""
_TELLING = 3
"""And as many that say most of what is asked."""
_CENTRAL = 0.5
"""The coverage from which on a passage is what the survey is about."""
_COPIED = 60
_MANY = 3
"""A sentence of this many letters that this many passages share tells nothing of any of them."""
_LONGEST = 420
_ITEM = re.compile(
    r"^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t]+(\S.*(?:\n(?![ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])[ \t]+\S.*){0,5})",
    re.MULTILINE,
)
_VERSION_HEADING = re.compile(r"\bv?\d+\.\d+|change|fix|breaking|deprecat|feature|remov", re.IGNORECASE)
_CAPTION = re.compile(r"(?:List|Table) of \w+|\"{3}")
_ITEMS = 12
_MIN_ITEM = 2
"""Words of an entry of a changelog that tells nothing: `GitHub release`."""
_CAUTION = re.compile(
    r"\b(?:not|never|cannot|must|only|avoid\w*|careful\w*|caution|warning|danger\w*|risk\w*|insecure|unsafe|untrusted|malicious|vulnerab\w+|attack\w*"
    r"|break\w*|corrupt\w*|leak\w*|deadlock\w*)\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"(?:[;,](?: and| or)?|\b(?:and|or|a|the))$|^\W*\?\?\?|:::|^(?i:see ?also|see|refer to|for (?:an? |some )?(?:examples?|more|further|details))\b"
)
"""A piece of a list that goes on, what a page's builder reads, or what only points elsewhere."""
_MARKED = re.compile(r"(?:in|since) version (\S+?):?(?:\s|$)")
_LINKS = re.compile(r" (?:by|in) \[[@#][^\]]{0,80}\]\([^)]{0,200}\)| \(?\[#\d{1,9}\]\([^)]{0,200}\)\)?")
_ENDS = re.compile(r"[.!?)`'\"]$")
_CASES = re.compile(
    r"\b(?:when|if|unless|only|default|instead|recommend\w*|prefer\w*|suitable|appropriate|useful|avoid\w*|must|should|cannot|not|never|unlike|typically"
    r"|best|faster|slower|efficient\w*|note)\b",
    re.IGNORECASE,
)
"""Says in which case something is so, and what it is good for."""


def extracted(plan: SurveyPlan, read: Sequence[PoolEntry]) -> list[Axiom]:
    """The facts of an overview's passages, in their order; the same words about one subject are taken once.

    Args:
        plan: what the survey asks for.
        read: the passages.
    """
    asked = {root_of(word) for word in words(plan.about) if word not in STOP_WORDS}
    places = [
        frozenset(root_of(word) for word in words(f"{one.passage.url} {one.passage.locator}")) for one in read
    ]
    if places:  # the name of the whole says nothing of a part
        asked -= places[0].intersection(*places)
    unique: dict[tuple[tuple[str, str], str], Axiom] = {}
    found = [(one, axiom) for one in read for axiom in _facts(one, plan, asked)]
    said = {(_subject(one.passage), axiom.signals[0].quote) for one, axiom in found}
    times = Counter(quote for _subject, quote in said if len(quote) >= _COPIED)
    for one, axiom in found:
        quote = axiom.signals[0].quote
        if not instructs(axiom.statement) and (
            times[quote] < _MANY or quote == folded(one.passage.lead) or axiom.category == "safety"
        ):
            unique.setdefault((_subject(one.passage), quote), axiom)
    return list(unique.values())


def _subject(passage: Passage) -> tuple[str, str]:
    """Whom a passage of which package is about, parameters aside: its callable's documentation has what a parameter says."""
    return passage.url.partition("#")[0], (passage.symbol or passage.title).rpartition(".")[2]


def _facts(one: PoolEntry, plan: SurveyPlan, asked: set[str]) -> Iterator[Axiom]:
    passage = one.passage
    changed = plan.kind == "changes"
    found = list(_changes(one, plan, asked))
    if found or (changed and (passage.changed or _is_section(passage))):
        yield from found
        return
    said = _said(passage)
    first = said[:_FIRST]
    warned = 2 if plan.kind == "limits" else 0
    rest = [
        (_worth(quote, asked) + warned * cautions(quote), -place, quote)
        for place, quote in enumerate(said[len(first) :])
    ]
    central = passage.pinned or passage.coverage >= _CENTRAL or _is_section(passage)
    most = _TELLING * (3 if central else 1 if one.family else 2)
    telling = [quote for worth, _place, quote in sorted(rest, reverse=True)[:most] if worth >= 1]
    kept = first[:1] + [
        quote for quote in first[1:] if not one.family or _is_section(passage) or _worth(quote, asked) >= 1
    ]
    for quote in (*kept, *sorted(telling, key=said.index)):
        yield _of(one, quote)
    yield from warnings(one)
    if passage.deprecated and holds(passage.text, passage.deprecated):
        yield _of(one, folded(passage.deprecated), history=True)
    for quote, told in (*directives(passage), *marks(passage)):
        yield _of(one, quote, told, history=True)


def _changes(one: PoolEntry, plan: SurveyPlan, asked: set[str]) -> Iterator[Axiom]:
    """What a passage says that came, changed or went: by comparison, in a list of changes, or in a mark of a version."""
    passage, changed = one.passage, plan.kind == "changes"
    if passage.changed:
        yield from _compared(one, passage.changed)
    if _is_section(passage) and (changed or _VERSION_HEADING.search(passage.title.rpartition(" § ")[2])):
        about = not asked or not changed or _has(short_name(passage.title), asked)
        listed = _items(passage)
        if changed:  # what stands between or in long items
            listed += [said for said in _said(passage) if not any(said in item for item in listed)]
        quotes = [quote for quote in listed if about or _has(quote, asked)][:_ITEMS]
        yield from (_of(one, quote, history=True) for quote in quotes)
    elif changed:
        wanted = versions_between(plan.versions)
        for quote, told in directives(passage):
            if (version := _MARKED.search(told)) is not None and wanted(version[1]):
                yield _of(one, quote, told, history=True)
        if passage.deprecated and holds(passage.text, passage.deprecated):
            yield _of(one, folded(passage.deprecated), history=True)


def _compared(one: PoolEntry, told: str) -> Iterator[Axiom]:
    """What a comparison of two versions says of a name, with what its definition is, or was."""
    passage = one.passage
    quote = folded(passage.signature or passage.lead or passage.text[:_LONGEST])
    if holds(passage.text, quote):
        yield _of(one, quote, told, history=True)


def _has(said: str, asked: set[str]) -> bool:
    return bool(asked & {root_of(word) for word in words(said)})


def _is_section(passage: Passage) -> bool:
    return passage.kind in {"section", "page"}


def cautions(said: str) -> bool:
    """Whether a statement says what must not be done, or what it may cost."""
    return _CAUTION.search(said) is not None


def _worth(quote: str, asked: set[str]) -> float:
    """What a further sentence counts: the words of the question that it has, and whether it tells a case."""
    held = {root_of(word) for word in words(quote)} & asked
    return len(held) + bool(_CASES.search(quote)) + bool(explained_value(quote))


def _said(passage: Passage) -> list[str]:
    """The sentences and items of a passage that state something, verbatim, in their order."""
    found: dict[str, int] = {}
    text = documentation(passage)
    items = (
        [folded(part) for item in _ITEM.findall(text) for part in sentences(folded(item))]
        if passage.kind in {"section", "page", "parameter"}
        else []
    )
    for quote in (*([passage.lead] if passage.lead else []), *sentences(prose(text)), *items):
        for part in sentences(quote):
            said = folded(part)
            is_fact = (
                says_something(said)
                or explained_value(said)
                or (said == passage.lead and len(said.split()) > 1 and not is_pointer(said))
            )
            if (
                is_fact
                and not _CAPTION.match(said)
                and not _BROKEN.search(plain(said))
                and len(plain(said)) <= _LONGEST
                and holds(passage.text, said)
            ):
                found.setdefault(said, folded(passage.text).find(said))
    return sorted(found, key=found.__getitem__)


def _items(passage: Passage) -> list[str]:
    """The items of a changelog's list, without the author at its end."""
    found = [_LINKS.split(folded(item))[0].strip() for item in _ITEM.findall(passage.text)]
    return [
        quote
        for quote in found
        if len(quote.split()) > _MIN_ITEM and len(quote) <= _LONGEST and holds(passage.text, quote)
    ]


def _of(one: PoolEntry, quote: str, told: str = "", *, history: bool = False) -> Axiom:
    """The fact that a subject's passage states in these words, with the subject's name before them."""
    passage = one.passage
    said = told or plain(quote)
    named = passage.title if passage.symbol is None else f"`{passage.title}`"
    category = "history" if history else category_of(said)
    names_itself = passage.symbol is None and roots(title_of(passage)) <= roots(said)
    statement = said if names_itself else f"{named}: {said}"
    return of_quote(passage, quote, one.source, statement=statement, category=category)
