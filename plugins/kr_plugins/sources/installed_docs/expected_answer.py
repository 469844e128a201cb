"""What the asker expects in the answer (A14), as the installed version has it: first, where the question does not name another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import ABOUT, ranked_members, takes_kind
from kr_plugins.sources.installed_docs.cited_passages import parameter_passage, passage_of, passage_or_site
from kr_plugins.sources.installed_docs.named_callables import NamedCallable, callable_with_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core import Passage
    from kr_core.toolkit import (
        ExpectedNames,
        Hit,
        IndexedPassage,
        ParsedQuestion,
        PassageIndex,
        Resolved,
        Term,
    )
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

_FREE = frozenset({"how_to", "error", "yes_no"})
"""Kinds of questions that what they name does not answer alone."""
_OF_PARAMETERS = frozenset({"default", "options"})
"""Kinds that may ask about a parameter of what they name."""
_MOST_LOOKED_AT = 12
"""Names to look at, the first of which an answer has room for."""
_MEMBER = 0.2
"""So much of the question the member of a returned class must say."""
_SPOKEN = re.compile(r"`[~.]*+([\w.]++)`")
_WORD = re.compile(r"\w+")
_USES = ("__call__", "__enter__")
"""How an instance is used that a function makes: as a decorator, in a `with` statement."""
_OPTIONS = re.compile(r"(?:Options?|Opts|Config|Settings|Props|Params)$")
_MOST_TAKERS = 2
"""Callables to which one hands its arguments on, whose nearest parameter is shown."""


class _Expected(NamedTuple):
    """A symbol that is expected, with the parameters that are expected of it."""

    symbol: str
    passage: IndexedPassage | None
    parameters: tuple[str, ...]
    near: tuple[str, ...] = ()
    """A parameter that may take what else is expected, by its name or its documentation."""


class _Told(NamedTuple):
    """How an expected symbol is shown."""

    passages: Sequence[Passage]
    leading: Sequence[Passage]
    """The symbol and the parameters that are expected; what else is near comes behind all of these."""
    listed: tuple[Passage, ...] = ()
    """Its documented parameters, nearest first."""


def about_expected(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    expected: ExpectedNames,
    terms: Sequence[Term],
    origin: Origin,
) -> IndexAnswer:
    """The answer with what the asker expects before anything that the question does not name.

    Args:
        index: where it is looked up.
        parsed: the question.
        answered: the ranked passages.
        expected: what the names of the request mean.
        terms: the words of the question.
        origin: where the passages come from.
    """
    grouped = _grouped(index, expected.found)[:_MOST_LOOKED_AT]
    grouped = [_with_taker_of(index, one, grouped) for one in grouped]
    told = [_shown(index, parsed, answered, one, terms, origin) for one in grouped]
    # what says nothing of the question comes after what does: a decorator after the strategy that is handed to it;
    # and what hands its arguments on after what takes them: `option` after `Option(default)`
    takers = {_last(one.symbol) for one in grouped if one.parameters}
    replaced = parsed.kind == "replacement"  # then what is deprecated says what replaces it
    told = [
        one
        for _key, one in sorted(
            zip(grouped, told, strict=True),
            key=lambda pair: (
                (pair[1].passages[0].deprecated is not None) is not replaced if pair[1].passages else True,
                pair[1].passages[0].coverage < ABOUT if pair[1].passages else True,
                _last(pair[0].symbol) in takers and not pair[0].parameters,
            ),
        )
    ]
    listed = next((one.listed for one in told if one.listed), ())
    # a section of a guide explains what a symbol without documentation only declares
    sections = [passage_or_site(one, origin) for one in (*expected.sections, *expected.mentions)]
    leading = [passage for one in told for passage in one.leading]
    is_bare = bool(leading) and not any(one.lead or one.parameter for one in leading)
    shown = [*(sections if is_bare else ()), *leading, *(passage for one in told for passage in one.passages)]
    shown += sections
    if not shown:
        return answered
    shown = _each_once(shown)
    before = _before(parsed, answered, grouped)
    kept = answered.passages[:before]
    titles = {one.title for one in kept}
    shown = [one for one in shown if one.title not in titles]
    titles |= {one.title for one in shown}
    rest = [one for one in answered.passages[before:] if one.title not in titles]
    if not kept and shown and shown[0].coverage >= ABOUT:
        asked = {name for one in grouped if one.symbol == shown[0].symbol for name in one.parameters}
        shown = [
            one.model_copy(update={"pinned": True})
            if one is shown[0] or (one.symbol == shown[0].symbol and one.parameter in asked)
            else one
            for one in shown
        ]
    titles = {one.title for one in listed}
    support = (*listed, *(one for one in answered.support if one.title not in titles))
    return answered._replace(passages=(*kept, *shown, *rest), support=support)


def _grouped(index: PassageIndex, found: Iterable[Resolved]) -> list[_Expected]:
    """The symbols in their order, each with its own parameters."""
    grouped: dict[str, _Expected] = {}
    for each in found:
        symbol, parameter = each.entry.name, each.entry.parameter
        if parameter:
            known = grouped.get(symbol)
            passage = (
                known.passage if known else next((hit.passage for hit in index.by_symbol(symbol)[:1]), None)
            )
            parameters = (*(known.parameters if known else ()), parameter)
            grouped[symbol] = _Expected(symbol, passage, tuple(dict.fromkeys(parameters)))
        elif symbol not in grouped:
            grouped[symbol] = _Expected(symbol, index.get([each.entry.passage])[0].passage, ())
    return list(grouped.values())


def _with_taker_of(index: PassageIndex, one: _Expected, others: Iterable[_Expected]) -> _Expected:
    """A callable with the parameter that takes what else is expected: `ClientSession(timeout)` for a `ClientTimeout`."""
    names = [_last_part(other.symbol) for other in others if other is not one and not other.parameters]
    kinds = [name for name in names if name[:1].isupper()]
    if not kinds or one.passage is None or one.parameters:
        return one
    taken = [hit.passage for hit in index.parameters_of(one.symbol) if hit.passage.parameter]
    typed = re.compile(rf"\b(?:{'|'.join(map(re.escape, kinds))})\b")
    takers = [each for each in taken if typed.search(str(each.data.get("annotation") or ""))]
    if takers:
        return one._replace(parameters=tuple(each.parameter or "" for each in takers[:1]))
    near = [each.parameter or "" for each in taken if takes_kind(each.parameter or "", each.text, kinds)]
    return one._replace(near=tuple(near[:1]))


def _last_part(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _shown(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    one: _Expected,
    terms: Sequence[Term],
    origin: Origin,
) -> _Told:
    """What is shown of one expected symbol, and its documented parameters; the attribute that documents one comes before it."""
    if one.passage is None:
        found = (parameter_passage(index, one.symbol, name, origin, anywhere=True) for name in one.parameters)
        shown = [meant for meant in found if meant is not None]
        return _Told(shown, shown)
    if one.passage.data.get("deprecated"):
        shown = [passage_of(hit.passage, origin) for hit in _replacing(index, one.passage)]
        shown.append(passage_of(one.passage, origin).model_copy(update={"symbol": one.symbol}))
        return _Told(shown, shown)
    if one.passage.data.get("what") not in {"function", "class"}:
        shown = [passage_of(one.passage, origin).model_copy(update={"symbol": one.symbol})]
        return _Told(shown, shown)
    told = callable_with_parameters(
        index, answered, NamedCallable(one.symbol, one.passage), terms, origin,
        asked=one.parameters, is_spelled=parsed.kind == "error" or parsed.spells([one.symbol]),
    )  # fmt: skip
    attributes = [
        passage_of(hit.passage, origin).model_copy(update={"coverage": told.passages[0].coverage})
        for name in one.parameters
        for hit in index.by_symbol(f"{one.symbol}.{name}")[:1]
        if hit.passage.lead and _is_field(hit.passage, name, told.passages)
    ]
    options = [
        passage_of(hit.passage, origin)
        for each in told.passages
        if each.parameter in one.parameters and not each.lead
        for hit in index.by_symbol(f"--{each.parameter.replace('_', '-')}")[:1]
    ]  # what a command says of the option of the same name
    near = (parameter_passage(index, one.symbol, name, origin, anywhere=True) for name in one.near)
    handed = [each for each in near if each is not None]
    if not (one.parameters or handed):
        handed += _handed_on(index, answered, one.passage, terms, origin)
        handed += _option_types(index, one.passage, origin)
    handed += _members_of_result(index, one.passage, terms, origin)
    handed += [
        each
        for passage in told.passages
        if passage.parameter in one.parameters
        for each in _pointed_at(index, passage, origin)
    ]
    titles = {each.title for each in handed}
    told_first = [each for each in told.passages if each.title not in titles]
    shown = [*attributes, *told_first, *options, *handed]
    leading = [
        each
        for number, each in enumerate(shown)
        if not each.parameter or each.parameter in one.parameters or number == 0 or each in handed
    ]
    return _Told(shown, leading, told.listed)


def _handed_on(
    index: PassageIndex, answered: IndexAnswer, given: IndexedPassage, terms: Sequence[Term], origin: Origin
) -> Iterator[Passage]:
    """What a callable hands its arguments to says, where it says more: the parameter nearest to the question (`Option(multiple)` for `click.option`), or the signature."""
    takes_anything = all(name.startswith("*") for name, _default in given.data.get("parameters", ()))
    for name in given.data.get("takers", ())[:_MOST_TAKERS]:
        for hit in index.by_symbol(name)[:1]:
            taker = NamedCallable(name, hit.passage)
            first, *_others = callable_with_parameters(index, answered, taker, terms, origin).passages
            is_made = not given.lead and first.what == "class"
            if (first.parameter and first.lead) or (not first.parameter and (takes_anything or is_made)):
                yield first
            for use in (f"{name}.{method}" for method in _USES if is_made):
                yield from (passage_of(each.passage, origin) for each in index.by_symbol(use)[:1])


def _members_of_result(
    index: PassageIndex, given: IndexedPassage, terms: Sequence[Term], origin: Origin
) -> Iterator[Passage]:
    """The members nearest to the question of each class that a callable returns: `Copy.write_row` for `Cursor.copy`.

    What returns its own class, as `DataFrame.unique` does, says nothing new.
    """
    returned = set(_WORD.findall(str(given.data.get("returns") or "")))
    owner = (given.symbol or "").split(".")[-2:-1]
    for name in given.data.get("types", ()):
        if [_last_part(name)] == owner:
            continue
        is_class = any(hit.passage.data.get("what") == "class" for hit in index.by_symbol(name)[:1])
        if is_class and _last_part(name) in returned:
            members = [pair for pair in ranked_members(index, terms, name) if pair[1].lead][:_MOST_TAKERS]
            yield from (
                passage_of(each, origin).model_copy(update={"coverage": min(1.0, share)})
                for share, each in members
                if share >= _MEMBER
            )


def _pointed_at(index: PassageIndex, passage: Passage, origin: Origin) -> Iterator[Passage]:
    """The same parameter of a callable that its documentation names and that says more: "passed to `get_or_create`"."""
    spoken = {_last_part(name) for name in _SPOKEN.findall(passage.text)}
    others = (
        each.name for each in index.named(passage.parameter or "") if each.parameter == passage.parameter
    )
    for symbol in dict.fromkeys(
        name for name in others if _last_part(name) in spoken and name != passage.symbol
    ):
        meant = parameter_passage(index, symbol, passage.parameter or "", origin, anywhere=True)
        if meant is not None and len(meant.text) > len(passage.text):
            yield meant


def _option_types(index: PassageIndex, given: IndexedPassage, origin: Origin) -> list[Passage]:
    """The types that hold the options of a callable without documentation: their fields are all that there is."""
    names = [] if given.lead else given.data.get("types", ())
    found = (hit.passage for name in names if _OPTIONS.search(name) for hit in index.by_symbol(name)[:1])
    return [passage_of(one, origin) for one in found if one.data.get("parameters")][:_MOST_TAKERS]


def _replacing(index: PassageIndex, old: IndexedPassage) -> list[Hit]:
    """What the documentation names in place of a deprecated thing: beside it, or at the top of the package."""
    new = str(old.data.get("replacement") or "")
    module = (old.symbol or "").rpartition(".")[0]
    found = [index.by_symbol(name) for name in (new, f"{module}.{new}") if new]
    if not any(found) and new:
        named = [one for one in index.named(new.rpartition(".")[2]) if not one.parameter]
        best = max(named, key=lambda one: one.standing, default=None)
        found = [index.get([best.passage])] if best is not None else []
    return [hit for hits in found for hit in hits[:1]][:1]


def _last(symbol: str) -> str:
    return _last_part(symbol).lower()


def _is_field(attribute: IndexedPassage, name: str, shown: Sequence[Passage]) -> bool:
    """Whether an attribute documents a parameter, as a field does, and is not what an instance says of it."""
    return all(one.lead in {"", attribute.lead} for one in shown if one.parameter == name)


def _before(parsed: ParsedQuestion, answered: IndexAnswer, grouped: Sequence[_Expected]) -> int:
    """How many of the first passages stay there, since the question itself names them and asks what they say."""
    if parsed.kind in _FREE:
        return 0
    first = next(iter(answered.passages), None)
    takers = {one.symbol for one in grouped if one.parameters} if parsed.kind in _OF_PARAMETERS else set()
    if first is not None and not first.parameter and takers & {first.symbol, *first.also, *first.aliases}:
        return 0
    pinned = next((n for n, one in enumerate(answered.passages) if not one.pinned), len(answered.passages))
    if parsed.kind == "replacement" and not any(one.deprecated for one in answered.passages[:pinned]):
        return 0  # what was replaced is gone
    return pinned


def _each_once(shown: Iterable[Passage]) -> list[Passage]:
    first: dict[str, Passage] = {}
    for one in shown:
        first.setdefault(one.title, one)
    return list(first.values())
