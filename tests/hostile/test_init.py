"""`kr init` in a cloned project: what it reads and writes there may be anything, and may lead anywhere."""

from __future__ import annotations

import os
import random
import subprocess

import pytest
from support.clones import FLAT, kr, make_clone

pytestmark = pytest.mark.req("Z8")
SECRET = "hunter7191"


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "home/clone"
    make_clone(folder)
    (folder / "knowledge-base").mkdir()
    (folder.parent / "key").write_text(f"password {SECRET}\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def to_a_link(file, home):
    file.symlink_to(home / "key")


def to_a_link_to_a_link(file, home):
    (file.parent / "other").symlink_to(home / "key")
    file.symlink_to("other")


def to_a_link_within(file, _home):
    (file.parent / "other").write_text(f"{SECRET}\n")
    file.symlink_to("other")


def to_a_link_to_nothing(file, home):
    file.symlink_to(home / "nothing")


def to_a_pipe(file, _home):
    os.mkfifo(file)


def to_an_endless_device(file, _home):
    file.symlink_to("/dev/zero")


def to_many_bytes(file, _home):
    with file.open("wb") as opened:
        opened.truncate(5_000_000_000)


def to_no_text(file, _home):
    file.write_bytes(b"\xff\xfe\n")


ATTRIBUTES = [
    to_a_link, to_a_link_to_a_link, to_a_link_within, to_a_link_to_nothing, to_a_pipe, to_an_endless_device, to_many_bytes,
    to_no_text,
]  # fmt: skip


@pytest.mark.parametrize("made", ATTRIBUTES)
def test_attributes_of_git_that_are_no_plain_text_are_neither_copied_nor_replaced(clone, made):
    """A `.gitattributes` that is a link, a pipe, a device, huge or no text is refused by name; nothing of it is copied, and
    nothing is written."""
    file = clone / "knowledge-base/.gitattributes"
    made(file, clone.parent)
    before = file.lstat()
    done = kr(clone, "init", "--git")
    assert done.code == 1, done.message
    assert ".gitattributes" in done.err
    assert "unforeseen" not in done.err
    after = file.lstat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert SECRET not in done.message
    assert (clone.parent / "key").read_text() == f"password {SECRET}\n"
    assert not (clone.parent / "nothing").exists()
    assert done.memory < FLAT
    assert kr(clone, "doctor").code in {0, 1}


def wide_indentation():
    return "{\n" + " " * 60_000 + '"mcpServers": {}, "x": [' + ",".join(["1"] * 60_000) + "]}\n"


def deep_lists():
    return '{\n    "x": ' + "[" * 900 + ",".join(["1"] * 90_000) + "]" * 900 + "}\n"


def many_lines_that_are_alike():
    told = random.Random(1)
    values = [f"  {told.randrange(120)},{'' if number % 3 else ' '}" for number in range(25_000)]
    return '{\n "mcpServers":{},\n "x": [\n' + "\n".join(values) + "\n  5\n ]\n}\n"


@pytest.mark.parametrize("made", [wide_indentation, deep_lists, many_lines_that_are_alike])
def test_the_configuration_of_a_client_takes_neither_memory_nor_hours(clone, made):
    """A configuration whose new layout would have gigabytes, or whose lines take hours to compare, is refused, and stays."""
    (clone / ".mcp.json").write_text(made())
    done = kr(clone, "init", "--client", "claude-code", "--yes")
    assert done.code == 2, done.message[:500]
    assert ".mcp.json" in done.err
    assert (clone / ".mcp.json").read_text() == made()
    assert not (clone / ".claude").exists()
    assert done.memory < FLAT


@pytest.mark.parametrize("made", [to_a_pipe, to_an_endless_device, to_many_bytes, to_no_text])
def test_an_index_that_is_no_text_is_refused_by_the_merge_driver(clone, made):
    """An index that cannot be read is a conflict with a reason, and ours stays as it is."""
    (clone / "ours").write_text("entries: []\n")
    (clone / "base").write_text("entries: []\n")
    made(clone / "theirs", clone.parent)
    done = kr(clone, "cache", "merge", "base", "ours", "theirs")
    assert done.code == 1
    assert "unforeseen" not in done.err
    assert (clone / "ours").read_text() == "entries: []\n"
    assert done.memory < FLAT


def test_merge_does_not_write_through_a_link(clone, tmp_path):
    """The result takes the place of the file that git names, and never of one that a link leads to."""
    outside = tmp_path / "outside.txt"
    outside.write_text("mine\n")
    for name in ("base", "theirs"):
        (clone / name).write_text("schema_version: 1\nentries: []\n")
    (clone / "ours").symlink_to(outside)
    done = kr(clone, "cache", "merge", "base", "ours", "theirs")
    assert done.code == 1
    assert outside.read_text() == "mine\n"


@pytest.mark.parametrize(("name", "link"), [(".claude", ".git"), (".claude/skills", "../.git/hooks")])
def test_no_text_for_a_client_is_written_into_git(clone, name, link):
    """A link that stays in the project may lead into `.git`, whose files git believes."""
    (clone / name).parent.mkdir(exist_ok=True)
    (clone / name).symlink_to(link)
    before = sorted(clone.glob(".git/**/*"))
    done = kr(clone, "init", "--client", "claude-code", "--yes")
    assert (done.code, "leads into a `.git` folder" in done.err) == (2, True), done.message
    assert sorted(clone.glob(".git/**/*")) == before
