"""What is known, and how a new fact joins it: it merges into one that says the same, or stands beside those that say otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.expedition.facts.comparison import (
    Relation,
    are_of_releases,
    common_cells,
    compared,
    heading_of,
    row_of,
    tell_changes,
)
from kr_core.expedition.facts.corroboration import confidence_of, document_of, site_of
from kr_core.expedition.passage_pool import is_private
from kr_core.text import normalised, roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kr_core.expedition.facts.comparison import ComparedRow
    from kr_core.model.expedition import Axiom, AxiomStatus, Signal

__all__ = ["KnownAxioms", "MergeResult", "united"]

_MAX_SIGNALS = 20
"""Of one axiom; what comes later adds nothing to its confidence."""

_MIN_QUOTED = 6
"""Words of a quote that is one fact in all documentation of one subject."""

_HANGS = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|here|there|both|such)\b", re.IGNORECASE
)
"""Begins with a word that leads back to what stands before, or to the heading."""
_NAMES_SUBJECT = re.compile(
    r"(?:the|all|each|every|any|our|no)\b|\S+(?:\s\S+){0,3}?\s(?:is|are|was|were|must|may|can|cannot|should|has|have|does|do|will)\b",
    re.IGNORECASE,
)


class MergeResult(NamedTuple):
    """What became of a fact."""

    axiom: Axiom
    """As it stands now."""
    new: bool
    before: float = 0.0
    """The confidence before, where it merged."""
    changed: bool = True
    """Whether there is anything new about it."""
    conflicts: tuple[str, ...] = ()
    """The axioms that say otherwise and did not before."""


class KnownAxioms:
    """The axioms that are known, by id, in the order in which they came.

    Args:
        axioms: what was known before.
        likeness: the cosine of two statements' vectors, where an embedder is configured.
        asked: stems of the words that say what the question is about; headings that have other ones of them are told apart.
    """

    def __init__(
        self,
        axioms: Iterable[Axiom] = (),
        likeness: Callable[[str, str], float] | None = None,
        asked: frozenset[str] = frozenset(),
    ) -> None:
        self._asked = asked
        self._axioms: dict[str, Axiom] = {}
        self._by_text: dict[str, str] = {}
        self._by_quote: dict[tuple[str, str, str], str] = {}
        self._likeness = likeness
        for axiom in axioms:
            self._put(axiom)

    def __iter__(self) -> Iterator[Axiom]:
        return iter(tuple(self._axioms.values()))

    def __len__(self) -> int:
        return len(self._axioms)

    def get(self, name: str) -> Axiom | None:
        """The axiom with an id."""
        return self._axioms.get(name)

    def learn(self, axioms: Iterable[Axiom]) -> None:
        """Take in what was known before; what is there already stays as it is."""
        for axiom in axioms:
            if axiom.id not in self._axioms:
                self._put(axiom)

    def join(self, axiom: Axiom) -> MergeResult:
        """Take in a fact; one that is known with this very signal stays as it was."""
        same = self._same(axiom)
        if same is not None:
            merged = united(same, axiom)
            self._put(merged)
            return MergeResult(merged, new=False, before=same.confidence, changed=merged != same)
        against = [other for other in self if self._related(axiom, other) == "conflict"]
        self._put(axiom)
        for other in against:
            self._set_against(axiom.id, other.id)
        return MergeResult(self._axioms[axiom.id], new=True, conflicts=tuple(other.id for other in against))

    def _same(self, axiom: Axiom) -> Axiom | None:
        name = self._by_text.get(normalised(axiom.statement)) or self._by_quote.get(_quoted(axiom), axiom.id)
        if name in self._axioms:
            return self._axioms[name]
        return next((one for one in self if self._related(axiom, one) == "same"), None)

    def _related(self, axiom: Axiom, other: Axiom) -> Relation:
        """How two axioms stand to each other.

        A statement that has its title before it says so of that title. Beside one that needs no title it is compared as its
        source has it: that one names its subject itself, and so must this one to say the same. Two below different headings
        never say the same, and say otherwise where both name the same subject themselves.
        """
        ours, theirs = _bare(axiom), _bare(other)
        rows = row_of(axiom, ours or axiom.statement), row_of(other, theirs or other.statement)
        if rows[0] is not None and rows[1] is not None:
            return self._of_rows(axiom, other, rows[0], rows[1])
        related = self._by_words(axiom, other, ours, theirs)
        if related == "conflict" and (
            _of_other_names(axiom, other)
            or are_of_releases(axiom.signals[0], other.signals[0])
            or tell_changes(axiom, ours or axiom.statement, other, theirs or other.statement)
        ):
            return "other"
        return related

    def _of_rows(self, axiom: Axiom, other: Axiom, one: ComparedRow, two: ComparedRow) -> Relation:
        """How two rows of tables stand to each other: each says what its cells say of what its first one names."""
        cells = common_cells(one, two)
        if cells is None:
            return "other"
        related = compared(*cells)
        if related == "same" and one.cells.keys() != two.cells.keys():
            return "other"  # one of them says more
        ours, theirs = cells
        below = compared(
            f"{heading_of(axiom.signals[0])}: {ours}", f"{heading_of(other.signals[0])}: {theirs}"
        )
        return related if below == related else "other"

    def _by_words(self, axiom: Axiom, other: Axiom, ours: str | None, theirs: str | None) -> Relation:
        related = compared(axiom.statement, other.statement, self._likeness)
        if ours is None and theirs is None:
            return related
        if related == "conflict" and ours is not None and theirs is not None:
            alike = heading_of(axiom.signals[0]) == heading_of(other.signals[0])
            return related if alike or compared(ours, theirs) == "conflict" else "other"
        if related != "other":
            return related
        if ours is not None and theirs is not None:
            apart = self._told_apart(axiom, other, ours, theirs)
            return "conflict" if not apart and compared(ours, theirs) == "conflict" else "other"
        return compared(ours or axiom.statement, theirs or other.statement, self._likeness)

    def _told_apart(self, axiom: Axiom, other: Axiom, ours: str, theirs: str) -> bool:
        """Whether two statements below different headings are of different subjects, as far as words tell."""
        if any(_HANGS.match(said) or not _NAMES_SUBJECT.match(said) for said in (ours, theirs)):
            return True
        if any(one.signals[0].source.startswith("pkg:") for one in (axiom, other)):
            return True  # each symbol is a subject of its own
        first, second = roots(axiom.signals[0].title), roots(other.signals[0].title)
        kinds = _kinds(axiom) & _kinds(other) & roots(ours) & roots(theirs)
        asked = ((first | roots(ours)) ^ (second | roots(theirs))) & self._asked
        return bool(kinds or asked)

    def _put(self, axiom: Axiom) -> None:
        self._axioms[axiom.id] = axiom
        self._by_text.setdefault(normalised(axiom.statement), axiom.id)
        if len(axiom.signals[0].quote.split()) >= _MIN_QUOTED:
            self._by_quote.setdefault(_quoted(axiom), axiom.id)

    def _set_against(self, first: str, second: str) -> None:
        """Link two axioms that say otherwise; of one site, what its later version says supersedes."""
        one, other = self._axioms[first], self._axioms[second]
        later = _later(one, other)
        for axiom, against in ((one, other), (other, one)):
            status: AxiomStatus = "superseded" if axiom.status == "superseded" else "disputed"
            by = axiom.superseded_by
            if later is not None:
                old = axiom.id != later.id
                status, by = ("superseded", later.id) if old else (axiom.status, by)
            links = tuple(dict.fromkeys((*axiom.conflicts, against.id)))
            changed = {"conflicts": links, "status": status, "superseded_by": by}
            self._put(axiom.model_copy(update=changed))


def united(one: Axiom, other: Axiom) -> Axiom:
    """The first axiom with the signals of both; the same where the second one's are all known, and as official now as then."""
    later = {_place(signal): signal for signal in other.signals}
    known = {_place(signal): _as_in(later.get(_place(signal), signal), signal) for signal in one.signals}
    more = [signal for signal in other.signals if _place(signal) not in known]
    signals = (*known.values(), *more)[:_MAX_SIGNALS]
    if signals == one.signals:
        return one
    return one.model_copy(update={"signals": signals, "confidence": confidence_of(signals)})


def _as_in(later: Signal, signal: Signal) -> Signal:
    """A signal as official as it was found later: trust in what says it comes and goes."""
    return signal.model_copy(update={"official": later.official, "weight": later.weight})


def _of_other_names(one: Axiom, other: Axiom) -> bool:
    """Whether two statements are of different names of packages: what holds for one says nothing of the other."""
    ours, theirs = one.signals[0], other.signals[0]
    return all(signal.source.startswith("pkg:") for signal in (ours, theirs)) and ours.title != theirs.title


def _quoted(axiom: Axiom) -> tuple[str, str, str]:
    """Which words of which document about whom an axiom has: those of a callable's parameter are the callable's own."""
    signal = axiom.signals[0]
    return (
        document_of(signal.source, signal.locator),
        signal.title.partition("(")[0],
        normalised(signal.quote),
    )


def _place(signal: Signal) -> tuple[str, str, str]:
    return signal.type, document_of(signal.source, signal.locator), normalised(signal.quote)


def _bare(axiom: Axiom) -> str | None:
    """A statement without the title that was put before it; None where there is none."""
    said, title = axiom.statement, axiom.signals[0].title
    head, colon, rest = said.partition(": ")
    if not colon or not title or normalised(head) not in normalised(title):
        return None
    return rest


def _kinds(axiom: Axiom) -> frozenset[str]:
    """What a heading has more to say of: of `Fast Carrier`, "The carrier ..." means that one; of `Backups` it is the subject."""
    parts = map(roots, axiom.signals[0].title.split(" / "))
    return frozenset().union(*(part for part in parts if len(part) > 1))


def _later(one: Axiom, other: Axiom) -> Axiom | None:
    """Which of two is what a later version of the same document says; None where that is not so."""
    ours, theirs = one.signals[0], other.signals[0]
    if site_of(ours) != site_of(theirs) or not ours.version or not theirs.version:
        return None
    if is_private(ours.source) and heading_of(ours) != heading_of(theirs):
        return None  # one folder holds documents of many things, each with versions of its own
    first, second = _numbers(ours.version), _numbers(theirs.version)
    if first == second:
        return None
    return one if first > second else other


def _numbers(version: str) -> list[int]:
    return [int(number[:9]) for number in re.findall(r"\d+", version)]
