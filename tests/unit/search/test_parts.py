"""What is shown for a question that asks for two things, and what counts as the same thing said twice."""

import pytest

from kr_core.search.passage_index import IndexedPassage, build
from kr_core.search.passage_score import Focus
from kr_core.search.ranking import rank
from kr_core.search.terms import question_terms

QUESTION = "How do I peel every potato in the basket and print labels?"
PARTS = ("How do I peel every potato in the basket", "print labels")


def function(name, lead):
    """A documented function."""
    return IndexedPassage(
        "symbol", name, f"def {name}()\n{lead}", "box.py:1", name, name=name.rpartition(".")[2], lead=lead
    )


def first(passages, focus, most=3):
    """The titles that come first."""
    index = build(None, passages)
    return [one.passage.title for one in rank(index, question_terms(index, QUESTION), most, focus=focus)]


POTATOES = [
    function(f"box.potato_{n}", f"Peel every potato in the basket, {n} of them at once.") for n in range(4)
]
LABELS = function("box.writer", "Labels are written to a file, one after another.")


@pytest.mark.req("A2")
class TestParts:
    """Each part of a question is ranked by itself too."""

    def test_the_best_of_each_part_is_beside_the_first(self):
        """Without its parts the question's longer half fills the first places; with them the other half has the second."""
        assert LABELS.title not in first([*POTATOES, LABELS], Focus())
        assert first([*POTATOES, LABELS], Focus(parts=PARTS))[1] == LABELS.title

    def test_no_passage_is_shown_twice(self):
        """A passage that is the best of the whole and of its parts has one place."""
        found = first([*POTATOES[:1], LABELS], Focus(parts=PARTS), most=9)
        assert sorted(found) == ["box.potato_0", "box.writer"]

    @pytest.mark.parametrize("parts", [("", "!?"), ("unheard of",) * 500, ("\ud800",), ("a" * 100_000,)])
    def test_parts_without_known_words_change_nothing(self, parts):
        """Parts that the package has no word of leave the order as it is."""
        assert first([*POTATOES, LABELS], Focus(parts=parts)) == first([*POTATOES, LABELS], Focus())


@pytest.mark.req("A1")
def test_what_differs_in_a_telling_word_is_not_a_copy():
    """Two functions of one name whose sentences differ in what they work on have a place each; word for word the same have one."""
    sentence = "Print labels in a {}."
    different = [
        function("box.a.labels", sentence.format("heap")),
        function("box.b.labels", sentence.format("letter")),
    ]
    same = [
        function("box.a.labels", sentence.format("heap")),
        function("box.b.labels", sentence.format("heap")),
    ]
    assert len(first(different, Focus())) == 2
    assert len(first(same, Focus())) == 1
