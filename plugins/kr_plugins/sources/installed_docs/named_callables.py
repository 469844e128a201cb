"""A how-to that names what it calls: the parameters of that callable, the nearest to the rest of the question first.

"How do I use read_csv to load only some columns" asks about one function. What others say of columns is noise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import (
    SAID,
    parts_of,
    weighed_parameters,
)
from kr_plugins.sources.installed_docs.cited_passages import parameter_passage, passage_of
from kr_plugins.sources.installed_docs.parameters import advises_against

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core import Passage
    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex, Resolution, Term
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

_NEAR = 0.2
"""What a parameter must be worth at least to come before its callable."""
_SAID = 0.5
"""Such a share of the rest of the question the name of a parameter without documentation must say."""
_SHOWN = 4
"""The callable and so many of its parameters come first."""
_LISTED = 8
"""So many of its documented parameters an unsure answer may list."""
_DOCUMENTED = 4.9
"""The least standing of a public name with documentation."""
_PUBLIC = 4.0
"""The least standing of a public name; a dotted one that the question spells needs no documentation."""
_KINDS = frozenset({"how_to", "yes_no"})
_ASIDE = r"\b(?:after|before|instead of|rather than|unlike|without|like|than|what)\s+(?:the\s+)?(?:calling\s+|using\s+)?[`'\"]?"
"""What stands before a name that the question only mentions."""


class NamedCallable(NamedTuple):
    """A callable as a question or its asker names it."""

    symbol: str
    passage: IndexedPassage
    """What it says of itself, perhaps under another name."""


class ShownCallable(NamedTuple):
    """How a callable is shown that is named."""

    passages: tuple[Passage, ...]
    """The parameters that matter, the callable, then others that are near."""
    listed: tuple[Passage, ...]
    """Its documented parameters, nearest first."""
    is_class_alone: bool
    """It is a class, and no parameter of it is near."""


def about_callable(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    named: Resolution,
    terms: Sequence[Term],
    origin: Origin,
) -> IndexAnswer:
    """The answer with the callable that a how-to names, and its nearest parameters, before anything else.

    Args:
        index: where they are looked up.
        parsed: the question.
        answered: the ranked passages.
        named: what the names of the question mean.
        terms: the words of the question.
        origin: where the passages come from.
    """
    called = list(_callables(index, parsed, named)) if parsed.kind in _KINDS else []
    if len(called) != 1:
        return answered
    symbol, passage = called[0]
    if not passage.lead and _is_shown(symbol, answered.passages):
        return answered  # an example says more than a signature
    if any(one.pinned and symbol not in {one.symbol, *one.also} for one in answered.passages):
        return answered
    shown = callable_with_parameters(index, answered, called[0], terms, origin)
    if shown.is_class_alone:
        return answered  # a method may be what is asked for
    titles = {one.title for one in shown.passages}
    others = [one for one in answered.passages if one.title not in titles]
    titles = {one.title for one in shown.listed}
    support = (*shown.listed, *(one for one in answered.support if one.title not in titles))
    return answered._replace(passages=(*shown.passages, *others), support=support)


def callable_with_parameters(
    index: PassageIndex,
    answered: IndexAnswer,
    called: NamedCallable,
    terms: Sequence[Term],
    origin: Origin,
    *,
    asked: Sequence[str] = (),
    is_spelled: bool = True,
) -> ShownCallable:
    """A callable with its parameters that are nearest to the rest of the question.

    Args:
        index: where they are looked up.
        answered: the ranked passages.
        called: the callable.
        terms: the words of the question.
        origin: where the passages come from.
        asked: parameters that come first.
        is_spelled: whether the question spells the callable, so that a near parameter is what it asks for.
    """
    symbol, passage = called
    own = parts_of(symbol.replace(".", " "))
    rest = [
        term for term in terms if not any(term.alike[root] >= SAID and root in own for root in term.alike)
    ]
    share = sum(term.weight for term in rest) / (sum(term.weight for term in terms) or 1.0)
    itself, parameters = weighed_parameters(index, rest, symbol, passage)
    found = [
        (one.worth, _told(meant, answered, 1.0 - share + share * one.share))
        for one in parameters
        if one.passage.parameter not in passage.data.get("required", ())
        and (one.passage.lead or one.share >= _SAID or one.allows_asked)
        and not (one.passage.data.get("star") or one.passage.data.get("deprecated"))
        and not advises_against(one.passage.text)
        and (meant := parameter_passage(index, symbol, one.passage.parameter or "", origin))
    ]
    shares = {one.passage.parameter: one.share for one in parameters}
    wanted = [
        _told(meant, answered, 1.0 - share + share * shares.get(name, 0.0))
        for name in asked
        if (
            meant := parameter_passage(index, symbol, name, origin, anywhere=True)
            or parameter_passage(index, passage.symbol or "", name, origin, anywhere=True)
        )
    ]
    known = [one for one in answered.passages[:1] if one.parameter and _is_of(one, symbol)]
    nearest = [meant for worth, meant in found[:1] if worth >= max(_NEAR, itself.worth)]
    # what has no documentation of its own comes behind a callable that speaks of it
    later = [one for one in wanted if not one.lead and _speaks_of(passage, one.parameter or "")]
    wanted = [one for one in wanted if one not in later]
    first = wanted or ((known or nearest) if is_spelled and not later else [])
    taker = passage_of(passage, origin).model_copy(update={"symbol": symbol})
    covered = max((one.coverage for one in first), default=0.0)
    taker = _told(taker, answered, max(covered, 1.0 - share + share * itself.share))
    titles = {one.title for one in (*first, *later)}
    beside = [meant for worth, meant in found if worth > 0 and meant.title not in titles]
    documented = [one.passage.parameter or "" for one in parameters if one.passage.lead][:_LISTED]
    described = (parameter_passage(index, symbol, name, origin, anywhere=True) for name in documented)
    return ShownCallable(
        (*first, taker, *later, *beside)[:_SHOWN],
        tuple(meant for meant in described if meant is not None),
        passage.data.get("what") == "class" and not first,
    )


def _callables(index: PassageIndex, parsed: ParsedQuestion, named: Resolution) -> Iterator[NamedCallable]:
    """The functions, methods and classes that the question spells as code and does not only mention."""
    seen = set()
    for one in (*named.subjects, *named.context):
        is_spelled = one.identifier.place == "prose" and parsed.spells([one.entry.name])
        least = _PUBLIC if "." in one.identifier.name else _DOCUMENTED
        if not is_spelled or one.entry.parameter or one.entry.standing < least:
            continue
        if re.search(_ASIDE + re.escape(one.identifier.name), parsed.asking, re.IGNORECASE):
            continue
        passage = index.get([one.entry.passage])[0].passage
        if passage.data.get("what") in {"function", "class"} and one.entry.name not in seen:
            seen.add(one.entry.name)
            yield NamedCallable(one.entry.name, passage)


def _speaks_of(passage: IndexedPassage, parameter: str) -> bool:
    """Whether what a callable says of itself names a parameter outside of the signature."""
    return len(re.findall(rf"(?<!\w){re.escape(parameter)}(?!\w)", passage.documentation)) > 1


def _is_shown(symbol: str, passages: Sequence[Passage]) -> bool:
    """Whether code of one of the passages calls a function."""
    called = re.compile(rf"(?<!\w){re.escape(symbol.rpartition('.')[2])}\(")
    return any(called.search(code) for one in passages for code in one.code)


def _is_of(passage: Passage, symbol: str) -> bool:
    """Whether a passage has this name, but for its owner and its capitals: the decorator `option` takes what the class `Option` takes."""
    lasts = [(name or "").rpartition(".")[2].lower() for name in (symbol, passage.symbol, *passage.also)]
    return lasts[0] in lasts[1:]


def _told(passage: Passage, answered: IndexAnswer, covered: float) -> Passage:
    """A passage with what it covers of the question, as far as the ranking did not find more."""
    known = next((one for one in answered.passages if one.title == passage.title), None)
    if known is not None and known.coverage >= covered:
        return known
    return passage.model_copy(update={"coverage": min(1.0, covered)})
