"""A question put to an index: the ranked passages, and those that explain them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Passage
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
    parse_question,
    question_terms,
    rank,
    resolve,
    stem,
    telling_parameters,
    words,
)
from kr_plugins.sources.installed_docs.parameters import with_site
from kr_plugins.sources.installed_docs.pasted_messages import pasted_messages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex, Resolution, Resolved

_SHOWN = 8
_BY_WORDS_ALONE = "pkg:npm/"
"""The table of word vectors was made from Python packages: sections of a README came first that were farther off."""
_SHORT = 400
"""A question on one line of so many characters is searched for whole; of a longer one the sentences that ask."""
_PINNED = 4
_MOST_PROPOSED = 20
_MENTIONED = 2.5
"""What a parameter counts more that is named beside what takes it."""
_NEARLY_QUOTED = 0.5
"""How much of a question a message covers that differs from what is quoted."""
_BESIDE = 0.45
"""How much of it any other passage covers at most."""
_OF_CLASS = 0.6
"""How much of it the class covers that a quoted message is raised with."""
_CALLED = 2.0
"""What a function and its parameters count more if a how-to spells out its name, with an underscore."""
_DOCUMENTED = 4.9
"""The least standing of a public name with documentation."""
_SPELLED = re.compile(
    r"`([A-Za-z_][\w.]*)|\['(\w+)'\]|(?<![\w.])((?:[A-Za-z]\w*\.)*(?:[A-Za-z]+_\w+|[A-Z][a-z]+[A-Z]\w*))"
)
"""The names that a message spells out: between back-ticks, as a key, with an underscore or inner capital."""
_MOST_NAMED = 3
_POINTER = re.compile(r"\]\[([\w.]{3,200})\]|:\w{1,20}:`[~!]?([\w.]{3,200})`")
"""Where the documentation of a parameter sends its reader, in Markdown and in reStructuredText."""
_MOST_POINTERS = 5
_RAISED = 1.5
"""What an error counts more in a question about one."""
_FAULT = re.compile(r"(?:Error|Exception|Warning|Timeout|Expired|Exit|NotFound)$")
_OF_KIND = {
    "default": frozenset({"default", "valu"}),
    "meaning": frozenset({"mean", "purpos", "explain"}),
    "options": frozenset({"option", "valu"}),
    "difference": frozenset({"differ", "vs", "versu"}),
}
"""Stems of the words that ask for a kind of answer, and say nothing of its subject."""
_PYTHON_VERSION = re.compile(r"(?i)\bpython\s?(?:version\s)?v?(\d[\d.]*)")
_EXPLAINED = 3
"""Types, defaults and code are looked up for so many of the first passages."""


class Origin(NamedTuple):
    """Where an index's passages come from."""

    url: str
    version: str | None
    official: bool = True


class IndexAnswer(NamedTuple):
    """What the index says to a question."""

    passages: tuple[Passage, ...]
    support: tuple[Passage, ...]
    missing: tuple[str, ...]
    """Words of the question that no passage holds in any form."""
    unresolved: tuple[UnresolvedName, ...] = ()
    """Names that clearly belong to the library and that it does not have."""


def answer(
    index: PassageIndex,
    question: str,
    names: Iterable[str],
    origin: Origin,
    modules: Sequence[str] = (),
    proposed: Sequence[str] = (),
) -> IndexAnswer:
    """The best passages for a question, each under the name the question asks for, and what explains them.

    Args:
        index: where they are looked for.
        question: as it was asked.
        names: names of the whole, which say nothing about one passage.
        origin: where the passages come from.
        modules: top-level modules that the question names.
        proposed: names that the asker expects in the answer.
    """
    names = tuple(names)
    parsed = parse_question(question)
    named = resolve(index, parsed, names, modules)
    offered = [
        found for name in proposed[:_MOST_PROPOSED] if (found := look_up(index, name, names)) is not None
    ]
    versions = _asked_versions(parsed, names, origin)
    pins = _pins(named, parsed)
    pins += [
        Pin(one.passage, one.name, first=False) for one in offered if not isinstance(one, UnresolvedName)
    ]
    pins += _called(index, named, parsed)
    near = frozenset(one.entry.name for one in named.context)
    by_meaning = not pins and not near and not origin.url.startswith(_BY_WORDS_ALONE)
    focus = Focus(modules, pins, near, versions, by_meaning=by_meaning)
    is_short = len(question) <= _SHORT and "\n" not in question.strip()
    terms = question_terms(index, question if is_short else parsed.asking, without=names, versions=versions)
    ranked = rank(index, terms, _SHOWN, focus=focus)
    missing = tuple(term.word for term in terms if not term.known and not term.weak)
    shown = [_not_sure(found, _passage(found, terms, origin), missing, versions) for found in ranked]
    shown = _marked(shown, ranked, focus, {one.name for one in offered})
    support = [
        passage
        for found, passage in list(zip(ranked, shown, strict=True))[:_EXPLAINED]
        for passage in _explain(index, found, passage, origin, terms)
    ]
    unresolved = {one.name: one for one in (*named.unresolved, *offered) if isinstance(one, UnresolvedName)}
    answered = IndexAnswer(
        tuple(shown),
        tuple({passage.title: passage for passage in support}.values()),
        missing,
        tuple(unresolved.values()),
    )
    return _with_messages(index, parsed, _pointed_at(index, parsed, answered, names, origin), names, origin)


def _pointed_at(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, names: Sequence[str], origin: Origin
) -> IndexAnswer:
    """The answer with what its first parameter points to before it: "see `ConfigDict.extra`", if only the parameter was asked for."""
    first = next(iter(answered.passages), None)
    if first is None or not first.parameter or not first.symbol:
        return answered
    asked = parsed.text.casefold()
    if any(part.casefold() in asked for part in first.symbol.split(".")[1:]):
        return answered
    for markdown, role in _POINTER.findall(first.text)[:_MOST_POINTERS]:
        pointer = markdown or role
        name = pointer.partition(".")[2] if pointer.startswith("_") else pointer
        if not name.endswith(f".{first.parameter}"):
            continue
        meant = look_up(index, name.lstrip("."), names)
        if meant is None or isinstance(meant, UnresolvedName):
            continue
        for hit in index.get([meant.passage]):
            passage = _plain_or_site(hit.passage, origin).model_copy(
                update={"coverage": first.coverage, "covered": first.covered, "pinned": first.pinned}
            )
            if passage.title != first.title:
                rest = [one for one in answered.passages if one.title != passage.title]
                return answered._replace(passages=(passage, *rest)[:_SHOWN])
    return answered


def _with_messages(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, names: Sequence[str], origin: Origin
) -> IndexAnswer:
    """The answer with the message that a question quotes first, and the class that it is raised with after it."""
    found = pasted_messages(index, parsed)
    if not found:
        return answered
    exact = found[0].exact
    said = [
        _plain(one.passage, origin).model_copy(
            update={"coverage": 1.0 if exact else _NEARLY_QUOTED, "pinned": exact}
        )
        for one in found
    ]
    said += _around(index, found[0].passage, names, origin)
    titles = {passage.title for passage in said}
    rest = [passage for passage in answered.passages if passage.title not in titles]
    if not exact:
        return answered._replace(passages=(*rest[:1], *said, *rest[1:])[:_SHOWN])
    rest = [
        passage.model_copy(update={"pinned": False, "coverage": min(passage.coverage, _BESIDE)})
        for passage in rest
    ]
    return IndexAnswer((*said, *rest)[:_SHOWN], answered.support, ())


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
    return [
        _plain_or_site(hit.passage, origin).model_copy(update={"coverage": _OF_CLASS, "pinned": True})
        for hit in index.get(list(dict.fromkeys(numbers)))
        if hit.passage.kind in {"symbol", "parameter"} and hit.passage.lead
    ]


def _pins(named: Resolution, parsed: ParsedQuestion) -> list[Pin]:
    """What the question asks about, in its order."""
    asked = frozenset().union(*(_OF_KIND.get(kind, frozenset()) for kind in parsed.kinds))
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


def _called(index: PassageIndex, named: Resolution, parsed: ParsedQuestion) -> list[Pin]:
    """The functions whose names a how-to spells out (`model_validator`), each with its parameters."""
    found = []
    for one in named.context if parsed.kind == "how_to" else ():
        owner, _dot, last = one.entry.name.rpartition(".")
        is_function = not owner.rpartition(".")[2][:1].isupper() and not one.entry.parameter
        is_exact = one.identifier.form == "snake" and last == one.identifier.name
        if is_function and is_exact and one.identifier.place == "prose" and one.entry.standing >= _DOCUMENTED:
            parts = [hit.id for hit in index.parameters_of(one.entry.name)]
            found += [
                Pin(number, one.entry.name, first=False, weight=_CALLED)
                for number in (one.entry.passage, *parts)
            ]
    return found


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
        base = _at_site(indexed, chosen, tuple(site["symbol"] for site in sites), origin)
        if chosen["symbol"] == found.named and chosen["source"] == indexed.data["site"]["source"]:
            base = base.model_copy(update={"symbol": found.named})
    else:
        base = _plain(indexed, origin)
    also = tuple(dict.fromkeys([*base.also, *(name for name in found.also if name != base.symbol)]))
    return base.model_copy(
        update={"also": also, "coverage": min(1.0, found.coverage), "covered": found.covered}
    )


def _at_site(indexed: IndexedPassage, site: dict[str, Any], also: tuple[str, ...], origin: Origin) -> Passage:
    data = indexed.data
    same_file = site["path"] == data["site"]["path"]
    # A clone's own documentation lies in another file: then its signature alone is cited beside the shared text.
    if not same_file:
        also = (site["symbol"], *also)
    shown = site if same_file else data["site"]
    text, lines = with_site(data["doc"], data["doc_line"], shown)
    return Passage(
        text=text,
        url=data.get("url", origin.url),
        locator=indexed.locator,
        lines=tuple((start, line) for start, line in lines),
        title=f"{site['symbol']}({indexed.parameter})",
        lead=indexed.lead,
        kind="parameter",
        what=data["what"],
        symbol=site["symbol"] if same_file else indexed.symbol,
        parameter=indexed.parameter,
        star=data.get("star", ""),
        signature=shown["source"] or None,
        annotation=data["annotation"],
        default=data["default"],
        default_means=shown["meant"][2] if shown.get("meant") and data["default"] == "None" else None,
        required=tuple(site["required"]),
        also=also,
        aliases=tuple(data.get("aliases", ())),
        code=indexed.code,
        version=data.get("version", origin.version),
        official=origin.official,
        deprecated=data.get("deprecated"),
        replacement=data.get("replacement"),
    )


def _plain_or_site(indexed: IndexedPassage, origin: Origin) -> Passage:
    """A passage as it is, a parameter where it is documented."""
    return (
        _at_site(indexed, indexed.data["site"], (), origin)
        if indexed.kind == "parameter"
        else _plain(indexed, origin)
    )


def _plain(indexed: IndexedPassage, origin: Origin, kind: str | None = None) -> Passage:
    data = indexed.data
    return Passage(
        text=indexed.text,
        url=data.get("url", origin.url),
        locator=indexed.locator,
        lines=tuple((start, line) for start, line in data.get("lines", ())),
        title=indexed.title,
        lead=indexed.lead,
        kind=kind or data.get("kind", indexed.kind),
        what=data.get("what"),
        symbol=indexed.symbol,
        signature=data.get("signature"),
        returns=data.get("returns"),
        default=data.get("default"),
        required=tuple(data.get("required", ())),
        parameters=tuple((name, default) for name, default in data.get("parameters", ())),
        also=tuple(data.get("also", ())),
        aliases=tuple(data.get("aliases", ())),
        code=(data["raised"],)
        if data.get("raised")
        else indexed.code,  # an error is not raised to show how its function is used
        version=data.get("version", origin.version),
        official=origin.official,
        deprecated=data.get("deprecated"),
        replacement=data.get("replacement"),
    )


def _explain(
    index: PassageIndex, found: RankedPassage, passage: Passage, origin: Origin, terms: Sequence[Term]
) -> list[Passage]:
    data = found.passage.data
    linked = [*data.get("types", ()), *data.get("defaults", ())]
    hits = [hit.passage for name in linked for hit in index.by_symbol(name)[:1]]
    explained = [
        _plain(hit, origin, "constant" if hit.data.get("what") == "constant" else "type") for hit in hits
    ]
    seen = [hit.passage for name in data.get("see", ()) for hit in index.by_symbol(name)[:1]]
    if passage.parameter and passage.symbol:
        seen += [hit.passage for hit in index.by_symbol(passage.symbol)[:1]]
    if passage.symbol and not passage.parameter:
        telling = telling_parameters(index, terms, passage.symbol)
        explained += [_at_site(indexed, indexed.data["site"], (), origin) for indexed in telling]
    return [*explained, *(_plain(hit, origin) for hit in seen), *_callers(index, passage, origin)]


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
    return [_plain(hit, origin) for hit in found[:4]]
