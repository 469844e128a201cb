"""The best match among many entries, found through their rare words instead of by a look at each; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

from kr_core.knowledge.matching import TIERS, match, rank, subject_of, wants_exact

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kr_core.knowledge.matching import Subject
    from kr_core.model import Entry, ResearchQuery, Tier
    from kr_core.protocols.lookup import EntryMatch

_NONE: tuple[int, ...] = ()
_TAGS = TIERS.index("tags")

_DETOUR = 5
"""How many entries with a word are counted in the time that one with a tag is looked at, about."""

_Postings = dict["Hashable", list[int]]
"""The positions of the entries that have something: a word, a tag, a set of words."""


_Place = tuple[bool, float, int, str, int]
"""An entry's place among those that share a tag: `rank` without what they have in common, and its position."""


class _Tables(NamedTuple):
    words: _Postings
    levels: _Postings
    tags: _Postings


class TopicIndex(Sequence["Entry"]):
    """Entries in order, indexed so that the best match for a query needs no look at each.

    `best` returns exactly what a look at every entry would: two topics that share 70 % of m words share at least one of
    any m - ceil(0.7 m) + 1 of them, so it looks only at the entries with one of the query's rarest words and, if no
    topic is the same, at those with a shared tag that may be the closest. A store returns it instead of a list
    (`Candidates.entries`), and reuses it until its entries change.

    It computes everything on demand, and is safe to use from several threads.

    Args:
        entries: the entries of any frameworks.
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
    ) -> EntryMatch | None:
        """Return the entry that matches a query best, or None, exactly like `matching.best`."""
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
        telling = count - (7 * count + 9) // 10 + 1
        for position in set().union(*self._rarest_first(asked)[:telling]) if words else ():
            theirs = subjects[position].keywords
            if 7 * max(count, len(theirs)) <= 10 * len(words & theirs):
                near.add(position)
        if wants_exact(query):
            by_topic, by_tags = self._exact_tables
            near.update(by_topic.get(asked.topic_words, _NONE))
            near.update(by_tags.get(asked.tag_words, _NONE))
        return near

    def _rarest_first(self, asked: Subject) -> list[Sequence[int]]:
        """Who has each of the topic's words, the rarest word first."""
        return sorted((self._tables.words.get(word, _NONE) for word in asked.keywords), key=len)

    def _first(
        self, positions: Iterable[int], query: ResearchQuery, *, fuzzy: bool, tiers: Sequence[Tier]
    ) -> EntryMatch | None:
        found = (match(self._entries[position], query, fuzzy=fuzzy, tiers=tiers) for position in positions)
        return min((matched for matched in found if matched), key=lambda m: rank(m, query), default=None)

    # -- what shares a tag alone ---------------------------------------------------------------------------

    def _closest_by_tag(self, asked: Subject, query: ResearchQuery, near: set[int]) -> int | None:
        """The best of those that share a tag and are not near.

        A tag may be that of thousands. Unless the tags are rarer than the words, the words are counted for all entries
        at once, and those with the most are looked at first, as long as one may still be the closest.
        """
        words, subjects = asked.keywords, self._subjects
        postings = self._rarest_first(asked)
        tagged = [self._tables.tags.get(tag, _NONE) for tag in asked.tags]
        best: _Place | None = None
        counts: Counter[int] = Counter()
        if _DETOUR * sum(map(len, tagged)) >= sum(map(len, postings)):
            for posting in postings:
                counts.update(posting)
            by_count: list[list[int]] = [[] for _ in range(len(words) + 1)]
            for position, shared in counts.items():
                by_count[shared].append(position)
            for shared in range(len(words), 0, -1):
                if best is not None and not best[0] and -best[1] > shared / len(words):
                    return best[-1]
                these = ((position, shared) for position in by_count[shared] if position not in near)
                best = self._closest(these, asked, query, best)
        rest = set().union(*tagged) - near - counts.keys()
        pairs = ((position, len(words & subjects[position].keywords)) for position in rest)
        best = self._closest(pairs, asked, query, best)
        return None if best is None else best[-1]

    def _closest(
        self, pairs: Iterable[tuple[int, int]], asked: Subject, query: ResearchQuery, best: _Place | None
    ) -> _Place | None:
        """The best of these and of one that was found before, among what shares a tag; in the order of `rank`.

        Args:
            pairs: positions, and how many words each shares.
            asked: what the query is about.
            query: the query.
            best: the place of the one that was found before.
        """
        tags, count, entries, subjects = asked.tags, len(asked.keywords), self._entries, self._subjects
        for position, shared in pairs:
            theirs = subjects[position]
            # Not near and so without an equal level: where no topic has a word, nothing is shared.
            share = shared / (max(count, len(theirs.keywords)) or 1)
            if best is not None and not best[0] and share < -best[1]:
                continue
            if tags.isdisjoint(theirs.tags) or theirs.framework != asked.framework:
                continue
            entry = entries[position]
            used = -entry.last_accessed.toordinal()
            place = (entry.framework != query.framework, -share, used, entry.id, position)
            best = place if best is None else min(best, place)
        return best

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
