"""The words of a question: how telling each is in a package, and what else means it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING

from kr_core.search.thesaurus import Expansion, expand, near
from kr_core.search.weights import TUNED, Weights
from kr_core.text import WEAK_WORDS, content_words, is_opposite, split_identifier, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kr_core.search.passage_index import PassageIndex

SAID = 0.99
"""A likeness from which on a word counts as said itself."""


@dataclass(slots=True)
class Term:
    """A word or phrase of the question."""

    word: str
    weight: float
    """Rarity in the package, 0-1."""
    alike: dict[str, float] = field(default_factory=dict)
    """Stems with the same meaning, with their weights; its own stem counts 1."""
    known: bool = False
    """Whether the index contains the word itself, or one with its meaning."""
    weak: bool = False
    """Ordinary English that says little about the topic."""


def question_terms(
    index: PassageIndex,
    question: str,
    *,
    without: Iterable[str] = (),
    versions: Iterable[str] = (),
    weights: Weights = TUNED,
) -> list[Term]:
    """The significant words of a question, weighted by rarity.

    Args:
        index: where they are looked for.
        question: its asking sentences.
        without: words that apply to every passage.
        versions: version numbers that it names, each a term of its own.
        weights: for measurements only.
    """
    names = "|".join(sorted(map(re.escape, without), key=len, reverse=True))
    asked = re.sub(rf"(?i)(?<![\w.])(?:{names})(?![\w])", " ", question) if names else question
    asides = _asides(asked)
    found: dict[str, Term] = {}
    for word in content_words(asked):
        root = stem(word)
        if root in found:
            continue
        rarity = _rarity(index, root)
        weak = word in WEAK_WORDS
        weight = max((1.0 if rarity is None else rarity) ** weights.rare, 0.02) * (
            weights.weak if weak else 1.0
        )
        if root in asides:
            weight *= weights.aside
        if index.names(root):
            weight *= weights.naming
        found[root] = Term(word, weight, {root: 1.0}, known=rarity is not None, weak=weak)
    _halve_parts(found)
    for expansion in expand(asked):
        _widen(index, found, expansion, weights)
    for term in found.values():
        _add_neighbours(index, term, weights)
    for version in versions:
        found[version] = _version_term(index, version)
    return list(found.values())


def _version_term(index: PassageIndex, version: str) -> Term:
    """A version number, as it stands in headings and "New in version"."""
    numbers = version.replace(".", " ")
    alike = {numbers: 1.0} if " " in numbers else {numbers: 1.0, f"v{numbers}": 1.0}
    rarity = _alike_rarity(index, [root for root in alike if index.postings(root)])
    return Term(version, rarity, alike, known=any(index.postings(root) for root in alike))


def _add_neighbours(index: PassageIndex, term: Term, weights: Weights) -> None:
    """Widen a word by what stands near it in meaning; more so where the package does not know the word itself."""
    if " " in term.word:
        return
    likeness = weights.near if term.known and not term.weak else weights.near_unsaid
    for other, cosine in near(term.word).items():
        if not is_opposite(stem(term.word), stem(other)):
            term.alike.setdefault(stem(other), likeness * cosine)
    if not term.known:
        rarity = _alike_rarity(index, [root for root in term.alike if index.postings(root)])
        if any(index.postings(root) for root in term.alike):
            term.weight, term.known = weights.phrase * rarity**weights.rare, True


def _asides(question: str) -> frozenset[str]:
    """Stems that stand only in sentences which tell the story around the question."""
    sentences = re.split(r"(?<=[.?!])\s+|\s[-–]\s", question)
    asking = [
        sentence
        for sentence in sentences
        if sentence.rstrip().endswith("?")
        or re.match(r"(?i)\W*(?:how|what|which|where|can|is|does)\b", sentence)
    ]
    if not asking or len(asking) == len(sentences):
        return frozenset()
    central = {stem(word) for sentence in asking for word in words(sentence)}
    return frozenset(stem(word) for word in words(question)) - central


def _widen(index: PassageIndex, found: dict[str, Term], expansion: Expansion, weights: Weights) -> None:
    """Add what a thesaurus rule says to the term of its word, or a term for its phrase."""
    roots = [stem(word) for word in expansion.words]
    single = found.get(roots[0]) if len(roots) == 1 else None
    likeness = weights.synonym if single is not None and single.known and not single.weak else weights.unsaid
    alike = {stem(other): max(0.1, likeness - weights.fade * n) for n, other in enumerate(expansion.others)}
    if single is not None:
        single.alike = {**alike, **single.alike}
        if not single.known or single.weak:  # how rare is what it means
            single.weight = max(
                single.weight if single.weak else 0.0, weights.phrase * _alike_rarity(index, alike)
            )
            single.known = single.known or any(_rarity(index, root) for root in alike)
    elif len(roots) > 1 and " ".join(roots) not in found:
        known = any(_rarity(index, root) for root in alike)
        found[" ".join(roots)] = Term(
            " ".join(expansion.words), weights.phrase * _alike_rarity(index, alike), alike, known=known
        )
        for root in roots:
            if root in found:
                found[root].weight *= weights.weak


def _halve_parts(found: dict[str, Term]) -> None:
    """`AsyncClient` is one thing that was asked for, not three."""
    lengths = {len(root) for root in found if len(root) > 2}
    for term in list(found.values()):
        word = term.word
        places = ((at, at + size) for size in lengths for at in range(len(word) - size + 1))
        for root in {root for begin, end in places if (root := word[begin:end]) in found}:
            part = found[root]
            if part is not term and len(word) > len(part.word):
                part.weight *= 0.5


def _rarity(index: PassageIndex, root: str) -> float | None:
    frequency = len({number for number, _field in index.postings(root)})
    if not frequency:
        return None
    return log(1 + (index.size - frequency + 0.5) / (frequency + 0.5)) / log(2 * index.size + 2)


def _alike_rarity(index: PassageIndex, roots: Iterable[str]) -> float:
    known = [rarity for root in list(roots)[:4] if (rarity := _rarity(index, root)) is not None]
    return sum(known) / len(known) if known else 0.3


def parts_of(name: str) -> set[str]:
    """The stems of the words that a name is made of; of several names with spaces between them, of all."""
    return {
        stem(part) for word in name.split() for piece in word.split("_") for part in split_identifier(piece)
    }


def share_of_name(parts: Collection[str], terms: Sequence[Term], least: float = 0.0) -> float:
    """How much of a name the question says, 0-1.

    Args:
        parts: the name's stems.
        terms: the question's.
        least: a likeness below which a word does not count, and from which on it counts whole; 0: each counts by its likeness.
    """
    alike = (max((term.alike.get(part, 0.0) for term in terms), default=0.0) for part in parts)
    return sum(float(like >= least) if least else like for like in alike) / (len(parts) or 1)


def share_of_question(roots: Collection[str], terms: Sequence[Term], least: float = 0.0) -> float:
    """How much of the question some words say, 0-1, weighted by rarity: one noun of many is little.

    Args:
        roots: their stems.
        terms: the question's.
        least: as for `share_of_name`.
    """
    total = sum(term.weight for term in terms) or 1.0
    alike = (max((term.alike.get(root, 0.0) for root in roots), default=0.0) for term in terms)
    return (
        sum(
            term.weight * (float(like >= least) if least else like)
            for term, like in zip(terms, alike, strict=True)
        )
        / total
    )


def closest_name(names: Sequence[str], terms: Sequence[Term]) -> int:
    """The position of the name that the question uses literally, out of several; otherwise of the first."""
    said = frozenset(root for term in terms for root, likeness in term.alike.items() if likeness >= SAID)
    shares = [
        len(parts & said) / len(parts) if (parts := parts_of(name.rpartition(".")[2])) else 0.0
        for name in names
    ]
    return shares.index(max(shares))
