"""What a search among documents finds, and how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kr_core.search.documents.encoding import StoredPassage

__all__ = ["DocumentHit"]


Found = list[tuple[int, int, float]]
"""(passage, file, score), best first."""


class DocumentHit(NamedTuple):
    """A passage that answers a question, ready to show."""

    path: str
    """The file, absolute."""
    locator: str
    """The place in the file: `:12` (a line), `#anchor`, `#page=3` or `#cell-4`."""
    score: float
    """Larger is better; comparable only within one question."""
    text: str
    """The headings that lead to the passage, and the passage, verbatim."""
    stored: StoredPassage


def shown(stored: StoredPassage) -> str:
    """A passage with the headings that lead to it."""
    above = stored.outer or ("" if stored.name else stored.title)
    said = f"{stored.head}\n{stored.body}" if stored.head else stored.body
    return f"{above}\n\n{said}" if above else said
