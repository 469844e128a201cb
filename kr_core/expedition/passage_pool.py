"""The passages that an expedition has gathered, and which of them matter most for its question.

A passage matters by the rare words of the question that it holds, and by what it hangs together with: one whose title stands
in a passage that matters, or that names that passage's title, may hold the other half of an answer.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from math import log
from string import digits
from typing import TYPE_CHECKING

from kr_core.evidence.citations import plain
from kr_core.expedition.facts.corroboration import document_of
from kr_core.question.analysis import (
    WHOLE,
    asked_words,
    focus_of,
    identified,
    pairs_in,
    parts_of,
    spelled_in,
    subject_of,
    weighed,
)
from kr_core.text import STOP_WORDS, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kr_core.model import Passage

__all__ = ["PassagePool", "PoolEntry", "is_private", "page_of", "title_of"]

_SATURATED = 1.2
_LENGTH = 0.5
_USUAL_LENGTH = 90
"""Words of a passage; of longer ones each word counts a little less."""
_PAIR = 0.8
"""What two neighbouring words of the question count, where a text has them side by side."""
_COMPOUND = 2.5
"""The same where the question joins them by a hyphen: `server-sent` is one word for one thing."""
_TITLE = 2
"""A word of the title counts as often."""
_LINKED = 0.55
_SEEDS = 6
"""So many of the best passages lend their weight to what they hang together with."""
_NO_TITLES = frozenset(
    {"", "readme", "documentation", "docs", "index", "introduction", "overview", "contents", "features"}
)
_STEPS = re.compile(r"§| / ")
_JOINED = re.compile(r"(?<!\w)\w++(?:-\w++)++")
_MAX_OF_PART = 2 / 3
"""Of the words of a part of the question, so that a text speaks of that part."""
_DATING = frozenset("since version versions release releases when".split())
"""Words that ask for a time, and are no part of a term."""
_FOCUSED = 3
"""So many passages must speak of it before others are passed over."""
_MIN_WORTH = 0.3
"""Of a word that every passage has: they were searched for by it, so it is still what the question is about."""
_READ = 6000
"""Characters of a passage that are looked at."""

_LANGUAGES = frozenset(
    "python cpython javascript typescript node nodejs java ruby php perl go golang rust swift kotlin".split()
)
"""What other packages and documents are written in or run by: a question that names one of these asks of them too."""
_PAGE = re.compile(r"(?!pkg:).*[/:]([^/:#?]+?)(?:\.\w{1,5})?(?:[#?].*)?$", re.DOTALL)
_OF = re.compile(r"(?:pkg:[^/]+/|docs:)([^/@#]+)")
_PUBLISHED = ("http://", "https://", "pkg:")


def is_private(url: str) -> bool:
    """Whether a document lies at home: it is no page of the web, and in no package that was published."""
    return not url.startswith(_PUBLISHED)


@dataclass(slots=True)
class PoolEntry:
    """A passage, and who found it when."""

    passage: Passage
    source: str
    cycle: int
    number: int
    counts: Counter[str] = field(default_factory=Counter)
    length: int = 0
    title: str = ""
    """Its title in plain words, as another text would name it."""
    body: str = ""
    """Its text in plain words."""
    surveyed: bool = False
    """Whether it came as a part of an overview, and so is about the question by where it stands."""
    family: str = ""
    """What it is one of, where it came so."""

    @property
    def document(self) -> str:
        """The document that it stands in."""
        return document_of(self.passage.url, self.passage.locator)

    @property
    def private(self) -> bool:
        """Whether its document lies at home."""
        return is_private(self.passage.url)


class PassagePool:
    """All passages of an expedition; the same text at the same place is taken once.

    Args:
        question: what they are gathered for.
    """

    def __init__(self, question: str) -> None:
        self.asked = weighed(question)
        telling = [
            word if not is_weak(word) and word not in STOP_WORDS else "the"
            for word, _parts in identified(question)
        ]
        self.pairs = {
            pair
            for one, other in itertools.pairwise(telling)
            for pair in pairs_in([one, other])
            if not {one, other} & _DATING
        }
        """Neighbouring words of the question, as pairs of stems: `server sent` means more than the two apart."""
        self._asked_apart = [
            {root_of(word) for word in subject_of(part)} | (self.pairs & pairs_in(words(part)))
            for part in parts_of(question)
        ]
        self._nameless = [
            {root_of(word) for word in subject_of(part)} for part in parts_of(question) if not focus_of(part)
        ]
        """What those parts are about that spell no name, where another one does."""
        self._owners = _joined_in(question)
        self._owned = 0
        self._owned_by: set[str] = set()
        self._compounds = {pair for found in _JOINED.findall(question) for pair in pairs_in(words(found))}
        self._question = question
        self._named = focus_of(question)
        self._focus = list(self._named)
        """Those names that are not merely of the package or the documents that all of it stands in."""
        strong = frozenset(root for root, weight in self.asked.items() if weight in {1.0, WHOLE})
        self.telling = strong or frozenset(self.asked)
        """The stems of the words that say what it is about, identifiers whole; of a question in everyday words all of them."""
        self._in_focus = 0
        self._best: dict[tuple[bool, int], float] = {}
        self._gathered: dict[tuple[str, str, str], PoolEntry] = {}
        self._frequency: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._gathered)

    def __iter__(self) -> Iterator[PoolEntry]:
        return iter(tuple(self._gathered.values()))

    def add(
        self, source: str, passage: Passage, cycle: int, *, surveyed: bool = False, family: str = ""
    ) -> PoolEntry | None:
        """Take in a passage; None where it is there already.

        Args:
            source: the KR source that found it.
            passage: what was found.
            cycle: when.
            surveyed: whether it is a part of an overview.
            family: what it is one of there.
        """
        key = (passage.url, passage.locator, passage.sha256)
        if key in self._gathered:
            return None
        title = title_of(passage)
        body = words(passage.text[:_READ])
        counts = Counter(root_of(word) for word in body if word not in STOP_WORDS)
        for word in words(title):
            if word not in STOP_WORDS:
                counts[root_of(word)] += _TITLE
        made = PoolEntry(
            passage, source, cycle, len(self._gathered), counts, len(body), " ".join(words(title)), f" {' '.join(body)} ",
            surveyed, family,
        )  # fmt: skip
        for pair in self.pairs & pairs_in(body):
            counts[pair] += 1
        owner = self.owner(passage.url)
        for root in {root_of(word) for word in words(f"{owner} {page_of(passage.url)}")}:
            counts[root] += 1
        self._gathered[key] = made
        self._frequency.update(counts.keys())
        if owner:
            self._owned += "".join(words(owner)) not in _LANGUAGES
            self._own({root_of(word) for word in words(owner)})
        self._in_focus += self._has_focus(made)
        return made

    def _own(self, owner: set[str]) -> None:
        """Learn of whom there are documents: each page of theirs is about it, so its name tells none from another."""
        if owner <= self._owned_by:
            return
        self._owned_by |= owner
        self._focus = [parts for parts in self._named if not parts & self._owned_by]
        self._in_focus = sum(map(self._has_focus, list(self._gathered.values())[:-1]))

    def _has_focus(self, one: PoolEntry) -> bool:
        return self._holds_focus(f"{title_of(one.passage)} . {one.passage.text[:_READ]}")

    def rarity(self, root: str) -> float:
        """How telling a stem is among the passages gathered, from 0."""
        number, frequency = len(self._gathered), self._frequency[root]
        return (
            log(1 + (number - frequency + 0.5) / (frequency + 0.5)) / log(2 * number + 2) if number else 1.0
        )

    def weights(self) -> dict[str, float]:
        """What each word of the question is worth now, and each pair of them that some passage has."""
        spelled = frozenset().union(*self._focus)
        worth = {
            root: weight * (1.0 if root in spelled else _MIN_WORTH + (1 - _MIN_WORTH) * self.rarity(root))
            for root, weight in self.asked.items()
        }
        return worth | {
            pair: (_COMPOUND if pair in self._compounds else _PAIR) * self._held_together(pair)
            for pair in self.pairs
            if self._frequency[pair]
        }

    def _held_together(self, pair: str) -> float:
        """How much two words are one term: how often the rarer of them stands beside the other, where there is either."""
        # A pair is of stems, single words are counted by their roots: `sent` is there as `send` alone.
        rarer = min(max(self._frequency[root], self._frequency[root_of(root)]) for root in pair.split())
        return min(1.0, self._frequency[pair] / (rarer + 1))  # a form that is found by neither counts as none

    def share(self, text: str, worth: Mapping[str, float] | None = None) -> float:
        """How much of the question a text says, rare words first; 0 to 1."""
        said = words(text)
        roots = {root_of(word) for word in said if word not in STOP_WORDS} | (self.pairs & pairs_in(said))
        weights = self.weights() if worth is None else worth
        return max(_share(weights, roots, of) for of in (weights.keys(), *self._parts()))

    def asks(self, aside: Collection[str] = ()) -> list[set[str]]:
        """What it is about, and what each part of it is about where it has several, as stems; without some."""
        asked = [self.telling, *(part - self.pairs for part in self._parts())]
        return [left for one in asked if (left := set(one) - set(aside))]

    def part_of(self, text: str) -> int:
        """The number of the part of the question that a text says most of; 0 where the question has no parts."""
        parts = self._parts()
        if not parts:
            return 0
        weights, said = self.weights(), words(text)
        roots = {root_of(word) for word in said} | (self.pairs & pairs_in(said))
        shares = [_share(weights, roots, part) for part in parts]
        return shares.index(max(shares))

    def _parts(self) -> list[set[str]]:
        """What each part of the question is about, as stems and pairs.

        None where a part has but one word beside the name of some documents: whatever these say of it would answer that part.
        """
        parts = [part - self._owned_by for part in self._asked_apart]
        return parts if all(len(part - self.pairs) > 1 for part in parts) else []

    def owner(self, url: str) -> str:
        """The words of the question that name the package or the documents that an address lies in; empty where none do."""
        for name in _owners(url):
            if found := self._owners.get(name) or self._owners.get(name.rstrip(digits)):
                return found
        return ""

    def without_owner(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights without the names of those whose package or documents all of it stands in; all of them where nothing is left."""
        aside = self._owned_by.union(*(parts for parts in self._named if parts & self._owned_by))
        left = {key: worth for key, worth in weights.items() if not set(key.split()) & aside}
        return left or dict(weights)

    def relevance(self, one: PoolEntry, weights: Mapping[str, float]) -> float:
        """How much of the words that were asked for a passage holds, rare ones first; 0 to about 1."""
        total = gained = 0.0
        for root, worth in weights.items():
            total += worth
            count = one.counts.get(root, 0)
            if count:
                long = 1 - _LENGTH + _LENGTH * one.length / _USUAL_LENGTH
                gained += worth * count * (1 + _SATURATED) / (count + _SATURATED * long)
        return gained / total if total else 0.0

    def ranked(self) -> list[tuple[float, PoolEntry]]:
        """All passages with what each matters, best first."""
        weights = self.weights()
        plain = sorted(
            ((self.relevance(one, weights), one) for one in self), key=lambda pair: (-pair[0], pair[1].number)
        )
        seeds = plain[:_SEEDS]
        scored = []
        for base, one in plain:
            linked = max(
                (
                    worth
                    for worth, seed in seeds
                    if seed is not one and (_names(seed, one) or _names(one, seed))
                ),
                default=0.0,
            )
            scored.append((base + _LINKED * linked, one))
        return sorted(scored, key=lambda pair: (-pair[0], pair[1].number))

    def best_of(self, kind: tuple[bool, int], worth: float) -> float:
        """What the best sentence so far of a kind is worth: of those that tell a version or of the others, and for one part of the question.

        This one's worth counts from now on.
        """
        self._best[kind] = max(worth, self._best.get(kind, 0.0))
        return self._best[kind]

    @property
    def focus_words(self) -> list[str]:
        """The words of what the question spells as a name; none where it has no such thing, or nobody speaks of it."""
        if self._in_focus < _FOCUSED:
            return []
        return list(dict.fromkeys(word for name in spelled_in(self._question) for word in asked_words(name)))

    def names_it(self, text: str) -> bool:
        """Whether a text has what the question spells as a name; never where it spells none."""
        return self._holds_focus(text)

    def is_name(self, root: str) -> bool:
        """Whether a stem is of a name or a number: what is said of another one answers nothing."""
        return any(mark.isdigit() for mark in root) or any(root in parts for parts in self._named)

    def about_it(self, text: str, url: str) -> bool:
        """Whether a text speaks of the thing that the question spells as a name, or else of two of the things it is about.

        Where the question names a package, or documents, what stands elsewhere must name them too.
        """
        if self._owned >= _FOCUSED and _owners(url) and not self.owner(url) and not self._names_owner(text):
            return False
        if self._holds_focus(text):
            return True
        held = {root_of(word) for word in words(text)}
        if any(len(part & held) >= max(2, _MAX_OF_PART * len(part)) for part in self._nameless):
            return True
        telling = self.telling - self._owned_by or self.telling
        return self._in_focus < _FOCUSED and len(telling & held) >= min(2, len(telling))

    def _names_owner(self, text: str) -> bool:
        held = {root_of(word) for word in words(text)}
        return bool(self._owned_by & held)

    def _holds_focus(self, text: str) -> bool:
        said = words(text)
        held = {root_of(word) for word in said} | pairs_in(said)
        return any(parts <= held for parts in self._focus)

    @property
    def unspoken(self) -> list[str]:
        """The words that the question joins by a hyphen and that no passage, title or address has, joined or side by side."""
        said = [f"{one.body}. {one.title} . {' '.join(words(one.passage.url))}" for one in self]
        return [
            name
            for name in dict.fromkeys(_JOINED.findall(self._question))
            if not any(
                f" {beginning}" in text
                for parts in [words(name)]
                for beginning in (" ".join(parts), "".join(parts))
                for text in said
            )
        ]

    def missing(self, among: Sequence[PoolEntry]) -> list[str]:
        """The stems of the question that stand in none of these passages."""
        return [root for root in self.asked if not any(root in one.counts for one in among)]


def title_of(passage: Passage) -> str:
    """What a passage is called: its symbol, or its title as it reads, without mark-up and what stands behind in brackets.

    Of headings that lead to it (`Tasks / Task Object / cancel`) the last two are its title.
    """
    title = plain(passage.title or passage.symbol or "")
    parts = [part.strip() for part in _STEPS.split(title)]
    telling = [part for part in parts if part.casefold().strip(":") not in _NO_TITLES]
    telling = [part for part in telling if not part.endswith(" documentation")] or telling
    joined = (", " if "§" in title else " / ").join(telling[-2:])
    title = re.sub(r"\([^()]*\)\s*$", "", joined).rstrip()
    return re.sub(r"\*\*|`", "", title).strip(" *#:")


def page_of(url: str) -> str:
    """What its author has called the page that an address leads to (`logical-replication-restrictions`); empty for a package's."""
    found = _PAGE.match(url)
    return found[1] if found else ""


def _owners(url: str) -> list[str]:
    """What the package or the documents that an address lies in may be called; nothing for a page of the web.

    A package is called by the first word of its name, documents by any: `python-django-doc` are Django's.
    """
    found = _OF.match(url)
    if not found:
        return []
    return words(found[1])[: 1 if url.startswith("pkg:") else None]


def _joined_in(question: str) -> dict[str, str]:
    """Neighbouring words of a question as one word, with how they are written apart: `nodejs` of `Node.js`."""
    said = words(question)
    runs = [said[at : at + size] for size in (3, 2, 1) for at in range(len(said) - size + 1)]
    return {"".join(run): " ".join(run) for run in runs if not set(run) & STOP_WORDS}


def _share(weights: Mapping[str, float], roots: Collection[str], of: Iterable[str]) -> float:
    """How much of some words, by their weights, is among others."""
    total = held = 0.0
    for root in of:
        worth = weights.get(root, 0.0)
        total += worth
        held += worth if root in roots else 0.0
    return held / total if total else 0.0


def _names(one: PoolEntry, other: PoolEntry) -> bool:
    """Whether a passage names another one's title; a title of one short word is anybody's."""
    title = other.title
    return len(title) > 3 and (" " in title or len(title) > 6) and f" {title} " in one.body
