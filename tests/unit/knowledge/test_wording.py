"""Which questions are the same one, so that the answer to one is the answer to the other."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.knowledge.topic_lookup import TopicLookup
from kr_core.knowledge.wording import same_question, wording
from kr_core.model import Entry, ResearchQuery
from kr_core.protocols.lookup import KeptReport, LookupRules
from kr_core.question.topics import topic_and_tags

TODAY = date(2026, 11, 23)

OTHERS = [
    ("How do I convert JSON to YAML?", "How do I convert YAML to JSON?"),
    ("How do I convert a dict to a model?", "How do I convert a model to a dict?"),
    ("How do I call a coroutine from a thread?", "How do I call a thread from a coroutine?"),
    ("How do I use a list in a dict?", "How do I use a dict in a list?"),
    ("Can I nest a group in a command?", "Can I nest a command in a group?"),
    ("How do I log before a request?", "How do I log after a request?"),
    ("How do I close the client before the stream?", "How do I close the stream before the client?"),
    ("How do I send a request with a timeout?", "How do I send a request without a timeout?"),
    ("When is a hook called?", "When is a hook not called?"),
    ("Why does the client follow redirects?", "Why doesn't the client follow redirects?"),
    ("Can I reuse a client?", "Why can't I reuse a client?"),
    ("How do I pin a host in v1?", "How do I pin a host in v2?"),
    ("How do I migrate from 3.3 to 3.4?", "How do I migrate from 3.4 to 3.3?"),
    ("How do I upgrade from 4 to 5?", "How do I upgrade from 3 to 4?"),
    ("What changed in 2.0?", "What changed in 2.1?"),
    ("How do I enable HTTP/1?", "How do I enable HTTP/2?"),
    ("How do I close a client?", "Why do I close a client?"),
    ("When should I close a client?", "How should I close a client?"),
    ("What is a lock file?", "What is a file lock?"),
    ("What does load do?", "What does loads do?"),
    ("How do I use dump with a file?", "How do I use dumps with a file?"),
    ("What is Field?", "What are Fields?"),
    ("How do I turn on logging?", "How do I turn off logging?"),
    ("How do I read from a socket?", "How do I read to a socket?"),
    ("How do I wait for a task?", "How do I wait in a task?"),
    ("How do I allow only ints?", "How do I allow ints?"),
    ("How do I match all tags?", "How do I match any tags?"),
    ("How do I raise an error if a key exists?", "How do I raise an error unless a key exists?"),
    ("How do I use a session instead of a client?", "How do I use a client instead of a session?"),
    ("Is a client faster than a session?", "Is a session faster than a client?"),
    ("How do I test that a < b?", "How do I test that a > b?"),
    ("What does the `-i` option do?", "What does the `-a` option do?"),
    ("What does `a` mean?", "What does `i` mean?"),
    ("How do I pass *args?", "How do I pass **args?"),
    ("How do I go from requests to httpx?", "How do I go from httpx to requests?"),
    ("How do I set more headers?", "How do I set fewer headers?"),
    ("How do I wrap sync code in async code?", "How do I wrap async code in sync code?"),
    ("How do I run a task once a day?", "How do I run a task twice a day?"),
    ("Should I use a client?", "Can I use a client?"),
    ("How do I keep the first row?", "How do I keep the last row?"),
]

SAME = [
    ("How do I set a timeout in httpx?", "How can I set timeouts with httpx?"),
    ("httpx: how to set timeouts?", "How can I set a timeout with httpx?"),
    ("In httpx, how do I set a timeout?", "What is the best way to set a timeout in httpx?"),
    ("How do I convert JSON to YAML?", "Converting from JSON to YAML"),
    ("How do I migrate from v1 to v2?", "How can I migrate to v2 from v1?"),
    ("What is a timeout?", "what is the timeout"),
    ("Is it possible to reuse a client?", "Can I reuse a client?"),
    ("What's a transport?", "What is a transport?"),
    ("  Please, how do I   retry a request ", "how to retry requests?"),
]


def asked(question: str) -> ResearchQuery:
    topic, tags = topic_and_tags(question, "httpx")
    return ResearchQuery(
        framework="httpx", framework_version="0.28.1", topic=topic, tags=tags, question=question,
        inferred=frozenset({"topic", "tags", "framework"}),
    )  # fmt: skip


def kept(question: str, *, status="fresh", created=TODAY) -> Entry:
    query = asked(question)
    return Entry(
        id="httpx-one", framework="httpx", framework_version="0.28.1", topic=query.topic, tags=query.tags,
        path="frameworks/httpx/one.md", created=created, last_accessed=TODAY, status=status,
    )  # fmt: skip


def decided(question: str, entry: Entry, evidence: dict, researched: date = TODAY) -> str:
    """What KR's own look-up makes of an entry, as the pipeline asks it."""
    lookup, rules = TopicLookup(), LookupRules(TODAY)
    matched = lookup.find(asked(question), [entry], rules)
    if matched is None:
        return "miss"
    return lookup.judge(asked(question), matched, KeptReport("# x", evidence, researched), rules).state


@pytest.mark.req("A10", "K3")
@pytest.mark.parametrize(("first", "second"), OTHERS)
def test_a_question_of_another_order_direction_or_negation_gets_no_kept_answer(first, second):
    """Neither of two questions that say different things is served the answer to the other."""
    assert not same_question(first, second, "httpx")
    for one, other in ((first, second), (second, first)):
        assert decided(other, kept(one), {"question": one, "level": "high"}) != "hit"
        assert decided(one, kept(one), {"question": one, "level": "high"}) == "hit"


@pytest.mark.req("A10", "K3")
@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_question_asked_in_another_form_gets_the_kept_answer(first, second):
    """Articles, plurals and how a question for a way opens do not make another question."""
    assert same_question(first, second, "httpx")
    assert decided(second, kept(first), {"question": first, "level": "high"}) == "hit"


@pytest.mark.req("A10")
@pytest.mark.parametrize(
    ("evidence", "researched", "state"),
    [
        ({"level": "low"}, TODAY, "hit"),
        ({"level": "low"}, date(2026, 11, 22), "stale"),
        ({"level": "low", "incomplete": True}, TODAY, "stale"),
        ({"level": "high"}, TODAY, "stale"),
    ],
)
def test_a_weak_answer_is_served_on_the_day_of_its_research_only(evidence, researched, state):
    """A low answer is kept as stale; a repeat on the same day costs nothing, unless a source had failed."""
    question = "How do I retry a request in httpx?"
    entry = kept(question, status="stale", created=researched)
    assert decided(question, entry, {"question": question, **evidence}, researched) == state


@pytest.mark.req("A10", "A14")
@pytest.mark.parametrize(
    ("kept_names", "names", "state"),
    [
        ([], ("httpx.HTTPTransport",), "stale"),
        (["retries"], ("httpx.HTTPTransport", "retries"), "stale"),
        (["httpx.HTTPTransport", "retries"], ("retries",), "hit"),
        (None, (), "hit"),
    ],
)
def test_a_weak_answer_is_not_served_to_an_asker_who_expects_further_names(kept_names, names, state):
    """They may find what was not found; the same names, or fewer, would not."""
    question = "How do I retry a request in httpx?"
    evidence = {"question": question, "level": "low"} | ({"names": kept_names} if kept_names else {})
    entry, query = kept(question, status="stale"), asked(question).model_copy(update={"names": names})
    lookup, rules = TopicLookup(), LookupRules(TODAY)
    matched = lookup.find(query, [entry], rules)
    assert lookup.judge(query, matched, KeptReport("# x", evidence, TODAY), rules).state == state


@pytest.mark.req("A10")
def test_another_question_never_gets_a_weak_answer_of_the_same_day():
    """The exception for the same day is for the same question alone."""
    entry = kept("How do I convert JSON to YAML?", status="stale")
    evidence = {"question": "How do I convert JSON to YAML?", "level": "low"}
    assert decided("How do I convert YAML to JSON?", entry, evidence) != "hit"


@pytest.mark.req("A10")
@given(st.text(max_size=300))
def test_any_text_is_the_same_question_as_itself(text):
    """No text breaks the comparison, and spaces around it do not count."""
    assert wording(text, "httpx") == wording(f"  {text} ", "httpx")
    assert same_question(text, text, "httpx")
