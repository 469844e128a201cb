"""The first passages of a how-to that names nothing, in the order that a model learned from questions with known answers.

The words of such a question lie in many passages. What tells the right one is less how many of them it says than what it
is: a public function near the top of its package, described at length, whose name says no more than the question. A
linear model weighs these together; `tests/quality/fit_order.py` fits it so that the right passage of each question is
likelier than the others (the softmax of ListNet, Cao et al., 2007), and `docs/quality.md` says what it brings.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from math import log
from typing import TYPE_CHECKING

from kr_core.search.terms import SAID, parts_of, share_of_name, share_of_question
from kr_core.search.word_vectors import first_sentence, nearness
from kr_core.text import stem, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.search.passage_index import IndexedPassage, PassageIndex
    from kr_core.search.passage_score import RankedPassage
    from kr_core.search.terms import Term

__all__ = ["WEIGHTS_FILE", "reordered", "traits_of"]

WEIGHTS_FILE = "learned_order.json"
_FIRST = 25
"""Passages that are put in order; those behind them keep theirs."""
_MOST_WORDS = 6
"""Telling words of a question up to which the model puts more right passages first; with more of them it does not."""
_NEAR_TOP, _LONGEST = 600, 1_500
"""Characters of a passage whose meaning counts, and up to which a longer one counts more."""
_FEW = 3
"""A first sentence of fewer words describes nothing."""
_INTERNAL = frozenset(
    """abc backends base compat contrib core engine experimental ext helpers impl internal legacy mixin mixins mypy plugins
    protocols testing types util utils v1 vendor""".split()
)
"""What modules are called that hold what few users call."""


def reordered(index: PassageIndex, terms: Sequence[Term], ranked: list[RankedPassage]) -> list[RankedPassage]:
    """The passages, the first of them in the model's order; those of a question of many words stay as they are."""
    if sum(" " not in term.word for term in terms) > _MOST_WORDS:
        return ranked
    weights = _weights()
    traits = traits_of(index, terms, ranked)
    worth = [sum(weights.get(name, 0.0) * value for name, value in each.items()) for each in traits]
    order = sorted(range(len(traits)), key=lambda place: -worth[place])
    best = [ranked[place] for place in order]
    alike = _members_called_alike(best)
    if len(alike) > 1:
        meant = index.most_spoken_of([found.passage.symbol or "" for found in alike])
        best.sort(key=lambda found: found.passage.parameter is not None or found.passage.symbol != meant)
    return [*best, *ranked[len(traits) :]]


def _members_called_alike(best: Sequence[RankedPassage]) -> list[RankedPassage]:
    """The first passage and those that say as much, of members of several classes with one name; none for another first one."""
    members = [
        found
        for found in best
        if found.passage.parameter is None
        and _owner(found.passage).rpartition(".")[2][:1].isupper()
        and found.coverage >= best[0].coverage
    ]
    last = (best[0].passage.symbol or "").rpartition(".")[2] if members and members[0] is best[0] else None
    return [found for found in members if (found.passage.symbol or "").rpartition(".")[2] == last]


@functools.cache
def _weights() -> Mapping[str, float]:
    kept: dict[str, float] = json.loads((files("kr_core.search") / WEIGHTS_FILE).read_text("utf-8"))
    return kept


def traits_of(
    index: PassageIndex, terms: Sequence[Term], ranked: Sequence[RankedPassage]
) -> list[dict[str, float]]:
    """What the model knows of each of the first passages of a question, in their order."""
    first = ranked[:_FIRST]
    asked = [term.word for term in terms if " " not in term.word]
    top = max((found.score for found in first), default=0.0) or 1.0
    leads = nearness(asked, [found.passage.lead for found in first])
    bodies = nearness(asked, [found.passage.documentation[:_NEAR_TOP] for found in first], whole=True)
    of_owner: dict[str, float] = {}
    for found in first:
        owner = _owner(found.passage)
        of_owner[owner] = of_owner.get(owner, 0.0) + found.score / top
    return [
        {
            "score": log(max(found.score, 1e-6) / top),
            "lead nearness": lead,
            "body nearness": body,
            "support": of_owner.get(found.passage.symbol or "", 0.0),
            **_kind_of(found.passage),
            **_words_of(index, found.passage, terms),
        }
        for found, lead, body in zip(first, leads, bodies, strict=True)
    ]


def _owner(passage: IndexedPassage) -> str:
    symbol = passage.symbol or ""
    return symbol if passage.parameter else symbol.rpartition(".")[0]


def _kind_of(passage: IndexedPassage) -> dict[str, float]:
    *modules, last = (passage.symbol or "").split(".")
    is_parameter, is_class = bool(passage.parameter), last[:1].isupper()
    of_class = len(modules) > 1 and modules[-1][:1].isupper()
    known = {
        "parameter": is_parameter,
        "class": is_class and not is_parameter,
        "function": bool(last) and not (is_class or of_class or is_parameter),
        "constant": "constant" in {passage.kind, passage.data.get("what")},
        "prose": passage.kind in {"section", "page"},
        "needed": bool(passage.data.get("needed")),
        "internal": any(part.lower().lstrip("_") in _INTERNAL for part in modules[1:]),
        "depth": len(modules) + 1,
        "length": log(1 + min(len(passage.documentation), _LONGEST)),
    }
    return {name: float(value) for name, value in known.items()}


def _words_of(index: PassageIndex, passage: IndexedPassage, terms: Sequence[Term]) -> dict[str, float]:
    *modules, last = (passage.symbol or "").split(".")
    owner = modules[-1] if len(modules) > 1 else ""
    own, parameter = parts_of(last), parts_of(passage.parameter or "")
    lead = [stem(word) for word in words(first_sentence(passage.lead))]
    said = {root for term in terms for root in term.alike}
    mentions = len({found for found, _field in index.postings(stem(owner.lower()))}) if owner else 0
    return {
        "name": share_of_name([*own, *parameter], terms, SAID),
        "last name": share_of_name(own, terms),
        "parameter's name": share_of_name(parameter, terms, SAID),
        "words of name": float(len(own) + len(parameter)),
        "share in lead": share_of_question(lead, terms),
        "share in all": share_of_question([*own, *parameter, *lead, *parts_of(owner)], terms, SAID),
        "share of lead": len(said.intersection(lead)) / (len(set(lead)) + _FEW),
        "no lead": float(len(lead) < _FEW),
        "owner's mentions": log(1 + mentions),
    }
