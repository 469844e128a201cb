"""The best match among many entries, found through their rare words instead of by a look at each; pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

from kr_core.knowledge.matching import TIERS, match, rank, subject_of, wants_exact

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kr_core.knowledge.matching import Matched, Subject
    from kr_core.model import Entry, ResearchQuery, Tier

_NONE: tuple[int, ...] = ()
_TAGS = TIERS.index("tags")

_Postings = dict["Hashable", list[int]]
"""The positions of the entries that have something: a word, a tag, a set of words."""


class _Tables(NamedTuple):
    words: _Postings
    levels: _Postings
    tags: _Postings


class TopicIndex(Sequence["Entry"]):
    """Entries in their order, prepared so that the best match for a query is found without looking at each.

    What `best` says is what a look at every entry would say, exactly: two topics that share 70 % of m words share
    at least one of any m - ceil(0.7 m) + 1 of them, so only the entries with one of the query's rarest words are
    looked at, and those that share a tag only where no topic is the same. A store hands it over in place of a list
    (`Candidates.entries`), and keeps it for as long as its entries stay as they are.

    Nothing is computed before it is needed. Safe to use from several threads.

    Args:
        entries: of any frameworks.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, position: int) -> Entry: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Entry]: ...
    def __getitem__(self, position: int | slice) -> Entry | Sequence[Entry]:
        return self._entries[position]

    def best(
        self, query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[Tier] = TIERS
    ) -> Matched | None:
        """Choose the entry that matches a query best, or return None: the same as `matching.best` of the entries."""
        asked = subject_of(query)
        near = self._near(asked, query)
        first = self._first(sorted(near), query, fuzzy=fuzzy, tiers=tiers)
        if not fuzzy or "tags" not in tiers:  # all others could match by their tags alone
            return first
        least = (wants_exact(query), False, _TAGS)
        if first is not None and rank(first, query)[:3] < least:
            return first
        tagged = self._closest_by_tag(asked, query, near)
        if tagged is None:
            return first
        return self._first(sorted({*near, tagged}), query, fuzzy=fuzzy, tiers=tiers)

    # -- what is the same topic, or made of the same words -------------------------------------------------

    def _near(self, asked: Subject, query: ResearchQuery) -> set[int]:
        """The entries whose topic may be the same, and those that are made of the same content words."""
        near = set(self._tables.levels.get(asked.level, _NONE))
        words, subjects = asked.keywords, self._subjects
        count = len(words)
        postings = sorted((self._tables.words.get(word, _NONE) for word in words), key=len)
        telling = count - (7 * count + 9) // 10 + 1
        for position in set().union(*postings[:telling]) if words else ():
            theirs = subjects[position].keywords
            if 7 * max(count, len(theirs)) <= 10 * len(words & theirs):
                near.add(position)
        if wants_exact(query):
            by_topic, by_tags = self._exact_tables
            near.update(by_topic.get(asked.topic_words, _NONE))
            near.update(by_tags.get(asked.tag_words, _NONE))
        return near

    def _first(
        self, positions: Iterable[int], query: ResearchQuery, *, fuzzy: bool, tiers: Sequence[Tier]
    ) -> Matched | None:
        found = (match(self._entries[position], query, fuzzy=fuzzy, tiers=tiers) for position in positions)
        return min((matched for matched in found if matched), key=lambda m: rank(m, query), default=None)

    # -- what shares a tag alone ---------------------------------------------------------------------------

    def _closest_by_tag(self, asked: Subject, query: ResearchQuery, near: set[int]) -> int | None:
        """The best of those that share a tag and are not near: there may be thousands, so only the closest is ranked."""
        words, entries, subjects = asked.keywords, self._entries, self._subjects
        count = len(words)
        sharing = set().union(*(self._tables.tags.get(tag, _NONE) for tag in asked.tags)) - near
        best: tuple[bool, float, int, str, int] | None = None
        closest = (True, 1.0)
        for position in sharing:
            theirs = subjects[position]
            if theirs.framework != asked.framework:
                continue
            # Not near and so without an equal level: where no topic has a word, nothing is shared.
            larger = max(count, len(theirs.keywords)) or 1
            entry = entries[position]
            place = (entry.framework != query.framework, -(len(words & theirs.keywords) / larger))
            if best is not None and place > closest:
                continue
            whole = (*place, -entry.last_accessed.toordinal(), entry.id, position)
            if best is None or whole < best:
                best, closest = whole, place
        return None if best is None else best[-1]

    # -- tables, made when they are first needed -----------------------------------------------------------

    @cached_property
    def _subjects(self) -> list[Subject]:
        return [subject_of(entry) for entry in self._entries]

    @cached_property
    def _tables(self) -> _Tables:
        tables = _Tables({}, {}, {})
        for position, subject in enumerate(self._subjects):
            tables.levels.setdefault(subject.level, []).append(position)
            for word in subject.keywords:
                tables.words.setdefault(word, []).append(position)
            for tag in subject.tags:
                tables.tags.setdefault(tag, []).append(position)
        return tables

    @cached_property
    def _exact_tables(self) -> tuple[_Postings, _Postings]:
        """The entries by the set of their topic's words, and by that of their tags' words."""
        by_topic: _Postings = {}
        by_tags: _Postings = {}
        for position, subject in enumerate(self._subjects):
            by_topic.setdefault(subject.topic_words, []).append(position)
            by_tags.setdefault(subject.tag_words, []).append(position)
        return by_topic, by_tags
