"""What a project's own files would have git run, when KR commits: nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.fork_server import kr_argv
from support.mcp_door import Lines, tool
from support.projects import PARCEL, QUESTION, Done, install, make_environment

from kr_core.git.commit import commit, foresee

pytestmark = pytest.mark.req("Z8", "K10")

NOWHERE = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
}
_ATTRIBUTES = "* filter=x diff=x merge=x ident text\n"
_COMMANDS = (
    "rev-parse check-ignore read-tree hash-object update-index diff-index diff-tree cat-file merge-file write-tree "
    "commit-tree update-ref var config symbolic-ref fetch"
).split()


def _config(run, *, promisor=""):
    """A configuration that names a program wherever git knows of one."""
    hooks = run.with_name("hooks")
    text = f"""
[core]
	repositoryformatversion = {int(bool(promisor))}
	fsmonitor = {run}
	hooksPath = {hooks}
	sshCommand = {run}
	gitProxy = {run}
	pager = {run}
	editor = {run}
	askPass = {run}
	alternateRefsCommand = {run}
	attributesFile = {run.with_name("attributes")}
	untrackedCache = true
	preloadIndex = true
[filter "x"]
	clean = {run}
	smudge = {run}
	process = {run}
	required = true
[diff]
	external = {run}
[diff "x"]
	command = {run}
	textconv = {run}
[merge "x"]
	driver = {run}
[gpg]
	program = {run}
[gpg "ssh"]
	program = {run}
	defaultKeyCommand = {run}
[commit]
	gpgSign = true
[credential]
	helper = !{run}
[trailer "x"]
	command = {run}
	cmd = {run}
[uploadpack]
	packObjectsHook = {run}
[gc]
	recentObjectsHook = {run}
	auto = 1
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[submodule "x"]
	update = !{run}
"""
    text += "".join(f"[alias]\n\t{name} = !{run}\n[pager]\n\t{name} = {run}\n" for name in _COMMANDS)
    if promisor:
        text += f'[extensions]\n\tpartialClone = x\n[remote "x"]\n\turl = {promisor.format(run=run)}\n\tuploadpack = {run}\n'
        text += "\tpromisor = true\n\tpartialclonefilter = blob:none\n\tfetch = +refs/heads/*:refs/x/*\n"
    return text


class Clone:
    """A project that somebody else wrote, and a program of theirs that leaves a mark when it runs."""

    def __init__(self, folder, environ):
        self.top = folder / "project"
        self.base = self.top / "kb"
        self.environ = environ
        self.mark = folder / "it-ran"
        self.program = folder / "evil/program"
        self.program.parent.mkdir()
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{self.mark}"\nexit 1\n')
        self.program.chmod(0o755)
        hooks = folder / "evil/hooks"
        hooks.mkdir()
        for name in (
            "reference-transaction",
            "post-index-change",
            "pre-commit",
            "post-commit",
            "pre-auto-gc",
        ):
            shutil.copy(self.program, hooks / name)
        (folder / "evil/attributes").write_text(_ATTRIBUTES)
        self.base.mkdir(parents=True)

    def git(self, *arguments, cwd=None, ok=True):
        done = subprocess.run(
            ["git", *arguments], check=False, capture_output=True, cwd=cwd or self.top, env=self.environ
        )
        assert not ok or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def initialise(self, folder=None):
        """An honest repository with a commit."""
        folder = folder or self.top
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "app.py").write_text("one\n")
        self.git("init", "-q", "-b", "main", ".", cwd=folder)
        self.git("add", "app.py", cwd=folder)
        self.git("commit", "-q", "-m", "first", cwd=folder)

    def lay_out_bare(self, folder, worktree="."):
        """A bare repository as files of the tree, which any clone brings along."""
        (folder / "objects").mkdir(parents=True)
        (folder / "refs/heads").mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "config").write_text(
            _config(self.program) + f"[core]\n\tbare = false\n\tworktree = {worktree}\n"
        )
        (folder / ".gitattributes").write_text(_ATTRIBUTES)

    def poison(self, folder, *, promisor=""):
        """Make a real repository's own folder a hostile one, as an archive with a `.git` in it may bring."""
        with (folder / "config").open("a") as file:
            file.write(_config(self.program, promisor=promisor))
        (folder / "info").mkdir(exist_ok=True)
        (folder / "info/attributes").write_text(_ATTRIBUTES)
        (self.top / ".gitattributes").write_text(_ATTRIBUTES)

    def write(self, name="report.md", text="text $Id$\n", base=None):
        file = (base or self.base) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, newline="")
        return file

    def commit(self, *files, base=None, **environ):
        return commit(files, "KR: it\n", folder=base or self.base, environ={**self.environ, **environ})

    @property
    def ran(self):
        """Which programs ran since this was asked last."""
        said = self.mark.read_text() if self.mark.exists() else ""
        self.mark.unlink(missing_ok=True)
        return said

    def committed(self, *git):
        """The paths of the last commit, as an honest git reads them."""
        return self.git(
            "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "alias.rev-parse=", *git,
            "ls-tree", "-r", "--name-only", "HEAD", ok=False,
        ).split()  # fmt: skip


@pytest.fixture
def environ(tmp_path):
    """Git with a name, and nothing of the tester's own configuration."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "VIRTUAL_ENV", "CONDA", "KR_"))
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return {
        **kept, **NOWHERE, "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1",
        "KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state"),
    }  # fmt: skip


@pytest.fixture
def clone(tmp_path, environ):
    return Clone(tmp_path, environ)


# -- a bare repository laid out in the tree --------------------------------------------------------------


class TestBareLayout:
    def test_it_is_a_trap(self, clone):
        """What the tests below are about: the user's own git would run the program there."""
        clone.lay_out_bare(clone.base)
        clone.write()
        clone.git("add", "report.md", cwd=clone.base, ok=False)
        assert clone.ran

    @pytest.mark.parametrize("tracked", [True, False], ids=["in a work tree", "in none"])
    @pytest.mark.parametrize("base", ["kb", "kb/deeper", "."])
    @pytest.mark.parametrize("bare", ["kb", "kb/deeper", "kb/deeper/still", "."])
    def test_nothing_of_it_runs(self, clone, tracked, base, bare):
        """Wherever it lies: at the knowledge base, above or below it, or as the project root."""
        if tracked:
            clone.initialise()
        folder = clone.top / base
        folder.mkdir(exist_ok=True, parents=True)
        clone.lay_out_bare(clone.top / bare)
        above = (clone.top / bare) in (folder, *folder.parents)
        done = clone.commit(clone.write(base=folder), base=folder)
        assert clone.ran == ""
        if tracked and not (above and bare != "."):
            assert (done.id == clone.git("rev-parse", "HEAD", ok=False).strip()) == bool(done.id)
        if above and not (tracked and bare == "."):
            (note,) = done.notes
            assert note.startswith(
                f"not committed: {(clone.top / bare).resolve()} is laid out as a bare git repository"
            )
            commits, said = foresee(folder, clone.environ)
            assert (commits, clone.ran) == (False, "")
            assert "is laid out as a bare git repository" in said

    def test_it_is_not_taken_for_the_outer_repository(self, clone):
        """One below the knowledge base is only a folder, and the commit is made beside it."""
        clone.initialise()
        clone.lay_out_bare(clone.base / "frameworks/x", worktree="../../..")
        done = clone.commit(clone.write("frameworks/x/report.md"))
        assert (done.notes, clone.ran) == ((), "")
        assert clone.git("show", "HEAD:kb/frameworks/x/report.md") == "text $Id$\n"

    @pytest.mark.parametrize("name", ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"])
    def test_it_is_not_found_by_an_environment(self, clone, name):
        """What an outer git has set leads nowhere."""
        clone.initialise()
        clone.lay_out_bare(clone.top / "other")
        done = clone.commit(clone.write(), **{name: str(clone.top / "other")})
        assert (done.notes, clone.ran) == ((), "")
        assert clone.committed() == ["app.py", "kb/report.md"]

    def test_a_folder_that_shares_another_ones_objects(self, clone):
        """`HEAD` and `commondir` are a git folder as well."""
        clone.initialise()
        clone.lay_out_bare(clone.top / "other")
        (clone.base / "HEAD").write_text("ref: refs/heads/main\n")
        (clone.base / "commondir").write_text("../other\n")
        (note,) = clone.commit(clone.write()).notes
        assert "is laid out as a bare git repository" in note
        assert clone.ran == ""


# -- a `.git` that came in an archive --------------------------------------------------------------------


class TestGitFolder:
    def test_it_is_a_trap(self, clone):
        """The user's own git would run the program."""
        clone.initialise()
        clone.poison(clone.top / ".git")
        clone.write()
        clone.git("add", "kb", ok=False)
        assert clone.ran

    @pytest.mark.parametrize("staged", [False, True])
    def test_nothing_that_its_configuration_names_runs(self, clone, staged):
        """Filters, hooks, monitors, differs, mergers, signers, aliases, pagers: the commit is made without them."""
        clone.initialise()
        ten = "".join(f"line {n}\n" for n in range(10))
        clone.write("index.yaml", ten)
        clone.git("add", "kb")
        clone.git("commit", "-q", "-m", "second")
        if staged:
            clone.write("index.yaml", ten.replace("line 1\n", "line 1, edited\n"))
            clone.git("add", "kb")
        clone.poison(clone.top / ".git")
        with (clone.base / "index.yaml").open("a") as file:
            file.write("an entry\n")
        done = clone.commit(clone.write(), clone.base / "index.yaml")
        assert (len(done.notes), clone.ran) == (int(staged), "")
        assert done.id
        (clone.top / ".git/config").write_text("")
        (clone.top / ".git/info/attributes").unlink()
        assert clone.git("show", "HEAD:kb/index.yaml") == (ten if staged else ten + "an entry\n")
        assert clone.git("show", "HEAD:kb/report.md") == "text $Id$\n"
        assert foresee(clone.base, clone.environ)[0]
        assert clone.ran == ""

    def test_an_index_that_asks_for_a_monitor(self, clone):
        """The index has an extension of its own for it."""
        clone.initialise()
        clone.git("config", "core.fsmonitor", "/bin/true")
        clone.git("update-index", "--fsmonitor")
        clone.poison(clone.top / ".git")
        clone.git("-c", "alias.x=", "status", ok=False)
        assert clone.ran  # so it does
        assert clone.commit(clone.write()).notes == ()
        assert clone.ran == ""

    def test_an_entry_as_old_as_the_index(self, clone):
        """Git compares such a file with its object, by its filter, whenever the index is written."""
        clone.initialise()
        clone.poison(clone.top / ".git")
        for name in ("app.py", ".git/index"):
            os.utime(clone.top / name, (2_000_000_000, 2_000_000_000))
        clone.git("config", "--file", ".git/config", "core.fsmonitor", "false")
        clone.git("config", "--file", ".git/config", "core.hooksPath", "/dev/null")
        clone.git("update-index", "--refresh", ok=False)
        os.utime(clone.top / ".git/index", (2_000_000_000, 2_000_000_000))
        shutil.copy2(clone.top / ".git/index", clone.top / ".git/kept")
        clone.git("update-index", "--force-remove", "nothing", ok=False)
        clone.git(
            "update-index",
            "--add",
            "--cacheinfo",
            f"100644,{clone.git('rev-parse', 'HEAD:app.py').strip()},x",
            ok=False,
        )
        assert clone.ran  # so it does
        (clone.top / ".git/kept").rename(clone.top / ".git/index")
        assert clone.commit(clone.write()).notes == ()
        assert clone.ran == ""

    @pytest.mark.parametrize(
        ("missing", "url"),
        [
            ("blob", "ext::{run}"),
            ("commit", "ext::{run}"),
            *(("tree", url) for url in (
                "ext::{run}", "/nonexistent", "ssh://x/y", "file:///nonexistent", "git://127.0.0.1:9/x", "{run}",
                "::x", "none::x", "always::x", "user::x",
            )),
        ],
    )  # fmt: skip
    def test_what_is_missing_is_not_fetched(self, clone, tmp_path, missing, url):
        """Git fetches an object that a repository has not got by whatever means its configuration names."""
        clone.initialise()
        clone.write("index.yaml", "one\n")
        clone.git("add", "kb")
        clone.git("commit", "-q", "-m", "second")
        clone.write("index.yaml", "two\n")
        clone.git("add", "kb")
        name = {"tree": "HEAD^{tree}", "blob": "HEAD:kb/index.yaml", "commit": "HEAD"}[missing]
        id_ = clone.git("rev-parse", name).strip()
        (clone.top / ".git/objects" / id_[:2] / id_[2:]).unlink()
        clone.poison(clone.top / ".git", promisor=url)
        with (clone.top / ".git/config").open("a") as file:
            file.write("[alias]\n")
            file.writelines(
                f"\tremote-{name} = !{clone.program}\n" for name in ("", "none", "always", "user")
            )
        if url.startswith("ext"):
            clone.git("cat-file", "-p", id_, ok=False)
            assert clone.ran  # so it does
        report = clone.write("index.yaml", "three\n")
        clone.commit(report)
        assert clone.ran == ""
        done = clone.commit(
            report, **_git_with(tmp_path / "bin", clone.environ, "unset GIT_NO_LAZY_FETCH;")
        )  # an older one
        assert clone.ran == ""
        assert done.notes
        assert done.notes[0].startswith("not committed: ")

    @pytest.mark.parametrize("value", ["..", "/", "kb", "{outside}", "../kb"])
    def test_a_work_tree_elsewhere(self, clone, tmp_path, value):
        """`core.worktree` would lead the commit's files, and git, somewhere else."""
        clone.initialise()
        clone.poison(clone.top / ".git")
        (tmp_path / "outside").mkdir()
        clone.git(
            "config", "--file", ".git/config", "core.worktree", value.format(outside=tmp_path / "outside")
        )
        done = clone.commit(clone.write())
        assert clone.ran == ""
        if value == "..":  # from `.git`, that is the work tree
            assert done.notes == ()
        else:
            (note,) = done.notes
            assert "core.worktree" in note or "`git config` failed" in note
            assert list((tmp_path / "outside").iterdir()) == []

    @pytest.mark.parametrize(
        "place",
        [
            "logs/HEAD",
            "logs/refs/heads/main",
            "logs",
            "index",
            "objects",
            "refs",
            "refs/heads",
            "HEAD",
            "packed-refs",
            "shallow",
        ],
    )
    def test_a_link_in_it_does_not_lead_the_pen(self, clone, tmp_path, place):
        """A link in the place of something that git writes would write outside: `logs/HEAD` could be a shell's start-up file."""
        clone.initialise()
        outside = tmp_path / "outside"
        there = clone.top / ".git" / place
        if there.exists():
            there.rename(outside)
        else:
            outside.write_text("")
        there.symlink_to(outside)
        before = _contents(outside)
        (note,) = clone.commit(clone.write()).notes
        assert note == (
            f"not committed: {there} is a link, and git would follow it; commit yourself, or put a file or folder in its place"
        )
        assert _contents(outside) == before

    @pytest.mark.parametrize(
        "place", ["shallow", "info/grafts", "objects/info/alternates", "packed-refs", "HEAD"]
    )
    @pytest.mark.parametrize("by_link", [False, True])
    def test_no_line_of_a_file_of_the_users_is_told(self, clone, tmp_path, place, by_link):
        """Git quotes a line that it does not know, and the note goes to the client's model."""
        clone.initialise()
        there = clone.top / ".git" / place
        there.unlink(missing_ok=True)
        keys = tmp_path / "keys"
        keys.write_text("db.example:5432:prod:admin:CANARY\n")
        if by_link:
            there.symlink_to(keys)
        else:
            there.write_text(keys.read_text())
        notes = clone.commit(clone.write()).notes
        assert "CANARY" not in "".join(notes)

    @pytest.mark.parametrize("link", [False, True])
    def test_a_branch_that_leads_to_another(self, clone, tmp_path, link):
        """HEAD may lead over several refs to the one that is written, with its log."""
        clone.initialise()
        folder = clone.top / ".git"
        (folder / "refs/heads/main").rename(folder / "refs/heads/other")
        if link:
            (folder / "refs/heads/main").symlink_to("refs/heads/other")
        else:
            (folder / "refs/heads/main").write_text("ref: refs/heads/other\n")
        (folder / "logs/refs/heads/other").symlink_to(tmp_path / "start-up")
        (note,) = clone.commit(clone.write()).notes
        assert "is a link, and git would follow it" in note
        assert not (tmp_path / "start-up").exists()

    @pytest.mark.parametrize(
        "name",
        [
            "FETCH_HEAD",
            "worktrees/x/refs/bisect/y",
            "refs/../../x",
            "refs/a\0b",
            "refs/heads/" + "x" * 300,
            "",
        ],
    )
    def test_a_head_that_leads_to_no_branch(self, clone, name):
        """Such a ref would be written elsewhere in the repository, or not be read at all."""
        clone.initialise()
        (clone.top / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (clone.top / ".git/refs/heads/main").write_text(f"ref: {name}\n")
        done = clone.commit(clone.write())
        assert done.id is None
        assert done.notes[0].startswith("not committed: ")

    def test_a_folder_of_objects_that_leads_out(self, clone, tmp_path):
        """Each of the 256 folders that objects lie in may be a link."""
        clone.initialise()
        (tmp_path / "outside").mkdir()
        for number in range(256):
            place = clone.top / f".git/objects/{number:02x}"
            if not place.exists():
                place.symlink_to(tmp_path / "outside")
        (note,) = clone.commit(clone.write()).notes
        assert "is a link, and git would follow it" in note
        assert list((tmp_path / "outside").iterdir()) == []

    @pytest.mark.parametrize("place", ["index", ".git", "HEAD", "config"])
    def test_a_pipe_in_place_of_a_file(self, clone, place):
        """Nothing waits for it."""
        clone.initialise()
        there = clone.top / ".git" if place == ".git" else clone.top / ".git" / place
        there.rename(clone.top / "moved")
        os.mkfifo(there)
        (note,) = clone.commit(clone.write()).notes
        assert str(there) in note
        assert "took longer" not in note

    @pytest.mark.parametrize(
        "place",
        [
            ".git/info/exclude",
            ".git/info/grafts",
            ".git/shallow",
            ".git/objects/info/alternates",
            ".git/objects/pack/pack-1.idx",
            ".git/refs/replace/one",
            ".gitignore",
            "kb/.gitignore",
            "kb/deep/.gitignore",
        ],
    )
    @pytest.mark.parametrize("by_link", [False, True], ids=["itself", "by links"])
    def test_a_pipe_that_git_would_read(self, clone, tmp_path, place, by_link):
        """KR names it at once, asks git nothing that would wait for it, and `kr doctor` says the same."""
        clone.initialise()
        file = clone.write("deep/report.md")
        there = clone.top / place
        there.parent.mkdir(parents=True, exist_ok=True)
        there.unlink(missing_ok=True)
        os.mkfifo(tmp_path / "pipe")
        if by_link:
            (tmp_path / "link").symlink_to(tmp_path / "pipe")
            there.symlink_to(tmp_path / "link")
        else:
            (tmp_path / "pipe").rename(there)
        (note,) = clone.commit(file).notes
        what = "a link to a pipe" if by_link else "a pipe"
        said = f"{there} is {what}, and git could wait for it for ever; remove it, or put a file in its place"
        assert note == f"not committed: {said}"
        if place != "kb/deep/.gitignore":  # which the index does not lie below
            assert foresee(clone.base, clone.environ) == (False, f"nothing is committed: {said}")

    @pytest.mark.parametrize("target", ["/proc/self/fd/1", "/dev/stdout", "/dev/zero"])
    def test_a_link_to_what_each_process_has_its_own_of(self, clone, target):
        """What it is for KR says nothing of what it is for git."""
        if not os.path.lexists(target):
            pytest.skip("the system has no such file")
        clone.initialise()
        there = clone.top / ".git/info/exclude"
        there.unlink(missing_ok=True)
        there.symlink_to(target)
        (note,) = clone.commit(clone.write()).notes
        assert note.startswith(f"not committed: {there} is a link ")
        assert "took longer" not in note

    @pytest.mark.parametrize("setting", ["include.path", "includeIf.onbranch:main.path", "core.excludesFile"])
    def test_a_setting_that_names_a_pipe(self, clone, setting):
        """KR reads the names of such files without reading the files, and names the pipe."""
        clone.initialise()
        os.mkfifo(clone.top / "pipe")
        clone.git("config", setting, str(clone.top / "pipe"))
        (note,) = clone.commit(clone.write()).notes
        assert str(clone.top / "pipe") in note
        assert "took longer" not in note

    @pytest.mark.parametrize("way", ["alternates", "alternates of alternates", "link"])
    def test_a_pipe_among_the_objects_of_another_folder(self, clone, way):
        """A repository may take objects from other folders, in which KR looks too."""
        clone.initialise()
        pipe = clone.top / "evil/pack/pack-1.idx"
        pipe.parent.mkdir(parents=True)
        os.mkfifo(pipe)
        objects = clone.top / ".git/objects"
        if way == "link":
            (objects / "pack").rmdir()
            (objects / "pack").symlink_to(pipe.parent)
        else:
            middle = clone.top / "middle"
            (middle / "info").mkdir(parents=True)
            (middle / "info/alternates").write_text("../evil\n../middle\n")
            named = "../../evil" if way == "alternates" else str(middle)
            (objects / "info/alternates").write_text(f"# shared\n\n../../missing\n{named}\n")
        (note,) = clone.commit(clone.write()).notes
        assert note.startswith(f"not committed: {pipe} is a pipe, and git could wait for it for ever")

    @pytest.mark.parametrize("quoted", [True, False])
    @pytest.mark.parametrize("inside", ["pack", ""])
    def test_objects_of_folders_that_are_not_looked_into(self, clone, quoted, inside):
        """Where git would take objects from folders that KR does not know, or that hold none, it is not asked."""
        clone.initialise()
        for number in range(30):
            (clone.top / f"other{number}" / inside).mkdir(parents=True)
        text = '"../../other1"\n' if quoted else "".join(f"../../other{n}\n" for n in range(30))
        (clone.top / ".git/objects/info/alternates").write_text(text)
        (note,) = clone.commit(clone.write()).notes
        assert "alternates names folders that KR does not look into" in note

    def test_an_included_file_that_includes_a_pipe(self, clone):
        """The files that a repository's settings include are looked at one by one."""
        clone.initialise()
        os.mkfifo(clone.top / "pipe")
        (clone.top / "one").write_text("[include]\n\tpath = two\n")
        (clone.top / "two").write_text("[include]\n\tpath = one\n\tpath = pipe\n")
        clone.git("config", "include.path", "../one")
        (note,) = clone.commit(clone.write()).notes
        assert "/pipe is neither a file nor a folder" in note

    @pytest.mark.parametrize("missing", [True, False])
    def test_settings_that_include_without_end(self, clone, missing):
        """KR looks at a bounded number of files that settings name, in a chain or in a list."""
        clone.initialise()
        for number in range(60):
            text = "" if missing else f"[include]\n\tpath = {number + 1}.config\n"
            (clone.top / f"{number}.config").write_text(text)
        if missing:
            (clone.top / "0.config").write_text("[include]\n\tpath = gone\n" * 60)
        clone.git("config", "include.path", "../0.config")
        (note,) = clone.commit(clone.write()).notes
        assert "includes more than 50 files" in note

    def test_honest_links_and_includes(self, clone, tmp_path):
        """A linked list of ignored files, a linked hook, a socket of git's own and an included file disturb nobody."""
        clone.initialise()
        (tmp_path / "ignored").write_text("*.tmp\n")
        exclude = clone.top / ".git/info/exclude"
        exclude.unlink(missing_ok=True)
        exclude.symlink_to(tmp_path / "ignored")
        (clone.top / ".git/hooks").mkdir(exist_ok=True)
        (clone.top / ".git/hooks/pre-commit").symlink_to("/dev/null")
        (clone.top / ".git/more").write_text("[core]\n\tfilemode = true\n")
        clone.git("config", "include.path", "more")
        clone.git("config", "core.excludesFile", os.devnull)
        assert clone.commit(clone.write(), clone.write("a.tmp")).notes == ()
        assert clone.committed() == ["app.py", "kb/report.md"]

    def test_other_objects_are_read_and_not_written(self, clone, tmp_path):
        """`objects/info/alternates` is how a clone shares objects; KR's go into the repository itself."""
        clone.initialise()
        clone.git("clone", "-q", "--shared", ".", str(tmp_path / "shared"))
        other = Clone.__new__(Clone)
        vars(other).update(vars(clone), top=tmp_path / "shared", base=tmp_path / "shared/kb")
        before = _contents(clone.top / ".git/objects")
        assert other.commit(other.write()).notes == ()
        assert _contents(clone.top / ".git/objects") == before


def _contents(place):
    if place.is_file():
        return place.read_bytes()
    return sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in place.rglob("*"))


# -- settings that nothing turns off ---------------------------------------------------------------------


class TestSettings:
    """What git 2.54 and later take from a configuration; KR's answer is the same with an older one."""

    @pytest.fixture(autouse=True)
    def _calm(self, clone):
        """No git of the test's own is at work in the background."""
        clone.git("config", "--global", "maintenance.auto", "false", cwd=clone.base)

    def refused(self, clone, name):
        config = _contents(clone.top / ".git")
        done = clone.commit(clone.write())
        assert (done.id, clone.ran) == (None, "")
        commits, said = foresee(clone.base, clone.environ)
        assert (commits, clone.ran) == (False, "")
        (note,) = done.notes
        assert note.startswith(f"not committed: {name}")
        assert note.removeprefix("not committed") == said.removeprefix("nothing is committed")
        assert _contents(clone.top / ".git") == config
        return note

    def configure(self, clone, text, file=".git/config"):
        with (clone.top / file).open("a") as config:
            config.write(text.format(run=clone.program, top=clone.top))

    def hook(self, clone):
        return f'[hook "x"]\n\tcommand = {clone.program}\n\tevent = reference-transaction\n\tevent = post-index-change\n'

    def test_a_hook(self, clone):
        """`core.hooksPath` has no say in it."""
        clone.initialise()
        self.configure(clone, self.hook(clone))
        note = self.refused(clone, "hook.x.command")
        assert note == (
            f"not committed: hook.x.command in {clone.top}/.git/config makes git run a program; "
            "remove the setting unless you made it; if you did, commit yourself"
        )

    @pytest.mark.parametrize(
        ("section", "name"),
        [
            ("[HOOK]\n\tjobs = 4\n", "hook.jobs"),
            ("[Hook.x]\n\tEvent = post-index-change\n", "hook.x.event"),
            ('[hook "a.b\x1b[2J"]\n\tcommand\n', "hook.a.b"),
            ("[core]\n\tvirtualFilesystem = {run}\n", "core.virtualfilesystem"),
        ],
    )
    def test_another_spelling(self, clone, section, name):
        """Names are the same in any letters, with a value or without."""
        clone.initialise()
        self.configure(clone, section)
        assert "\x1b" not in self.refused(clone, name)

    @pytest.mark.parametrize("place", ["../included", "{top}/included", "~/included"])
    @pytest.mark.parametrize(
        "section",
        ["include", 'includeIf "gitdir:**"', 'includeIf "hasconfig:remote.*.url:http://of-the-user/**"'],
    )
    def test_a_hook_in_an_included_file(self, clone, section, place):
        """Also by what only the user's own configuration says."""
        clone.initialise()
        clone.git("config", "--global", "remote.x.url", "http://of-the-user/x")
        self.configure(clone, f"[{section}]\n\tpath = {place}\n")
        home = clone.environ["HOME"] if place.startswith("~") else clone.top
        Path(home, "included").write_text("[include]\n\tpath = deeper\n")
        Path(home, "deeper").write_text(self.hook(clone))
        assert f"{home}/deeper makes git run" in self.refused(clone, "hook.x.command").replace(
            f"{clone.top}/.git/../", f"{clone.top}/"
        )

    def test_a_hook_for_one_work_tree(self, clone):
        """Such a one has a file of settings of its own."""
        clone.initialise()
        clone.git("config", "extensions.worktreeConfig", "true")
        self.configure(clone, self.hook(clone), ".git/config.worktree")
        self.refused(clone, "hook.x.command")
        (clone.top / ".git/config.worktree").rename(clone.top / "moved")
        (clone.top / ".git/config.worktree").symlink_to("/proc/self/cwd/moved")
        self.refused(clone, f"{clone.top}/.git/config.worktree is a link")

    @pytest.mark.parametrize(
        "place", ["/proc/self/cwd/../../x", "/dev/stdin", "../link/x", "link/../../x", "%(prefix)/x"]
    )
    def test_an_included_file_that_varies(self, clone, place):
        """A link may lead each of KR's commands to another file."""
        clone.initialise()
        (clone.top / "link").symlink_to("/proc/self/cwd")
        if place.startswith("link"):
            (clone.top / ".git/link").symlink_to("/proc/self/cwd")
        self.configure(clone, f"[include]\n\tpath = {place}\n")
        self.refused(clone, "include.path" if place.startswith("%") else "/")

    def test_an_included_file_on_a_condition_that_varies(self, clone):
        """KR's commands have not all the same work tree."""
        clone.initialise()
        self.configure(clone, '[includeIf "worktree:**/no-files"]\n\tpath = ../included\n')
        (clone.top / "included").write_text(self.hook(clone))
        self.refused(clone, "includeif.worktree:**/no-files.path")

    @pytest.mark.parametrize("version", [0, 1])
    def test_refs_in_another_repository(self, clone, tmp_path, version):
        """With its objects at hand, a commit would move the other one's branch."""
        clone.initialise()
        other = tmp_path / "other"
        clone.initialise(other)
        (clone.top / ".git/objects/info").mkdir(exist_ok=True)
        (clone.top / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
        self.configure(
            clone,
            f"[core]\n\trepositoryformatversion = {version}\n[extensions]\n\trefStorage = files://{other}/.git\n",
        )
        before = _contents(other)
        done = clone.commit(clone.write())
        assert done.id is None
        assert (
            len(done.notes) == 1
        )  # by an older git itself, where it reads it as an extension that it does not know
        assert _contents(other) == before

    @pytest.mark.parametrize(
        ("section", "name"),
        [
            ("[extensions]\n\trefStorage = files:///x/.git\n", "extensions.refstorage"),
            ("[extensions]\n\trefStorage = files\\n\n", "extensions.refstorage"),
            ("[extensions]\n\tobjectStorage = x\n", "extensions.objectstorage"),
            ("[Extensions]\n\tnew\n", "extensions.new"),
            ('[extensions "noop"]\n\tx = 1\n', "extensions.noop.x"),
        ],
    )
    def test_an_extension(self, clone, section, name):
        """One that KR does not know, or by a value that it does not know."""
        clone.initialise()
        self.configure(clone, section)  # version 0: an older git takes no notice
        note = self.refused(clone, "")
        by_git = name == "extensions.refstorage" and "` failed: " in note  # a newer one looks at it itself
        assert by_git or f"{name} in {clone.top}/.git/config changes how git keeps" in note

    @pytest.mark.parametrize("named", ["reftable", "reftable/tables.list", "reftable/a.ref", "text"])
    def test_tables_of_refs_elsewhere(self, clone, tmp_path, named):
        """Git writes and removes them."""
        clone.initialise()
        (tmp_path / "outside").write_text("")
        tables = clone.top / ".git/reftable"
        if named != "reftable":
            tables.mkdir()
            (tables / "tables.list").write_text("../../x.ref\n" if named == "text" else "a.ref\n")
        if named != "text":
            (clone.top / ".git" / named).unlink(missing_ok=True)
            (clone.top / ".git" / named).symlink_to(tmp_path / "outside")
        self.refused(clone, f"{tables}")

    def test_an_honest_repository(self, clone):
        """Hooks of husky, filters of LFS, tools' own settings, a shared file and harmless extensions stand in no way."""
        clone.initialise()
        self.configure(
            clone,
            """
[core]
	hooksPath = .husky/_
[hooks]
	allowNonASCII = true
[extensions]
	worktreeConfig = true
	preciousObjects = true
	partialClone = origin
	noop = x
[filter "lfs"]
	clean = git-lfs clean -- %f
	process = git-lfs filter-process
	required = true
[lfs]
	repositoryformatversion = 0
[lfs "https://example.org/x.git/info/lfs"]
	access = basic
[remote "origin"]
	url = https://example.org/x.git
	promisor = true
[branch "main"]
	remote = origin
[submodule "x"]
	active = true
[gc]
	auto = 0
[include]
	path = ../.gitconfig
	path = ~/absent
[includeIf "onbranch:main"]
	path = {top}/.gitconfig
""",
        )
        (clone.top / ".gitconfig").write_text("[pull]\n\trebase = true\n[diff]\n\ttool = x\n")
        assert foresee(clone.base, clone.environ)[0]
        assert clone.commit(clone.write()).notes == ()
        assert clone.committed() == ["app.py", "kb/report.md"]

    def test_a_hook_of_the_users(self, clone):
        """What the user's own configuration says is theirs."""
        clone.initialise()
        clone.git("config", "--global", "hook.mine.command", "true")
        clone.git("config", "--global", "hook.mine.event", "pre-push")
        assert clone.commit(clone.write()).notes == ()


# -- a `.git` that leads elsewhere -----------------------------------------------------------------------


class TestGitFile:
    def refused(self, clone):
        done = clone.commit(clone.write())
        assert clone.ran == ""
        assert done.id is None
        commits, said = foresee(clone.base, clone.environ)
        assert (commits, clone.ran) == (False, "")
        (note,) = done.notes
        assert note.removeprefix("not committed") == said.removeprefix("nothing is committed")
        return note

    @pytest.mark.parametrize("place", ["kb/git", "vendor/git", "../outside"])
    @pytest.mark.parametrize("form", ["{}", "{absolute}", "{}\n\n", "./{}"])
    def test_it_leads_to_a_folder_that_does_not_know_of_it(self, clone, place, form):
        """Neither into the project's own files nor out of them."""
        clone.lay_out_bare(clone.top / place, worktree=str(clone.top))
        said = form.format(place, absolute=(clone.top / place).resolve())
        (clone.top / ".git").write_text(f"gitdir: {said}")
        note = self.refused(clone)
        assert f"{clone.top}/.git leads to {(clone.top / place).resolve()}" in note

    def test_it_leads_to_a_folder_of_a_user_of_git(self, clone, tmp_path):
        """Another project's repository, or one made apart by `--separate-git-dir`, does not point back."""
        clone.initialise(tmp_path / "other")
        (clone.top / ".git").write_text("gitdir: ../other/.git\n")
        assert f"leads to {tmp_path}/other/.git" in self.refused(clone)
        assert clone.git("rev-list", "--count", "HEAD", cwd=tmp_path / "other").strip() == "1"

    @pytest.mark.parametrize("back", ["{top}/.git", "../../../.git"])
    def test_a_linked_worktree_whose_repository_lies_in_it(self, clone, back):
        """It points back as a linked worktree's would, and still is among the project's own files."""
        common = clone.top / "vendor"
        clone.lay_out_bare(common)
        own = common / "worktrees/x"
        own.mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/main\n")
        (own / "commondir").write_text("../..\n")
        (own / "gitdir").write_text(back.format(top=clone.top) + "\n")
        (clone.top / ".git").write_text("gitdir: vendor/worktrees/x\n")
        self.refused(clone)

    def test_a_linked_worktree_that_was_not_made_here(self, clone, tmp_path):
        """A copy of a worktree's `.git` file leads to a real repository, which knows of another work tree."""
        clone.initialise(tmp_path / "other")
        clone.git("worktree", "add", "-q", str(tmp_path / "linked"), cwd=tmp_path / "other")
        shutil.copy(tmp_path / "linked/.git", clone.top / ".git")
        assert "git worktree repair" in self.refused(clone)

    def test_a_linked_worktree_with_another_common_folder(self, clone, tmp_path):
        """Whose settings count is what `commondir` says."""
        clone.initialise(tmp_path / "other")
        shutil.rmtree(clone.top)
        clone.git("worktree", "add", "-q", str(clone.top), cwd=tmp_path / "other")
        clone.lay_out_bare(tmp_path / "third")
        (tmp_path / "other/.git/worktrees/project/commondir").write_text(f"{tmp_path}/third\n")
        self.refused(clone)

    def test_a_folder_with_another_common_folder(self, clone):
        """A `.git` folder has its own settings; one with `commondir` would take another's."""
        clone.initialise()
        clone.lay_out_bare(clone.top / "vendor")
        (clone.top / ".git/commondir").write_text("../vendor\n")
        assert "commondir" in self.refused(clone)

    @pytest.mark.parametrize("modules", ["vendor/modules/kb", "evil.git/modules/kb"])
    def test_a_submodule_of_no_repository(self, clone, modules):
        """Its folder lies in `modules` of the repository above, or it is none."""
        clone.initialise()
        clone.lay_out_bare(clone.top / modules, worktree=str(clone.base))
        (clone.base / ".git").write_text(f"gitdir: ../{modules}\n")
        self.refused(clone)

    def test_a_submodule_with_another_work_tree(self, clone):
        """Its folder points back by `core.worktree`."""
        clone.initialise()
        clone.lay_out_bare(clone.top / ".git/modules/kb", worktree=str(clone.top))
        (clone.base / ".git").write_text("gitdir: ../.git/modules/kb\n")
        assert "core.worktree" in self.refused(clone)

    @pytest.mark.parametrize("target", ["kb/git", "../outside/.git"])
    def test_it_is_a_link(self, clone, target):
        """`.git` as a link to a folder is no more than a file that leads there."""
        there = clone.top / target
        clone.lay_out_bare(there, worktree=str(clone.top))
        (clone.top / ".git").symlink_to(there)
        assert f"{clone.top}/.git is a link" in self.refused(clone)

    @pytest.mark.parametrize(
        "text", ["", "nonsense\n", "gitdir:\n", "gitdir: a\0b\n", "gitdir: " + "x" * 100_000, "\xff"]
    )
    def test_it_is_nonsense(self, clone, text):
        """What is not a git file is refused as such."""
        (clone.top / ".git").write_bytes(text.encode("latin-1"))
        assert f"{clone.top}/.git" in self.refused(clone)


# -- whose it is -----------------------------------------------------------------------------------------


def _git_with(folder, environ, words):
    """A git on the path before which something is said to the shell."""
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n{words} PATH="{environ["PATH"]}" exec git "$@"\n')
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{environ['PATH']}"}


def test_a_repository_of_somebody_elses(clone, tmp_path):
    """Git refuses a repository that another user owns, and KR does not talk it out of that."""
    clone.initialise()
    path = _git_with(tmp_path / "bin", clone.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")  # git's own switch
    (note,) = clone.commit(clone.write(), **path).notes
    assert "dubious ownership" in note
    clone.git("config", "--global", "--add", "safe.directory", str(clone.top))
    assert clone.commit(clone.write(), **path).notes == ()


def test_a_git_in_the_project(clone):
    """A path with the working folder in it finds no program there."""
    clone.initialise()
    shutil.copy(clone.program, clone.top / "git")
    code = (
        "import os; os.environ['PATH'] = '.'; from pathlib import Path; from kr_core.git.commit import commit;"
        "print(commit([Path('kb/report.md')], 'KR', folder=Path('kb')).notes)"
    )
    clone.write()
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, cwd=clone.top,
        env={**clone.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert b"git is not installed" in done.stdout
    assert clone.ran == ""


# -- by the program --------------------------------------------------------------------------------------


@pytest.fixture(params=["kb is bare", "the root is bare", "above the base", "a .git file", "a .git folder"])
def attacked(request, clone):
    """A project that has KR commit, with a trap of each kind, and the knowledge base that it names."""
    base = "kb"
    if request.param == "kb is bare":
        clone.lay_out_bare(clone.base)
        clone.initialise()
        clone.git("add", "-f", "kb/HEAD", "kb/config", "kb/.gitattributes")
        clone.git("commit", "-q", "-m", "bait")
    elif request.param == "the root is bare":
        clone.lay_out_bare(clone.top)
    elif request.param == "above the base":
        clone.lay_out_bare(clone.base)
        base = "kb/deeper"
    elif request.param == "a .git file":
        clone.lay_out_bare(clone.top / "vendor", worktree=str(clone.top))
        (clone.top / ".git").write_text("gitdir: vendor\n")
    else:
        clone.initialise()
        clone.poison(clone.top / ".git")
    (clone.top / "kr.yaml").write_text(
        f"knowledge_research: {{git_commit: auto, knowledge_base_path: {base}}}\n"
    )
    install(make_environment(clone.top), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    return clone


def test_by_the_commands(attacked):
    """`kr research`, `kr lessons add`, `kr mcp` and `kr doctor` run nothing of the project's."""

    def kr(*arguments):
        command = kr_argv(attacked.environ, *arguments)
        done = subprocess.run(
            command, check=False, capture_output=True, cwd=attacked.top, env=attacked.environ
        )
        assert attacked.ran == "", arguments
        return Done(done)

    assert kr("research", QUESTION, "--json").json["status"] == "success"
    assert kr("lessons", "add", "--phase", "dev-execution", "Close the cursor").code == 0
    with Lines(attacked.top, attacked.environ) as server:
        said = server.ask(tool(1, "record_lesson", phase="dev-execution", lesson="Give it back"))
        assert "result" in said, said
        said = server.ask(tool(2, "research", question="How do I track a number in parcel?"))
        assert "result" in said, said
        server.leave()
    assert attacked.ran == ""
    kr("doctor")


def test_doctor_names_it(attacked):
    """A line says where the trap lies and what to do about it."""
    command = kr_argv(attacked.environ, "doctor", "--json")
    done = Done(
        subprocess.run(command, check=False, capture_output=True, cwd=attacked.top, env=attacked.environ)
    )
    said = [(one["state"], one["message"]) for one in done.json if one["name"] == "git"]
    assert attacked.ran == ""
    top, folder = attacked.top, attacked.top / ".git"
    if (folder / "config").exists() and not (attacked.base / "HEAD").exists():
        assert [state for state, _said in said] == ["ok"]
    elif folder.is_file():
        assert any(f"{folder} leads to {top}/vendor" in words and state == "note" for state, words in said)
    else:
        bare = top if (top / "HEAD").exists() else attacked.base
        ((state, words),) = said
        assert state == "note"
        assert f"{bare} is laid out as a bare git repository" in words
        assert "remove it" in words


def test_doctor_names_one_that_lies_deeper(clone):
    """KR takes no harm from it, and the user's own git would."""
    clone.initialise()
    clone.lay_out_bare(clone.top / "docs/old/repository")
    (clone.top / "kr.yaml").write_text("knowledge_research: {git_commit: auto}\n")
    command = kr_argv(clone.environ, "doctor", "--json")
    done = Done(subprocess.run(command, check=False, capture_output=True, cwd=clone.top, env=clone.environ))
    said = [(one["state"], one["message"]) for one in done.json if one["name"] == "git"]
    assert [state for state, _said in said] == ["ok", "note"]
    assert said[1][1].startswith(f"{clone.top}/docs/old/repository is laid out as a bare git repository")
