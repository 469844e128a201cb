"""Reports and evidence are read, and never from elsewhere."""

import json

import pytest
from support.files_store import (
    REPORT,
    entry,
    given_index,
    given_report,
)

from kr_core.errors import StorageError


class TestRead:
    @pytest.mark.req("K7")
    @pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe\x00", b"# a\0b", None])
    def test_no_report(self, store, folder, content):
        """A report that is gone, empty or not text is no report."""
        kept = store.write(REPORT, {}, entry())
        (folder / kept.path).unlink()
        if content is not None:
            (folder / kept.path).write_bytes(content)
        assert store.read(kept.entry) is None

    @pytest.mark.parametrize("evidence", ["{", "[1]", "\x00", "[" * 100_000])
    def test_broken_evidence(self, store, folder, evidence):
        """Evidence that cannot be read is none."""
        kept = store.write(REPORT, {"score": 1}, entry())
        (folder / kept.path).with_suffix(".evidence.json").write_text(evidence)
        assert store.read(kept.entry) == (REPORT, {})

    def test_evidence_is_readable(self, store, folder):
        """Evidence is JSON that people can read, in any script."""
        kept = store.write(REPORT, {"quote": "虚拟滚动"}, entry())
        text = (folder / kept.path).with_suffix(".evidence.json").read_text(encoding="utf-8")
        assert "虚拟滚动" in text
        assert json.loads(text) == {"quote": "虚拟滚动"}

    @pytest.mark.req("Z1")
    @pytest.mark.parametrize(
        "path",
        [
            "../secret.md",
            "frameworks/../../secret.md",
            "/etc/passwd",
            "frameworks/link.md",
            "out/secret.md",
            "frameworks/loop.md",
            "index.yaml",
            ".hidden/x.md",
            "frameworks\\x.md",
        ],
    )
    def test_paths_stay_inside(self, store, folder, path):
        """A path that leads out of the knowledge base is neither read nor written, links included."""
        secret = folder.parent / "secret.md"
        secret.write_text("# secret\n")
        given_report(folder, "frameworks/a/b.md")
        (folder / "frameworks/link.md").symlink_to(secret)
        (folder / "frameworks/loop.md").symlink_to(folder / "frameworks/loop.md")
        (folder / "out").symlink_to(folder.parent)
        assert store.read(entry(path=path)) is None
        with pytest.raises(StorageError, match="outside the knowledge base"):
            store.write(REPORT, {}, entry(path=path))
        assert secret.read_text() == "# secret\n"

    @pytest.mark.req("Z1")
    def test_a_path_in_the_index_that_leads_out(self, store, folder):
        """An entry on disk whose path leads out of the knowledge base gets one that does not."""
        given_index(folder, "- {id: httpx-retry-requests, framework: httpx, topic: t, path: ../evil.md}\n")
        kept = store.write(REPORT, {}, entry())
        assert kept.path == entry().path
        assert not (folder.parent / "evil.md").exists()

    @pytest.mark.req("Z1")
    def test_the_lessons_are_not_a_report(self, store, folder):
        """An entry that names the file of lessons does not overwrite it."""
        lessons = given_report(folder, "lessons/_lessons-learned.md", "# Lessons\n")
        given_index(
            folder,
            "- {id: httpx-retry-requests, framework: httpx, topic: t, path: lessons/_lessons-learned.md}\n",
        )
        store.write(REPORT, {}, entry())
        assert lessons.read_text() == "# Lessons\n"

    @pytest.mark.req("Z1")
    def test_linked_evidence_stays_inside(self, store, folder):
        """Evidence that is a link out of the knowledge base is not read."""
        kept = store.write(REPORT, {}, entry())
        (folder.parent / "secret.json").write_text('{"token": 1}')
        evidence = (folder / kept.path).with_suffix(".evidence.json")
        evidence.unlink()
        evidence.symlink_to(folder.parent / "secret.json")
        assert store.read(kept.entry) == (REPORT, {})
