"""A text of an answer becomes passages: sections as they stand there, best first."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_plugins.sources.sections import ABOUT, LONGEST_NAME, MOST_SECTIONS, AnswerText, search, sections_of

ANSWER = """\
Parcels have a timeout.

# Sending

Pass `timeout` to `send` to set the timeout of a parcel.

```python
# no heading
send("Paris", timeout=2.0)
```

## Insurance

| a | b |
|---|---|

~~~sh
parcel --insured
~~~

# Empty
"""
URL = "https://docs.example/"


def test_sections_are_verbatim_and_called_by_their_headings():
    """A comment in code is no heading, and a heading with nothing below it is no section."""
    found = list(sections_of(AnswerText(ANSWER, "guide")))
    assert [section.name for section in found] == ["guide", "Sending", "Sending / Insurance"]
    assert [section.lead for section in found] == [
        "Parcels have a timeout.",
        "Pass `timeout` to `send` to set the timeout of a parcel.",
        "",
    ]
    assert [section.code for section in found] == [
        (),
        ('# no heading\nsend("Paris", timeout=2.0)',),
        ("parcel --insured",),
    ]
    assert all(section.text in ANSWER for section in found)


@pytest.mark.req("R18")
@given(
    st.lists(
        st.sampled_from(["# A", "## B", "```", "~~~ py", "  x = 1", "", "text ", "| a |", "\tb", "a\rb"]),
        max_size=30,
    )
)
def test_whatever_the_text_its_sections_hold_it_all_in_order(lines):
    """What an answer may quote stands in the section, and nothing but headings is lost."""
    text = "\n".join(lines)
    found = list(sections_of(AnswerText(text, "name")))
    words = " ".join(section.text for section in found).split()
    wanted = iter(text.split())
    assert all(word in wanted for word in words)
    for section in found:
        folded = " ".join(section.text.split())
        assert all(" ".join(part.split()) in folded for part in (section.lead, *section.code))


def test_the_section_that_says_most_comes_first():
    """Each with the share of the question that it holds, and what else was to be said of it."""
    found = search(
        [AnswerText(ANSWER, "guide")], "How do I set the timeout when I send a parcel?", url=URL, agreement=2
    )
    first = found.passages[0]
    assert first.title == "Sending"
    assert first.coverage > ABOUT
    assert (first.url, first.locator, first.agreement, first.official) == (URL, "Sending", 2, False)
    assert "swallow" in search([AnswerText(ANSWER, "guide")], "How fast is a swallow?", url=URL).missing


def test_where_nothing_is_about_the_question_the_beginning_is_shown():
    """A tool may be asked what has none of the question's words in its answer; how much it covers is told."""
    found = search([AnswerText("Commit 1\n\nRetry what was lost.", "log")], "What changed?", url=URL)
    assert [passage.text for passage in found.passages] == ["Commit 1\n\nRetry what was lost."]
    assert found.passages[0].coverage == 0.0
    assert search([AnswerText(" \n", "log")], "What changed?", url=URL).passages == ()


def test_a_long_section_is_divided_where_it_may_be():
    """At blank lines, else between lines or words, so that a passage is small enough to be cited."""
    paragraphs = "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(30))
    for text in (paragraphs, "word " * 20_000, "x" * 20_000, "line\n" * 5_000):
        pieces = list(sections_of(AnswerText(text, "name")))
        assert len(pieces) > 1
        assert all(len(piece.text) < 10_000 for piece in pieces)
        assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(text.split())


def test_of_an_endless_answer_the_beginning_is_looked_at():
    """And that there was more is told."""
    texts = [AnswerText("The timeout of a parcel. " * 40_000, "one"), AnswerText("timeout " * 10, "two")]
    begun = time.monotonic()
    found = search(texts, "timeout of a parcel", url=URL)
    assert time.monotonic() - begun < 10.0
    assert found.cut
    assert not search(texts[1:], "timeout", url=URL).cut


@pytest.mark.req("Z8")
def test_long_headings_over_many_sections_cost_little():
    """Each section has those above it in its title: 0.8 MB took gigabytes."""
    text = "# " + "a long heading " * 8_000 + "\n" + "## Cranes\nlift a crate\n" * 20_000
    found = list(sections_of(AnswerText(text, "tool")))
    assert len(found) == MOST_SECTIONS + 1
    assert max(len(one.title) for one in found) <= LONGEST_NAME + len(" / Cranes")
    assert search([AnswerText(text, "tool")], "how do cranes lift?", url=URL).cut
