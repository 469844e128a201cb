"""Pages of texts, and values cut to a size."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.server.mcp.text_pages import MIN_TOKENS, fitted, page_of, tokens


@given(st.text(max_size=9000), st.integers(MIN_TOKENS, 2000))
def test_pages_are_the_text_and_none_is_too_long(text, limit):
    """All pages together are the text, to the letter; each has at most so many tokens; one beyond the last is empty."""
    first = page_of(text, 1, limit)
    pages = [page_of(text, number, limit) for number in range(1, first.of + 1)]
    assert "".join(page.text for page in pages) == text
    assert all(tokens(page.text) <= limit for page in pages)
    assert page_of(text, first.of + 1, limit).text == ""


def test_a_page_ends_where_a_line_does():
    """Only a line that is longer than a page is cut."""
    text = "".join(f"line {number} of many\n" for number in range(2000))
    first = page_of(text, 1, 1000)
    assert first.of > 5
    assert all(page_of(text, number, 1000).text.endswith("\n") for number in range(1, first.of + 1))


@pytest.mark.parametrize("letter", ["x", "字", "😀"])
def test_a_value_is_cut_to_its_size_and_says_what_is_gone(letter):
    """The longest texts are cut first; what is short stays, and so do numbers and keys."""
    value = {"short": "kept", "number": 7, "texts": [letter * 50_000, letter * 20], "nothing": None}
    made = fitted(value, 2000)
    assert tokens(json.dumps(made, ensure_ascii=False)) <= 2000
    assert (made["short"], made["number"], made["nothing"], made["texts"][1]) == (
        "kept",
        7,
        None,
        letter * 20,
    )
    kept = made["texts"][0].count(letter)
    assert made["texts"][0].endswith(f"[... {50_000 - kept:,} more characters]")
    assert fitted({"a": "b"}, 2000) == {"a": "b"}
