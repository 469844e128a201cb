"""Documents found by words and vectors."""

import pytest
from documents import Synonyms, found, indexed

from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
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
