"""A question put to an index: the ranked passages, and those that explain them."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from kr_core.plugin import UnresolvedName
from kr_core.toolkit import (
    ABOUT,
    COVERED,
    Focus,
    Pin,
    RankedPassage,
    Term,
    closest_name,
    is_about_other_versions,
    is_same_version,
    look_up,
    look_up_expected,
    parse_question,
    question_terms,
    rank,
    resolve,
    stem,
    telling_parameters,
    words,
)
from kr_plugins.sources.installed_docs.asked_parameters import about_parameters
from kr_plugins.sources.installed_docs.cited_passages import (
    IndexAnswer,
    declared_parameter,
    passage_at_site,
    passage_of,
    passage_or_site,
)
from kr_plugins.sources.installed_docs.expected_answer import about_expected
from kr_plugins.sources.installed_docs.metadata import about_requirements
from kr_plugins.sources.installed_docs.named_callables import about_callable
from kr_plugins.sources.installed_docs.pasted_messages import pasted_messages
from kr_plugins.sources.installed_docs.relatives import with_relatives
from kr_plugins.sources.installed_docs.settings_answer import about_settings
from kr_plugins.sources.installed_docs.text_sections import CHANGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kr_core import Passage
    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex, Resolution, Resolved
    from kr_plugins.sources.installed_docs.cited_passages import Origin

_SHOWN = 8
_BY_WORDS_ALONE = "pkg:npm/"
"""Word vectors and the learned order come from Python packages: sections of a README came first that were farther off."""
_SHORT = 400
"""A question on one line of so many characters is searched for whole; of a longer one the sentences that ask."""
_PINNED = 4
_MOST_PARTS = 3
_MENTIONED = 2.5
"""What a parameter counts more that is named beside what takes it."""
_NEARLY_QUOTED = 0.5
"""How much of a question a message covers that differs from what is quoted."""
_BESIDE = 0.45
"""How much of it any other passage covers at most."""
_OF_CLASS = 0.6
"""How much of it the class covers that a quoted message is raised with."""
_SPELLED = re.compile(
    r"`([A-Za-z_][\w.]*)|\['(\w+)'\]|(?<![\w.])((?:[A-Za-z]\w*\.)*(?:[A-Za-z]+_\w+|[A-Z][a-z]+[A-Z]\w*))"
)
"""The names that a message spells out: between back-ticks, as a key, with an underscore or inner capital."""
_ERROR_CODE = re.compile(r"\b[A-Z]++(?:_[A-Z\d]++)++\b")
_ARGUMENT = re.compile(r"[^()]++\(([^()]++)\)")
"""A callable and an argument that it does not take."""
_MOST_NAMED = 3
_RAISED = 1.5
"""What an error counts more in a question about one."""
_FAULT = re.compile(r"(?:Error|Exception|Warning|Timeout|Expired|Exit|NotFound)$")
_RAISES = re.compile(r"Raises?\b.*\b\w*(?:Error|Exception|Warning)\b")
_SAYS_LITTLE = 100
"""Characters of a documentation that says only that something is raised."""
_MOST_CONDITIONS = 2
_MOST_SAID = 2
_MOST_BESIDE = 2
_ASKS_FOR_KIND = {
    "default": frozenset({"default", "valu"}),
    "meaning": frozenset({"mean", "purpos", "explain"}),
    "options": frozenset({"option", "valu"}),
    "difference": frozenset({"differ", "vs", "versu"}),
}
"""Stems of the words that ask for a kind of answer, and say nothing of its subject."""
_PYTHON_VERSION = re.compile(r"(?i)\bpython\s?(?:version\s)?v?(\d[\d.]*)")
_FORMER = re.compile(r"\b(?:v1|_?legacy|_?compat|_?deprecated)\b", re.IGNORECASE)
"""What a question says that may name a module for former versions."""
_MIGRATION = re.compile(
    r"(?i)(?<![a-z])(?:(?:migration|upgrade)[-_]?guides?|migrating|upgrading|(?:migrat(?:e|ion)|upgrade)[-_](?:to|from))(?![a-z])"
)
"""In the path of a page: it tells of what changed."""
_EXPLAINED = 3
"""KR looks up types, defaults and code for this many of the first passages."""


def answer(
    index: PassageIndex,
    question: str,
    names: Iterable[str],
    origin: Origin,
    modules: Sequence[str] = (),
    proposed: Sequence[str] = (),
    in_code: Callable[[ParsedQuestion], Sequence[IndexedPassage]] = lambda _parsed: (),
) -> IndexAnswer:
    """The best passages for a question, each under the name the question asks for, and what explains them.

    Args:
        index: where they are looked for.
        question: as it was asked.
        names: names of the whole, which say nothing about one passage.
        origin: where the passages come from.
        modules: top-level modules that the question names.
        proposed: names that the asker expects in the answer.
        in_code: finds messages that a question quotes in code that is not indexed.
    """
    names = tuple(names)
    parsed = parse_question(question)
    named = resolve(index, parsed, names, modules)
    expected = look_up_expected(index, proposed, parsed, names, modules)
    versions = _asked_versions(parsed, names, origin)
    pins = _pins(named, parsed)
    pins += [Pin(one.entry.passage, one.entry.name, first=False) for one in expected.found]
    is_short = len(question) <= _SHORT and "\n" not in question.strip()
    asked = question if is_short else parsed.asking
    focus = _focus(modules, pins, named, parsed, origin)._replace(versions=versions)
    terms = question_terms(index, asked, without=names, versions=versions)
    ranked = _changes_last(_about_subject(rank(index, terms, _SHOWN, focus=focus), parsed), parsed)
    missing = tuple(term.word for term in terms if not term.known and not term.weak)
    shown = [_not_sure(found, _passage(found, terms, origin), missing, versions) for found in ranked]
    shown = _marked(shown, ranked, focus, {one.entry.name for one in expected.found})
    unresolved = _absent(named.unresolved, expected.absent, parsed)
    answered = IndexAnswer(
        tuple(shown),
        _support(index, ranked, shown, terms, origin),
        missing,
        tuple(unresolved.values()),
    )
    answered = about_parameters(index, parsed, answered, names, origin, terms)
    answered = about_callable(index, parsed, answered, named, terms, origin)
    answered = about_expected(index, parsed, answered, expected, terms, origin)
    answered = answered._replace(passages=answered.passages[:_SHOWN])
    answered = with_relatives(index, parsed, answered, terms, origin)
    answered = about_settings(index, parsed, answered, terms, origin)
    answered = about_requirements(index, parsed, answered, origin)
    answered = _with_types(index, answered, origin)
    answered = _by_asked_names(index, answered, (*named.subjects, *named.context, *expected.found))
    if answered.unresolved and (parsed.kind == "replacement" or not answered.passages):
        near = _beside_absent(index, answered.unresolved, origin)
        titles = {one.title for one in near}
        rest = [one for one in answered.passages if one.title not in titles]
        answered = answered._replace(passages=(*near, *rest)[:_SHOWN])
    return _with_messages(index, parsed, answered, in_code(parsed), names, origin, expected.found)


def _absent(
    named: Iterable[UnresolvedName], expected: Iterable[UnresolvedName], parsed: ParsedQuestion
) -> dict[str, UnresolvedName]:
    """What the library does not have, each once: an argument (`DataFrame(name)`) that is only expected by its plain name."""
    found = {one.name: one for one in named}
    said = frozenset(re.findall(r"\w+", parsed.text))
    for one in expected:
        argument = _ARGUMENT.fullmatch(one.name)
        name = argument[1] if argument else one.name
        if argument and name in found:
            continue
        is_only_expected = argument is not None and not one.nearest and name not in said
        plain = one.model_copy(update={"name": name}) if is_only_expected else one
        found.setdefault(plain.name, plain)
    return found


def _about_subject(ranked: Sequence[RankedPassage], parsed: ParsedQuestion) -> list[RankedPassage]:
    """The passages without a name that has only the word which asks for a default: `DefaultFormatter`."""
    if parsed.kind != "default":
        return list(ranked)
    kept = [
        one
        for one in ranked
        if one.named
        or one.passage.lead
        or not {stem(word) for word in one.covered} <= _ASKS_FOR_KIND["default"]
    ]
    return kept or list(ranked)


def _changes_last(ranked: Sequence[RankedPassage], parsed: ParsedQuestion) -> list[RankedPassage]:
    """The passages of a changelog or a guide for migration behind what holds now, unless the question is about a change."""
    if parsed.kind in {"replacement", "error"} or parsed.versions:
        return list(ranked)
    return sorted(ranked, key=lambda one: not one.named and _is_change(one.passage))


def _is_change(passage: IndexedPassage) -> bool:
    path = passage.locator.partition(":")[0]
    is_change = CHANGES.match(path.rpartition("/")[2]) or _MIGRATION.search(path)
    return passage.kind in {"section", "page"} and is_change is not None


def _beside_absent(
    index: PassageIndex, absent: Iterable[UnresolvedName], origin: Origin
) -> tuple[Passage, ...]:
    """What is near a name that the library does not have: without any passage no answer says so, and a new name resembles the old."""
    near = (name for one in absent for name in (*one.nearest, one.name.rpartition(".")[0]))
    found = (hit.passage for name in dict.fromkeys(near) if name for hit in index.by_symbol(name)[:1])
    return tuple(
        passage_of(one, origin).model_copy(update={"coverage": 0.0}) for one in islice(found, _MOST_BESIDE)
    )


def _focus(
    modules: Sequence[str], pins: Sequence[Pin], named: Resolution, parsed: ParsedQuestion, origin: Origin
) -> Focus:
    """Where the question looks; if it names nothing, its meaning counts too."""
    near = frozenset(one.entry.name for one in named.context)
    by_meaning = not pins and not near and not origin.url.startswith(_BY_WORDS_ALONE)
    parts = parsed.parts[:_MOST_PARTS] if parsed.kind == "how_to" else ()
    former = frozenset(word.lower() for word in _FORMER.findall(parsed.text))
    learned = by_meaning and not former and parsed.kind in {"how_to", "yes_no"}
    return Focus(modules, pins, near, parts=parts, by_meaning=by_meaning, learned=learned, former=former)


def _by_asked_names(index: PassageIndex, answered: IndexAnswer, asked: Iterable[Resolved]) -> IndexAnswer:
    """The answer in which a member that a class takes over bears the name that the asker gives it: `DataFrame.to_csv`."""
    wanted = {one.entry.name for one in asked if "." in one.identifier.name}
    lasts = {name.rpartition(".")[2] for name in wanted}
    renamed: dict[str, str] = {}
    for symbol in {one.symbol for one in answered.passages if one.symbol}:
        if symbol.rpartition(".")[2] not in lasts:
            continue
        for hit in index.by_symbol(symbol)[:1] if symbol not in wanted else ():
            aliases = hit.passage.data.get("aliases", ())
            same = [name for name in aliases if name in wanted]
            module = hit.passage.locator.partition(":")[0].removesuffix(".py").replace("/", ".")
            defined = [name for name in aliases if name.startswith(f"{module}.")]
            same = [name for name in same if name.count(".") <= symbol.count(".")]
            if len(same) == 1 and _is_of_other(symbol, same[0], defined):
                renamed[symbol] = same[0]
    if not renamed:
        return answered
    return answered._replace(
        passages=tuple(_under(one, renamed) for one in answered.passages),
        support=tuple(_under(one, renamed) for one in answered.support),
    )


def _is_of_other(symbol: str, asked: str, defined: Iterable[str]) -> bool:
    """Whether two names of a member are those of two classes that take it over from a third, which is not public."""
    owners = [name.split(".")[-2:-1] for name in (symbol, asked)]
    last = symbol.rpartition(".")[2]
    return asked.rpartition(".")[2] == last and any(
        name.rpartition(".")[2] == last and name.split(".")[-2:-1] not in owners for name in defined
    )


def _under(passage: Passage, renamed: Mapping[str, str]) -> Passage:
    """A passage under the new name of its symbol; the old one is an alias."""
    old = passage.symbol or ""
    new = renamed.get(old)
    if new is None:
        return passage
    aliases = tuple(old if name == new else name for name in passage.aliases)
    title = new + passage.title.removeprefix(old) if passage.title.startswith(old) else passage.title
    return passage.model_copy(update={"symbol": new, "title": title, "aliases": aliases})


def _with_messages(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    in_code: Sequence[IndexedPassage],
    names: Sequence[str],
    origin: Origin,
    expected: Sequence[Resolved],
) -> IndexAnswer:
    """The answer with the message that a question quotes first, and after it the class that it is raised with and what the asker expects."""
    found = pasted_messages(index, parsed, in_code)
    if not found:
        return answered
    exact = found[0].exact
    said = [
        passage_of(one.passage, origin).model_copy(
            update={"coverage": 1.0 if exact else _NEARLY_QUOTED, "pinned": exact}
        )
        for one in found
    ]
    said += _around(index, found[0].passage, names, origin)
    titles = {passage.title for passage in said}
    rest = [passage for passage in answered.passages if passage.title not in titles]
    error = found[0].passage.data["error"]
    is_raised = bool(error and re.search(rf"\b{re.escape(error)}\b", parsed.text))
    if exact or is_raised:  # what else has words of an error's text is about other things
        told = [passage for passage in rest if _tells_of(passage, found[0].passage)]
        said += [one.model_copy(update={"coverage": _OF_CLASS, "pinned": True}) for one in told]
        wanted = {(_last_part(one.entry.name), one.entry.parameter or None) for one in expected}
        rest = [
            passage
            for passage in rest
            if passage not in told
            and (passage.pinned or (_last_part(passage.symbol or ""), passage.parameter) in wanted)
        ]
    if not exact:
        before = 0 if is_raised else 1
        return answered._replace(passages=(*rest[:before], *said, *rest[before:])[:_SHOWN])
    rest = [
        passage.model_copy(update={"pinned": False, "coverage": min(passage.coverage, _BESIDE)})
        for passage in rest
    ]
    return IndexAnswer((*said, *rest)[:_SHOWN], answered.support, ())


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _tells_of(passage: Passage, message: IndexedPassage) -> bool:
    """Whether a section of a README speaks of a message, or of the code that it is raised with."""
    codes = _ERROR_CODE.findall(message.data["raised"])
    return (
        passage.kind == "section"
        and passage.what is None
        and any(one in passage.text for one in (message.lead, *codes))
    )


def _around(
    index: PassageIndex, message: IndexedPassage, names: Sequence[str], origin: Origin
) -> list[Passage]:
    """What a message itself names, the class that it is raised with, and what raises it, as far as it is documented."""
    named = [one for found in _SPELLED.findall(message.lead) for one in found if one]
    where = message.data["where"].removesuffix(".__init__")
    raiser = where if "." in where or where[:1].isupper() else f"{message.data['module']}.{where}"
    raising = look_up(index, raiser, names)
    of_raiser = (
        {hit.passage.parameter: hit.id for hit in index.parameters_of(raising.name)}
        if raising is not None and not isinstance(raising, UnresolvedName)
        else {}
    )
    wanted = [*dict.fromkeys(named[:_MOST_NAMED]), message.data["error"], raiser]
    entries = [(name, look_up(index, name, names)) for name in wanted if name]
    numbers = [
        of_raiser.get(name, one.passage)
        for name, one in entries
        if one is not None and not isinstance(one, UnresolvedName) and "._" not in one.name
    ]
    told = (_documented(index, hit.passage) for hit in index.get(list(dict.fromkeys(numbers))))
    return [
        passage_or_site(one, origin).model_copy(update={"coverage": _OF_CLASS, "pinned": True})
        for one in told
        if one is not None
    ]


def _documented(index: PassageIndex, named: IndexedPassage) -> IndexedPassage | None:
    """What a message names, if it is documented; for a parameter without documentation its callable may tell of it."""
    told = _telling_of(index, named) if named.parameter and not named.lead else named
    return told if told is not None and told.kind in {"symbol", "parameter"} and told.lead else None


def _telling_of(index: PassageIndex, parameter: IndexedPassage) -> IndexedPassage | None:
    """The callable whose documentation says something of a parameter that has none of its own."""
    name = re.compile(rf"(?<!\w){re.escape(parameter.parameter or '')}(?!\w)")
    takers = index.by_symbol(parameter.symbol or "")
    return next((hit.passage for hit in takers if len(name.findall(hit.passage.documentation)) > 1), None)


def _pins(named: Resolution, parsed: ParsedQuestion) -> list[Pin]:
    """What the question asks about, in its order."""
    asked = frozenset().union(*(_ASKS_FOR_KIND.get(kind, frozenset()) for kind in parsed.kinds))
    said = frozenset(
        stem(word) for one in (*named.subjects, *named.context) for word in words(one.identifier.name)
    )
    asked_about = [Pin(one.entry.passage, one.entry.name, said | asked) for one in named.subjects[:_PINNED]]
    mentioned = [
        Pin(one.entry.passage, one.entry.name, said, first=False, weight=weight)
        for one in named.context
        if (weight := _competes(one, parsed))
    ]
    return asked_about + mentioned


def _competes(one: Resolved, parsed: ParsedQuestion) -> float:
    """What it counts that a question mentions something: a parameter beside what takes it, or the error that it is about."""
    if one.entry.parameter:
        return _MENTIONED if one.identifier.place == "prose" else 0.0
    is_error = (
        parsed.kind == "error" and one.identifier.last[:1].isupper() and one.identifier.name in parsed.asking
    )
    return _RAISED if is_error and _FAULT.search(one.identifier.last) else 0.0


def _marked(
    shown: Sequence[Passage], ranked: Sequence[RankedPassage], focus: Focus, expected: Collection[str]
) -> list[Passage]:
    """Say of the first passages that they are what the question names, or what the asker expects and came next."""
    pinned = len({pin.passage for pin in focus.pins if pin.first})
    return [
        passage.model_copy(update={"pinned": True})
        if position < pinned or (position == pinned and found.named in expected and found.coverage >= ABOUT)
        else passage
        for position, (found, passage) in enumerate(zip(ranked, shown, strict=True))
    ]


def _asked_versions(parsed: ParsedQuestion, names: Sequence[str], origin: Origin) -> tuple[str, ...]:
    """The versions that a question asks about; the one in use, if it is the only one, is what all passages are about."""
    elsewhere = set() if "python" in names else set(_PYTHON_VERSION.findall(parsed.asking))
    asked = tuple(version for version in parsed.versions if version not in elsewhere)
    if len(asked) == 1 and origin.version and is_same_version(asked[0], origin.version):
        return ()
    return asked


def _not_sure(
    found: RankedPassage, passage: Passage, missing: Sequence[str], versions: Sequence[str]
) -> Passage:
    """A page of prose says most of a package's everyday words: where a telling one stands nowhere, it is no sure answer.

    Neither is one about other versions than those that were asked about.
    """
    if not is_about_other_versions(found.passage, versions) and (found.passage.kind != "page" or not missing):
        return passage
    return passage.model_copy(update={"coverage": min(passage.coverage, COVERED - 0.01)})


def _passage(found: RankedPassage, terms: Sequence[Term], origin: Origin) -> Passage:
    indexed = found.passage
    if indexed.kind == "parameter":
        sites = [indexed.data["site"], *indexed.data.get("sites", [])]
        symbols = [site["symbol"] for site in sites]
        chosen = sites.pop(
            symbols.index(found.named) if found.named in symbols else closest_name(symbols, terms)
        )
        base = passage_at_site(indexed, chosen, tuple(site["symbol"] for site in sites), origin)
    else:
        base = passage_of(indexed, origin)
    also = tuple(dict.fromkeys([*base.also, *(name for name in found.also if name != base.symbol)]))
    return base.model_copy(
        update={"also": also, "coverage": min(1.0, found.coverage), "covered": found.covered}
    )


def _support(
    index: PassageIndex,
    ranked: Sequence[RankedPassage],
    shown: Sequence[Passage],
    terms: Sequence[Term],
    origin: Origin,
) -> tuple[Passage, ...]:
    """What explains the first passages, each once."""
    support = [
        passage
        for found, passage in list(zip(ranked, shown, strict=True))[:_EXPLAINED]
        for passage in _explain(index, found, passage, origin, terms)
    ]
    support += [passage for first in shown[:1] for passage in _conditions(index, first, origin)]
    by_place = {(one.title, one.what == "message" and one.locator): one for one in support}
    return tuple(by_place.values())


def _with_types(index: PassageIndex, answered: IndexAnswer, origin: Origin) -> IndexAnswer:
    """The answer with what the types and defaults of its first parameters stand for, also of those that were not ranked."""
    known = {one.title for one in answered.support}
    explained = [
        one
        for passage in answered.passages[:_EXPLAINED]
        if passage.parameter and passage.symbol
        for declared in declared_parameter(index, passage.symbol, passage.parameter)
        for one in _linked(index, declared, origin)
        if one.title not in known
    ]
    return answered._replace(support=(*answered.support, *explained))


def _linked(index: PassageIndex, indexed: IndexedPassage, origin: Origin) -> list[Passage]:
    """The types and constants behind the names in a signature."""
    linked = [*indexed.data.get("types", ()), *indexed.data.get("defaults", ())]
    hits = [hit.passage for name in linked for hit in index.by_symbol(name)[:1]]
    return [
        passage_of(hit, origin, "constant" if hit.data.get("what") == "constant" else "type") for hit in hits
    ]


def _explain(
    index: PassageIndex, found: RankedPassage, passage: Passage, origin: Origin, terms: Sequence[Term]
) -> list[Passage]:
    data = found.passage.data
    explained = _linked(index, found.passage, origin)
    seen = [hit.passage for name in data.get("see", ()) for hit in index.by_symbol(name)[:1]]
    if passage.parameter and passage.symbol:
        seen += [hit.passage for hit in index.by_symbol(passage.symbol)[:1]]
    if passage.symbol and not passage.parameter:
        telling = [
            *_said_as_words(index, terms, passage.symbol),
            *telling_parameters(index, terms, passage.symbol),
            *_deprecated(index, passage.symbol),
        ]
        explained += [passage_at_site(indexed, indexed.data["site"], (), origin) for indexed in telling]
    return [*explained, *(passage_of(hit, origin) for hit in seen), *_callers(index, passage, origin)]


def _said_as_words(index: PassageIndex, terms: Sequence[Term], symbol: str) -> list[IndexedPassage]:
    """The parameters of a callable whose names are words of the question, the rarest word first."""
    said = {term.word: term.weight for term in terms if not term.weak}
    hits = [hit.passage for hit in index.parameters_of(symbol)]
    found = [one for one in hits if one.parameter in said]
    return sorted(found, key=lambda one: -said[one.parameter or ""])[:_MOST_SAID]


def _deprecated(index: PassageIndex, symbol: str) -> list[IndexedPassage]:
    """The parameters of a callable that no call should give any more."""
    return [hit.passage for hit in index.parameters_of(symbol) if hit.passage.data.get("deprecated")]


def _conditions(index: PassageIndex, passage: Passage, origin: Origin) -> list[Passage]:
    """Where a function raises whose documentation says no more than that it does: the code has the condition."""
    said = passage.lead
    if passage.what != "function" or not (len(said) <= _SAYS_LITTLE and _RAISES.match(said)):
        return []
    path, (*_rest, owner, name) = passage.locator.partition(":")[0], ["", *(passage.symbol or "").split(".")]
    return [
        passage_of(one, origin)
        for one in index.unsearched("message")
        if one.data["where"] in {name, f"{owner}.{name}"}
        and one.locator.partition(":")[0] == path
        and one.data["raised"]
    ][:_MOST_CONDITIONS]


def _callers(index: PassageIndex, passage: Passage, origin: Origin) -> list[Passage]:
    """Passages elsewhere (a README, another docstring) whose code shows this one in use."""
    if not passage.symbol:
        return []
    last = passage.symbol.rpartition(".")[2]
    wanted = [passage.parameter] if passage.parameter else [last]
    pattern = rf"\b{re.escape(passage.parameter)}\s*=" if passage.parameter else rf"\b{re.escape(last)}\b"
    names = {name.rpartition(".")[2] for name in (passage.symbol, *passage.also)}
    calls = re.compile("|".join(rf"\b{re.escape(name)}\(" for name in names))
    found = [
        hit.passage
        for hit in index.with_code(wanted)
        if any(
            re.search(pattern, code) and (calls.search(code) or not passage.parameter)
            for code in hit.passage.code
        )
    ]
    return [passage_of(hit, origin) for hit in found[:4]]
