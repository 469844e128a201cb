"""Links that a clone brings in place of a folder to index: they may lead to anybody's files, and `kr docs index` reads none of them."""

from __future__ import annotations

import os

import pytest
from support.clones import kr

pytestmark = pytest.mark.req("Z8")
SECRET = "hunter7191"


@pytest.fixture
def home(tmp_path):
    """Files that are outside of the project."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "notes.md").write_text(f"# Notes\n\nThe word is {SECRET}, and it opens every door.\n")
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "clone"
    (folder / "guide").mkdir(parents=True)
    (folder / "kr.yaml").write_text("knowledge_research: {sources: [local_docs]}\n")
    (folder / "guide/start.md").write_text("# Start\n\nThe harbour opens at seven in the morning.\n")
    return folder


def found(project, query):
    return kr(project, "docs", "search", query).out


@pytest.mark.parametrize("given", ["linked", "linked/", "./linked/notes.md", "notes.md"])
def test_a_link_out_of_the_project_is_refused_where_it_is_named(project, home, given):
    """A folder or file that you name in the project and that really is outside is refused, and nothing of it is indexed."""
    (project / "linked").symlink_to(home)
    (project / "notes.md").symlink_to(home / "notes.md")
    done = kr(project, "docs", "index", given)
    assert done.code == 2
    assert "is in the project, and a link leads to" in done.err
    assert SECRET not in found(project, SECRET)


@pytest.mark.parametrize("arguments", [[], ["guide"]], ids=["a refresh", "by its name"])
def test_a_folder_that_became_a_link_is_not_read(project, home, arguments):
    """Where an indexed folder was replaced by a link, the index keeps what it has and takes nothing of the new place."""
    assert kr(project, "docs", "index", "guide").code == 0
    os.rename(project / "guide", project / "old")
    (project / "guide").symlink_to(home)
    done = kr(project, "docs", "index", *arguments)
    assert done.code == 2
    assert f"leads to {home}" in done.err
    assert SECRET not in found(project, SECRET)
    assert "seven in the morning" in found(project, "when does the harbour open?")


def test_a_folder_below_a_link_that_came_later_is_not_read(project, home):
    """A link above an indexed folder leads as far away as one in its place, and the others are still brought up to date."""
    (project / "docs/deep").mkdir(parents=True)
    (project / "docs/deep/a.md").write_text("# Deep\n\nThe lake is very deep in the middle.\n")
    assert kr(project, "docs", "index", "guide", "docs/deep").code == 0
    os.rename(project / "docs", project / "old")
    (home / "deep").mkdir()
    (home / "notes.md").rename(home / "deep/notes.md")
    (project / "docs").symlink_to(home)
    (project / "guide/more.md").write_text("# More\n\nThe lighthouse is green on Sundays.\n")
    done = kr(project, "docs", "index")
    assert (done.code, "by now, and KR does not read that" in done.err) == (0, True)
    assert SECRET not in found(project, SECRET)
    assert "green on Sundays" in found(project, "lighthouse green")


def test_a_folder_outside_and_links_within_the_project_are_indexed(project, home):
    """What you name by its own path outside of the project is indexed, as is a link to a place in the project."""
    (project / "start").symlink_to("guide")
    assert kr(project, "docs", "index", str(home), "start").code == 0
    assert SECRET in found(project, SECRET)
    assert "seven in the morning" in found(project, "when does the harbour open?")
