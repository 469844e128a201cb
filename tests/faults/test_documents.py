"""Tantivy's index of documents under killed writers and full disks; SQLite's is whole by SQLite itself."""

import random

import pytest
from support.fast_index import is_current, opened

from kr_core.errors import StorageError
from kr_core.search.documents.document_search import search
from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tantivy_index import FOLDER_NAME, FastIndex, follow

pytestmark = pytest.mark.faults
pytest.importorskip("tantivy")


def found(store, folder, number):
    return [hit.text for hit in search(store, f"number{number}", fast=FastIndex(store, folder))]


@pytest.mark.req("E6")
def test_killed_writers(killed, tmp_path):
    """Whenever a writer is killed, what is found is what SQLite's index has; the next one goes on."""
    (tmp_path / "docs").mkdir()
    folder, instants, last = tmp_path / FOLDER_NAME, random.Random(4), 0
    current = 0
    for _time in range(25):
        done = killed(instants.uniform(0, 0.15), "follow", tmp_path, last + 1)
        last = int(done[-1]) if done else last  # the first line may be cut off, too
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        current += is_current(store, folder)
        for number in range(max(1, last - 30), last + 3):
            assert found(store, folder, number) == [hit.text for hit in search(store, f"number{number}")]
        assert not last or found(store, folder, last) != []
        follow(store, folder)
        assert is_current(store, folder)
        assert opened(folder).num_docs == store.size + 1
        store.close()
    assert 0 < current < 25


@pytest.mark.req("E6")
def test_full_disk(mounted):
    """It is said, room is left for SQLite's index, which is searched; once there is room all is as it was."""
    folder = mounted("8m")
    (folder / "docs").mkdir()
    for number in range(200):
        (folder / "docs" / f"{number}.md").write_text(f"# Note {number}\n\nThe van number{number} leaves.\n")
    store = DocumentStore(folder / FILE_NAME, writable=True)
    update(store, folder / "docs", "docs")
    ballast = folder / "ballast"
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * 8 * 1024 * 1024)
    with pytest.raises(StorageError, match=r"cannot be written: .*; make room on the disk"):
        follow(store, folder / FOLDER_NAME)
    assert not (folder / FOLDER_NAME).exists()
    assert found(store, folder / FOLDER_NAME, 7) == ["# Note 7\n\nThe van number7 leaves."]
    ballast.unlink()
    follow(store, folder / FOLDER_NAME)
    assert is_current(store, folder / FOLDER_NAME)
    store.close()
