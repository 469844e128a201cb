"""The passages of an index as an answer cites them, and what an index says to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Passage
from kr_plugins.sources.installed_docs.parameters import with_site

if TYPE_CHECKING:
    from kr_core.plugin import UnresolvedName
    from kr_core.toolkit import IndexedPassage, PassageIndex


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


def passage_at_site(
    indexed: IndexedPassage, site: dict[str, Any], also: tuple[str, ...], origin: Origin
) -> Passage:
    data = indexed.data
    same_file = site["path"] == data["site"]["path"]
    # A clone's documentation is cited from one file. Where its signature has the parameter as that one's has, it is as good.
    is_alike = same_file or site["source"] == data["site"]["source"]
    if not is_alike:
        also = (site["symbol"], *also)
    shown = site if same_file else data["site"]
    text, lines = with_site(data["doc"], data["doc_line"], shown)
    is_own = not shown["source"] or shown["source"] == data["site"]["source"]
    return Passage(
        text=text,
        url=data.get("url", origin.url),
        locator=indexed.locator,
        lines=tuple((start, line) for start, line in lines),
        title=f"{site['symbol']}({indexed.parameter})",
        lead=indexed.lead,
        kind="parameter",
        what=data["what"],
        symbol=site["symbol"] if is_alike else indexed.symbol,
        parameter=indexed.parameter,
        star=data.get("star", ""),
        signature=shown["source"] or None,
        annotation=data["annotation"],
        default=data["default"] if is_own else shown["default"],
        default_means=shown["meant"][2] if shown.get("meant") else None,
        required=tuple(site["required"]),
        also=also,
        aliases=tuple(data.get("aliases", ())),
        code=indexed.code,
        version=data.get("version", origin.version),
        official=origin.official,
        deprecated=data.get("deprecated"),
        replacement=data.get("replacement"),
    )


def passage_or_site(indexed: IndexedPassage, origin: Origin) -> Passage:
    """A passage as it is, a parameter where it is documented."""
    return (
        passage_at_site(indexed, indexed.data["site"], (), origin)
        if indexed.kind == "parameter"
        else passage_of(indexed, origin)
    )


def passage_of(indexed: IndexedPassage, origin: Origin, kind: str | None = None) -> Passage:
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


def optional_parameters(index: PassageIndex, symbol: str) -> list[str]:
    """The names of the parameters that a callable takes and does not require."""
    return [
        name.lstrip("*")
        for hit in index.by_symbol(symbol)[:1]
        for name, _default in hit.passage.data.get("parameters", ())
        if name not in hit.passage.data.get("required", ())
    ]


def declared_parameter(index: PassageIndex, symbol: str, name: str) -> list[IndexedPassage]:
    """What the index has about a parameter of a callable: one passage at most."""
    numbers = [one.passage for one in index.named(name) if one.name == symbol and one.parameter == name]
    return [hit.passage for hit in index.get(numbers[:1])]


def parameter_passage(
    index: PassageIndex, symbol: str, name: str, origin: Origin, *, anywhere: bool = False
) -> Passage | None:
    """The passage about a parameter of a callable, which may share it with others.

    Args:
        index: where it is.
        symbol: the callable.
        name: the parameter.
        origin: where the passages come from.
        anywhere: whether it may bear the name of another callable, in another file, that documents it in the same words.
    """
    for declared in declared_parameter(index, symbol, name):
        sites = [declared.data["site"], *declared.data.get("sites", [])]
        chosen = next((site for site in sites if site["symbol"] == symbol), None)
        if chosen is None:
            return None
        others = tuple(site["symbol"] for site in sites if site is not chosen)
        passage = passage_at_site(declared, chosen, others, origin)
        return (
            passage if anywhere or passage.symbol == symbol else None
        )  # its documentation lies in another file
    return None
