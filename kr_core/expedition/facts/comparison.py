"""Whether two statements say the same, or say otherwise of the same; from their words, without any language model.

A statement is taken apart into its content words, its facts (numbers, versions, names in code) and whether it denies. The
same words with the same facts say the same, unless each has words that the other has not (another subject, another place), or
they stand the other way round ("A replaces B"). The same words with other numbers, or with a denial on one side alone, say
otherwise. Where an embedder is configured, statements in other words about things of the same names are compared by their
vectors.

What can be said otherwise at all: the same row of two tables, but not two rows of one; nor what was done for two releases, or tells of two.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core.expedition.facts.corroboration import document_of
from kr_core.text import STOP_WORDS, normalised, plain, root_of, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kr_core.model.expedition import Axiom, Signal
    from kr_core.protocols import Embedder

__all__ = [
    "ALIKE",
    "ComparedRow",
    "Relation",
    "alike",
    "are_of_releases",
    "common_cells",
    "compared",
    "heading_of",
    "row_of",
    "tell_changes",
]

Relation = Literal["same", "conflict", "other"]

_SAME = 0.8
"""Share of the content words of both that must be common."""
_SAME_SUBJECT = 0.7
"""The same for a contradiction, whose facts differ."""
ALIKE = 0.86
"""Cosine of two statements that say the same in other words."""
_MIN_WORDS = 3
_NUMBER = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)*(?:[a-z%]{0,3})(?!\w)", re.IGNORECASE)
_CODE = re.compile(
    r"`([^`]+)`|\b([A-Za-z_]\w*(?:\.\w+)+)\b|\b(\w+_\w+)\b|\b([a-z]+[A-Z]\w*)\b|(?<!\w)(--[\w-]+)"
)
_WORD = re.compile(r"\w+")
_TITLED = re.compile(r"(?<!^)\b[A-Z]\w*")
_PASSIVE = re.compile(r"^(?>.*?\b(?:is|are|was|were|be|been|being)\b).*\bby\b", re.MULTILINE)
_DENIED = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|unless)\b|n['’]t\b|\b(?:un|non-?)(?:supported|safe|available)\b",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "true false", "enabled disabled", "enable disable", "required optional", "allowed forbidden", "added removed",
        "synchronous asynchronous", "safe unsafe", "supported deprecated", "before after", "minimum maximum", "always never",
    )
)  # fmt: skip


class _StatementWords(NamedTuple):
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    raw: frozenset[str]
    order: tuple[str, ...]
    """The content words as they stand, each where it stands first."""
    titled: frozenset[str]
    """The words that are written like names; the first is written so anyway."""
    cased: frozenset[str]
    """All words, without their case."""
    passive: bool
    denies: bool
    size: int
    """Words that say something, those that have an opposite included."""


def compared(one: str, other: str, likeness: Callable[[str, str], float] | None = None) -> Relation:
    """How two statements stand to each other.

    Args:
        one: a statement.
        other: another one.
        likeness: the cosine of their vectors, where an embedder is configured.
    """
    if normalised(one) == normalised(other):
        return "same"
    ours, theirs = _read(one), _read(other)
    if min(ours.size, theirs.size) < _MIN_WORDS:
        return "conflict" if _denied(ours, theirs) else "other"
    common = len(ours.words & theirs.words) / (len(ours.words | theirs.words) or 1)
    if common >= _SAME_SUBJECT and ours.names == theirs.names and _otherwise(ours, theirs):
        return "conflict"
    facts = ours.numbers == theirs.numbers and ours.names == theirs.names and ours.denies == theirs.denies
    if not facts or _opposed(ours, theirs):
        return "other"
    if _turned_round(ours, theirs):
        return "other"
    if common >= _SAME and (ours.words <= theirs.words or theirs.words <= ours.words):
        return "same"
    if not (ours.titled <= theirs.cased and theirs.titled <= ours.cased):
        return "other"
    return "same" if likeness is not None and likeness(one, other) >= ALIKE else "other"


def _turned_round(one: _StatementWords, other: _StatementWords) -> bool:
    """Whether what stands before a word in the one stands behind it in the other, and the reverse; a passive does so rightly."""
    if one.passive != other.passive:
        return False
    place = {word: at for at, word in enumerate(other.order)}
    common = [word for word in one.order if word in place]
    for at, middle in enumerate(common):
        before = any(place[word] > place[middle] for word in common[:at])
        behind = any(place[word] < place[middle] for word in common[at + 1 :])
        if before and behind:
            return True
    return False


def _otherwise(one: _StatementWords, other: _StatementWords) -> bool:
    if one.denies != other.denies:
        denied, stated = (one, other) if one.denies else (other, one)
        # what is denied outright is stated with its measure: `do not expire`, `expire after 90 days`
        measured = denied.numbers < stated.numbers and denied.words <= stated.words
        return measured or one.numbers == other.numbers
    differ = bool(one.numbers and other.numbers) and not (
        one.numbers <= other.numbers or other.numbers <= one.numbers
    )
    return differ or _opposed(one, other)


def _denied(one: _StatementWords, other: _StatementWords) -> bool:
    """Whether one is the other with a denial and nothing else, however short: `TLS is required`, `TLS is not required`."""
    if one.denies == other.denies or min(one.size, other.size) < _MIN_WORDS - 1:
        return False
    differ = {word for word in one.raw ^ other.raw if not _DENIED.fullmatch(word)} - {"do", "does"}
    return not differ and one.numbers == other.numbers and one.names == other.names


def _opposed(one: _StatementWords, other: _StatementWords) -> bool:
    ours, theirs = one.raw - other.raw, other.raw - one.raw
    return any(len(pair & ours) == 1 and len(pair & theirs) == 1 for pair in _OPPOSITES)


@lru_cache(maxsize=8192)
def _read(statement: str) -> _StatementWords:
    text = plain(statement)
    names = frozenset(next(filter(None, found.groups())).casefold() for found in _CODE.finditer(text))
    prose = _CODE.sub(" ", text)
    numbers = frozenset(number.casefold().lstrip("v") for number in _NUMBER.findall(prose))
    raw = frozenset(words(_NUMBER.sub(" ", prose)))
    opposites = frozenset().union(*_OPPOSITES)
    telling = {word for word in raw if word not in STOP_WORDS and word not in opposites}
    size = len(telling) + len(raw & opposites)
    denies = any(found.group() != "None" for found in _DENIED.finditer(text))  # Python's is a name
    said = words(_NUMBER.sub(" ", prose))
    order = tuple(dict.fromkeys(root_of(word) for word in said if word in telling))
    titled = frozenset(found.casefold() for found in _TITLED.findall(prose))
    cased = frozenset(found.casefold() for found in _WORD.findall(text))
    return _StatementWords(
        frozenset(order), numbers, names, raw, order, titled - STOP_WORDS, cased, _PASSIVE.search(text) is not None, denies, size,
    )  # fmt: skip


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


class ComparedRow(NamedTuple):
    """A row of a table, read from the statement that was made of it."""

    key: str
    """What stands in its first cell, without case and mark-up."""
    cells: dict[str, str]
    """The others as they are told, by the heads of their columns; without heads, by their places."""
    first: str
    """The first as it is told."""
    document: tuple[str, str | None]
    """Where its table stands, and of which version that is."""


def row_of(axiom: Axiom, said: str) -> ComparedRow | None:
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
    return ComparedRow(normalised(values[0]), cells, first, (document, signal.version))


def common_cells(one: ComparedRow, other: ComparedRow) -> tuple[str, str] | None:
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


def alike(
    embedder: Callable[[], Embedder | None], fresh: Sequence[Axiom], known: Iterable[Axiom]
) -> dict[str, Any]:
    """The pairs of ids of axioms whose statements lie near each other, and a note where they could not be compared.

    It may load a model or ask a service; call it off the event loop.

    Args:
        embedder: gives what makes vectors, or None.
        fresh: what was found now; each is compared with the others and with what is known.
        known: what was known before.
    """
    pairs: list[list[str]] = []
    try:
        made = embedder()
        if made is None or not fresh:
            return {"pairs": pairs, "notes": []}
        axioms = list({axiom.id: axiom for axiom in (*fresh, *known)}.values())
        vectors = [_normal(vector) for vector in made.embed([axiom.statement for axiom in axioms])]
        if len(vectors) != len(axioms):
            raise ValueError(f"{len(vectors)} vectors for {len(axioms)} texts")
        new = len({axiom.id for axiom in fresh})
        pairs = [
            [axioms[place].id, axioms[other].id]
            for place in range(new)
            for other in range(place + 1, len(axioms))
            if sum(map(mul, vectors[place], vectors[other])) >= ALIKE
        ]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything; words are compared in any case
        return {"pairs": [], "notes": [f"embedder: {error}; statements are compared by their words alone"]}
    return {"pairs": pairs, "notes": []}


def _normal(vector: Iterable[float]) -> list[float]:
    values = [float(value) for value in vector]
    length = sqrt(sum(value * value for value in values))
    return [value / length for value in values] if length else values
