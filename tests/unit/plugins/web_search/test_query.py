"""What is sent to a search engine: words, in a length that it takes, and no orders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.plugin import ResearchQuery
from kr_core.testing.samples import HOSTILE
from kr_plugins.sources.web_search.query import search_text


def text_for(question, framework="parcel", topic="timeouts"):
    return search_text(
        ResearchQuery(
            framework=framework, framework_version="1.4.0", topic=topic, tags=("t",), question=question
        )
    )


@pytest.mark.parametrize(
    ("framework", "question", "text"),
    [
        ("parcel", "How do I set a timeout?", "parcel How do I set a timeout?"),
        ("parcel", "How do I set a timeout for a parcel?", "How do I set a timeout for a parcel?"),
        ("Next.js", "How does next js route?", "How does next js route?"),
        ("@tanstack/react-query", "How do I refetch?", "react-query How do I refetch?"),
        ("beautifulsoup4", "How do I find links?", "beautifulsoup How do I find links?"),
        ("python", '!images of  !!g cats :fr\n<3 -not "site', "python images of g cats fr 3 not site"),
        ("!!", "!!! ??", "timeouts"),
    ],
)  # fmt: skip
def test_the_words(framework, question, text):
    """The framework and the question on one line; what would steer the engine is a word like any other."""
    assert text_for(question, framework) == text


@pytest.mark.req("R19")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is (the default timeout)?", "parcel What is the default timeout"),
        ("How do I call send(url in it?", "parcel How do I call send url in it?"),
        ("How do I use send() and box[0] in {it}?", "parcel How do I use send() and box[0] in it"),
        ("What is dict[str, Any] for?", "parcel What is dict str, Any for?"),
        ('Why "cannot import name x"?', "parcel Why cannot import name x"),
        ("What does `send` do [(here)?", "parcel What does `send` do here"),
        ("Why does send(-all fail?", "parcel Why does send all fail?"),
    ],
)  # fmt: skip
def test_half_a_bracket(question, text):
    """A bracket or a quote whose partner stands in another word, or is missing, is not sent."""
    assert text_for(question) == text


@pytest.mark.req("Z4")
@given(st.text(alphabet='ab()[]{}"`-! ', max_size=60))
def test_brackets_that_are_sent_are_pairs(question):
    """Whatever the brackets of a question are, those that are sent are closed, and none begins an order."""
    text = text_for(question or "x", topic="t")
    for pair in ("()", "[]", "{}"):
        assert text.count(pair[0]) == text.count(pair[1])
    assert not text.count('"') % 2
    assert not text.count("`") % 2
    assert not any(word.startswith(("!", "-")) for word in text.split(" "))


@pytest.mark.req("R19")
def test_a_long_question_is_cut_to_what_tells():
    """Of a long story the words that say what it is about are sent."""
    story = "so I have been trying to do this for a while now and it just would not work for me " * 3
    text = text_for(f"{story} How do I set the timeout of a webhook in a carrier? {story * 5}")
    assert "timeout" in text
    assert "webhook" in text
    assert "would" not in text


@pytest.mark.req("Z4")
@given(
    st.text(max_size=400) | st.sampled_from(sorted(HOSTILE.values())),
    st.sampled_from(["parcel", "!!g", "a/b", "@x/y"]),
)
def test_any_question_is_sendable(question, framework):
    """Whatever is asked, what is sent is short enough for each engine, and begins no word with an order."""
    text = text_for(question or "x", framework)
    text.encode()
    words = text.split(" ")
    assert len(text) <= 300
    assert len(words) <= 40
    assert text.isprintable() or not text.isascii()
    assert not any(word.startswith(("!", ":", "?", "-", "<")) for word in words)
