"""Whether an entry of the knowledge base answers a query, and which one does so best; pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.identity import fold_name
from kr_core.knowledge.names import without_name
from kr_core.text import stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Entry, ResearchQuery, Tier

TIERS: tuple[Tier, ...] = ("full", "topic", "tags")
"""The ways to match, best first."""

POLARITY = frozenset({"after", "before", "no", "not", "without"})
"""Stop words that turn a question into another one: they part questions, but they are not about anything."""

_SYMBOL_NAMES = (
    (re.compile(r"\b([a-z])\+\+", re.IGNORECASE), r"\1plusplus"),
    (re.compile(r"\b([a-z])#", re.IGNORECASE), r"\1sharp"),
)
_LONG_QUESTION_TAG = re.compile(r"q-[0-9a-f]{8}")


class Matched(NamedTuple):
    """An entry that matches a query, and how.

    `overlap` is the share of topic keywords, 0-1. `exact` says that the content words are the same ones, which
    is what an inferred query asks for before an entry may serve as its answer.
    """

    entry: Entry
    tier: Tier
    overlap: float
    exact: bool

    @property
    def warning(self) -> str | None:
        """What a reader must know before trusting the match, or None."""
        return "matched by tags only; it may be about another topic" if self.tier == "tags" else None


def keywords(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; `C++` and `C#` are words of their own."""
    return stems(spelt_out(text))


def spelt_out(text: str) -> str:
    """Write a text in plain forms of its characters (NFKC), with `C++` and `C#` spelt out as words."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, name in _SYMBOL_NAMES:
        text = pattern.sub(name, text)
    return text


def overlap(a: str, b: str) -> float:
    """Return the share of keywords that two topics have in common, over the larger of the two sets, 0-1."""
    shared, larger = _shared(a, b)
    return shared / larger


def match(
    entry: Entry, query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[Tier] = TIERS
) -> Matched | None:
    """Say how an entry matches a query, by the best of the given tiers, or return None.

    With `fuzzy=False` only an equal topic (but for case and spaces) matches, so that the tier `tags` never
    applies. An entry that would match by a tier which is left out may still match by a lower one.
    """
    if entry.framework != query.framework and fold_name(entry.framework) != fold_name(query.framework):
        return None
    shared, larger = _shared(entry.topic, query.topic)
    exact = _exact(entry, query)
    same_topic = 7 * larger <= 10 * shared if fuzzy else _level(entry.topic) == _level(query.topic)
    # Equal content words may be other forms of the words ("proxy", "proxies"), of which no tag is equal.
    same_tags = not _folded(entry.tags).isdisjoint(_folded(query.tags)) or (
        exact and "tags" in query.inferred
    )
    fits: dict[Tier, bool] = {
        "full": same_topic and same_tags,
        "topic": same_topic,
        "tags": same_tags and fuzzy,
    }
    tier = next((tier for tier in TIERS if tier in tiers and fits[tier]), None)
    return None if tier is None else Matched(entry, tier, shared / larger, exact)


def best(
    entries: Iterable[Entry], query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[Tier] = TIERS
) -> Matched | None:
    """Choose the entry that matches a query best, or return None where none does.

    The framework's exact name comes before a folded one, then the order of tiers, the overlap, the most recent
    access, and the id. For an inferred query an entry with equal content words comes before all others, since
    no other may serve as its answer.
    """
    found = (match(entry, query, fuzzy=fuzzy, tiers=tiers) for entry in entries)
    return min((matched for matched in found if matched), key=lambda m: _rank(m, query), default=None)


def _rank(matched: Matched, query: ResearchQuery) -> tuple[bool, bool, int, float, int, str]:
    entry = matched.entry
    return (
        not matched.exact and not query.inferred.isdisjoint({"topic", "tags"}),
        entry.framework != query.framework,
        TIERS.index(matched.tier),
        -matched.overlap,
        -entry.last_accessed.toordinal(),
        entry.id,
    )


def _shared(a: str, b: str) -> tuple[int, int]:
    ours, theirs = keywords(a), keywords(b)
    larger = max(len(ours), len(theirs))
    if larger == 0:  # topics without a word, such as an emoji
        return int(_level(a) == _level(b)), 1
    return len(ours & theirs), larger


def _exact(entry: Entry, query: ResearchQuery) -> bool:
    """Whether entry and query are made of the same content words.

    Inference puts every content word of a question into its tags, so equal tags mean an equal question; but
    only beside an entry whose tags say all that its topic says. Tags that a person chose may leave out the
    half: an entry on "disabling timeouts" tagged `timeout` is no answer to "What is a timeout?".
    """
    if "tags" in query.inferred:
        ours, theirs = _tag_words(query), _tag_words(entry)
        long = any(_LONG_QUESTION_TAG.fullmatch(tag) for tag in entry.tags)
        if ours and ours == theirs and (long or _topic_words(entry) <= theirs):
            return True
    ours, theirs = _topic_words(query), _topic_words(entry)
    return ours == theirs if ours else _level(entry.topic) == _level(query.topic)


def _topic_words(subject: Entry | ResearchQuery) -> frozenset[str]:
    return _words(without_name(subject.topic, subject.framework))


def _tag_words(subject: Entry | ResearchQuery) -> frozenset[str]:
    return _words(" ".join(subject.tags))


def _words(text: str) -> frozenset[str]:
    return keywords(text) | POLARITY.intersection(words(text))


def _folded(tags: Iterable[str]) -> frozenset[str]:
    return frozenset(fold_name(tag) for tag in tags) - POLARITY


def _level(topic: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", topic).casefold().split())
