"""The index of documents and its vectors over time: made anew, written by several, damaged, out of room."""

import sqlite3
import threading
from time import sleep

import pytest
from support.documents import Synonyms, indexed

from kr_core import StorageError
from kr_core.search.documents import sqlite_index as stores
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.toolkit import Documents

VAN, LETTER = "# A\n\nThe van leaves at nine.\n", "# B\n\nA letter leaves at ten.\n"


def files(documents, question):
    return [hit.stored.path for hit in documents.search(question)]


def asked(folder, question, embedder):
    with Documents(folder, lambda: embedder) as documents:
        found = files(documents, question)
        assert documents.notes == []
        return found


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(VAN)
    (folder / "b.md").write_text(LETTER)
    indexed(tmp_path, folder)
    return folder


@pytest.fixture
def vectors(tmp_path):
    pytest.importorskip("numpy")

    def rows(table):
        with sqlite3.connect(tmp_path / "docs-vectors-synonyms.sqlite") as connection:
            (count,) = connection.execute(f"select count(*) from {table}").fetchone()
        connection.close()
        return count

    return rows


@pytest.mark.req("E6")
class TestVectorsOfAnIndexMadeAnew:
    """Its passages have the numbers that others had."""

    def test_after_the_file_was_removed(self, docs, tmp_path, vectors):
        """As the error for a damaged one says to do; what is embedded by content is not embedded again."""
        assert asked(tmp_path, "lorry", Synonyms())[0] == "a.md"
        for file in tmp_path.glob(f"{FILE_NAME}*"):
            file.unlink()
        (docs / "a.md").write_text(LETTER)
        (docs / "b.md").write_text(VAN)
        indexed(tmp_path, docs)
        assert asked(tmp_path, "lorry", again := Synonyms())[0] == "b.md"
        assert not [text for text in again.seen if "nine" in text and "# A" in text]
        assert vectors("placed") == 2

    def test_after_another_version_of_kr(self, docs, tmp_path, vectors, monkeypatch):
        """Also for a process that had the old one open."""
        with Documents(tmp_path, Synonyms) as open_before:
            assert files(open_before, "lorry")[0] == "a.md"
            monkeypatch.setattr(stores, "FORMAT", "next")
            (docs / "0.md").write_text("# Z\n\nOf taxes.\n")
            indexed(tmp_path, docs)
            assert asked(tmp_path, "lorry", again := Synonyms())[0] == "a.md"
            assert again.seen == ["lorry", "# Z\n\nOf taxes."]
            assert files(open_before, "lorry")[0] == "a.md"
        assert vectors("placed") == 3


@pytest.mark.req("E6")
class TestVectorsOfTwoProcesses:
    """Each adds what it has made."""

    def test_what_one_has_added_the_other_finds(self, docs, tmp_path, vectors):
        """Without embedding it again, whatever numbers its passages have."""
        with Documents(tmp_path, lambda: first) as one:
            first = Synonyms()
            files(one, "lorry")
            (docs / "a.md").write_text(f"{VAN}\n# More\n\nOf vans.\n")
            indexed(tmp_path, docs)
            asked(tmp_path, "lorry", Synonyms())
            first.seen.clear()
            assert files(one, "lorry")[0] == "a.md"
            assert first.seen == ["lorry"]
            assert one.notes == []

    def test_what_is_gone_takes_no_room(self, docs, tmp_path, vectors):
        """Neither its place nor its vector, once all else has one."""
        for number in range(3):
            (docs / "a.md").write_text(f"# A\n\nThe van number {number}.\n")
            indexed(tmp_path, docs)
            with Documents(tmp_path, Synonyms) as documents:
                for _time in range(3):
                    files(documents, "lorry")
        assert (vectors("placed"), vectors("vectors")) == (2, 2)

    def test_after_a_write_that_failed(self, docs, tmp_path, vectors):
        """The next one is made as if there had been none."""
        with Documents(tmp_path, Synonyms) as documents:
            files(documents, "lorry")
            (docs / "c.md").write_text("# C\n\nOf taxes.\n")
            indexed(tmp_path, docs)
            with sqlite3.connect(tmp_path / "docs-vectors-synonyms.sqlite") as other:
                other.execute(
                    "create trigger full before insert on placed begin select raise(abort, 'full'); end"
                )
                other.commit()
                files(documents, "taxes")
                other.execute("drop trigger full")
                other.commit()
            other.close()
            assert "cannot be written: full" in documents.notes[0]
            files(documents, "taxes")
            assert len(documents.notes) == 1
        assert vectors("placed") == 3


@pytest.mark.req("E6")
def test_who_waits_to_write_comes_in_while_a_folder_is_indexed(tmp_path):
    """Though the index is wanted again as soon as it is let go: eight times, before it was let go a hundred times."""
    in_it, done = threading.Event(), threading.Event()
    kept = []

    def index():
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        with store.writing():
            in_it.set()
            while not done.is_set() and len(kept) < 100:
                sleep(0.01)
                store.keep()
                kept.append(True)
        store.close()

    thread = threading.Thread(target=index)
    thread.start()
    in_it.wait()
    other = DocumentStore(tmp_path / FILE_NAME, writable=True)
    for _time in range(8):
        with other.writing():
            pass
    done.set()
    other.close()
    thread.join()
    assert len(kept) < 100


@pytest.mark.req("E6")
def test_what_was_not_there_for_a_while_is_answered_from_again(docs, tmp_path):
    """A disk that is mounted again, for a program that goes on; nothing is noted then."""
    with Documents(tmp_path) as documents:
        docs.rename(tmp_path / "elsewhere")
        assert files(documents, "van") == []
        assert [note.partition(" and ")[0] for note in documents.notes] == [f"docs: {docs} is not there,"]
        (tmp_path / "elsewhere").rename(docs)
        assert files(documents, "van") == ["a.md"]
        assert documents.notes == []


class TestFaults:
    """What is said of an index that cannot be used."""

    def test_damaged(self, docs, tmp_path):
        """It is to be deleted, and made anew."""
        for file in tmp_path.glob(f"{FILE_NAME}*"):
            file.unlink()
        (tmp_path / FILE_NAME).write_bytes(b"no index" * 1000)
        for use in (lambda: Documents(tmp_path), lambda: indexed(tmp_path, docs)):
            with pytest.raises(StorageError, match="delete it, and index again with `kr docs index PATH`"):
                use()

    def test_damaged_within(self, docs, tmp_path):
        """Found out while it is searched or written."""
        path = tmp_path / FILE_NAME
        data = path.read_bytes()
        path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
        (docs / "a.md").write_text(LETTER)
        with (
            pytest.raises(StorageError, match="delete it, and index again"),
            Documents(tmp_path) as documents,
        ):
            documents.search("van")
        with pytest.raises(StorageError, match="delete it, and index again"):
            indexed(tmp_path, docs)

    @pytest.mark.parametrize(
        ("code", "hint"),
        [
            (sqlite3.SQLITE_READONLY_DIRECTORY, "make the project's folder writable"),
            (sqlite3.SQLITE_CANTOPEN, "make the project's folder writable"),
            (sqlite3.SQLITE_FULL, "make room on the disk"),
        ],
    )
    def test_what_a_person_can_do(self, tmp_path, code, hint):
        """By SQLite's code, whose upper part says more than is needed."""
        error = sqlite3.OperationalError("what it says")
        error.sqlite_errorcode = code
        said = stores.fault("cannot be written", error, tmp_path)
        assert (said.what, said.hint) == ("cannot be written: what it says", hint)

    def test_a_folder_that_may_not_be_written(self, tmp_path):
        """Named, with what to do."""
        error = PermissionError(13, "Permission denied", "/p/.kr")
        assert str(stores.fault("cannot be opened", error, tmp_path)) == (
            "/p/.kr: cannot be opened: Permission denied; make the project's folder writable"
        )
