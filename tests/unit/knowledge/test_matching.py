"""Which entry of the knowledge base answers a query."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.knowledge.matching import best, match, match_keys, overlap
from kr_core.model import Entry, ResearchQuery
from kr_core.question.topics import topic_and_tags


def entry(topic="virtual scrolling configuration", tags=("virtual-scroll",), **fields) -> Entry:
    values = {"id": "e1", "framework": "vue-easytable", "framework_version": "2.x", "path": "p.md"}
    days = {"created": date(2026, 1, 20), "last_accessed": date(2026, 2, 5)}
    return Entry(**{**values, **days, "topic": topic, "tags": tags, **fields})


def query(topic="virtual scrolling configuration", tags=("virtual-scroll",), **fields) -> ResearchQuery:
    values = {"framework": "vue-easytable", "framework_version": "2.3", "question": "?"}
    return ResearchQuery(**{**values, "topic": topic, "tags": tags, **fields})


def asked(question: str, framework="httpx") -> ResearchQuery:
    topic, tags = topic_and_tags(question, framework)
    inferred = frozenset({"topic", "tags", "framework"})
    return query(topic, tags, framework=framework, question=question, inferred=inferred)


def kept(question: str, framework="httpx", **fields) -> Entry:
    """The entry that research on this question leaves."""
    topic, tags = topic_and_tags(question, framework)
    return entry(topic, tags, framework=framework, **fields)


@pytest.mark.req("K3")
@pytest.mark.parametrize(
    ("topic", "tags", "tier"),
    [
        ("configuring virtual scroll", ("virtual-scroll",), "full"),
        ("virtual scrolling configuration", ("rows",), "topic"),
        ("row height", ("Virtual_Scroll",), "tags"),
        ("row height", ("rows",), None),
    ],
)
def test_a_match_needs_the_framework_and_says_by_what_else(topic, tags, tier):
    found = match(entry(), query(topic, tags))
    assert (found.tier if found else None) == tier
    assert match(entry(), query(topic, tags, framework="other")) is None


@pytest.mark.req("K3")
def test_a_match_by_tags_only_carries_a_warning():
    assert (
        match(entry(), query("row height")).warning == "matched by tags only; it may be about another topic"
    )
    assert match(entry(), query()).warning is None


@pytest.mark.req("K3")
def test_exactly_seventy_percent_is_enough_and_less_is_not():
    ten = "alpha beta gamma delta epsilon zeta eta theta kappa lambda"
    assert overlap(ten, "alpha beta gamma delta epsilon zeta eta") == 0.7
    assert match(entry(ten, ("x",)), query("alpha beta gamma delta epsilon zeta eta", ("y",))) is not None
    assert match(entry(ten, ("x",)), query("alpha beta gamma delta epsilon zeta", ("y",))) is None


@pytest.mark.req("K3")
def test_chinese_topics_match_by_pairs_of_characters():
    assert overlap("虚拟滚动配置", "配置虚拟滚动") > 0.6
    assert match(entry("虚拟滚动配置", ("a",)), query("虚拟滚动的配置", ("b",))) is None
    assert match(entry("虚拟滚动行高配置", ("a",)), query("虚拟滚动行高", ("b",))) is not None
    assert match(entry("虚拟滚动", ("a",)), query("错误处理", ("b",))) is None


@pytest.mark.req("K3")
def test_languages_that_differ_by_a_symbol_do_not_match():
    assert overlap("C++ bindings", "C# bindings") == 0.5
    assert overlap("🎉", "🎊") == 0
    assert overlap("🎉", "🎉") == 1


@pytest.mark.req("K3")
@given(st.text(), st.text())
def test_overlap_is_symmetric_and_a_share(a, b):
    assert overlap(a, b) == overlap(b, a)
    assert 0 <= overlap(a, b) <= 1
    assert overlap(a, a) == 1


@pytest.mark.req("K3")
def test_without_fuzzy_matching_only_an_equal_topic_matches():
    assert match(entry(), query("Virtual  Scrolling configuration"), fuzzy=False).tier == "full"
    assert match(entry(), query("configure virtual scrolling"), fuzzy=False) is None


@pytest.mark.req("K3")
def test_a_dropped_tier_leaves_the_lower_ones():
    assert match(entry(), query(), tiers=("topic", "tags")).tier == "topic"
    assert match(entry(), query(), tiers=("tags",)).tier == "tags"
    assert match(entry(), query("row height"), tiers=("full", "topic")) is None


@pytest.mark.req("K3")
def test_the_best_match_goes_by_framework_tier_overlap_access_and_id():
    folded = entry(id="folded", framework="Vue_EasyTable")
    topic = entry(id="topic", tags=("other",))
    loose = entry("virtual scrolling configuration rows", id="loose")
    old = entry(id="old", last_accessed=date(2025, 1, 1))
    first, second = entry(id="a"), entry(id="b")
    ranked = [first, second, old, loose, topic, folded]
    while ranked:
        assert best(reversed(ranked), query()).entry is ranked[0]
        ranked.pop(0)
    assert best([], query()) is None


@pytest.mark.req("K3", "R1")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("How do I retry a request in httpx?", "What is the way to retry requests with httpx"),
        ("How do I configure a proxy?", "Configuring proxies in httpx"),
        ("httpx: how to set timeouts?", "How can I set a timeout with httpx?"),
        ("How do I convert JSON to YAML?", "Converting from JSON to YAML"),
        ("How do I migrate from v1 to v2?", "How can I migrate to v2 from v1?"),
        ("How do I add a header to a request?", "Is there a way to add a header to requests?"),
    ],
)
def test_a_rephrased_question_is_answered_by_the_same_entry(first, second):
    assert match(kept(first), asked(second)).exact


@pytest.mark.req("K3", "R1")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("How do I retry a failed request in httpx?", "How do I retry a request in httpx?"),
        ("How do I set a read timeout in httpx?", "How do I set a write timeout in httpx?"),
        ("How do I send a request without a timeout?", "How do I send a request with a timeout?"),
        ("How do I log before a request?", "How do I log after a request?"),
        ("How do I enable HTTP 2 in httpx?", "How do I enable HTTP 3 in httpx?"),
        ("How do I convert JSON to YAML?", "How do I convert YAML to JSON?"),
        ("How do I migrate from v1 to v2?", "How do I migrate from v2 to v1?"),
        ("如何设置读取超时", "如何设置写入超时"),
    ],
)
def test_a_question_that_shares_only_some_words_is_not_the_same(first, second):
    found = match(kept(first), asked(second))
    assert found is None or not found.exact


@pytest.mark.req("K3", "R1")
def test_tags_chosen_by_a_person_do_not_make_a_question_equal():
    """An entry on one side of a subject is no answer to a question on the whole of it."""
    explicit = entry("disabling timeouts for streams", ("timeout",), framework="httpx")
    assert not match(explicit, asked("What is a timeout in httpx?")).exact


@pytest.mark.req("K3", "R1")
def test_an_inferred_query_matches_an_explicit_topic_of_the_same_words():
    explicit = entry("retrying requests", ("transport",), framework="httpx")
    assert match(explicit, asked("How do I retry a request in httpx?")).exact


@pytest.mark.req("K3", "R1")
def test_an_inferred_query_prefers_the_equal_entry_over_a_closer_tier():
    loose = kept(
        "How do I retry a request twice after it failed in httpx?", id="loose", last_accessed=date(2026, 3, 1)
    )
    equal = entry("retry request", ("x",), framework="httpx", id="equal")
    assert best([loose, equal], asked("How do I retry a request in httpx?")).entry.id == "equal"


@pytest.mark.req("K3", "R1")
def test_long_questions_are_told_apart_by_their_last_tag():
    words = [f"word{chr(97 + n)}" for n in range(26)]
    first, second = " ".join([*words, "red"]), " ".join([*words, "tan"])
    assert match(kept(first), asked(f"How do I {first}?")).exact
    assert not match(kept(first), asked(second)).exact


WORDS = "timeout timeouts proxy proxies before after not retry c++ request Request-Timeout 日本 é".split()
TOPICS = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
TAGS = st.lists(st.sampled_from(WORDS), max_size=3).map(tuple)


@pytest.mark.req("K3", "K12")
@given(TOPICS, TAGS, TOPICS, TAGS, st.booleans(), st.booleans())
def test_what_matches_shares_a_key(kept_topic, kept_tags, topic, tags, fuzzy, inferred):
    """A store that finds entries by their keys finds each that matches."""
    one = entry(kept_topic or "!", kept_tags)
    inferring = frozenset({"topic", "tags"}) if inferred else frozenset()
    asking = query(topic or "?", tags, inferred=inferring)
    if match(one, asking, fuzzy=fuzzy) is not None:
        pairs = zip(match_keys(one), match_keys(asking), strict=True)
        assert any(ours & theirs for ours, theirs in pairs)


def test_keys_are_as_stores_keep_them():
    """Whoever changes them changes every entry that a store has kept with the old ones: add a form that makes them anew."""
    words, tags, same = match_keys(entry("Proxies before 2.0", ("Virtual_Scroll",)))
    assert words == {"proxi"}
    assert tags == {"virtual-scroll"}
    assert same == {"=proxies before 2.0", "~proxi befor 2.0"}
