"""The members and parameters of one symbol, by how much of the question each says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.passage_index import Hit
from kr_core.search.terms import parts_of
from kr_core.text import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.search.passage_index import IndexedPassage, PassageIndex
    from kr_core.search.terms import Term

_VALUE = re.compile(r"[\"'](\w[\w -]*+)[\"']")
_TELLING = 0.2
"""A parameter that says so much of the question is named with its symbol."""
_MOST_MEMBERS = 1_000
_TOP = 700
"""Characters of a member's text that are looked at."""
_MOST_TAKEN = 200
_HALF = 0.5
_BY_MEANING = 0.3
"""What it counts that the first sentence of a member is near the question in meaning."""


def ranked_members(
    index: PassageIndex, terms: Sequence[Term], symbol: str
) -> list[tuple[float, IndexedPassage]]:
    """The public methods and attributes of a class, each with the share of the question that it says, best first.

    Where two say as much, the nearer in meaning comes first.
    """
    from kr_core.search.word_vectors import nearness

    found = [
        hit for hit in index.members_of(symbol, _MOST_MEMBERS)
        if not (hit.passage.symbol or "").rpartition(".")[2].startswith("_")
    ]  # fmt: skip
    asked = [term.word for term in terms if " " not in term.word]
    cosines = nearness(asked, [hit.passage.lead for hit in found])
    shares = _shares(found, terms, symbol)
    return sorted(
        (
            (share + _BY_MEANING * max(0.0, cosine), hit.passage)
            for (share, hit), cosine in zip(shares, cosines, strict=True)
        ),
        key=lambda pair: (-pair[0], -pair[1].prior, pair[1].title),
    )


def telling_parameters(
    index: PassageIndex, terms: Sequence[Term], symbol: str, limit: int = 2
) -> list[IndexedPassage]:
    """The parameters of a symbol that the question asks about, by their names and documentation, best first.

    A symbol with twenty parameters is half an answer; the other half is which of them to pass.
    """
    best = described_parameters(index, terms, symbol)[:limit]
    return [passage for share, passage in best if share >= _TELLING]


def described_parameters(
    index: PassageIndex, terms: Sequence[Term], symbol: str
) -> list[tuple[float, IndexedPassage]]:
    """The parameters of a symbol, each with the share of the question that it says, best first."""
    scored = [(share, hit.passage) for share, hit in _shares(index.parameters_of(symbol), terms, symbol)]
    return sorted(scored, key=lambda pair: -pair[0])


class Weighed(NamedTuple):
    """A symbol or one of its parameters, by what it says to a question."""

    worth: float
    """The share, and half of how near its name and first sentence are in meaning."""
    share: float
    """How much of the question it says, 0-1."""
    passage: IndexedPassage
    allows_asked: bool = False
    """Whether its type allows a value that the question says."""


def weighed_parameters(
    index: PassageIndex, terms: Sequence[Term], symbol: str, itself: IndexedPassage
) -> tuple[Weighed, list[Weighed]]:
    """A callable, and its parameters, those that are worth most first.

    Args:
        index: where they are.
        terms: the words of the question without those of the symbol's name.
        symbol: what the callable is called.
        itself: the passage about it, perhaps under another name.
    """
    from kr_core.search.word_vectors import nearness

    hits = [Hit(0, itself), *_parameters_of(index, symbol, itself)]
    asked = [term.word for term in terms if " " not in term.word]
    texts = [f"{(hit.passage.parameter or '').replace('_', ' ')} {hit.passage.lead}" for hit in hits]
    roots = {root for term in terms if not term.weak for root in term.alike}
    own, *parameters = (
        Weighed(
            share + _HALF * max(0.0, cosine), share, hit.passage, not roots.isdisjoint(_allowed(hit.passage))
        )
        for (share, hit), cosine in zip(_shares(hits, terms, symbol), nearness(asked, texts), strict=True)
    )
    return own, sorted(parameters, key=lambda one: -one.worth)


def allowed_values(declared: str) -> list[str]:
    """The values in quotation marks that a type allows: those of `Literal["camel", "kebab"]`."""
    return _VALUE.findall(declared[:_TOP])


def _allowed(passage: IndexedPassage) -> set[str]:
    """The stems of the words of the values that the type of a parameter allows."""
    values = allowed_values(str(passage.data.get("annotation") or ""))
    return {stem(word) for value in values for word in words(value)}


def _parameters_of(index: PassageIndex, symbol: str, itself: IndexedPassage) -> list[Hit]:
    """The passages about the parameters of a callable, also those that it shares with others."""
    own = index.parameters_of(symbol)
    known = {hit.passage.parameter for hit in own}
    taken = [name.lstrip("*") for name, _default in itself.data.get("parameters", ())][:_MOST_TAKEN]
    shared = [
        one.passage
        for name in taken
        if name not in known
        for one in index.named(name)
        if one.name == symbol and one.parameter == name
    ]
    return [*own, *index.get(shared)]


def _shares(hits: Sequence[Hit], terms: Sequence[Term], symbol: str) -> Iterator[tuple[float, Hit]]:
    """How much of the question each part of a symbol says, by its own name and documentation."""
    name = parts_of(symbol.rpartition(".")[2])
    total = sum(term.weight for term in terms) or 1.0
    for hit in hits:
        passage = hit.passage
        said = parts_of(passage.parameter or (passage.symbol or "").rpartition(".")[2]) - name
        lead = {stem(word) for word in words(passage.lead)} - name
        said |= _allowed(passage)
        told = passage.data.get("doc", "") if passage.parameter else passage.documentation[:_TOP]
        body = {stem(word) for word in words(told)} - name
        gained = sum(
            term.weight * max(
                (likeness * (1.0 if root in said else 0.8 if root in lead else 0.5 if root in body else 0.0) for root, likeness in term.alike.items()),
                default=0.0,
            )
            for term in terms
        )  # fmt: skip
        yield gained / total, hit
