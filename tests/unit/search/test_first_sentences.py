"""How near what passages say first is to a question, and what the ranking makes of it."""

import pytest

from kr_core.search import first_sentences
from kr_core.search.first_sentences import nearness
from kr_core.search.passage_index import IndexedPassage, build
from kr_core.search.passage_score import Focus
from kr_core.search.ranking import rank
from kr_core.search.terms import question_terms

ASKED = "remove a folder with its contents"


@pytest.mark.req("A1")
class TestNearness:
    """Cosines of the question's words and first sentences."""

    def test_what_means_the_same_is_nearer(self):
        """A sentence about removing directories is nearer to the question than one about servers, in other words too."""
        same, other = nearness(
            ASKED.split(), ["Recursively delete a directory tree.", "Listen on a port for connections."]
        )
        assert same > 0.3 > other

    def test_the_first_sentence_alone_counts(self):
        """What stands after the first sentence changes nothing."""
        lead = "Recursively delete a directory tree."
        assert nearness(ASKED.split(), [lead, f"{lead} Listen on a port."]) == pytest.approx(
            nearness(ASKED.split(), [lead]) * 2
        )

    def test_a_text_without_known_words_is_not_near(self):
        """No words, or none that the table has, give zero."""
        assert nearness(ASKED.split(), ["", "   ", "🚀 ---", "\0" * 10_000]) == [0.0] * 4
        assert nearness([], ["Delete a tree."]) == [0.0]

    def test_any_length_is_read_in_part(self):
        """A first paragraph of a megabyte without a full stop is compared by its first words."""
        assert nearness(["word"] * 100_000, ["delete folder " * 100_000])[0] <= 1.0

    def test_without_the_table_nothing_is_near(self, monkeypatch):
        """A table that cannot be read leaves the ranking to the words."""
        monkeypatch.setattr(first_sentences, "readable_table", lambda: None)
        assert nearness(ASKED.split(), ["Delete a folder.", ""]) == [0.0, 0.0]


PASSAGES = [
    IndexedPassage(
        "symbol", "box.remove_folder", "def remove_folder(name)", "box.py:1", "box.remove_folder",
        name="remove folder", lead="Publish to a channel.",
    ),
    IndexedPassage(
        "symbol", "box.rmtree", "def rmtree(path)", "box.py:9", "box.rmtree",
        name="rmtree remove folder", lead="Recursively delete a directory tree.", prior=0.68,
    ),
]  # fmt: skip


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("by_meaning", "first"), [(False, "box.remove_folder"), (True, "box.rmtree")], ids=["words", "meaning"]
)
def test_meaning_decides_between_passages_with_the_same_words(by_meaning, first):
    """Of two passages whose names say the question's words, the one whose first sentence means it comes first."""
    index = build(None, PASSAGES)
    ranked = rank(index, question_terms(index, ASKED), focus=Focus(by_meaning=by_meaning))
    assert ranked[0].passage.title == first
