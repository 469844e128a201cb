"""Documents found by words and vectors."""

import sys

import pytest
from support.documents import Synonyms, found, indexed

from kr_core.search.documents import encoding
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.word_vectors import row_of, tokens, word_table
from kr_core.toolkit import Documents


class TestVectors:
    """Search by words and vectors."""

    @pytest.mark.req("E6")
    def test_what_means_the_same_is_found(self, docs, tmp_path):
        """A passage without a word of the question comes first, once it has a vector; vectors are kept by content."""
        (docs / "van.md").write_text("# Van\n\nThe van leaves at nine.\n")
        (docs / "letter.md").write_text("# Letter\n\nA letter leaves at ten.\n")
        indexed(tmp_path, docs)
        embedder = Synonyms()
        assert {path for path, _place in found(tmp_path, "leaves", embedder=embedder)} == {
            "van.md",
            "letter.md",
        }
        assert found(tmp_path, "lorry", embedder=embedder)[0] == ("van.md", ":1")
        (docs / "van.md").write_text(
            "# Van\n\nThe van leaves at nine.\n\n# Price\n\nIt leaves for ten euro.\n"
        )
        indexed(tmp_path, docs)
        embedder.seen.clear()
        found(tmp_path, "leaves", embedder=embedder)
        assert [text for text in embedder.seen if "nine" in text] == []
        assert found(tmp_path, "lorry", embedder=embedder)[0] == ("van.md", ":1")

    def test_no_word_need_be_shared(self, docs, tmp_path):
        """What words do not lead to gets its vector by and by."""
        (docs / "van.md").write_text("# Van\n\nThe van leaves at nine.\n")
        indexed(tmp_path, docs)
        assert found(tmp_path, "lorry", embedder=Synonyms()) == [("van.md", ":1")]

    def test_an_embedder_that_fails_is_noted(self, docs, tmp_path):
        """Words alone are searched then."""
        from kr_core import RequestError

        class Down:
            identity = "down"

            def embed(self, _texts):
                raise RequestError("unavailable", "no answer")

        (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
        indexed(tmp_path, docs)
        with Documents(tmp_path, Down) as documents:
            assert len(documents.search("carrier")) == 1
            assert documents.notes == ["embedder: no answer; words alone were searched"]


class TestStatic:
    """Search by the table that comes with KR."""

    @pytest.mark.req("E6")
    @pytest.mark.parametrize("numpy", [True, False])
    def test_what_means_the_same_comes_first(self, docs, tmp_path, monkeypatch, numpy):
        """Both passages hold one word of the question; with and without numpy."""
        if not numpy:
            monkeypatch.setitem(sys.modules, "numpy", None)
        (docs / "a.md").write_text("# draw_chart\n\n`draw_chart(prices)` draws prices of the folder.\n")
        (docs / "b.md").write_text(
            "# delete_tree\n\n`delete_tree(path)` deletes a directory tree, a folder with its files.\n"
        )
        (docs / "c.md").write_text(
            "# songs\n\n`songs(path)`: those of a folder, and of each folder in that folder.\n"
        )
        indexed(tmp_path, docs)
        places = found(tmp_path, "how can I remove a folder", embedder=word_table())
        assert places[0] == ("b.md", ":1")

    @pytest.mark.req("E6")
    def test_a_passage_that_shares_no_word_is_found_with_numpy(self, docs, tmp_path):
        """Where some other shares one; if none does, nothing is found."""
        pytest.importorskip("numpy")
        (docs / "a.md").write_text("# Songs\n\nRemove noise from songs.\n")
        (docs / "b.md").write_text("# Directory\n\nDelete a directory, its files and subdirectories.\n")
        indexed(tmp_path, docs)
        places = found(tmp_path, "remove folder with file", embedder=word_table())
        assert ("b.md", ":1") in places
        assert found(tmp_path, "zebra", embedder=word_table()) == []

    def test_plain_python_and_numpy_agree(self, docs, tmp_path):
        """On the cosine of each passage, also of one that is gone or was never there."""
        pytest.importorskip("numpy")
        from kr_core.search.documents.static_vectors import _All, _cosines

        for number in range(5):
            (docs / f"{number}.md").write_text(f"# Part {number}\n\n{TEXTS[number]}\n")
        indexed(tmp_path, docs)
        (docs / "0.md").unlink()
        indexed(tmp_path, docs)
        store = DocumentStore(tmp_path / FILE_NAME)
        row = row_of(word_table().total(tokens("delete the file")))
        numbers = [number for block in store.blocks() for number in store.next_block(block - 1)[1]]
        plain = _cosines(row, store, [*numbers, 99_999_999])
        assert plain == pytest.approx(_All(store).near(row, [*numbers, 99_999_999]), abs=1e-5)
        assert set(plain) == set(numbers)
        store.close()

    def test_an_index_without_vectors_is_searched_by_words(self, docs, tmp_path, monkeypatch):
        """As one that was made while the table could not be read."""
        monkeypatch.setattr(encoding, "readable_table", lambda: None)
        (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
        indexed(tmp_path, docs)
        assert found(tmp_path, "carrier", embedder=word_table()) == [("a.md", ":1")]
        monkeypatch.setitem(sys.modules, "numpy", None)
        assert found(tmp_path, "carrier", embedder=word_table()) == [("a.md", ":1")]

    def test_what_is_taken_out_has_no_vector_left(self, docs, tmp_path):
        """The vectors go with their passages."""
        (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
        indexed(tmp_path, docs)
        (docs / "a.md").write_text("# Letters\n\nstamp\n")
        indexed(tmp_path, docs)
        store = DocumentStore(tmp_path / FILE_NAME)
        assert {block for block, _rows in store.vectors()} == store.blocks()
        assert len(list(store.vectors())) == 1
        store.close()


TEXTS = (
    "Delete files.",
    "Delete a file by its name.",
    "Songs of birds.",
    "A directory tree.",
    "The zip archive.",
)


class TestEvened:
    """Scores drawn towards those of what lies near."""

    def test_each_score_moves_half_way_to_those_of_its_neighbours(self, tmp_path):
        """Only passages with a vector take part; the others keep their score."""
        pytest.importorskip("numpy")
        from kr_core.search.documents.vectors import Vectors

        class Places:
            identity = "places"

            def embed(self, texts):
                near, alone = [1.0, 0.0], [0.0, 1.0]
                return [alone if "alone" in text else near for text in texts]

        docs = tmp_path / "docs"
        docs.mkdir()
        for number in range(7):
            (docs / f"{number}.md").write_text(f"near {number}")
        (docs / "alone.md").write_text("alone")
        indexed(tmp_path, docs)
        store = DocumentStore(tmp_path / FILE_NAME)
        vectors = Vectors(tmp_path, Places())
        numbers = [
            number
            for _block, numbers in [store.next_block(block) for block in range(8)]
            for number in numbers
        ]
        files = store.files_by_passage(numbers)
        stored = store.get(numbers)
        scored = [
            (number, files[number], 0.7 if stored[number].path == "alone.md" else 0.65) for number in numbers
        ]
        vectors.like(vectors.of("near"), store, scored)
        strange = (1, 999, 0.66)
        evened = vectors.evened([*scored, strange])
        assert strange in evened
        assert {number for number, *_rest in evened} == {*numbers, 1}
        drawn = {number: score for number, _file, score in evened}
        for number in numbers:
            assert (
                drawn[number] < 0.7
                if stored[number].path == "alone.md"
                else drawn[number] == pytest.approx(0.65)
            )
        assert vectors.evened(scored[:1]) == scored[:1]
        vectors.close()
        store.close()
