"""Which passages answer a question: what each says itself, what the question names, and what speaks for one beside another.

Weights were chosen on the tuning half of the question set only.
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.learned_order import reordered
from kr_core.search.passage_score import Focus, Pin, RankedPassage, score_passage
from kr_core.search.terms import SAID, parts_of
from kr_core.search.weights import TUNED, Weights
from kr_core.text import STOP_WORDS, is_opposite, stem, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.search.passage_index import IndexedPassage, PassageIndex
    from kr_core.search.terms import Term

_CANDIDATES = 80
_ERROR_WORDS = ("error", "except", "exception", "rais", "catch")
_NEAR_TOP = 700
"""Characters of a passage in which neighbouring words are looked for."""
_DENIED = 0.4
"""What a passage still counts that is called by the opposite of what is asked for: `unstructure` for "structure"."""
_CANDIDATES_OF_PART = 25
_OF_PART = 0.45
"""How much of one part of a question the passage covers that is shown for it."""
_NOWHERE = Focus()
_SAME_SYMBOL = 2
"""At most so many passages about one symbol among the first."""
_SORTED_OUT = 20
"""So many places are sorted out; nobody is shown more."""
_TWIN = 0.75
"""Two texts that share this part of their telling words are near copies."""


def rank(
    index: PassageIndex,
    terms: Sequence[Term],
    limit: int = 10,
    *,
    focus: Focus = _NOWHERE,
    weights: Weights = TUNED,
) -> list[RankedPassage]:
    """The best passages for the terms, best first.

    Args:
        index: where to look.
        terms: from `question_terms`.
        limit: how many at most.
        focus: what the question names.
        weights: for measurements only; otherwise keep the default.
    """
    pins: dict[int, Pin] = {}
    for pin in focus.pins:
        pins.setdefault(pin.passage, pin)
    held = _held(index, terms, weights)
    bm25 = index.bm25(
        [root for term in terms for root in term.alike if term.alike[root] == 1.0 and " " not in root]
    )
    search = _Search(index, terms, held, bm25, focus, weights)
    best = search.likely(_CANDIDATES)
    best += [number for number in pins if number not in best]
    parts = [] if any(pin.first for pin in pins.values()) else _best_of_parts(search)
    best += [number for number in parts if number not in best]
    placed = {
        number: _named_by(pins.get(number), found, terms)
        for number, found in zip(best, search.ranked(best, pins), strict=True)
    }
    first = [placed[number] for number, pin in pins.items() if pin.first]
    rest = [found for number, found in placed.items() if number not in pins or not pins[number].first]
    rest.sort(key=lambda found: (-found.score, found.passage.title))
    if focus.learned and not first:
        rest = reordered(index, terms, rest)
    return with_parts(diverse(rest, first), [placed[number] for number in parts], len(first))[:limit]


class _Search(NamedTuple):
    """The words of a question, and what the passages hold of them."""

    passages: PassageIndex
    terms: Sequence[Term]
    held: dict[int, dict[int, tuple[float, float]]]
    bm25: dict[int, float]
    focus: Focus
    weights: Weights

    def likely(self, most: int) -> list[int]:
        """The passages that are worth a closer look, by what they hold and how likely users are to ask for them."""
        total = sum(term.weight for term in self.terms) or 1.0
        top = max(self.bm25.values(), default=0.0) or 1.0
        priors = self.passages.priors()
        rough = {
            number: (
                sum(gain for gain, _likeness in gains.values()) / total
                + self.weights.bm25 * self.bm25.get(number, 0.0) / top
            )
            * priors[number] ** self.weights.prior
            for number, gains in self.held.items()
        }
        return sorted(rough, key=lambda number: -rough[number])[:most]

    def ranked(self, numbers: Sequence[int], pins: Mapping[int, Pin]) -> list[RankedPassage]:
        """Some passages with their ranks, in the order of their numbers."""
        terms, weights = self.terms, self.weights
        top = max(self.bm25.values(), default=0.0) or 1.0
        errors_asked = any(term.alike.get(root) == 1.0 for term in terms for root in _ERROR_WORDS)
        ranked = [
            score_passage(
                hit,
                terms,
                _gained(self.held.get(hit.id, {}), terms, pins.get(hit.id)),
                weights.bm25 * self.bm25.get(hit.id, 0.0) / top,
                self.focus,
                weights,
                errors_asked=errors_asked,
            )
            for hit in self.passages.get(numbers)
        ]
        asked = frozenset(stem(term.word) for term in terms if not term.weak and " " not in term.word)
        ranked = [_turned_round(found, asked) for found in ranked]
        if self.focus.by_meaning:
            ranked = _near(ranked, terms, weights)
        pairs = _pairs(terms)
        return _supported([_paired(found, pairs, weights) for found in ranked], weights)

    def of_part(self, part: str) -> _Search:
        """The same for the words of one part of the question."""
        roots = frozenset(map(stem, words(part)))
        places = [
            place for place, term in enumerate(self.terms)
            if all(stem(word) in roots for word in words(term.word))
        ]  # fmt: skip
        held = {
            number: said
            for number, gains in self.held.items()
            if (said := {new: gains[old] for new, old in enumerate(places) if old in gains})
        }
        return self._replace(terms=[self.terms[place] for place in places], held=held, bm25={})


def _best_of_parts(search: _Search) -> list[int]:
    """The passage that says most of each part of a question that asks for several things."""
    found: dict[int, None] = {}
    for part in search.focus.parts:
        of_part = search.of_part(part)
        numbers = of_part.likely(_CANDIDATES_OF_PART)
        ranked = of_part.ranked(numbers, {})
        best = max(zip(numbers, ranked, strict=True), key=lambda pair: pair[1].score, default=None)
        if best is not None and best[1].coverage >= _OF_PART:
            found[best[0]] = None
    return list(found)


def _gained(
    gains: dict[int, tuple[float, float]], terms: Sequence[Term], pin: Pin | None
) -> dict[int, tuple[float, float]]:
    """What a passage holds of the question; one that the question names holds the words of its name."""
    if pin is None or not pin.said:
        return gains
    said = {
        position: (max(term.weight, gains.get(position, (0.0, 0.0))[0]), 1.0)
        for position, term in enumerate(terms)
        if term.word in STOP_WORDS
        or any(likeness >= SAID and root in pin.said for root, likeness in term.alike.items())
    }
    return {**gains, **said}


def _named_by(pin: Pin | None, found: RankedPassage, terms: Sequence[Term]) -> RankedPassage:
    if pin is None:
        return found
    if not pin.first:
        return found._replace(score=found.score * pin.weight, named=pin.symbol)
    return found._replace(coverage=found.coverage if terms else 1.0, named=pin.symbol)


def _near(ranked: list[RankedPassage], terms: Sequence[Term], weights: Weights) -> list[RankedPassage]:
    """The passages, with more for those whose first sentence is near the question in meaning.

    Where a question says the names of both a parameter and its callable, the nearer of the two counts for the parameter.
    """
    from kr_core.search.word_vectors import nearness

    asked = [term.word for term in terms if " " not in term.word]
    cosines = nearness(asked, [found.passage.lead for found in ranked])
    takers = {
        found.passage.symbol: cosine
        for found, cosine in zip(ranked, cosines, strict=True)
        if found.passage.parameter is None
    }
    said = {root for term in terms for root, likeness in term.alike.items() if likeness >= SAID}
    nearer = []
    for found, cosine in zip(ranked, cosines, strict=True):
        passage, near = found.passage, cosine
        taker = (passage.symbol or "").rpartition(".")[2]
        if passage.parameter is not None and parts_of(f"{taker} {passage.parameter}") <= said:
            near = max(near, takers.get(passage.symbol, near))
        nearer.append(found._replace(score=found.score * exp(weights.meaning * near)))
    return nearer


def _pairs(terms: Sequence[Term]) -> dict[tuple[str, str], float]:
    """Neighbouring words of the question as pairs of stems, with their weight: `progress bar`, `log level`."""
    single = [term for term in terms if " " not in term.word]
    return {
        (stem(one.word), stem(other.word)): one.weight + other.weight
        for one, other in itertools.pairwise(single)
        if one.known and other.known
    }


def _paired(found: RankedPassage, pairs: dict[tuple[str, str], float], weights: Weights) -> RankedPassage:
    """A passage that says two neighbouring words of the question side by side means the same thing by them."""
    if not pairs:
        return found
    passage = found.passage
    said: set[tuple[str, str]] = set()
    for text in (passage.name, passage.lead, passage.text[:_NEAR_TOP]):
        roots = [stem(word) for word in words(text) if word not in STOP_WORDS]
        said.update(itertools.pairwise(roots))
        said.update(zip(roots, roots[2:], strict=False))
    share = sum(weight for pair, weight in pairs.items() if pair in said or pair[::-1] in said) / sum(
        pairs.values()
    )
    return found._replace(score=found.score * (1 + weights.pairs * share))


def _supported(ranked: list[RankedPassage], weights: Weights) -> list[RankedPassage]:
    """What a symbol's parameters and members say speaks for the symbol, and the other way round."""
    own: dict[str, float] = {}
    parts: dict[str, float] = {}
    for found in ranked:
        passage = found.passage
        if passage.symbol is None:
            continue
        if passage.parameter is None:
            own[passage.symbol] = max(own.get(passage.symbol, 0.0), found.score)
        owner = passage.symbol if passage.parameter else passage.symbol.rpartition(".")[0]
        parts[owner] = max(parts.get(owner, 0.0), found.score)
    supported = []
    for found in ranked:
        passage = found.passage
        more = 0.0
        if passage.symbol is not None:
            owner = passage.symbol if passage.parameter else passage.symbol.rpartition(".")[0]
            more = weights.from_owner * own.get(owner, 0.0)
            if passage.parameter is None:
                more += weights.from_parts * parts.get(passage.symbol, 0.0)
        supported.append(found._replace(score=found.score + more))
    return supported


def _held(
    index: PassageIndex, terms: Sequence[Term], weights: Weights
) -> dict[int, dict[int, tuple[float, float]]]:
    """For each passage and term: (weight gained in its best field, likeness of its best word)."""
    by_field = {
        "name": weights.name,
        "lead": weights.lead,
        "body": weights.body,
        "words": weights.words,
        "code": weights.code,
    }
    held: dict[int, dict[int, tuple[float, float]]] = {}
    for position, term in enumerate(terms):
        for root, likeness in term.alike.items():
            for number, column in index.postings(root):
                gains = held.setdefault(number, {})
                gain, best = gains.get(position, (0.0, 0.0))
                gains[position] = (max(gain, term.weight * by_field[column] * likeness), max(best, likeness))
    return held


def _turned_round(found: RankedPassage, asked: frozenset[str]) -> RankedPassage:
    """A passage, with less where its name says the opposite of a word that the question says, and not the word itself."""
    passage = found.passage
    said = parts_of(f"{(passage.symbol or '').rpartition('.')[2]} {passage.parameter or ''}")
    is_turned = any(is_opposite(part, root) for part in said - asked for root in asked - said)
    return found._replace(score=found.score * _DENIED) if is_turned else found


def diverse(ranked: list[RankedPassage], named: Sequence[RankedPassage]) -> list[RankedPassage]:
    """The same order, behind what is named, with near copies folded into the first of them, and third passages about one symbol last.

    `numpy.choose(choices)` and `numpy.ma.choose(choices)` say the same: one place, and the other is named beside it.
    """
    first = list(named)
    later: list[RankedPassage] = []
    seen: Counter[str] = Counter(found.passage.symbol or found.passage.title for found in named)
    for found in ranked:
        passage = found.passage
        symbol = passage.symbol or passage.title
        place = next(
            (number for number, other in enumerate(first) if _are_twins(other.passage, passage)), None
        )
        if place is not None:
            first[place] = first[place]._replace(also=(*first[place].also, symbol))
            continue
        seen[symbol] += 1
        (first if seen[symbol] <= _SAME_SYMBOL else later).append(found)
        if len(first) >= _SORTED_OUT:
            break
    return first + later


def _are_twins(one: IndexedPassage, other: IndexedPassage) -> bool:
    """Whether two passages say the same of things with the same last name."""
    if (
        one.symbol is None
        or other.symbol is None
        or one.symbol == other.symbol
        or one.parameter != other.parameter
    ):
        return False
    if one.symbol.rpartition(".")[2] != other.symbol.rpartition(".")[2]:
        return False
    ours, theirs = (set(words(each.lead)) - STOP_WORDS for each in (one, other))
    larger = max(len(ours), len(theirs))
    return larger == 0 or len(ours & theirs) >= _TWIN * larger


def with_parts(
    ranked: list[RankedPassage], parts: Sequence[RankedPassage], named: int
) -> list[RankedPassage]:
    """The passages with the best of each part of the question right behind the first."""
    kept = ranked[: max(named, 1)]
    shown = {id(found.passage) for found in kept}
    beside = [found for found in parts if id(found.passage) not in shown]
    shown |= {id(found.passage) for found in beside}
    return [*kept, *beside, *(found for found in ranked[len(kept) :] if id(found.passage) not in shown)]
