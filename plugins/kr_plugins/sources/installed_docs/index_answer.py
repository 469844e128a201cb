"""A question put to an index: the ranked passages, and those that explain them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Passage
from kr_core.toolkit import (
    COVERED,
    RankedPassage,
    Term,
    closest_name,
    question_terms,
    rank,
    telling_parameters,
)
from kr_plugins.sources.installed_docs.parameters import with_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.toolkit import IndexedPassage, PassageIndex

_SHOWN = 8
_DOTTED = re.compile(r"(?<!\w)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""From the start of a word only: tried within one as well, a word of a megabyte takes minutes."""
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


def answer(
    index: PassageIndex, question: str, names: Iterable[str], origin: Origin, modules: Sequence[str] = ()
) -> IndexAnswer:
    """The best passages for a question, each under the name the question asks for, and what explains them."""
    terms = question_terms(index, question, without=names)
    ranked = _named_first(rank(index, terms, _SHOWN, within=modules), question)
    missing = tuple(term.word for term in terms if not term.known and not term.weak)
    shown = [_not_sure(found, _passage(found, terms, origin), missing) for found in ranked]
    support = [
        passage
        for found, passage in list(zip(ranked, shown, strict=True))[:_EXPLAINED]
        for passage in _explain(index, found, passage, origin, terms)
    ]
    return IndexAnswer(tuple(shown), tuple({passage.title: passage for passage in support}.values()), missing)


def _not_sure(found: RankedPassage, passage: Passage, missing: Sequence[str]) -> Passage:
    """A page of prose says most of a package's everyday words: where a telling one stands nowhere, it is no sure answer."""
    if found.passage.kind != "page" or not missing:
        return passage
    return passage.model_copy(update={"coverage": min(passage.coverage, COVERED - 0.01)})


def _named_first(ranked: list[RankedPassage], question: str) -> list[RankedPassage]:
    """The symbols that a question names in full (`json.dumps`) before all others."""
    named = set(_DOTTED.findall(question))
    return sorted(
        ranked, key=lambda found: found.passage.symbol not in named or found.passage.parameter is not None
    )


def _passage(found: RankedPassage, terms: Sequence[Term], origin: Origin) -> Passage:
    indexed = found.passage
    if indexed.kind == "parameter":
        sites = [indexed.data["site"], *indexed.data.get("sites", [])]
        chosen = sites.pop(closest_name([site["symbol"] for site in sites], terms))
        base = _at_site(indexed, chosen, tuple(site["symbol"] for site in sites), origin)
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
    text, lines = with_site(data["doc"], data["doc_line"], site if same_file else data["site"])
    return Passage(
        text=text,
        url=origin.url,
        locator=indexed.locator,
        lines=tuple((start, line) for start, line in lines),
        title=f"{site['symbol']}({indexed.parameter})",
        lead=indexed.lead,
        kind="parameter",
        what=data["what"],
        symbol=site["symbol"] if same_file else indexed.symbol,
        parameter=indexed.parameter,
        star=data.get("star", ""),
        signature=(site if same_file else data["site"])["source"] or None,
        annotation=data["annotation"],
        default=data["default"],
        required=tuple(site["required"]),
        also=also,
        aliases=tuple(data.get("aliases", ())),
        code=indexed.code,
        version=origin.version,
        official=origin.official,
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
        required=tuple(data.get("required", ())),
        parameters=tuple((name, default) for name, default in data.get("parameters", ())),
        also=tuple(data.get("also", ())),
        aliases=tuple(data.get("aliases", ())),
        code=indexed.code,
        version=data.get("version", origin.version),
        official=origin.official,
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
