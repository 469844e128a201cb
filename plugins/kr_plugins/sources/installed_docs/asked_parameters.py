"""The parameters that a question is about: all that it names, on the callable it names, and what their documentation points to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.plugin import UnresolvedName
from kr_core.toolkit import (
    content_words,
    described_parameters,
    look_up,
    named_elsewhere,
    says_parameter,
    stem,
    words,
)
from kr_plugins.sources.installed_docs.cited_passages import (
    declared_parameter,
    optional_parameters,
    parameter_passage,
    passage_of,
    passage_or_site,
)
from kr_plugins.sources.installed_docs.parameters import advises_against

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core import Passage
    from kr_core.toolkit import ParsedQuestion, PassageIndex, Term
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

_ASKS_FOR = frozenset({"default", "valu", "option"})
"""Stems of the words that ask for a kind of answer, and name no parameter."""
_MOST_SHOWN = 4
"""Parameters that are answered together."""
_POINTER = re.compile(r"\]\[([\w.]{3,200})\]|:\w{1,20}:`[~!]?([\w.]{3,200})`")
"""Where the documentation of a parameter sends its reader, in Markdown and in reStructuredText."""
_MOST_POINTERS = 5
_SETS = (
    r"\b(?:set|change|configure|specify|adjust|increase|reduce|raise|lower|override|limit)\s+"
    r"(?:(?:an?|the|its|my|your|own|custom|different|longer|shorter|higher|lower|default)\s+){0,3}"
)
"""What a how-to says before the name of what it sets."""
_MOST_CALLS = 20
_MOST_TAKEN = 200
"""Parameters of a callable that are looked for in a question."""
_LONGEST = 2_000
"""Characters of a question in which they are looked for."""
_SHORT_NAME = 3
_ALIKE = 0.9
"""A likeness from which on two words say the same."""
_TELLS_MORE = 0.1
"""Such a share of a how-to the name of a parameter has to say that its callable does not."""
_ABLE, _MOST_ABLE = 0.1, 2
"""Such a share of a question the parameter has to say that may answer it for its callable."""
_CLEARLY = 1.25
"""How much more of a question a parameter says than one whose name the question only happens to say."""


def about_parameters(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    names: Sequence[str],
    origin: Origin,
    terms: Sequence[Term] = (),
) -> IndexAnswer:
    """The answer with the parameters that the question is about before anything else.

    Args:
        index: where they are looked up.
        parsed: the question.
        answered: the ranked passages.
        names: of the library.
        origin: where the passages come from.
        terms: the words of the question.
    """
    answered = _better_described(
        index, parsed, _of_named_owner(index, parsed, answered, origin), terms, origin
    )
    answered = _callable_first(parsed, _with_setting(index, parsed, answered, origin))
    answered = _telling_parameter_first(index, parsed, answered, terms, origin)
    answered = _worded_parameter_first(index, parsed, answered, names, origin)
    answered = _able_parameters_first(index, parsed, answered, terms, origin)
    answered = _asked_together(index, parsed, answered, origin)
    answered = _with_declaration(index, parsed, answered, origin)
    answered = _with_default(index, answered, origin)
    return _pointed_at(index, parsed, answered, names, origin)


def _better_described(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer with another parameter of a callable first, where a question for a default only says the first one's name in passing.

    The other says more of the question: "how many connections are kept in the pool".
    """
    first = next(iter(answered.passages), None)
    if parsed.kind != "default" or first is None or not (first.pinned and first.parameter and first.symbol):
        return answered
    is_word = all(one.name != first.parameter for one in parsed.identifiers) and "_" not in first.parameter
    if not is_word or re.search(
        rf"defaults? (?:value )?(?:of|for) (?:the )?{re.escape(first.parameter)}\b", parsed.asking
    ):
        return answered
    shares = {one.parameter: share for share, one in described_parameters(index, terms, first.symbol)}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] < _CLEARLY * shares.get(first.parameter, 0.0) or best == first.parameter:
        return answered
    meant = parameter_passage(index, first.symbol, best, origin)
    if meant is None or meant.star:
        return answered
    better = {"coverage": first.coverage, "covered": first.covered, "pinned": True}
    rest = [
        one.model_copy(update={"pinned": False}) if one.parameter and one.symbol == first.symbol else one
        for one in answered.passages
        if one.title != meant.title
    ]
    return answered._replace(passages=(meant.model_copy(update=better), *rest))


def _of_named_owner(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer with the same parameter of another callable first, if the question says that one's name as it is: "of a client"."""
    first = next(iter(answered.passages), None)
    if first is None or not (first.parameter and first.symbol):
        return answered
    said = set(re.findall(r"\w+", parsed.asking.casefold()))
    if first.symbol.rpartition(".")[2].casefold() in said:
        return answered
    same = [one for one in answered.passages if one.parameter == first.parameter]
    for symbol in dict.fromkeys(name for one in same for name in (one.symbol or "", *one.also)):
        if symbol.rpartition(".")[2].casefold() not in said:
            continue
        meant = next((one for one in same if one.symbol == symbol), None)
        meant = meant or parameter_passage(index, symbol, first.parameter, origin)
        if meant is not None:
            return _ahead(
                answered,
                meant.model_copy(update={"pinned": first.pinned}),
                instead_of=first.title if symbol in first.also else "",
            )
    return answered


def _with_setting(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer with its first parameter pinned where a how-to sets it ("set a timeout for a request"), and the shortest call of those that take it."""
    first = next(iter(answered.passages), None)
    if first is None or parsed.kind != "how_to" or not (first.parameter and first.symbol):
        return answered
    symbol = first.symbol
    module, _dot, name = symbol.rpartition(".")
    if module.rpartition(".")[2][:1].isupper() or name[:1].isupper() or first.parameter in first.required:
        return answered
    spelled = re.escape(first.parameter).replace("_", "[ _-]")
    sets = re.search(rf"{_SETS}{spelled}\b", parsed.asking, re.IGNORECASE)
    if sets and not first.pinned and re.search(rf"\b{re.escape(name)}\b", parsed.asking):
        first = first.model_copy(update={"pinned": True})
    calls = [
        hit.passage
        for taker in (symbol, *first.also[:_MOST_CALLS])
        if taker.rpartition(".")[0] == module
        for hit in index.by_symbol(taker)[:1]
        if hit.passage.data.get("what") == "function"
    ]
    shortest = min(calls, key=lambda one: len(one.data.get("required", ())), default=None)
    support = answered.support
    if shortest is not None and shortest.title not in {one.title for one in support}:
        support = (*support, passage_of(shortest, origin))
    return answered._replace(passages=(first, *answered.passages[1:]), support=support)


def _callable_first(parsed: ParsedQuestion, answered: IndexAnswer) -> IndexAnswer:
    """The answer with a callable before a parameter that every call of it needs, where a how-to only happens to say its name."""
    first = next(iter(answered.passages), None)
    if first is None or parsed.kind != "how_to" or first.pinned or first.parameter not in first.required:
        return answered
    known = [one for one in answered.passages if one.symbol == first.symbol and not one.parameter][:1]
    rest = [one for one in answered.passages[1:] if one not in known]
    no_surer = [one.model_copy(update={"coverage": min(one.coverage, first.coverage)}) for one in known]
    return answered._replace(passages=(*no_surer, first, *rest)) if known else answered


def _telling_parameter_first(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer with a parameter of its first callable before it, where a how-to says the parameter's name and the callable says nothing of it.

    "How do I read only some columns of a CSV" is answered by `read_csv(columns=...)`, and not by `read_csv`.
    """
    first = next(iter(answered.passages), None)
    if parsed.kind != "how_to" or first is None or first.pinned or first.parameter or not first.symbol:
        return answered
    if first.what not in {"function", "class"}:
        return answered
    said = {stem(word) for word in words(f"{first.symbol.replace('_', ' ')} {first.title} {first.lead}")}
    ranked = {one.title: -place for place, one in enumerate(answered.passages)}
    telling = {
        one.parameter: (ranked.get(one.title, -len(ranked)), weight, share)
        for share, one in described_parameters(index, terms, first.symbol)
        if one.parameter and one.lead and one.parameter not in first.required
        and not (one.data.get("deprecated") or advises_against(one.text))
        and (weight := _said_by_name(one.parameter, terms, said)) >= _TELLS_MORE
    }  # fmt: skip
    best = max(telling, key=lambda name: telling[name], default=None)
    meant = parameter_passage(index, first.symbol, best, origin) if best else None
    if meant is None:
        return answered
    return _ahead(answered, meant)


def _worded_parameter_first(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, names: Sequence[str], origin: Origin
) -> IndexAnswer:
    """The answer with a documented parameter first, where a how-to says it and one of the first callables in everyday words: "the axis of a mean"."""
    first = next(iter(answered.passages), None)
    if parsed.kind != "how_to" or first is None or any(one.pinned for one in answered.passages):
        return answered
    said = {stem(word) for word in words(parsed.asking)}
    if first.parameter and {stem(word) for word in words(first.parameter)} <= said:
        return answered
    library = " ".join(names)
    takers = dict.fromkeys(one.symbol for one in answered.passages[:_MOST_SHOWN] if one.symbol)
    shown = [one.symbol for one in answered.passages if one.symbol]
    for symbol in takers:
        told = " ".join([symbol, *(hit.passage.documentation for hit in index.by_symbol(symbol))])
        elsewhere = named_elsewhere(shown, told)
        for name in optional_parameters(index, symbol)[:_MOST_TAKEN]:
            meant = (
                parameter_passage(index, symbol, name, origin)
                if says_parameter(parsed, library, name, [symbol], elsewhere)
                else None
            )
            if meant is not None and meant.lead and not (meant.deprecated or advises_against(meant.text)):
                return _ahead(answered, meant)
    return answered


def _able_parameters_first(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer with the parameter first by which a callable that the question names does what is asked.

    "Can `add_job` overwrite a job that has the same id?" is answered by `add_job(replace_existing=...)`. A second one
    that says as much comes with it.
    """
    first = next(iter(answered.passages), None)
    if (
        first is None
        or parsed.kind not in {"yes_no", "how_to"}
        or sum(one.pinned for one in answered.passages) > 1
    ):
        return answered
    if not (first.pinned and first.symbol and not first.parameter and first.what in {"function", "class"}):
        return answered
    optional = frozenset(optional_parameters(index, first.symbol)[:_MOST_TAKEN])
    shares = {
        one.parameter: share for share, one in described_parameters(index, terms, first.symbol)
        if one.parameter in optional and share >= _ABLE
        and not (one.data.get("star") or one.data.get("deprecated") or advises_against(one.text))
    }  # fmt: skip
    best = [name for name in shares if shares[name] * _CLEARLY >= max(shares.values())][:_MOST_ABLE]
    found = [one for name in best if name and (one := parameter_passage(index, first.symbol, name, origin))]
    if not found or not found[0].lead:
        return answered
    return _ahead(answered, found[0].model_copy(update={"pinned": True}), *found[1:])


def _ahead(answered: IndexAnswer, *meant: Passage, instead_of: str = "") -> IndexAnswer:
    """The answer with some passages before its first one, which say as much of the question as that; each is there once.

    Args:
        answered: with one passage at least.
        meant: the passages.
        instead_of: the title of another one that goes.
    """
    first = answered.passages[0]
    known = {instead_of, *(one.title for one in meant)}
    better = {"coverage": first.coverage, "covered": first.covered}
    return answered._replace(
        passages=(
            *(one.model_copy(update=better) for one in meant),
            *(one for one in answered.passages if one.title not in known),
        )
    )


def _said_by_name(parameter: str, terms: Sequence[Term], said: Collection[str]) -> float:
    """The share of a question that a parameter's name says, and that was not said yet; a long name has to be said for the most part."""
    parts = {stem(part) for part in words(parameter.replace("_", " "))}
    total = sum(term.weight for term in terms if not term.weak) or 1.0
    heard = {part for part in parts if any(term.alike.get(part, 0.0) >= _ALIKE for term in terms)}
    if 2 * len(heard) <= len(parts):
        return 0.0
    new = sum(
        term.weight
        for term in terms
        if not term.weak
        and any(term.alike.get(part, 0.0) >= _ALIKE for part in parts)
        and not any(term.alike.get(root, 0.0) >= _ALIKE for root in said)
    )
    return new / total


def _with_declaration(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer with what declares its first parameter beside it, if that has the default asked for: `get(**kwargs)` hands `timeout` on."""
    first = next(iter(answered.passages), None)
    if first is None or not (first.pinned and first.parameter and first.symbol) or first.default is not None:
        return answered
    if not {"default", "yes_no"} & set(parsed.kinds):
        return answered
    for declared in declared_parameter(index, first.symbol, first.parameter):
        for taker in index.by_symbol(declared.data.get("declared_by", "")):
            meant = passage_of(taker.passage, origin)
            handed = {"pinned": True, "also": (first.symbol, *meant.also)}
            rest = [one for one in answered.support if one.title != meant.title]
            shown = [
                one.model_copy(update={"also": handed["also"]}) if one.title == meant.title else one
                for one in answered.passages
            ]
            support = (meant.model_copy(update=handed), *rest)
            return answered._replace(passages=tuple(shown), support=support)
    return answered


def _with_default(index: PassageIndex, answered: IndexAnswer, origin: Origin) -> IndexAnswer:
    """The answer with the constants that the defaults of its pinned parameters name."""
    known = {one.title for one in answered.support}
    found = []
    for passage in answered.passages[:_MOST_SHOWN]:
        if not (passage.pinned and passage.parameter and passage.default):
            continue
        for declared in declared_parameter(index, passage.symbol or "", passage.parameter):
            linked = [one for name in declared.data.get("defaults", ()) for one in index.by_symbol(name)[:1]]
            found += [
                passage_of(one.passage, origin, "constant")
                for one in linked
                if one.passage.title not in known
            ]
    return answered._replace(support=(*answered.support, *found))


def _asked_together(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer with all parameters of one callable that the question names, in its order, where it names several.

    Beside one that is spelled, another may be named in part: "the description and the refresh rate".
    """
    first = next(iter(answered.passages), None)
    if first is None or not (first.parameter and first.symbol and first.pinned):
        return answered
    said = {stem(word) for word in words(parsed.asking)}
    if not {stem(word) for word in words(first.parameter.replace("_", " "))} <= said:
        return answered  # it is described, not named
    if parsed.kind in {"difference", "error", "replacement"}:
        return answered
    taken = optional_parameters(index, first.symbol)[:_MOST_TAKEN]
    parts = parsed.parts if len(parsed.kinds) > 1 else ()
    asking = next((part for part in parts if _place_of(first.parameter, part) < len(part)), parsed.asking)
    together = _named_together(first.symbol, first.parameter, taken, asking[:_LONGEST])
    found = [parameter_passage(index, first.symbol, name, origin) for name in together[:_MOST_SHOWN]]
    passages = [
        first
        if one.parameter == first.parameter
        else one.model_copy(update={"pinned": True, "coverage": first.coverage, "covered": first.covered})
        for one in found
        if one is not None
    ]
    if len(passages) == 1 or first not in passages:
        return answered
    titles = {one.title for one in passages}
    rest = [one for one in answered.passages if one.title not in titles]
    return answered._replace(passages=(*passages, *rest))


def _named_together(symbol: str, parameter: str, taken: Sequence[str], asking: str) -> list[str]:
    """The parameters that a question names beside one of them, in its order."""
    spelled = [name for name in taken if name == parameter or _is_spelled(name, asking)]
    said = {stem(word) for name in (*spelled, symbol) for word in words(name.replace("_", " "))}
    asked = {stem(word) for word in content_words(asking)} - said - _ASKS_FOR
    in_part = [] if len(spelled) > 1 else [name for name in taken if _is_named_in_part(name, asked)]
    return sorted([*spelled, *in_part[:1]], key=lambda name: _place_of(name, asking))


def _is_spelled(name: str, asking: str) -> bool:
    """Whether a question spells a parameter: one that is an everyday word only as code, or beside an "and"."""
    if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asking):
        return False
    as_code = re.search(rf"`{re.escape(name)}`|(?<!\w){re.escape(name)}\s?=", asking)
    joined = re.search(r",|\band\b", asking)
    listed = re.search(
        rf"(?:,|\band|\bor)\s+{re.escape(name)}(?!\w)|(?<!\w){re.escape(name)}(?:,|\s+(?:and|or)\b)", asking
    )
    is_word = len(name) >= _SHORT_NAME and name in content_words(asking)
    return bool("_" in name or as_code or (is_word and (listed or (joined and len(name) > _SHORT_NAME))))


def _is_named_in_part(name: str, asked: Collection[str]) -> bool:
    """Whether a question says the first word of a name that has several."""
    parts = [stem(part) for part in words(name.replace("_", " "))]
    return len(parts) > 1 and len(parts[0]) > _SHORT_NAME and parts[0] in asked


def _place_of(name: str, asking: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name.partition('_')[0])}", asking)
    return found.start() if found else len(asking)


def _pointed_at(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, names: Sequence[str], origin: Origin
) -> IndexAnswer:
    """The answer with what its first parameter points to ("see `ConfigDict.extra`"): before it, or after one whose callable was named."""
    first = next(iter(answered.passages), None)
    if first is None or not first.parameter or not first.symbol:
        return answered
    asked = parsed.text.casefold()
    owner_named = any(part.casefold() in asked for part in first.symbol.split(".")[1:])
    for markdown, role in _POINTER.findall(first.text)[:_MOST_POINTERS]:
        pointer = markdown or role
        name = pointer.partition(".")[2] if pointer.startswith("_") else pointer
        if not name.endswith(f".{first.parameter}"):
            continue
        meant = look_up(index, name.lstrip("."), names)
        if meant is None or isinstance(meant, UnresolvedName):
            continue
        for hit in index.get([meant.passage]):
            passage = passage_or_site(hit.passage, origin).model_copy(
                update={"coverage": first.coverage, "covered": first.covered, "pinned": first.pinned}
            )
            if passage.title != first.title:
                rest = [one for one in answered.passages if one.title not in {passage.title, first.title}]
                both = (first, passage) if owner_named else (passage, first)
                return answered._replace(passages=(*both, *rest))
    return answered
