"""Which documents are about a question, by KR's own search over those that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, build_index, content_words, question_terms, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_source_chroma.records import Record

__all__ = ["Hit", "best", "candidates"]

_ABOUT = 0.4
"""A document that holds less of the question is not about it."""
_WORDS = 10
_SHORTEST = 3
_STEM, _LONGEST = 5, 40
"""Letters of a longer word that its other forms share, too."""


class Hit(NamedTuple):
    """A document that is about the question."""

    record: Record
    coverage: float
    """Share of the question's words that it holds, weighted by rarity, 0-1."""
    covered: frozenset[str]


def candidates(question: str) -> list[str]:
    """Pieces of words by which documents are looked for, in each way in which they may be written: ChromaDB compares letters."""
    found: dict[str, None] = {}
    for word in [one for one in content_words(question) if len(one) >= _SHORTEST or not one.isascii()][
        :_WORDS
    ]:
        piece = word[: max(_STEM, len(word) - 3)] if word.isascii() and len(word) > _STEM else word
        piece = piece[:_LONGEST]
        found.update(dict.fromkeys((piece, piece.capitalize(), piece.upper())))
    return list(found)


def best(question: str, found: Sequence[Record], most: int) -> tuple[list[Hit], tuple[str, ...]]:
    """The documents that are about the question, best first, and those of its words that none of them holds."""
    index = build_index(
        None,
        (
            IndexedPassage(
                kind="section", title=str(record.metadata.get("title", "")), text=record.text, locator=record.id,
                name="", lead="", code=(), words="", prose=record.text, data={"place": place},
            )
            for place, record in enumerate(found)
        ),
    )  # fmt: skip
    try:
        terms = question_terms(index, question)
        missing = tuple(term.word for term in terms if not term.known and not term.weak)
        hits = [
            Hit(found[one.passage.data["place"]], min(1.0, one.coverage), one.covered)
            for one in rank(index, terms, most)
        ]
    finally:
        index.close()
    return [hit for hit in hits if hit.coverage >= _ABOUT], missing
