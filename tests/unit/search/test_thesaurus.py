"""Users' words for things, and the words that documentation has for them."""

from importlib.resources import files

import pytest

from kr_core.search.thesaurus import expand, near

pytestmark = pytest.mark.req("A13")


def test_every_rule_has_its_form():
    """A line that has another would be left out without a word."""
    text = (files("kr_core.search") / "thesaurus.txt").read_text("utf-8")
    rules = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(rules) > 2_000
    for line in rules:
        left, sign, right = line.partition(" > ")
        assert sign, line
        assert right, line
        assert all(phrase.strip() for phrase in left.split(", ")), line


def test_a_phrase_is_found_in_any_form_and_with_words_between():
    """Longer phrases come first."""
    found = expand("How are two files stitched together, and who called it off?")
    phrases = [one.words for one in found]
    assert ("stitched", "together") in phrases
    assert phrases == sorted(phrases, key=len, reverse=True)
    assert len(phrases) == len(set(found))
    stitched = next(one.others for one in found if one.words == ("stitched", "together"))
    assert "concatenate" in stitched


@pytest.mark.parametrize("question", ["", "?", "the of a", "\0" * 100, ", > \n", "é" * 1_000])
def test_a_question_without_rules_has_none(question):
    """Signs that the file uses itself mean nothing in a question."""
    assert expand(question) == []


def test_every_word_of_the_table_is_found():
    """They are looked up by bisection, so one that is out of order would have no neighbours."""
    text = (files("kr_core.search") / "neighbours.txt").read_text("ascii")
    words = [line.partition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(words) > 15_000
    assert all(map(near, words))
    assert near("abbr") == {"abi": 0.59}
    assert [near(word) for word in ("", "#", "aa", "abb", "zzz", "é")] == [{}] * 6
