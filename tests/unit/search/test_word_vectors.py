"""The table of word vectors: read whole or refused, and the sums it makes."""

from __future__ import annotations

import random

import pytest

from kr_core.errors import StorageError
from kr_core.search import word_vectors
from kr_core.search.documents.sqlite_index import FORMAT
from kr_core.search.passage_index import IndexedPassage, build
from kr_core.search.passage_score import Focus
from kr_core.search.ranking import rank
from kr_core.search.terms import question_terms
from kr_core.search.word_vectors import (
    DIMENSIONS,
    FILE,
    MAX_WORDS,
    WordTable,
    nearness,
    row_of,
    word_table,
    words_in,
    written,
)

ASKED = "remove a folder with its contents"


def rows_of(count):
    chance = random.Random(3)
    return [[chance.gauss(0, 1 + number) for _ in range(DIMENSIONS)] for number in range(count)]


def cosine(one, other):
    length = (sum(value * value for value in one) * sum(value * value for value in other)) ** 0.5
    return sum(a * b for a, b in zip(one, other, strict=True)) / length


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.vectors"
    file.write_bytes(written(["alpha", "beta", "gamma"], rows_of(3)))
    return file


class TestSums:
    """Vectors of texts."""

    @pytest.mark.req("E6")
    def test_a_text_is_the_sum_of_its_words(self, small):
        """Parts of names count, in any letter case; words that the table lacks do not."""
        one, two, three = rows_of(3)
        (made,) = WordTable(small).embed(["alphaBeta Alpha zeta 7 GAMMA gamma"])
        wanted = [2 * a + b + 2 * c for a, b, c in zip(one, two, three, strict=True)]
        assert cosine(made, wanted) > 0.999
        assert sum(value * value for value in made) == pytest.approx(1)

    def test_the_most_words_do_not_run_over(self, small):
        """As many of the longest vector as may be added give that vector."""
        table = WordTable(small)
        many = row_of(table.total(["gamma"] * MAX_WORDS))
        assert cosine(many, rows_of(3)[2]) > 0.999
        assert cosine(table.embed(["gamma " * 10_000])[0], rows_of(3)[2]) > 0.999

    @pytest.mark.parametrize("text", ["", "zeta", "\ud800 \x00", "7 11"])
    def test_a_text_without_a_known_word_is_zero(self, small, text):
        """Its vector has no direction."""
        assert WordTable(small).embed([text]) == [[0.0] * DIMENSIONS]


class TestDamage:
    """A file that is not whole."""

    @pytest.mark.req("E6")
    def test_each_cut_is_noticed(self, small):
        """Wherever it ends."""
        whole = small.read_bytes()
        for end in [0, 3, 19, 20, 21, len(whole) // 2, len(whole) - 1]:
            small.write_bytes(whole[:end])
            with pytest.raises(StorageError, match="is damaged") as raised:
                WordTable(small)
            assert str(small) in str(raised.value)
            assert "install kr-core again" in str(raised.value)

    def test_each_changed_byte_is_noticed(self, small):
        """In the head, the words, the scales and the rows."""
        whole = small.read_bytes()
        for place in [0, 5, 9, 13, 17, 22, 40, len(whole) - 1]:
            small.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
            with pytest.raises(StorageError, match="is damaged"):
                WordTable(small)

    def test_more_than_the_table_is_damage_too(self, small):
        """Something was written behind it."""
        small.write_bytes(small.read_bytes() + b"x")
        with pytest.raises(StorageError, match="is damaged"):
            WordTable(small)

    def test_a_missing_file_says_where(self, tmp_path):
        """And what to do."""
        with pytest.raises(StorageError, match=r"none\.vectors.*install kr-core again"):
            WordTable(tmp_path / "none.vectors")


class TestShipped:
    """The table that is shipped."""

    @pytest.mark.req("E6")
    def test_it_knows_what_means_the_same(self):
        """Of two texts without a common word, the one that means the same is nearer."""
        asked, near, far = word_table().embed(
            ["remove a folder", "delete the directory tree", "draw a chart of prices"]
        )
        assert cosine(asked, near) > cosine(asked, far) + 0.2

    def test_another_table_needs_another_format(self):
        """An index holds vectors of one table: whoever changes it raises `FORMAT`, and then both here."""
        assert (FORMAT, word_table().identity) == ("6", "static/d2e66ec5")

    def test_it_is_small_and_says_what_it_is_made_of(self):
        """The notice names the model's licence and the packages."""
        assert FILE.stat().st_size <= 6_700_000
        notice = FILE.with_name("words.vectors.txt").read_text("utf-8")
        assert "Apache" in notice
        assert "sqlalchemy " in notice
        assert "numpy " not in notice

    def test_words_are_the_parts_of_names(self):
        """Digits are words, though the table has none of them."""
        assert words_in("HTTPServer.read_csv(path2)") == ["http", "server", "read", "csv", "path", "2"]


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
        monkeypatch.setattr(word_vectors, "readable_table", lambda: None)
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
