"""What can be said otherwise at all: the same row of two tables, but not two rows of one; nor what was done for two releases, or tells of two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.expedition.independence import document_of
from kr_core.expedition.meaning import normalised

if TYPE_CHECKING:
    from kr_core.model.expedition import Axiom, Signal

__all__ = ["TableRow", "are_of_releases", "common_cells", "heading_of", "row_of", "tell_changes"]

_RELEASES = re.compile(
    r"\brelease[ _-]?notes?\b|\bchange[ _-]?log\b|\bwhat.?s[ _-]?new\b|\b(?:release|version) history\b"
    r"|(?:^|/)(?:releases|changes|history|news)(?:[/.:#]|$)",
    re.IGNORECASE,
)
"""In a title, an address or a file's name."""

_CHANGE = re.compile(
    r"(?:new|added|changed|deprecated|removed|introduced) (?:in|since):?(?: [\w.]+)? v?\d", re.IGNORECASE
)
"""Begins with the version in which something came, changed or went: `New in Django 3.1.`"""


class TableRow(NamedTuple):
    """A row of a table, read from the statement that was made of it."""

    key: str
    """What stands in its first cell, without case and mark-up."""
    cells: dict[str, str]
    """The others as they are told, by the heads of their columns; without heads, by their places."""
    first: str
    """The first as it is told."""
    document: tuple[str, str | None]
    """Where its table stands, and of which version that is."""


def row_of(axiom: Axiom, said: str) -> TableRow | None:
    """The row that an axiom was made of; None for one that was made of a sentence.

    Args:
        axiom: whose first quote is the row as its table has it.
        said: its statement, without the title that was put before it.
    """
    first, *others = said.split("; ")
    if not others:
        return None
    signal = axiom.signals[0]
    told = [part.partition(": ") for part in (first, *others)]
    values = [value if colon else head for head, colon, value in told]
    if not signal.quote.startswith("|") and _words(" ".join(values)) != _words(signal.quote):
        return None
    cells = {
        normalised(head) if colon else str(place): part
        for place, (part, (head, colon, _value)) in enumerate(zip(others, told[1:], strict=True))
    }
    document = document_of(signal.source, signal.locator)
    return TableRow(normalised(values[0]), cells, first, (document, signal.version))


def common_cells(one: TableRow, other: TableRow) -> tuple[str, str] | None:
    """What two rows say in the columns that both have; None where they are not the same row of two documents."""
    common = [head for head in one.cells if head in other.cells]
    if one.key != other.key or one.document == other.document or not common:
        return None
    ours, theirs = ("; ".join([row.first, *(row.cells[head] for head in common)]) for row in (one, other))
    return ours, theirs


def heading_of(signal: Signal) -> str:
    """The headings that lead to a signal's passage, without the name of its file, which may stand before them."""
    first, slash, rest = signal.title.partition(" / ")
    file = re.split(r"[/:]", signal.source.partition("#")[0])[-1]
    return rest if slash and first == file.rpartition(".")[0] else signal.title


def are_of_releases(one: Signal, other: Signal) -> bool:
    """Whether both stand in notes on releases: each lists what was done for its own, and contradicts no other."""
    return all(_RELEASES.search(text) for text in map(_place, (one, other)))


def tell_changes(one: Axiom, said: str, other: Axiom, told: str) -> bool:
    """Whether two statements each tell of a change, in one version of one document: each of another thing, named or not.

    Args:
        one: an axiom.
        said: its statement, without the title that was put before it.
        other: another one.
        told: its statement, likewise.
    """
    first, second = one.signals[0], other.signals[0]
    return (
        _CHANGE.match(said) is not None
        and _CHANGE.match(told) is not None
        and first.version == second.version
        and document_of(first.source, first.locator) == document_of(second.source, second.locator)
    )


def _words(text: str) -> list[str]:
    """Its words in no order: cells of several lines are quoted line by line."""
    return sorted(normalised(text).split())


def _place(signal: Signal) -> str:
    return f"{signal.title} {signal.source} {signal.locator}"
