"""What an index has of one kind: names that are formed alike, members of one owner, classes of one base, sections below one heading."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import share_of_question, split_identifier, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.plugin import FamilyKind
    from kr_core.toolkit import Hit, IndexedPassage, PassageIndex, RankedPassage, Term

_LEAST_STANDING = 4.0
"""Below this a name is not public."""
_MOST_MEMBERS = 400
_MOST_SECTIONS = 60
_MOST_BASES = 20
_FEW = 2
_ALIKE = 0.85
"""The least likeness of a word that may stand for one of the question in a name."""
_LONG_ENOUGH = 4
"""Letters of a word that may be found within a name that is written as one word: `load` in `selectinload`."""
_LONG_WORD = 7
"""Letters of a word that may be the end of one of the question: `interpreter` of `subinterpreters`."""
_NEAR_TOP = 600
_IN_LEAD, _IN_OWNER, _IN_TEXT = 0.7, 0.5, 0.4
"""What a word counts there, beside one in the name itself."""
_MATCHES = 0.3
"""How much of the question a member says that fits."""
_WEIGHED, _LEAST_WEIGHED = 6, 3
"""So many of its best members say how well a family fits."""
_LOOKED_AT = 6
_MOST_FILES = 40
_MOST_FILES_READ = 100
"""Files whose definitions are looked up, which takes a pass over the index for each."""
_MOST_OWNERS = 200
_MOST_FAMILIES = 400
"""Families that are compared with one another; a hostile package has one for each of its classes."""
_OF_ONE_NAME = 12
_OF_DESCRIBED = 0.8
_DESCRIBED = 0.15
_OF_PARAMETERS = 0.7
_OF_CALLED, _OF_CLASS, _OF_FAULTS = 0.5, 0.7, 0.4
_UNSAID = 0.5
"""What a member counts that has no documentation."""
_KIND = 0.65
"""What a word counts that only says of which kind a thing is."""
_FILE = re.compile(r"\.\w+$")
_CALLED = 0.5
_PRIOR = 0.8
_FITTING = 0.7
_HALF = 0.5
_MOSTLY = 0.7
_MANY, _SAYS_LITTLE = 8, 0.25
"""Of many members those are left out that say this little beside the best."""
_KIND_WORDS = frozenset(
    """strategies methods types kinds modes conditions algorithms primitives options functions classes features mechanisms approaches
    tools parts components helpers objects levels settings techniques policies parameters modules facilities variants""".split()
)
_FAULTS = frozenset({"error", "except", "exception", "rais", "fail"})
_FAULT = re.compile(r"(?:Error|Exception|Warning)(?:\.\w+)?$")
_LOOKS_LIKE_BASE = re.compile(r"(?:^|\.)(?:[A-Z]\w*|\w*_base)$")


class FamilyOfNames(NamedTuple):
    """Things of one kind, those first that say most of what is asked."""

    name: str
    """What they have in common, in words."""
    members: tuple[Hit, ...]
    worth: float
    kind: FamilyKind = "alternatives"
    formed: bool = False
    """Whether only the form of their names joins them."""
    owner: str = ""
    """Whose members they are."""


class FamilyFinder:
    """Finds the families of an index that a survey is about.

    Args:
        index: where they are looked up.
        terms: the words that say what the survey is about.
    """

    def __init__(self, index: PassageIndex, terms: Sequence[Term]) -> None:
        self._index = index
        single = [term for term in terms if " " not in term.word]
        self._terms = [term for term in single if not term.weak] or single
        if any(term.word not in _KIND_WORDS for term in self._terms):
            self._terms = [
                replace(term, weight=term.weight * _KIND) if term.word in _KIND_WORDS else term
                for term in self._terms
            ]
        self._total = sum(term.weight for term in self._terms) or 1.0
        self._asks_faults = any(root in _FAULTS for term in self._terms for root in term.alike)
        self._said: dict[int, float] = {}
        self._names = {
            entry.name: entry.passage
            for entry in index.public_names(_LEAST_STANDING)
            if not entry.name.rpartition(".")[2].startswith("_")
        }

    def find(self, ranked: Sequence[RankedPassage]) -> list[FamilyOfNames]:
        """The families, the best first; one that shares most of its members with a better one adds its others to that.

        Args:
            ranked: the passages that say most of what is asked.
        """
        found = [
            *self._formed_alike(),
            *self._of_owners(ranked),
            *self._of_files(ranked),
            *self._of_parameters(),
            *self._derived(ranked),
            *self._sections(ranked),
        ]
        found.sort(key=lambda family: -family.worth)
        kept: list[FamilyOfNames] = []
        for family in found[:_MOST_FAMILIES]:
            own = {hit.id for hit in family.members}
            place = next((place for place, other in enumerate(kept) if _overlap(own, other)), None)
            if place is None:
                kept.append(family)
            elif family.formed:
                kept[place] = self._joined(kept[place], family)
        return kept

    def _joined(self, family: FamilyOfNames, other: FamilyOfNames) -> FamilyOfNames:
        """A family, with the names of the same owner that are formed like its members."""
        owners = {_owner(hit.passage.title) for hit in family.members}
        known = {hit.id for hit in family.members}
        more = [
            hit for hit in other.members
            if hit.id not in known and _owner(hit.passage.title) in owners and self.share(hit) >= _MATCHES
        ]  # fmt: skip
        members = sorted((*family.members, *more), key=self._order)
        return family._replace(members=tuple(members))

    def _formed_alike(self) -> Iterator[FamilyOfNames]:
        """Names that begin or end with a word of the question."""
        groups: dict[tuple[str, bool, str], dict[int, None]] = defaultdict(dict)
        roots = [root for term in self._terms for root, likeness in term.alike.items() if likeness >= _ALIKE]
        for name, number in self._names.items():
            owner, _dot, last = name.rpartition(".")
            parts = _parts(last)
            for root in roots:
                ends = (len(parts) > 1 and stem(parts[-1]) == root) or (
                    last.lower() != root and _within(root, last)
                )
                if ends or (len(parts) > 1 and stem(parts[0]) == root):
                    of_class = owner if owner.rpartition(".")[2][:1].isupper() else ""
                    groups[root, ends, of_class][number] = None
        for (root, ends, _owner), numbers in groups.items():
            if _FEW <= len(numbers) <= _MOST_MEMBERS:
                said = f"names that {'end' if ends else 'begin'} with `{root}`"
                yield self._family(said, self._index.get(list(numbers)))._replace(formed=True)

    def _of_owners(self, ranked: Sequence[RankedPassage]) -> Iterator[FamilyOfNames]:
        """The members of modules and classes: of those that are called as the question says, and of what ranks first."""
        members: dict[str, list[int]] = defaultdict(list)
        for name, number in self._names.items():
            members[_owner(name)].append(number)
        first = {found.passage.symbol for found in ranked[:_LOOKED_AT]}
        called = {
            owner: self._called(owner) + (owner in first)
            for owner, numbers in members.items()
            if len(numbers) >= _FEW
        }
        best = set(sorted(called, key=lambda owner: -called[owner])[:_MOST_OWNERS])
        for owner in (one for one in called if one in best and called[one]):
            is_class = owner.rpartition(".")[2][:1].isupper()
            hits = self._index.get(members[owner][:_MOST_MEMBERS])
            family = self._family(f"members of `{owner}`", _own(hits) if is_class else hits)
            worth = (family.worth + _OF_CALLED * self._called(owner)) * (_OF_CLASS if is_class else 1.0)
            yield family._replace(worth=worth, owner=owner)

    def _of_files(self, ranked: Sequence[RankedPassage]) -> Iterator[FamilyOfNames]:
        """What a file, or a folder of files, defines that is called or describes itself as the question says, or that ranks first."""
        likely = {found.passage.locator.rpartition(":")[0] for found in ranked}
        described = {
            hit.passage.locator.rpartition(":")[0]: share_of_question(
                {stem(word) for word in words(hit.passage.lead)}, self._terms
            )
            for hit in self._index.modules()
        }
        folders: dict[str, list[str]] = defaultdict(list)
        fitting: list[tuple[float, list[str], str]] = []
        for file in self._index.files():
            folders[file.rpartition("/")[0]].append(file)
            called = max(
                self._called(_FILE.sub("", file).replace("/", ".")), _OF_DESCRIBED * described.get(file, 0.0)
            )
            if called >= _MATCHES or file in likely or described.get(file, 0.0) >= _DESCRIBED:
                fitting.append((called, [file], file))
        for folder, files in folders.items():
            called = self._called(folder.replace("/", "."))
            if called >= _MATCHES and 1 < len(files) <= _MOST_FILES:
                fitting.append((called, files, f"{folder}/"))
        left = _MOST_FILES_READ
        best = set[str]()
        for _called, files, name in sorted(fitting, key=lambda one: (one[2] not in likely, -one[0])):
            left -= len(files)
            if left >= 0:
                best.add(name)
        for called, files, name in fitting:
            if name in best:
                yield from self._defined(files, name, called)

    def _of_parameters(self) -> Iterator[FamilyOfNames]:
        """The parameters of one name that a word of the question is, each with what it takes."""
        for term in self._terms:
            forms = {term.word, term.word.removesuffix("s"), f"{term.word.removesuffix('ies')}y"}
            entries = [
                entry for form in forms for entry in self._index.named(form) if entry.parameter and entry.own
            ]
            best = sorted(entries, key=lambda entry: -entry.standing)[:_OF_ONE_NAME]
            texts: dict[str, Hit] = {}
            for hit in self._index.get([entry.passage for entry in best]):
                if hit.passage.lead:
                    texts.setdefault(hit.passage.lead, hit)
            if len(texts) >= _FEW:
                family = self._family(f"parameters called `{best[0].parameter}`", texts.values())
                yield family._replace(worth=family.worth * _OF_PARAMETERS)

    def _defined(self, files: Sequence[str], name: str, called: float) -> Iterator[FamilyOfNames]:
        """What files define, in turn one of each."""
        each = [self._public(self._index.defined_in(file, _MOST_MEMBERS)) for file in files]
        hits = [hit for hits in each for hit in hits]
        if len(hits) >= _FEW:
            family = self._family(f"names that `{name}` defines", hits)
            turns = {
                hit.id: place for hits in each for place, hit in enumerate(sorted(hits, key=self._order))
            }
            members = (
                sorted(family.members, key=lambda hit: turns[hit.id]) if len(files) > 1 else family.members
            )
            yield family._replace(worth=family.worth + _OF_CALLED * called, members=tuple(members))

    def _public(self, hits: Iterable[Hit]) -> list[Hit]:
        return [
            hit for hit in hits
            if hit.passage.symbol in self._names and not _owner(hit.passage.title).rpartition(".")[2][:1].isupper()
        ]  # fmt: skip

    def _derived(self, ranked: Sequence[RankedPassage]) -> Iterator[FamilyOfNames]:
        """The classes of one base."""
        bases = [found.passage.symbol or "" for found in ranked if found.passage.data.get("what") == "class"]
        bases += [
            name for name in self._names if self._called(name) >= _CALLED and _LOOKS_LIKE_BASE.search(name)
        ]
        for base in dict.fromkeys(bases[:_MOST_BASES]):
            hits = [
                hit for hit in self._index.subclasses_of(base.rpartition(".")[2], _MOST_MEMBERS)
                if hit.passage.data.get("public") and not hit.passage.title.rpartition(".")[2].startswith("_")
            ]  # fmt: skip
            if len(hits) >= _FEW:
                family = self._family(f"kinds of `{base}`", hits)
                yield family._replace(worth=family.worth + _OF_CALLED * self._called(base))

    def _sections(self, ranked: Sequence[RankedPassage]) -> Iterator[FamilyOfNames]:
        """The sections below one heading."""
        titles = [found.passage.title for found in ranked if found.passage.kind in {"section", "page"}]
        heads = dict.fromkeys(
            head for title in titles for head in (title, title.rpartition(" § ")[0]) if head
        )
        for head in heads:
            hits = self._index.below_heading(head, _MOST_SECTIONS)
            if len(hits) >= _FEW:
                yield self._family(f"sections of {head}", hits)._replace(kind="sections")

    def _family(self, name: str, hits: Iterable[Hit]) -> FamilyOfNames:
        best = sorted(hits, key=self._order)
        shares = [
            self.share(hit) * (1.0 if hit.passage.lead else _UNSAID) * hit.passage.prior**_PRIOR
            for hit in best
        ]
        fitting = sum(self.share(hit) >= _MATCHES for hit in best) / len(best)
        worth = (
            sum(sorted(shares)[-_WEIGHED:])
            / max(_LEAST_WEIGHED, min(_WEIGHED, len(shares)))
            * (1 - _FITTING + _FITTING * fitting)
        )
        faults = sum(_FAULT.search(hit.passage.title) is not None for hit in best) / len(best)
        if faults > _HALF and not self._asks_faults:
            worth *= _OF_FAULTS
        if len(best) > _MANY:
            least = _SAYS_LITTLE * max(self.share(hit) for hit in best)
            best = [hit for hit in best if self.share(hit) >= least]
        return FamilyOfNames(name, tuple(best), worth)

    def telling(self, least: float) -> list[str]:
        """The words that say what the survey is about, those aside that only say of which kind it is, or that most passages have."""
        return [term.word for term in self._terms if term.word not in _KIND_WORDS and term.weight >= least]

    def speaks_of(self, family: FamilyOfNames, word: str) -> bool:
        """Whether most members of a family, or their owner, are called by a word of the question."""
        roots = [
            root
            for term in self._terms
            if term.word == word
            for root, near in term.alike.items()
            if near >= _ALIKE
        ]
        called = [
            any(root in _stems(hit.passage.title) or _within(root, hit.passage.title) for root in roots) or any(root in _stems(family.name) for root in roots)
            for hit in family.members[:_WEIGHED]
        ]  # fmt: skip
        return sum(called) > len(called) / 2

    def _order(self, hit: Hit) -> tuple[float, int]:
        return -round(self.share(hit), 1) * hit.passage.prior**_PRIOR, hit.id

    def share(self, hit: Hit) -> float:
        """How much of what is asked a passage says: in its name, its first sentence, its owner's name, or below."""
        if hit.id not in self._said:
            self._said[hit.id] = self.share_of(hit.passage)
        return self._said[hit.id]

    def share_of(self, passage: IndexedPassage) -> float:
        """The same for a passage that has no number."""
        owner, _dot, last = (passage.symbol or passage.title).rpartition(".")
        places = (
            (1.0, _stems(f"{last} {passage.parameter or ''}")),
            (_IN_LEAD, {stem(word) for word in words(passage.lead)}),
            (_IN_OWNER, _stems(owner)),
            (_IN_TEXT, {stem(word) for word in words(passage.documentation[:_NEAR_TOP])}),
        )
        gained = 0.0
        for term in self._terms:
            held = [
                likeness
                * max((worth for worth, said in places if root in said), default=float(_within(root, last)))
                for root, likeness in term.alike.items()
            ]
            gained += term.weight * max(held, default=0.0)
        return gained / self._total

    def owners(self, families: Sequence[FamilyOfNames]) -> list[Hit]:
        """The passages of those whose members some families are."""
        return self._index.get(
            [self._names[family.owner] for family in families if family.owner in self._names]
        )

    def _called(self, name: str) -> float:
        """How much of what is asked the last part of a name says."""
        last = name.rpartition(".")[2]
        parts = _stems(last)
        held = (
            term.weight
            * max(
                (near for root, near in term.alike.items() if root in parts or _within(root, last)),
                default=0.0,
            )
            for term in self._terms
        )
        return sum(held) / self._total


def _own(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The members of a class without the few that it has from a base in another file."""
    files = Counter(hit.passage.locator.rpartition(":")[0] for hit in hits)
    file, times = files.most_common(1)[0]
    if times < _MOSTLY * len(hits):
        return hits
    return [hit for hit in hits if hit.passage.locator.rpartition(":")[0] == file]


def _overlap(own: set[int], other: FamilyOfNames) -> bool:
    """Whether most of the smaller of two families are members of both."""
    theirs = {hit.id for hit in other.members}
    return len(own & theirs) >= min(len(own), len(theirs)) / 2


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def _within(root: str, name: str) -> bool:
    """Whether a name that is one word ends with a word of the question, or that word with the last one of the name."""
    last = _parts(name)[-1]
    return (len(root) >= _LONG_ENOUGH and name.lower().endswith(root)) or (
        len(last) >= _LONG_WORD and root.endswith(stem(last)) and root != stem(last)
    )


@lru_cache(maxsize=20_000)
def _stems(name: str) -> frozenset[str]:
    return frozenset(stem(part) for word in re.split(r"[\W_]+", name) for part in split_identifier(word))


def _parts(name: str) -> list[str]:
    parts = name.split("_") if "_" in name else split_identifier(name)
    return [part.lower() for part in parts if part] or [name.lower()]
