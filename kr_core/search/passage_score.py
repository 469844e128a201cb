"""How well one passage answers a question by what it says itself, and how much of the question it covers.

A word counts by how rare it is in the package, and more in a name than in prose; a name counts more when it says little else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.question.analysis import is_same_version, versions_in
from kr_core.search.terms import SAID, parts_of, share_of_name, share_of_question

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core.search.passage_index import Hit, IndexedPassage
    from kr_core.search.terms import Term
    from kr_core.search.weights import Weights

_ELSEWHERE = 0.35
"""What a passage outside the modules that the question names still counts."""
_FAULT = re.compile(r"(?:Error|Exception|Warning|Timeout)(?:\.\w+)?$")
_MENTIONED = 1.15
"""What a member or parameter counts more of what the question mentions."""
_OTHER_VERSION = 0.3
"""What a passage still counts whose heading names other versions than the question."""
_ASKED_FOR = 1.6
"""What it counts that a passage lies in a module for former versions which the question names."""
_FORMER = frozenset({"v1", "legacy", "_legacy", "compat", "_compat", "deprecated", "_deprecated"})
"""What modules are called that hold what a library offers in the place of its present names."""


class RankedPassage(NamedTuple):
    """A passage with its rank."""

    passage: IndexedPassage
    score: float
    coverage: float
    """How much of the question the passage covers, 0-1, weighted by rarity: the mean of two shares, of the
    significant words with similar ones counted in part, and of all words as written.
    """
    covered: frozenset[str]
    """The words of the question that it contains."""
    also: tuple[str, ...] = ()
    """Symbols of near copies that were merged into it."""
    named: str = ""
    """The symbol that the question names, where the passage is there for that."""


class Pin(NamedTuple):
    """A passage that the question, or the asker beside it, names."""

    passage: int
    symbol: str
    """The symbol, by the name that was asked for."""
    said: frozenset[str] = frozenset()
    """Words of the question that say no more than this name."""
    first: bool = True
    """Whether it comes first in any case; otherwise it competes with the rest."""
    weight: float = 1.5
    """What it counts more where it competes."""


class Focus(NamedTuple):
    """What a question's names and versions say about where to look."""

    within: Sequence[str] = ()
    """Top-level modules that the question names; passages elsewhere count less."""
    pins: Sequence[Pin] = ()
    near: Collection[str] = ()
    """Symbols that the question mentions: their members and parameters count more."""
    versions: Sequence[str] = ()
    """Versions that the question names; a passage about others counts less."""
    parts: Sequence[str] = ()
    """The words of each thing that the question asks for, where it asks for several."""
    by_meaning: bool = False
    """Whether passages count more whose first sentence is near the question in meaning."""
    learned: bool = False
    """Whether the order of the first is the model's, as `learned_order` says."""

    former: Collection[str] = ()
    """Words of the question that may name a module for former versions; what lies in another one counts less."""


def score_passage(
    hit: Hit, terms: Sequence[Term], gains: dict[int, tuple[float, float]], bm25: float, focus: Focus, weights: Weights, *, errors_asked: bool
) -> RankedPassage:  # fmt: skip
    passage = hit.passage
    total = sum(term.weight for term in terms) or 1.0
    gained = sum(gain for gain, _likeness in gains.values()) / total
    held = sum(terms[position].weight * likeness for position, (_gain, likeness) in gains.items()) / total
    covered = frozenset(
        terms[position].word for position, (_gain, likeness) in gains.items() if likeness >= SAID
    )
    length = passage.text.count(" ") + passage.text.count("\n")
    normal = 1.0 / (1.0 + weights.length * max(0, length - 40) / 200)
    precision = _precision(passage, terms, weights)
    score = gained * normal * (1 - weights.precision + weights.precision * precision) + bm25
    score *= passage.prior**weights.prior * (0.1 + held) ** weights.together
    score *= 1 - weights.rarest * (1 - _rarest_likeness(terms, gains))
    score *= _place_counts(passage, focus)
    if not errors_asked and _FAULT.search(passage.symbol or ""):
        score *= weights.fault
    if passage.kind == "section":
        score *= weights.section
    if passage.kind == "parameter":
        said = share_of_name(parts_of(passage.parameter or ""), terms)
        score *= weights.parameter * (weights.needed if passage.data.get("needed") else 1.0)
        score *= 1 - weights.unnamed * (1 - said)
    return RankedPassage(passage, score, _coverage(terms, gains), covered)


def _place_counts(passage: IndexedPassage, focus: Focus) -> float:
    """What it counts that a passage lies where the question looks, or elsewhere."""
    symbol = passage.symbol or ""
    counts = 1.0
    if focus.within and (symbol or passage.title).partition(".")[0] not in focus.within:
        counts *= _ELSEWHERE
    owners = {symbol, *passage.data.get("also", ())} if passage.parameter else {symbol.rpartition(".")[0]}
    if not owners.isdisjoint(focus.near):
        counts *= _MENTIONED
    former = _FORMER.intersection(symbol.split(".")[1:-1])
    if former:
        counts *= _ELSEWHERE if former.isdisjoint(focus.former) else _ASKED_FOR
    return counts * _OTHER_VERSION if is_about_other_versions(passage, focus.versions) else counts


def is_about_other_versions(passage: IndexedPassage, asked: Sequence[str]) -> bool:
    """Whether a passage's heading names versions, and not those that were asked for."""
    if not asked or passage.kind not in {"section", "page"}:
        return False
    told = versions_in(passage.title)
    return bool(told) and not all(any(is_same_version(one, other) for other in told) for one in asked)


def _rarest_likeness(terms: Sequence[Term], gains: dict[int, tuple[float, float]]) -> float:
    """How well a passage says the rarest word of the question; 1 where the index knows no word of it."""
    known = [number for number, term in enumerate(terms) if term.known and not term.weak]
    if not known:
        return 1.0
    return gains.get(max(known, key=lambda number: terms[number].weight), (0.0, 0.0))[1]


def _coverage(terms: Sequence[Term], gains: dict[int, tuple[float, float]]) -> float:
    """The mean of two shares: of the telling words, near ones counted in part, and of all words as they were said.

    Of the measures tried on the tuning questions it told answerable from unanswerable ones best.
    """
    likeness = {position: best for position, (_gain, best) in gains.items()}
    telling = {position: term for position, term in enumerate(terms) if not term.weak}
    soft = sum(term.weight * likeness.get(position, 0.0) for position, term in telling.items())
    said = sum(term.weight for position, term in enumerate(terms) if likeness.get(position, 0.0) >= SAID)
    whole = sum(term.weight for term in terms) or 1.0
    return (soft / (sum(term.weight for term in telling.values()) or 1.0) + said / whole) / 2


def _precision(passage: IndexedPassage, terms: Sequence[Term], weights: Weights) -> float:
    """How much of the passage's own name the question asks for; the best of its names.

    A method's class counts a little: `open` is asked for before `TarFile.open` where nobody spoke of tar files.
    """
    names = [passage.symbol or passage.name, *passage.data.get("also", ())[:12]]
    return max(_called(name, passage.parameter or "", terms, weights) for name in names)


def _called(name: str, parameter: str, terms: Sequence[Term], weights: Weights) -> float:
    *_rest, owner, last = ["", *name.split(".")]
    called = f"{last} {parameter}"
    parts = parts_of(called)
    said: float = share_of_name(parts, terms) * share_of_question(parts, terms) ** weights.recall
    if not owner[:1].isupper():
        return said
    return said * (1 - weights.owner + weights.owner * share_of_name(parts_of(owner), terms))
