"""KR's own look-up: the entry on the same topic, while it is fresh; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, overload

from kr_core.collector import uncollected
from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.matching import (
    POLARITY,
    TIERS,
    best,
    level_of,
    match,
    rank,
    subject_of,
    wants_exact,
    word_sets,
)
from kr_core.knowledge.retention import FreshnessLimits, judge
from kr_core.knowledge.wording import same_question
from kr_core.project.package_names import without_name
from kr_core.project.version_gaps import gap
from kr_core.protocols.lookup import LookupDecision

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping
    from typing import Any

    from kr_core.knowledge.matching import Subject
    from kr_core.model import Entry, MatchTier, ResearchQuery
    from kr_core.protocols.lookup import EntryMatch, KeptReport, LookupRules

_NONE: tuple[int, ...] = ()
_TAGS = TIERS.index("tags")

_DETOUR = 5
"""How many entries with a word are counted in the time that one with a tag is looked at, about."""

_Postings = dict["Hashable", list[int]]
"""The positions of the entries that have something: a word, a tag, the hash of a set of words."""


_Place = tuple[bool, float, int, str, int]
"""An entry's place among those that share a tag: `rank` without what they have in common, and its position."""


Topic = tuple[str, str, tuple[str, ...]]
"""The framework, the topic and the tags of an entry, which is all that the tables need."""


class _Tables(NamedTuple):
    words: _Postings
    levels: _Postings
    tags: _Postings
    keywords: list[tuple[str, ...]]
    """Of each entry."""
    folded_tags: list[tuple[str, ...]]
    frameworks: list[str]
    """Folded."""
    exact: list[tuple[int, int]]
    """Of each entry, what `_exact` tells."""


class TopicIndex(Sequence["Entry"]):
    """Entries in order, indexed so that the best match for a query needs no look at each.

    `best` returns exactly what a look at every entry would: two topics that share 70 % of m words share at least one of
    any m - ceil(0.7 m) + 1 of them, so it looks only at the entries with one of the query's rarest words and, if no
    topic is the same, at those with a shared tag that may be the closest. A store returns it instead of a list
    (`Candidates.entries`), and reuses it until its entries change.

    It computes everything on demand, and is safe to use from several threads.

    Args:
        entries: the entries of any frameworks; a sequence that reads each when it is asked for stays as it is, where `topics` are
            given.
        topics: what the entries say of their framework, topic and tags, so that none is read for the tables.
    """

    def __init__(self, entries: Iterable[Entry], topics: Callable[[], Iterable[Topic]] | None = None) -> None:
        self._entries = entries if topics is not None and isinstance(entries, Sequence) else tuple(entries)
        self._topics = topics or (
            lambda: ((entry.framework, entry.topic, entry.tags) for entry in self._entries)
        )

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, position: int) -> Entry: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Entry]: ...
    def __getitem__(self, position: int | slice) -> Entry | Sequence[Entry]:
        return self._entries[position]

    def best(
        self, query: ResearchQuery, *, fuzzy: bool = True, tiers: Sequence[MatchTier] = TIERS
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
        near = set(self._tables.levels.get(hash(asked.level), _NONE))
        words, theirs_of = asked.keywords, self._tables.keywords
        count = len(words)
        telling = count - (7 * count + 9) // 10 + 1
        for position in set().union(*self._rarest_first(asked)[:telling]) if words else ():
            theirs = theirs_of[position]
            if 7 * max(count, len(theirs)) <= 10 * len(words.intersection(theirs)):
                near.add(position)
        if wants_exact(query):
            by_topic, by_tags = self._exact_tables
            near.update(by_topic.get(hash(asked.topic_words), _NONE))
            near.update(by_tags.get(hash(asked.tag_words), _NONE))
        return near

    def _rarest_first(self, asked: Subject) -> list[Sequence[int]]:
        """Who has each of the topic's words, the rarest word first."""
        return sorted((self._tables.words.get(word, _NONE) for word in asked.keywords), key=len)

    def _first(
        self, positions: Iterable[int], query: ResearchQuery, *, fuzzy: bool, tiers: Sequence[MatchTier]
    ) -> EntryMatch | None:
        found = (match(self._entries[position], query, fuzzy=fuzzy, tiers=tiers) for position in positions)
        return min((matched for matched in found if matched), key=lambda m: rank(m, query), default=None)

    # -- what shares a tag alone ---------------------------------------------------------------------------

    def _closest_by_tag(self, asked: Subject, query: ResearchQuery, near: set[int]) -> int | None:
        """The best of those that share a tag and are not near.

        A tag may be that of thousands. Unless the tags are rarer than the words, the words are counted for all entries
        at once, and those with the most are looked at first, as long as one may still be the closest.
        """
        words, theirs_of = asked.keywords, self._tables.keywords
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
        pairs = ((position, len(words.intersection(theirs_of[position]))) for position in rest)
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
        tags, count, tables = asked.tags, len(asked.keywords), self._tables
        for position, shared in pairs:
            # Not near and so without an equal level: where no topic has a word, nothing is shared.
            share = shared / (max(count, len(tables.keywords[position])) or 1)
            if best is not None and not best[0] and share < -best[1]:
                continue
            if (
                tags.isdisjoint(tables.folded_tags[position])
                or tables.frameworks[position] != asked.framework
            ):
                continue
            entry = self._entries[position]
            used = -entry.last_accessed.toordinal()
            place = (entry.framework != query.framework, -share, used, entry.id, position)
            best = place if best is None else min(best, place)
        return best

    # -- tables, made when they are first needed -----------------------------------------------------------

    @cached_property
    def _tables(self) -> _Tables:
        with uncollected():
            return self._filled_tables()

    def _filled_tables(self) -> _Tables:
        tables = _Tables({}, {}, {}, [], [], [], [])
        fold = lru_cache(maxsize=None)(fold_name)
        for position, (framework, topic, tags) in enumerate(self._topics()):
            telling, with_polarity = word_sets(topic)
            folded = tuple({fold(tag) for tag in tags} - POLARITY)
            tables.levels.setdefault(hash(level_of(topic)), []).append(position)
            for word in telling:
                tables.words.setdefault(word, []).append(position)
            for tag in folded:
                tables.tags.setdefault(tag, []).append(position)
            tables.keywords.append(tuple(telling))
            tables.folded_tags.append(folded)
            tables.frameworks.append(fold(framework))
            tables.exact.append(_exact(framework, topic, tags, with_polarity))
        return tables

    @cached_property
    def _exact_tables(self) -> tuple[_Postings, _Postings]:
        """The entries by the set of their topic's words, and by that of their tags' words."""
        by_topic: _Postings = {}
        by_tags: _Postings = {}
        with uncollected():
            for position, (of_topic, of_tags) in enumerate(self._tables.exact):
                by_topic.setdefault(of_topic, []).append(position)
                by_tags.setdefault(of_tags, []).append(position)
        return by_topic, by_tags


def _exact(framework: str, topic: str, tags: tuple[str, ...], of_topic: frozenset[str]) -> tuple[int, int]:
    """The hashes of the set of a topic's words without the framework's name, and of that of its tags' words.

    KR's own tags are the words of the topic, and the name is rarely in it: the words of the same text are not looked for again.
    """
    plain, tagged = without_name(topic, framework), " ".join(tags)
    if plain != topic:
        of_topic = word_sets(plain)[1]
    return hash(of_topic), hash(of_topic if tagged == plain else word_sets(tagged)[1])


class TopicLookup:
    """Finds the entry on the same topic, and serves its report while it is fresh: KR's own rules, for a class of your own.

    An inferred query gets no hit from an entry of other words, or of the same ones in another order: that may answer another
    question. A weak answer is a hit on the day of its research only. Neither is a hit for a request with names that it does not say.
    """

    def find(self, query: ResearchQuery, entries: Sequence[Entry], rules: LookupRules) -> EntryMatch | None:
        """The entry that matches the query best, or None."""
        if isinstance(entries, TopicIndex):
            return entries.best(query, fuzzy=rules.fuzzy, tiers=rules.tiers)
        return best(entries, query, fuzzy=rules.fuzzy, tiers=rules.tiers)

    def judge(
        self, query: ResearchQuery, match: EntryMatch, report: KeptReport, rules: LookupRules
    ) -> LookupDecision:
        """A hit while it is fresh and for the version in use; a miss where it is archived, or due to be."""
        limits = FreshnessLimits(
            rules.cache_ttl_days, rules.archive_after_days, rules.max_age_days, rules.version_match
        )
        fresh = judge(match.entry, report.researched, query.framework_version, rules.today, limits)
        reasons = (*fresh.reasons, *([match.warning] if match.warning else []))
        if wants_exact(query) and fresh.state != "expired":
            differs = match.exact and not _asks_the_same(query, report.evidence)
            if differs or (fresh.state == "fresh" and not match.exact):
                return LookupDecision("stale", reasons, near=True)
        if fresh.state == "fresh":
            return LookupDecision("stale" if _names_more(query, report) else "hit", reasons)
        exact = match.exact or not wants_exact(query)
        if (
            exact
            and _is_weak_of_today(match.entry, report, query.framework_version, rules)
            and not _names_more(query, report)
        ):
            return LookupDecision("hit")
        return LookupDecision("miss" if fresh.state == "expired" else "stale", reasons)


def _asks_the_same(query: ResearchQuery, evidence: Mapping[str, Any]) -> bool:
    """Whether the kept answer is to the question asked; what is kept of another origin has its topic alone."""
    kept = evidence.get("question")
    return not isinstance(kept, str) or same_question(query.question, kept, query.framework)


def _names_more(query: ResearchQuery, report: KeptReport) -> bool:
    """Whether the asker expects a name that the kept answer was not looked up with and does not say: it may find more, or be wrong."""
    kept = report.evidence.get("names")
    further = set(query.names).difference(kept if isinstance(kept, list) else ())
    return any(name.rpartition(".")[2] not in report.text for name in further)


def _is_weak_of_today(entry: Entry, report: KeptReport, version: str, rules: LookupRules) -> bool:
    """Whether an answer is stale only because it is weak, and no source would say more on the same day."""
    weak = entry.status == "stale" and report.evidence.get("level") == "low"
    researched = str(report.researched or report.evidence.get("research_date"))
    if not weak or report.evidence.get("incomplete") or researched != rules.today.isoformat():
        return False
    return not gap(entry.framework_version, version, mode=rules.version_match)
