"""The index of rare words says what a look at every entry says."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.knowledge.matching import TIERS, best, subject
from kr_core.model import Entry, ResearchQuery
from kr_core.question.topics import topic_and_tags
from kr_core.toolkit import TopicIndex

WORDS = [
    *"timeout timeouts request requests proxy proxies retry read write stream pool limit C++ C# without after".split(),
    *"虚拟滚动 配置虚拟 行高 超时 🎉 🎊 the how HTTP/2 fooBar foobar ＡＢＣ abc ... httpx vue-router".split(),
]
NAMES = ["httpx", "HTTPX", "vue-router", "Vue_Router", "🎉"]
TOPICS = st.one_of(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), st.text(max_size=12))
TAGS = st.lists(
    st.one_of(st.sampled_from([*WORDS, "q-0123abcd", "q-89abcdef"]), st.text(max_size=4)), max_size=5
)
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)


@st.composite
def entries(draw) -> Entry:
    framework, topic, tags = draw(st.sampled_from(NAMES)), draw(TOPICS), tuple(draw(TAGS))
    if draw(st.booleans()):  # as research on a question leaves it
        topic, tags = topic_and_tags(draw(QUESTIONS), framework)
    used = date(2026, 1, 1) + timedelta(days=draw(st.integers(0, 3)))
    return Entry(
        id=draw(st.sampled_from("abc")), framework=framework, framework_version="1", topic=topic, tags=tags,
        path=f"{draw(st.integers(0, 99))}.md", created=used, last_accessed=used,
    )  # fmt: skip


@st.composite
def queries(draw, known: list[Entry]) -> ResearchQuery:
    framework, topic, tags = draw(st.sampled_from(NAMES)), draw(TOPICS), tuple(draw(TAGS))
    if known and draw(st.booleans()):
        near = draw(st.sampled_from(known))
        framework, topic, tags = near.framework, f"{near.topic} {draw(TOPICS)}", (*near.tags, *tags)
    if draw(st.booleans()):
        topic, tags = topic_and_tags(draw(QUESTIONS), framework)
    inferred = draw(st.sets(st.sampled_from(["framework", "topic", "tags"])))
    return ResearchQuery(
        framework=framework, framework_version="1", topic=topic, tags=tags, question="?",
        inferred=frozenset(inferred),
    )  # fmt: skip


@pytest.mark.req("K3")
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_it_chooses_what_a_look_at_every_entry_chooses(data):
    """Whatever the entries, the query, the tiers and the settings: the same entry, tier, overlap and exactness."""
    known = data.draw(st.lists(entries(), max_size=12))
    index = TopicIndex(known)
    for _ in range(3):
        query = data.draw(queries(known))
        tiers = tuple(data.draw(st.sets(st.sampled_from(TIERS), min_size=1)))
        fuzzy = data.draw(st.booleans())
        assert index.best(query, fuzzy=fuzzy, tiers=tiers) == best(known, query, fuzzy=fuzzy, tiers=tiers)


@pytest.mark.req("K3")
def test_it_chooses_the_same_among_a_thousand():
    """A thousand entries on a vocabulary with a few common and many rare words, and queries near each of them."""
    dice = random.Random(5)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnprtvz"]

    def words(count: int) -> list[str]:
        return [vocabulary[min(int(dice.paretovariate(0.7)), len(vocabulary)) - 1] for _ in range(count)]

    known = []
    for number in range(1000):
        topic, used = words(dice.randint(1, 8)), date(2026, 1, 1) + timedelta(days=dice.randint(0, 30))
        known.append(
            Entry(
                id=f"e{number}",
                framework="f",
                framework_version="1",
                topic=" ".join(topic),
                tags=tuple(topic[:3]),
                path=f"{number}.md",
                created=used,
                last_accessed=used,
            )
        )
    index = TopicIndex(known)
    tiers_seen = set()
    for _ in range(80):
        topic = dice.choice(known).topic.split()
        topic = [*topic[: max(1, len(topic) - dice.randint(0, 2))], *words(dice.randint(0, 2))]
        query = ResearchQuery(
            framework="f", framework_version="1", topic=" ".join(topic), tags=tuple(words(2)), question="?",
            inferred=frozenset(dice.choice([(), ("topic", "tags")])),
        )  # fmt: skip
        found = index.best(query)
        assert found == best(known, query)
        tiers_seen.add(found and found.tier)
    assert {"full", "topic", "tags"} <= tiers_seen


def test_it_is_the_entries_in_their_order():
    """A store may hand it over wherever a list of entries is wanted."""
    known = [
        Entry(
            id=name, framework="f", framework_version="1", topic=name, tags=(name,), path=f"{name}.md",
            created=date(2026, 1, 1), last_accessed=date(2026, 1, 1),
        )
        for name in ("b", "a")
    ]  # fmt: skip
    index = TopicIndex(known)
    assert list(index) == known
    assert (len(index), index[1], index[:1]) == (2, known[1], (known[0],))
    assert TopicIndex([]).best(ResearchQuery(framework="f", framework_version="1", topic="t", tags=("t",), question="?")) is None  # fmt: skip


@pytest.mark.req("K3")
def test_what_an_entry_is_about_is_computed_once():
    """Entries that were read anew after a change of the index are not taken apart anew."""
    first = subject("f", "virtual scrolling", ("scroll",))
    assert subject("f", "virtual scrolling", ("scroll",)) is first
    assert first.keywords is first.keywords
