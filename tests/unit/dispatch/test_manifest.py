"""A manifest of a folder: the raw bytes, and a hash that is taken over only where nothing can have changed."""

import os

import pytest

from kr_core.dispatch import manifest
from kr_core.dispatch.manifest import Manifest, changes, scan

pytestmark = pytest.mark.req("X3")

AGES = 10**12


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_text("one")
    (tmp_path / "link").symlink_to("a/b")
    return tmp_path


def aged(taken):
    """The same look, as if it were long ago by now: its files are not racy."""
    return Manifest(taken.nodes, taken.taken_ns + AGES)


def test_what_has_not_changed_is_not_read_again(folder, monkeypatch):
    """Its status alone is looked at."""
    first = aged(scan(folder))
    monkeypatch.setattr(manifest, "_hashed", lambda *_given: pytest.fail("read again"))
    assert scan(folder, first).nodes == first.nodes
    assert changes(first, scan(folder, first)) == []


def test_a_change_with_the_old_size_and_times_is_found(folder):
    """The change time is the system's own."""
    file = folder / "a/b/file"
    first = scan(folder)
    status = file.stat()
    file.write_text("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    for before in (first, aged(first)):
        assert [one.path for one in changes(before, scan(folder, before))] == ["a/b/file"]


def test_a_file_that_changed_at_the_time_of_the_look_is_read_again(folder, monkeypatch):
    """The clock of a file system has steps."""
    first = scan(folder)
    read = []
    monkeypatch.setattr(manifest, "_hashed", lambda *given: read.append(given[1]) or b"x")
    scan(folder, first)
    assert read == ["file"]


def test_kinds_modes_and_links_are_part_of_it(folder):
    """A folder for a link, another target, another mode, one more name."""
    first = scan(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("a")
    (folder / "a/b").chmod(0o700)
    (folder / "other").hardlink_to(folder / "a/b/file")
    os.mkfifo(folder / "pipe")
    assert [one.path for one in changes(first, scan(folder))] == ["a/b", "a/b/file", "link", "other", "pipe"]


def test_a_part_may_be_left_out_and_a_missing_folder_is_empty(folder):
    """With all below it."""
    assert list(scan(folder, skip=("a",)).nodes) == ["link"]
    assert scan(folder / "none").nodes == {}
    assert scan(os.fsencode(folder / "link")).nodes == {}


def test_names_in_any_encoding_are_read(folder):
    """They are bytes to the system."""
    (folder / os.fsdecode(b"caf\xe9")).write_text("x")
    assert os.fsdecode(b"caf\xe9") in scan(folder).nodes


def test_a_file_that_is_too_large_is_known_by_its_size(folder, monkeypatch):
    """It is not read."""
    monkeypatch.setattr(manifest, "LARGEST", 2)
    first = scan(folder)
    assert first.nodes["a/b/file"][6] == b""
    (folder / "a/b/file").write_text("four")
    assert [one.path for one in changes(first, scan(folder))] == ["a/b/file"]
