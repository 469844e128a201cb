"""How much of a name a question says, and how much of a question a name or a sentence says: by its words and those that mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.text import split_identifier, stem

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core.search.terms import Term

__all__ = ["SAID", "closest_name", "parts_of", "share_of_name", "share_of_question"]

SAID = 0.99
"""A likeness from which on a word counts as said itself."""


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
