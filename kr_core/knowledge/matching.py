"""Whether an entry of the knowledge base answers a query, and which one does so best; pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.wording import wording
from kr_core.project.package_names import without_name
from kr_core.protocols.lookup import EntryMatch
from kr_core.text import stem, stems, telling_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Entry, MatchTier, ResearchQuery

TIERS: tuple[MatchTier, ...] = ("full", "topic", "tags")
"""The ways to match, best first."""

POLARITY = frozenset({"after", "before", "no", "not", "without"})
"""Stop words that turn a question into another one: they part questions, but they are not about anything."""

_SYMBOL_NAMES = (
    (re.compile(r"\b([a-z])\+\+", re.IGNORECASE), r"\1plusplus"),
    (re.compile(r"\b([a-z])#", re.IGNORECASE), r"\1sharp"),
)
_LONG_QUESTION_TAG = re.compile(r"q-[0-9a-f]{8}")
_REMEMBERED = 65536
"""Subjects kept in memory; each is about a kilobyte."""


def keywords(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; `C++` and `C#` are words of their own."""
    return stems(spelt_out(text))


def spelt_out(text: str) -> str:
    """Write a text in plain forms of its characters (NFKC), with `C++` and `C#` spelt out as words."""
    text = unicodedata.normalize("NFKC", text)
    if "+" not in text and "#" not in text:
        return text
    for pattern, name in _SYMBOL_NAMES:
        text = pattern.sub(name, text)
    return text


def level_of(topic: str) -> str:
    """A topic without differences of case and spaces."""
    return " ".join(unicodedata.normalize("NFKC", topic).casefold().split())


def overlap(a: str, b: str) -> float:
    """Return the share of keywords that two topics have in common, over the larger of the two sets, 0-1."""
    shared, larger = subject("", a, ()).shared(subject("", b, ()))
    return shared / larger


class Subject:
    """What an entry or a query is about, as sets of words; each is computed once, when it is first asked for."""

    def __init__(self, framework: str, topic: str, tags: tuple[str, ...]) -> None:
        self._framework = framework
        self._topic = topic
        self._tags = tags

    @cached_property
    def framework(self) -> str:
        """The framework's name, folded."""
        return fold_name(self._framework)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The keywords of the topic."""
        return keywords(self._topic)

    @cached_property
    def level(self) -> str:
        """The topic but for case and spaces."""
        return level_of(self._topic)

    @cached_property
    def tags(self) -> frozenset[str]:
        """The tags that are about something, folded."""
        return frozenset(fold_name(tag) for tag in self._tags) - POLARITY

    @cached_property
    def topic_words(self) -> frozenset[str]:
        """The keywords of the topic without the framework's name, and what turns it into another one."""
        return _words(without_name(self._topic, self._framework))

    @cached_property
    def wording(self) -> tuple[str, ...]:
        """The words of the topic that count, in order."""
        return wording(self._topic, self._framework)

    @cached_property
    def tag_words(self) -> frozenset[str]:
        """The same of the tags."""
        return _words(" ".join(self._tags))

    @cached_property
    def tags_tell_all(self) -> bool:
        """Whether the tags say all that the topic says: those that a person chose may leave out the half."""
        long = any(_LONG_QUESTION_TAG.fullmatch(tag) for tag in self._tags)
        return long or self.topic_words <= self.tag_words

    def shared(self, other: Subject) -> tuple[int, int]:
        """How many keywords two topics share, and how many the larger of them has, at least 1."""
        larger = max(len(self.keywords), len(other.keywords))
        if larger == 0:  # topics without a word, such as an emoji
            return int(self.level == other.level), 1
        return len(self.keywords & other.keywords), larger

    def same_topic(self, other: Subject) -> bool:
        """Whether the topics share at least 70 % of their keywords, computed in whole numbers."""
        shared, larger = self.shared(other)
        return 7 * larger <= 10 * shared


@lru_cache(maxsize=_REMEMBERED)
def subject(framework: str, topic: str, tags: tuple[str, ...]) -> Subject:
    """What an entry or a query with these fields is about."""
    return Subject(framework, topic, tags)


def subject_of(asked: Entry | ResearchQuery) -> Subject:
    """What an entry or a query is about."""
    return subject(asked.framework, asked.topic, asked.tags)


class MatchKeys(NamedTuple):
    """What an entry and a query that match have in common: a word, a tag, or one of `same`.

    A store that keeps them with its entries finds the best match without a look at each: by the share of words, as
    `best` ranks them. They depend on what a word and a tag is; who changes that changes every store that has them.
    """

    words: frozenset[str]
    """The keywords of the topic, of which two that are the same topic share 70 %."""
    tags: frozenset[str]
    same: frozenset[str]
    """Of the topic as a whole: entries that are made of the same content words have one of these in common."""


def match_keys(asked: Entry | ResearchQuery) -> MatchKeys:
    """The keys of an entry or a query."""
    one = subject_of(asked)
    return MatchKeys(one.keywords, one.tags, frozenset({f"={one.level}", f"~{' '.join(one.wording)}"}))


def match(
    entry: Entry, query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[MatchTier] = TIERS
) -> EntryMatch | None:
    """Say how an entry matches a query, by the best of the given tiers, or return None.

    With `fuzzy=False` only an equal topic (but for case and spaces) matches, so that the tier `tags` never
    applies. An entry that would match by a tier which is left out may still match by a lower one.
    """
    ours, theirs = subject_of(entry), subject_of(query)
    if entry.framework != query.framework and ours.framework != theirs.framework:
        return None
    exact = _exact(ours, theirs, query)
    same_topic = ours.same_topic(theirs) if fuzzy else ours.level == theirs.level
    # Equal content words may be other forms of the words ("proxy", "proxies"), of which no tag is equal.
    same_tags = not ours.tags.isdisjoint(theirs.tags) or (exact and "tags" in query.inferred)
    fits: dict[MatchTier, bool] = {
        "full": same_topic and same_tags,
        "topic": same_topic,
        "tags": same_tags and fuzzy,
    }
    tier = next((tier for tier in TIERS if tier in tiers and fits[tier]), None)
    if tier is None:
        return None
    shared, larger = ours.shared(theirs)
    return EntryMatch(entry, tier, shared / larger, exact)


def best(
    entries: Iterable[Entry], query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[MatchTier] = TIERS
) -> EntryMatch | None:
    """Choose the entry that matches a query best, or return None where none does.

    The framework's exact name comes before a folded one, then the order of tiers, the overlap, the most recent
    access, and the id; of two that are equal in all this the first. For an inferred query an entry with equal
    content words comes before all others, since no other may serve as its answer.
    """
    found = (match(entry, query, fuzzy=fuzzy, tiers=tiers) for entry in entries)
    return min((matched for matched in found if matched), key=lambda m: rank(m, query), default=None)


def rank(matched: EntryMatch, query: ResearchQuery) -> tuple[bool, bool, int, float, int, str]:
    """The place of a match among others, the best first; see `best`."""
    entry = matched.entry
    return (
        not matched.exact and wants_exact(query),
        entry.framework != query.framework,
        TIERS.index(matched.tier),
        -matched.overlap,
        -entry.last_accessed.toordinal(),
        entry.id,
    )


def wants_exact(query: ResearchQuery) -> bool:
    """Whether only an entry of the same content words may serve as the answer."""
    return not query.inferred.isdisjoint({"topic", "tags"})


def _exact(ours: Subject, theirs: Subject, query: ResearchQuery) -> bool:
    """Whether entry and query are made of the same content words, in the same order.

    Inference puts every content word of a question into its tags, so equal tags mean an equal question; but
    only beside an entry whose tags say all that its topic says. Tags that a person chose may leave out the
    half: an entry on "disabling timeouts" tagged `timeout` is no answer to "What is a timeout?".
    """
    if ours.wording != theirs.wording:
        return False
    if (
        "tags" in query.inferred
        and theirs.tag_words
        and ours.tag_words == theirs.tag_words
        and ours.tags_tell_all
    ):
        return True
    if theirs.topic_words:
        return ours.topic_words == theirs.topic_words
    return ours.level == theirs.level


def _words(text: str) -> frozenset[str]:
    return word_sets(text)[1]


def word_sets(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The keywords of a text, and these with the words that turn a question into another one."""
    found = words(spelt_out(text))
    telling = frozenset(map(stem, telling_words(found)))
    return telling, telling if POLARITY.isdisjoint(found) else telling | POLARITY.intersection(found)
