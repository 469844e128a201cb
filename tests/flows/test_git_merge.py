"""Colleagues who add answers on branches of their own: git merges the index by its entries."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from support.files_store import HEADER

IDENTITY = {
    f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
YESTERDAY, TODAY = date.today() - timedelta(days=1), date.today()


@pytest.fixture
def environ(environ, tmp_path):
    """Git with a name and nothing of the tester's own configuration, and `kr` on the path."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    return {**kept, **IDENTITY, "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1", "PATH": path}


@pytest.fixture
def kr(kr_here):
    return kr_here


@pytest.fixture
def git(project_folder, environ):
    """Git in the project; returns its exit code and what it printed."""

    def run(*arguments, cwd=project_folder):
        done = subprocess.run(["git", *arguments], check=False, capture_output=True, cwd=cwd, env=environ)
        return done.returncode, (done.stdout + done.stderr).decode()

    return run


def item(topic, used=YESTERDAY, status="fresh"):
    return (
        f"- id: parcel-{topic}\n  framework: parcel\n  framework_version: 1.4.0\n  topic: {topic} of a parcel\n  tags:\n"
        f"  - {topic}\n  path: frameworks/parcel/{topic}.md\n  created: '{YESTERDAY}'\n  last_accessed: '{used}'\n  status: {status}\n"
    )


def keep(project, *topics, used=YESTERDAY, without=()):
    """Write the index as KR would on one branch, with the reports of its entries."""
    base = project / "knowledge-base"
    for topic in topics:
        file = base / f"frameworks/parcel/{topic}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"# parcel - {topic} of a parcel\n\n**Framework:** parcel\n**Version:** 1.4.0\n"
            f"**Research Date:** {YESTERDAY}\n\n## Summary\n\nAbout {topic}.\n"
        )
    there = [topic for topic in topics if topic not in without]
    index = HEADER + "entries:\n" + "".join(item(topic, used) for topic in there)
    (base / "index.yaml").write_text(index)


def ids(project):
    text = (project / "knowledge-base/index.yaml").read_text()
    return [one["id"].removeprefix("parcel-") for one in yaml.safe_load(text)["entries"]]


@pytest.fixture
def project(project_folder, git):
    """A project in git with one answer."""
    (project_folder / ".gitignore").write_text(".venv/\n.kr/\nnode_modules/\n")
    keep(project_folder, "timeout")
    git("init", "-q", "-b", "main", ".")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    return project_folder


def branches(project, git, ours, theirs):
    """Two branches from where the project is: each is what a function makes of it."""
    for name, change in (("theirs", theirs), ("ours", ours)):
        assert git("checkout", "-q", "-b", name, "main") == (0, "")
        change()
        git("add", "-A")
        assert git("commit", "-q", "-m", name)[0] == 0


def set_up(kr, git):
    assert kr("init", "--git").code == 0
    git("add", "-A")
    git("commit", "-q", "-m", "merge the index by its entries")


@pytest.mark.req("K10", "K1")
class TestMerge:
    def test_two_new_answers(self, kr, git, project):
        """Two colleagues each add an answer: git merges the index without a conflict, and both are found."""
        set_up(kr, git)
        branches(
            project, git,
            lambda: keep(project, "timeout", "labels", used=TODAY), lambda: keep(project, "timeout", "refunds"),
        )  # fmt: skip
        assert git("merge", "-q", "--no-edit", "theirs")[0] == 0
        assert ids(project) == ["timeout", "labels", "refunds"]
        assert git("status", "--porcelain") == (0, "")
        assert kr("cache", "check", "--ci").code == 0
        found = kr("research", "refunds of a parcel", "--framework", "parcel", "--json").json
        assert found["status"] == "cache-hit"

    def test_both_used_one_answer(self, kr, git, project):
        """Of an answer that was used on both branches the later day stays; the one archived on a branch goes."""
        keep(project, "timeout", "labels")
        git("commit", "-q", "-a", "-m", "second")
        set_up(kr, git)
        day_before = YESTERDAY - timedelta(days=1)
        branches(
            project, git,
            lambda: keep(project, "timeout", "labels", used=TODAY, without=["timeout"]),
            lambda: keep(project, "timeout", "labels", "refunds", used=day_before),
        )  # fmt: skip
        assert git("merge", "-q", "--no-edit", "theirs")[0] == 0
        index = yaml.safe_load((project / "knowledge-base/index.yaml").read_text())
        assert {one["id"]: one["last_accessed"] for one in index["entries"]} == {
            "parcel-labels": str(TODAY),
            "parcel-timeout": str(day_before),
            "parcel-refunds": str(day_before),
        }

    def test_what_contradicts_is_a_conflict(self, kr, git, project):
        """Where both changed what stands beside the entries, git reports a conflict, and the file has both sides."""
        set_up(kr, git)
        index = project / "knowledge-base/index.yaml"

        def limit(number):
            keep(project, "timeout", f"topic{number}")
            index.write_text(index.read_text().replace("max_entries: 200", f"max_entries: {number}"))

        branches(project, git, lambda: limit(300), lambda: limit(400))
        code, said = git("merge", "--no-edit", "theirs")
        assert code == 1
        assert "CONFLICT" in said
        text = index.read_text()
        assert text.startswith("<<<<<<< ours\n")
        assert "max_entries: 300" in text
        assert "max_entries: 400" in text

    def test_a_clone_without_the_driver(self, kr, git, project, tmp_path):
        """In a clone git merges by lines, and says conflict; the doctor says what to do, and that ends it."""
        set_up(kr, git)
        assert "kr init --git" not in kr("doctor").out
        git("config", "--unset", "merge.kr-index.driver")
        said = kr("doctor").out
        assert "note   git: git merges index.yaml line by line in this clone" in said
        assert "run `kr init --git`" in said
        assert (
            kr("init", "--git").out == "git merges the index with `kr cache merge %O %A %B` in this clone\n"
        )
        assert "line by line" not in kr("doctor").out
        assert kr("init", "--git").out.startswith("nothing to do")

    def test_a_new_project_is_set_up(self, kr, git, project):
        """`kr init` in a git work tree names the files and the driver; what is in `.gitattributes` already stays."""
        attributes = project / "knowledge-base/.gitattributes"
        attributes.write_text("*.md text")
        done = kr("init")
        assert done.code == 0
        assert "wrote" in done.out
        assert attributes.read_text() == (
            "*.md text\nindex.yaml merge=kr-index\n_archived-index.yaml merge=kr-index\n"
        )
        assert git("config", "merge.kr-index.driver") == (0, "kr cache merge %O %A %B\n")

    def test_without_git(self, kr, project_folder):
        """Outside a work tree `kr init` sets up no merge."""
        assert kr("init").code == 0
        assert not (project_folder / "knowledge-base").exists()


@pytest.mark.req("K7", "K10")
class TestConflict:
    def conflict(self, git, project, *options):
        branches(
            project, git,
            lambda: keep(project, "timeout", "labels", used=TODAY),
            lambda: keep(project, "timeout", "refunds", used=YESTERDAY - timedelta(days=1)),
        )  # fmt: skip
        assert git(*options, "merge", "--no-edit", "theirs")[0] == 1

    @pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
    def test_an_index_in_conflict(self, kr, git, project, style):
        """Look-ups use both sides meanwhile and say so; `kr cache rebuild` makes one index of them."""
        self.conflict(git, project, "-c", f"merge.conflictStyle={style}")
        for topic in ("refunds", "labels", "timeout"):
            done = kr("research", f"{topic} of a parcel", "--framework", "parcel", "--json")
            assert done.json["status"] == "cache-hit", topic
            assert "a merge conflict that is not resolved; mend it, or `kr cache rebuild`" in done.err
        assert re.search(
            r"index\.yaml:\d+: cannot be read: a merge conflict that is not resolved",
            kr("cache", "check").out,
        )
        assert kr("cache", "rebuild").code == 0
        assert sorted(ids(project)) == ["labels", "refunds", "timeout"]
        index = (project / "knowledge-base/index.yaml").read_text()
        assert index.startswith(HEADER)
        assert f"last_accessed: '{TODAY}'" in index
        assert kr("cache", "check", "--ci").code == 0

    def test_a_new_answer_meanwhile(self, kr, git, project):
        """An answer that is kept during the conflict loses neither side."""
        self.conflict(git, project)
        keep_before = (project / "knowledge-base/index.yaml").read_text()
        kr("research", "How do I set the weight of a parcel?", "--framework", "parcel")
        kr("cache", "rebuild")
        assert {"labels", "refunds", "timeout"} <= set(ids(project))
        (aside,) = (project / "knowledge-base").glob("index.yaml.corrupt-*")
        assert aside.read_text() == keep_before


@pytest.mark.req("Z1", "K10")
class TestHostileClone:
    def test_the_driver_reads_the_three_files_alone(self, kr, git, project):
        """The driver reads no configuration of the project that git merges, and writes nothing but the result."""
        set_up(kr, git)
        (project / "kr.yaml").write_text("store: [\nknowledge_research: {knowledge_base_path: /etc}\n")
        branches(
            project, git, lambda: keep(project, "timeout", "labels"), lambda: keep(project, "timeout", "refunds")
        )  # fmt: skip
        assert git("merge", "-q", "--no-edit", "theirs")[0] == 0
        assert ids(project) == ["timeout", "labels", "refunds"]
        assert git("status", "--porcelain", "--ignored=no") == (0, "")

    def test_other_files_that_a_clone_names(self, kr, git, project):
        """A clone that has the driver merge other files gets an ordinary conflict."""
        set_up(kr, git)
        (project / ".gitattributes").write_text("* merge=kr-index\n")
        (project / "app.py").write_text("one\n")
        git("add", "-A")
        git("commit", "-q", "-m", "all of them")
        branches(
            project, git,
            lambda: (project / "app.py").write_text("two"), lambda: (project / "app.py").write_text("three\n"),
        )  # fmt: skip
        assert git("merge", "-q", "--no-edit", "theirs")[0] == 1
        assert (project / "app.py").read_text() == "<<<<<<< ours\ntwo\n=======\nthree\n>>>>>>> theirs\n"

    def test_a_knowledge_base_elsewhere(self, kr, git, project, tmp_path):
        """Nothing is written through a link that leads out of the work tree, and nothing is set."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (project / "kr.yaml").write_text("knowledge_research: {knowledge_base_path: kb}\n")
        (project / "kb").symlink_to(elsewhere)
        done = kr("init", "--git")
        assert done.code != 0
        assert list(elsewhere.iterdir()) == []
        assert git("config", "merge.kr-index.driver")[0] == 1
