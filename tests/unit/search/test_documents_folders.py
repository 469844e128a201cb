"""Folders with whatever lies in folders, and the index of them from one run to the next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import found, indexed

from kr_core.search.documents import sqlite_index as stores
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.toolkit import Documents


class TestFolders:
    """A folder with whatever lies in folders."""

    @pytest.mark.req("E6")
    def test_what_cannot_be_read_is_noted_and_the_rest_is_read(self, docs, tmp_path):
        """Binaries, links in circles, devices, a file that nobody may read, one that is too large, names of any bytes."""
        (docs / "good.md").write_text("# Parcels\n\nSent by carrier.\n")
        (docs / "picture.png").write_bytes(os.urandom(100))
        (docs / "liar.txt").write_bytes(b"\x7fELF" + bytes(100))
        (docs / "loop").symlink_to(docs)
        (docs / "dangling.md").symlink_to(tmp_path / "nowhere.md")
        (docs / "old.txt").write_bytes("Größe der Pakete".encode("cp1252"))
        (docs / "broken.ipynb").write_text('{"cells": [')
        os.mkfifo(docs / "pipe.md")
        with (docs / "huge.txt").open("wb") as file:
            file.truncate(30_000_000)
        Path(os.fsdecode(os.fsencode(docs) + b"/\xff\xfe.md")).write_text("# Strange\n\nname of a letter\n")
        done = indexed(tmp_path, docs)
        said = "\n".join(done.notes)
        assert found(tmp_path, "carrier") == [("good.md", ":1")]
        assert found(tmp_path, "pakete") == [("old.txt", ":1")]
        assert len(found(tmp_path, "strange letter")) == 1
        for part in ("liar.txt: is no text", "old.txt: is not UTF-8", "broken.ipynb: cannot be read", "huge.txt: passed over: larger than 20 MB",
                     "2 symbolic links", "1 .png files", "1 devices and pipes"):  # fmt: skip
            assert part in said, said

    @pytest.mark.req("E6")
    def test_a_link_to_documents_elsewhere_is_told(self, docs, tmp_path):
        """As in a package whose `html` lies in another folder; a link into the folder itself is not."""
        (tmp_path / "elsewhere" / "html").mkdir(parents=True)
        (docs / "inner").mkdir()
        (docs / "html").symlink_to("../elsewhere/html")
        (docs / "loop").symlink_to(docs / "inner")
        done = indexed(tmp_path, docs)
        to = f"{docs}/html: passed over: a link to {tmp_path}/elsewhere/html; to have it, index that folder"
        assert done.notes == (to, "passed over: 2 symbolic links")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_was_read_once_stays_while_it_cannot_be_read(self, docs, tmp_path):
        """A folder that is closed for a while loses nothing."""
        inner = docs / "inner"
        inner.mkdir()
        (inner / "a.md").write_text("# Parcels\n\nSent by carrier.\n")
        indexed(tmp_path, docs)
        inner.chmod(0)
        try:
            done = indexed(tmp_path, docs)
        finally:
            inner.chmod(0o755)
        assert (done.removed, done.notes) == (0, (f"{inner}: Permission denied",))
        assert found(tmp_path, "carrier") == [("inner/a.md", ":1")]

    def test_tools_folders_and_environments_are_left_alone(self, docs, tmp_path):
        """Nobody means `node_modules`, a virtual environment or what begins with a dot."""
        for place in ("node_modules/a", ".git", "env", "__pycache__"):
            (docs / place).mkdir(parents=True)
            (docs / place / "a.md").write_text("# Parcels\n\ncarrier\n")
        (docs / "env" / "pyvenv.cfg").touch()
        assert indexed(tmp_path, docs).read == 0

    def test_an_index_shrinks_as_files_change_and_go(self, docs, tmp_path):
        """Nothing of what a file said before is found any more, or left in the index."""
        for number in range(30):
            (docs / f"{number}.md").write_text(
                f"# Parcel{number}\n\nCarrierName{number} naïve 日本語テキスト\n"
            )
        indexed(tmp_path, docs)
        for number in range(30):
            path = docs / f"{number}.md"
            path.unlink() if number % 2 else path.write_text(f"# Letter{number}\n\nstamp\n")
        done = indexed(tmp_path, docs)
        assert (done.read, done.removed) == (15, 15)
        assert found(tmp_path, "parcel4 carriername4 carrier 日本語") == []
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        assert store.size == 15
        store._connection.execute("insert into postings (postings) values ('integrity-check')")
        assert store.rarities(["naiv", "parcel4", "carriername4"]) == {}
        store.close()

    def test_many_small_files_take_little_memory_and_a_second_look_reads_none(self, docs, tmp_path):
        """3,000 files in one folder; the program's memory grows by less than they are."""
        import resource

        for number in range(3000):
            (docs / f"{number}.txt").write_text(f"parcel number {number} " + "weighs a lot " * 60)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert indexed(tmp_path, docs).read == 3000
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 200_000
        assert indexed(tmp_path, docs).unchanged == 3000
        text = sum(path.stat().st_size for path in docs.iterdir())
        assert (tmp_path / FILE_NAME).stat().st_size < 1.2 * text


@pytest.mark.req("E6")
def test_a_killed_run_goes_on_where_it_was(docs, tmp_path, monkeypatch):
    """What was committed is not read again; the index is whole and ends as if nothing had happened."""
    for number in range(600):
        (docs / f"{number:03}.md").write_text(f"# Parcel {number}\n\n" + f"weight{number} " * 300)
    code = (
        "import sys, pathlib\nfrom kr_core.search.documents import indexer as updating, sqlite_index as store\nupdating._SECONDS = 0.01\n"
        "one = store.DocumentStore(pathlib.Path(sys.argv[1]), writable=True)\n"
        "updating.update(one, pathlib.Path(sys.argv[2]), 'docs', lambda files, _new: print(files, flush=True))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / FILE_NAME), str(docs)], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout.readline()
    running.kill()
    running.communicate()
    done = indexed(tmp_path, docs)
    assert done.unchanged > 0
    assert done.read + done.unchanged == 600
    assert found(tmp_path, "weight599", 1) == [("599.md", ":1")]
    store = DocumentStore(tmp_path / FILE_NAME, writable=True)
    assert store.size == 600
    store._connection.execute("insert into postings (postings) values ('integrity-check')")
    store.close()


def test_an_index_of_another_version_says_what_to_do(docs, tmp_path, monkeypatch):
    """It is made anew from the files, and searched again."""
    (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
    indexed(tmp_path, docs)
    monkeypatch.setattr(stores, "FORMAT", "next")
    with pytest.raises(Exception, match="an index of another version of KR"):
        Documents(tmp_path)
    assert indexed(tmp_path, docs).read == 1
    assert found(tmp_path, "carrier") == [("a.md", ":1")]
