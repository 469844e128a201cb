"""A commit of exactly the given files, in real repositories of every state."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kr_core.git import commit as gitgate
from kr_core.git.commit import commit, foresee

pytestmark = pytest.mark.req("K10")

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
TEN = "".join(f"line {n}\n" for n in range(10))


class Repository:
    """A work tree with a knowledge base, and git as its user calls it."""

    def __init__(self, top, environ):
        self.top = top
        self.base = top / "kb"
        self.environ = environ

    def git(self, *arguments, ok=True, **environ):
        done = subprocess.run(
            ["git", *arguments],
            check=False,
            capture_output=True,
            cwd=self.top,
            env={**self.environ, **environ},
        )
        assert not ok or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def write(self, name, text="text\n"):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
        return path

    def commit(self, *names, message="KR: it\n", **environ):
        files = [self.base / name for name in names]
        return commit(files, message, folder=self.base, environ={**self.environ, **environ})

    @property
    def head(self):
        return self.git("rev-parse", "-q", "--verify", "HEAD", ok=False).strip()

    @property
    def last(self):
        """The paths of the last commit."""
        said = self.git("show", "--format=", "--name-only", "--no-renames", "-z", "HEAD")
        return sorted(filter(None, said.split("\0")))

    @property
    def status(self):
        return self.git("status", "--porcelain", "-uall").splitlines()

    @property
    def staged(self):
        return self.git("diff", "--cached", "--name-only").split()

    def shown(self, name):
        return self.git("show", f"HEAD:kb/{name}")


@pytest.fixture
def environ(tmp_path):
    """Git without the tester's own configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1", **IDENTITY}


@pytest.fixture
def empty(tmp_path, environ):
    """A repository without a commit."""
    top = tmp_path / "work"
    top.mkdir()
    made = Repository(top, environ)
    made.git("init", "-q", "-b", "main", ".")
    made.base.mkdir()
    return made


@pytest.fixture
def repo(empty):
    """A repository with a commit, and files beside the knowledge base."""
    (empty.top / "app.py").write_text("one\n")
    empty.write("index.yaml", TEN)
    empty.git("add", "-A")
    empty.git("commit", "-q", "-m", "first")
    return empty


class TestExactly:
    def test_changed_new_and_removed_files(self, repo):
        """A changed, a new and a removed file make one commit; the work tree is clean afterwards."""
        repo.write("old.md")
        repo.git("add", "kb/old.md")
        repo.git("commit", "-q", "-m", "second")
        (repo.base / "old.md").unlink()
        repo.write("index.yaml", TEN + "more\n")
        repo.write("frameworks/x/new.md")
        done = repo.commit("index.yaml", "frameworks/x/new.md", "old.md")
        assert (done.id, done.notes) == (repo.head, ())
        assert repo.last == ["kb/frameworks/x/new.md", "kb/index.yaml", "kb/old.md"]
        assert repo.status == []
        assert repo.git("diff-index", "--cached", "HEAD") == ""

    def test_what_else_is_changed_or_staged_stays_as_it_is(self, repo):
        """Staged, partly staged and untracked files of the user's are neither committed nor touched."""
        app = repo.top / "app.py"
        app.write_text("two\n")
        (repo.top / "new.py").write_text("new\n")
        repo.git("add", "app.py", "new.py")
        app.write_text("three\n")
        repo.write("notes.md", "a person's\n")
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert repo.last == ["kb/report.md"]
        assert repo.status == ["MM app.py", "A  new.py", "?? kb/notes.md"]
        assert repo.git("show", ":app.py") == "two\n"

    @pytest.mark.parametrize(
        "staged",
        [TEN.replace("line 1\n", "line 1, edited\n"), TEN + "\0binary\n", TEN + "an entry\n"],
        ids=["elsewhere", "binary", "same"],
    )
    def test_a_file_with_staged_changes_is_left_out(self, repo, staged):
        """The rest is committed, a note names the file, and what is staged stays as it is."""
        repo.write("index.yaml", staged)
        repo.git("add", "kb/index.yaml")
        repo.write("index.yaml", TEN + "an entry\n")
        repo.write("report.md")
        done = repo.commit("index.yaml", "report.md")
        assert done.notes == (
            "not committed: kb/index.yaml: you have staged it; commit it with your own changes",
        )
        assert repo.last == ["kb/report.md"]
        assert repo.git("show", ":kb/index.yaml") == staged
        assert repo.staged == ["kb/index.yaml"]
        assert (repo.base / "index.yaml").read_text() == TEN + "an entry\n"

    def test_a_new_file_that_the_user_has_staged_is_left_out(self, repo):
        """It belongs to the commit that the user is preparing."""
        repo.write("report.md")
        repo.git("add", "kb/report.md")
        repo.write("report.md", "written anew\n")
        before = repo.head
        assert "kb/report.md" in repo.commit("report.md").notes[0]
        assert repo.head == before
        assert repo.git("show", ":kb/report.md") == "text\n"

    def test_a_file_that_is_only_intended_to_be_added_is_committed(self, repo):
        """`git add -N` stages no content."""
        repo.write("report.md")
        repo.git("add", "-N", "kb/report.md")
        assert repo.commit("report.md").notes == ()
        assert (repo.last, repo.status) == (["kb/report.md"], [])

    def test_nothing_changed_makes_no_commit(self, repo):
        """Files that are as HEAD has them make no commit and no note."""
        before = repo.head
        assert repo.commit("index.yaml") == (None, ())
        assert repo.head == before

    def test_the_message(self, repo):
        """The message is the one given, in UTF-8, whatever the configuration says."""
        repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
        repo.git("config", "commit.cleanup", "strip")
        repo.write("report.md")
        repo.commit("report.md", message="KR: Größe 图表\n\n# no comment\n")
        assert repo.git("log", "-1", "--format=%B").rstrip() == "KR: Größe 图表\n\n# no comment"
        assert "KR: Größe" in repo.git("reflog", "-1")

    @pytest.mark.parametrize(
        "name",
        ["-rf.md", "--.md", ":(top)x.md", "*.md", "图表.md", "a b'\".md", "\\x.md", "é.md"],
    )
    def test_any_name(self, repo, name):
        """Names are names, not options, patterns or lines."""
        repo.write("other.md")
        repo.write(name)
        assert repo.commit(name).notes == ()
        assert repo.last == [f"kb/{name}"]
        assert repo.status == ["?? kb/other.md"]

    def test_a_name_of_two_lines(self, repo):
        """It would forge a line wherever it is shown: KR writes no such name, and commits none."""
        repo.write("a\nb.md")
        [note] = repo.commit("a\nb.md").notes
        assert "its name has control characters" in note
        assert "\n" not in note
        assert len(repo.status) == 1

    def test_a_name_that_is_no_text(self, repo):
        """File names are bytes."""
        name = os.fsdecode(b"\xff.md")
        repo.write(name)
        assert repo.commit(name).notes == ()
        assert repo.status == []

    def test_thousands_of_files(self, repo):
        """Names go through pipes, which have no longest line."""
        names = [f"frameworks/{'x' * 100}/{n}.md" for n in range(3000)]
        for name in names:
            repo.write(name)
        assert repo.commit(*names).notes == ()
        assert len(repo.last) == 3000


class TestWhere:
    def test_outside_a_work_tree(self, tmp_path, environ):
        """A folder that git does not know needs no commit, and no note."""
        (tmp_path / "kb").mkdir()
        assert commit([tmp_path / "kb/a.md"], "m", folder=tmp_path / "kb", environ=environ) == (None, ())

    def test_in_a_bare_repository(self, repo, tmp_path):
        """A bare repository has no work tree."""
        folder = tmp_path / "bare"
        repo.git("clone", "-q", "--bare", ".", str(folder / ".git"))
        made = Repository(folder, repo.environ)
        made.write("a.md")
        assert made.commit("a.md") == (None, ())

    @pytest.mark.parametrize("pattern", ["kb/", "*.md", "/kb/report.md"])
    def test_what_is_ignored_is_not_committed(self, repo, pattern):
        """What the user keeps out of git stays out, without a note."""
        (repo.top / ".gitignore").write_text(f"{pattern}\n")
        repo.write("report.md")
        repo.write("index.yaml", "new\n")
        assert repo.commit("report.md", "index.yaml").notes == ()
        assert repo.last == ["kb/index.yaml"]  # tracked, and so not ignored

    def test_before_the_first_commit(self, empty):
        """The first commit of a repository may be KR's; what the user has staged for theirs stays staged."""
        (empty.top / "app.py").write_text("one\n")
        empty.git("add", "app.py")
        empty.write("report.md")
        assert empty.commit("report.md").notes == ()
        assert empty.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["kb/report.md"]
        assert empty.status == ["A  app.py"]
        assert empty.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"

    def test_a_detached_head(self, repo):
        """The commit follows the one that is checked out, and no branch moves."""
        main = repo.head
        repo.git("checkout", "-q", "--detach")
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert repo.git("rev-parse", "HEAD^", "main").split() == [main, main]

    def test_a_linked_worktree(self, repo, tmp_path):
        """The commit goes to the branch of the worktree, whose own index gets it."""
        repo.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
        main = repo.head
        linked = Repository(tmp_path / "linked", repo.environ)
        linked.write("report.md")
        assert linked.commit("report.md").notes == ()
        assert (linked.last, linked.status) == (["kb/report.md"], [])
        assert (repo.head, repo.status) == (main, [])

    def test_a_submodule(self, repo, tmp_path):
        """A knowledge base in a submodule is committed there."""
        outer = Repository(tmp_path / "outer", repo.environ)
        outer.top.mkdir()
        outer.git("init", "-q", ".")
        outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.top), "sub")
        outer.git("commit", "-q", "-m", "outer")
        before = outer.head
        inner = Repository(outer.top / "sub", repo.environ)
        inner.write("report.md")
        assert inner.commit("report.md").notes == ()
        assert (inner.last, inner.status) == (["kb/report.md"], [])
        assert (outer.head, outer.status) == (before, [" M sub"])

    def test_submodules_and_worktrees_in_each_other(self, repo, tmp_path):
        """A submodule in a submodule, one in a linked worktree, and a linked worktree of one are each as git makes them."""
        take = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
        middle, outer = (Repository(tmp_path / name, repo.environ) for name in ("middle", "outer"))
        for one, other, name in ((middle, repo, "deep/inner"), (outer, middle, "sub")):
            one.top.mkdir()
            one.git("init", "-q", ".")
            one.git(*take, "add", str(other.top), name)
            one.git("commit", "-q", "-m", "it")
        outer.git(*take, "update", "--init", "--recursive")
        outer.git("worktree", "add", "-q", str(tmp_path / "linked"))
        linked = Repository(tmp_path / "linked", repo.environ)
        linked.git(*take, "update", "--init", "--recursive")
        sub = Repository(outer.top / "sub/deep/inner", repo.environ)
        sub.git("worktree", "add", "-q", str(tmp_path / "linked-sub"))
        for top in (sub.top, linked.top / "sub", linked.top / "sub/deep/inner", tmp_path / "linked-sub"):
            one = Repository(top, repo.environ)
            one.write("report.md")
            assert one.commit("report.md").notes == (), top
            assert (one.last, one.status) == (["kb/report.md"], []), top

    def test_worktrees_of_a_bare_repository(self, repo, tmp_path):
        """All work trees may be linked ones, beside a bare repository."""
        bare = tmp_path / "all/.bare"
        bare.parent.mkdir()
        repo.git("clone", "-q", "--bare", ".", str(bare))
        repo.git("--git-dir", str(bare), "worktree", "add", "-q", str(bare.parent / "main"))
        made = Repository(bare.parent / "main", repo.environ)
        made.write("report.md")
        assert made.commit("report.md").notes == ()
        assert (made.last, made.status) == (["kb/report.md"], [])

    def test_a_linked_worktree_that_was_moved(self, repo, tmp_path):
        """Its repository looks for it elsewhere; a note says how to mend that, and then it is committed."""
        repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
        moved = Repository((tmp_path / "linked").rename(tmp_path / "moved"), repo.environ)
        moved.write("report.md")
        assert "`git worktree repair`" in moved.commit("report.md").notes[0]
        moved.git("worktree", "repair")
        assert moved.commit("report.md").notes == ()

    def test_no_further_up_than_git_goes(self, repo):
        """`GIT_CEILING_DIRECTORIES` bounds the search, as it does for git."""
        repo.write("report.md")
        assert repo.commit("report.md", GIT_CEILING_DIRECTORIES=str(repo.top)) == (None, ())
        assert repo.commit("report.md", GIT_CEILING_DIRECTORIES=str(repo.top.parent)).id

    def test_a_partial_clone(self, repo, tmp_path):
        """What it has not got is neither needed nor fetched."""
        for number in range(3):
            (repo.top / "big").mkdir(exist_ok=True)
            (repo.top / f"big/{number}").write_text(f"{number}\n")
        repo.git("add", "big")
        repo.git("commit", "-q", "-m", "big")
        repo.git("config", "uploadpack.allowFilter", "true")
        clone = tmp_path / "clone"
        repo.git(
            "clone", "-q", "--no-local", "--filter=blob:none", "--sparse", f"file://{repo.top}", str(clone)
        )
        made = Repository(clone, repo.environ)
        repo.top.rename(tmp_path / "away")
        made.write("report.md")
        assert made.commit("report.md").notes == ()
        assert made.last == ["kb/report.md"]

    def test_a_knowledge_base_behind_a_link(self, repo, tmp_path):
        """The repository is the one in which the folder really lies."""
        link = tmp_path / "link"
        link.symlink_to(repo.base)
        repo.write("report.md")
        done = commit([link / "report.md"], "m", folder=link, environ=repo.environ)
        assert (done.notes, repo.last) == ((), ["kb/report.md"])

    def test_a_folder_that_leads_out(self, repo, tmp_path):
        """What lies outside the work tree is not committed, and a note says so."""
        (tmp_path / "shared").mkdir()
        (repo.base / "frameworks").symlink_to(tmp_path / "shared")
        repo.write("frameworks/a.md")
        (note,) = repo.commit("frameworks/a.md").notes
        assert note.startswith("not committed: ")
        assert "lies outside the work tree" in note

    def test_line_ends_that_git_converts(self, repo):
        """With `core.autocrlf` and `core.safecrlf` a report is committed like any other, and is clean afterwards."""
        repo.git("config", "core.autocrlf", "true")
        repo.git("config", "core.safecrlf", "true")
        repo.write("unix.md", "a\nb\n")
        repo.write("dos.md", "a\r\nb\r\n")
        assert repo.commit("unix.md", "dos.md").notes == ()
        assert repo.git("cat-file", "blob", "HEAD:kb/dos.md") == "a\nb\n"
        assert repo.status == []

    @pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
    @pytest.mark.parametrize(
        "attributes", ["", "* text=auto\n", "*.md text eol=crlf\n", "*.md text eol=lf\n"]
    )
    def test_a_report_is_clean_by_any_settings_of_line_ends(self, repo, autocrlf, attributes):
        """KR writes newlines; whatever git would make of these, the work tree is clean afterwards."""
        (repo.top / ".gitattributes").write_text(attributes)
        repo.git("config", "core.autocrlf", autocrlf)
        repo.git("add", ".gitattributes")
        repo.git("commit", "-q", "--allow-empty", "-m", "attributes")
        repo.write("report.md", "a\nb\n")
        assert repo.commit("report.md").notes == ()
        assert repo.git("cat-file", "blob", "HEAD:kb/report.md") == "a\nb\n"
        assert repo.status == []

    def test_modes_and_links(self, repo):
        """An executable file is committed as one where the file system knows of such, and a link as a link."""
        repo.write("run.sh").chmod(0o755)
        (repo.base / "link.md").symlink_to("nowhere.md")
        assert repo.commit("run.sh", "link.md").notes == ()
        assert repo.git("ls-tree", "HEAD", "kb/run.sh").startswith("100755")
        assert repo.git("ls-tree", "HEAD", "kb/link.md").startswith("120000")
        assert repo.git("cat-file", "blob", "HEAD:kb/link.md") == "nowhere.md"
        repo.git("config", "core.fileMode", "false")
        repo.write("other.sh").chmod(0o755)
        assert repo.commit("other.sh").notes == ()
        assert repo.git("ls-tree", "HEAD", "kb/other.sh").startswith("100644")
        assert repo.status == []

    def test_a_file_that_became_a_folder(self, repo):
        """Its removal was not asked for, so it is a note."""
        repo.write("x")
        repo.git("add", "kb/x")
        repo.git("commit", "-q", "-m", "x")
        (repo.base / "x").unlink()
        repo.write("x/report.md")
        assert "kb/x is a file in HEAD and a folder now" in repo.commit("x/report.md").notes[0]
        assert repo.commit("x", "x/report.md").notes == ()
        assert repo.status == []

    def test_a_users_file_as_old_as_the_index(self, repo):
        """Git looks into a file that is not older than the index; KR's writing of the index does not make it trust that."""
        app, index = repo.top / "app.py", repo.top / ".git/index"
        at = 1_700_000_000_000_000_000
        os.utime(app, ns=(at, at))
        repo.git("config", "core.trustctime", "false")
        repo.git("update-index", "--refresh")
        app.write_text("two\n")  # as long as before
        for file in (app, index):
            os.utime(file, ns=(at, at))
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert repo.status == [" M app.py"]

    def test_a_sparse_checkout(self, repo):
        """What the sparse checkout leaves out stays in the repository."""
        repo.git("sparse-checkout", "set", "--no-cone", "/kb/")
        assert not (repo.top / "app.py").exists()
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert repo.last == ["kb/report.md"]
        assert repo.git("show", "HEAD:app.py") == "one\n"
        assert repo.status == []

    def test_a_split_index(self, repo):
        """An index in two files is read and written as one."""
        repo.git("update-index", "--split-index")
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert (repo.last, repo.status) == (["kb/report.md"], [])

    def test_a_repository_with_sha256(self, tmp_path, environ):
        """Nothing rests on the length of an object's name."""
        made = Repository(tmp_path / "work", environ)
        made.top.mkdir()
        made.git("init", "-q", "--object-format=sha256", ".")
        for name in ("a.md", "b.md"):
            made.write(name)
            assert made.commit(name).notes == ()
        (made.base / "a.md").unlink()
        assert made.commit("a.md").notes == ()
        assert made.git("rev-list", "--count", "HEAD").strip() == "3"
        assert made.status == []


class TestQuietly:
    def test_no_hook_runs(self, repo):
        """Hooks are the user's, for the user's commits: none runs, and none can refuse."""
        hooks = repo.top / ".git/hooks"
        hooks.mkdir(exist_ok=True)
        names = (
            "pre-commit prepare-commit-msg commit-msg post-commit reference-transaction post-index-change "
            "pre-auto-gc fsmonitor-watchman"
        )
        for name in names.split():
            (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {repo.top}/ran\nexit 1\n")
            (hooks / name).chmod(0o755)
        repo.git("config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman")
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert not (repo.top / "ran").exists()
        assert "kb/report.md" in repo.git(
            "-c", "core.fsmonitor=false", "ls-tree", "-r", "--name-only", "HEAD"
        )

    def test_nothing_is_signed(self, repo):
        """A key that asks for its passphrase would stop a run without anybody to answer."""
        repo.git("config", "commit.gpgSign", "true")
        repo.git("config", "gpg.program", "/nonexistent/gpg")
        repo.write("report.md")
        assert repo.commit("report.md").notes == ()
        assert "gpgsig" not in repo.git("cat-file", "commit", "HEAD")

    def test_an_outer_git_does_not_mislead(self, repo, tmp_path):
        """What an outer git command sets for its hooks leads to another repository, which stays as it is."""
        other = Repository(tmp_path / "other", repo.environ)
        other.top.mkdir()
        other.git("init", "-q", ".")
        outer = {
            "GIT_DIR": str(other.top / ".git"),
            "GIT_WORK_TREE": str(other.top),
            "GIT_INDEX_FILE": str(other.top / ".git/index"),
            "GIT_OBJECT_DIRECTORY": str(other.top / ".git/objects"),
            "GIT_COMMON_DIR": str(other.top / ".git"),
            "GIT_NAMESPACE": "elsewhere",
            "GIT_PREFIX": "deep/",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
        }
        repo.write("report.md")
        assert repo.commit("report.md", **outer).notes == ()
        assert (repo.last, repo.status) == (["kb/report.md"], [])
        assert (other.head, other.status) == ("", [])

    def test_within_a_commit_of_the_same_repository(self, repo):
        """In a hook of the user's own commit KR leaves HEAD alone: git would refuse the commit otherwise."""
        program = (
            "import sys; from pathlib import Path; from kr_core.git.commit import commit;"
            "print(commit([Path('kb/report.md')], 'KR', folder=Path('kb')).notes)"
        )
        hook = repo.top / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{program}" > said\n')
        hook.chmod(0o755)
        repo.write("report.md")
        (repo.top / "app.py").write_text("two\n")
        repo.git("commit", "-q", "-a", "-m", "mine", PYTHONPATH=str(Path(__file__).parents[3]))
        assert "another git command is at work" in (repo.top / "said").read_text()
        assert repo.last == ["app.py"]

    @pytest.mark.parametrize("conflict", [True, False])
    def test_during_a_merge(self, repo, conflict):
        """A commit would end the user's merge; a note says why there is none."""
        repo.git("checkout", "-q", "-b", "topic")
        (repo.top / ("app.py" if conflict else "other.py")).write_text("topic\n")
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "topic")
        repo.git("checkout", "-q", "main")
        (repo.top / "app.py").write_text("main\n")
        repo.git("commit", "-q", "-a", "-m", "main")
        repo.git("merge", "-q", "--no-commit", "topic", ok=not conflict)
        before = repo.head
        repo.write("report.md")
        (note,) = repo.commit("report.md").notes
        assert note == f"not committed: a merge is under way in {repo.top}; commit when it is done"
        assert repo.head == before
        assert (repo.top / ".git/MERGE_HEAD").exists()

    def test_during_a_rebase(self, repo):
        """The same for a rebase that waits."""
        repo.git("rebase", "-q", "--exec", "false", "--root", ok=False)
        before = repo.head
        repo.write("report.md")
        assert "a rebase is under way" in repo.commit("report.md").notes[0]
        assert repo.head == before

    def test_an_index_that_stays_locked(self, repo, monkeypatch):
        """Another git command, or one that was killed, has the index: a note names the lock."""
        monkeypatch.setattr(gitgate, "_LOCK_SECONDS", 0.1)
        lock = repo.top / ".git/index.lock"
        lock.touch()
        repo.write("report.md")
        before = repo.head
        (note,) = repo.commit("report.md").notes
        assert str(lock) in note
        assert lock.exists()
        assert repo.head == before

    def test_an_index_that_is_locked_for_a_moment(self, repo):
        """A short git command of the user's is waited for."""
        lock = repo.top / ".git/index.lock"
        lock.touch()
        repo.write("report.md")
        waiting = threading.Timer(0.3, lock.unlink)
        waiting.start()
        assert repo.commit("report.md").notes == ()
        waiting.join()
        assert repo.last == ["kb/report.md"]

    def test_without_an_identity(self, repo):
        """Who commits is the user's to say: a note tells how."""
        repo.git("config", "user.useConfigOnly", "true")
        nobody = {name: value for name, value in repo.environ.items() if name not in IDENTITY}
        repo.write("report.md")
        before, environ, repo.environ = repo.head, repo.environ, nobody
        done = repo.commit("report.md")
        repo.environ = environ
        (note,) = done.notes
        assert note.startswith("not committed: git does not know who you are; `git config --global user.name")
        assert repo.head == before
        assert repo.status == ["?? kb/report.md"]
        assert not (repo.top / ".git/index.lock").exists()

    def test_without_git(self, repo, tmp_path):
        """A machine without git gets a note."""
        repo.write("report.md")
        (note,) = repo.commit("report.md", PATH=str(tmp_path)).notes
        assert note.startswith("not committed: git is not installed")

    @pytest.mark.parametrize("harm", ["head", "gitfile", "objects", "config", "index"])
    def test_a_broken_repository(self, repo, harm):
        """What git does not read is a note, and nothing is made worse."""
        folder = repo.top / ".git"
        if harm == "head":
            (folder / "HEAD").write_text("nonsense\n")
        elif harm == "gitfile":
            shutil.rmtree(folder)
            folder.write_text("gitdir: /nonexistent\n")
        elif harm == "objects":
            shutil.rmtree(folder / "objects")
            (folder / "objects").mkdir()
        elif harm == "config":
            (folder / "config").write_text("[core\n")
        else:
            (folder / "index").write_bytes(b"DIRC" + b"\xff" * 40)
        repo.write("report.md")
        done = repo.commit("report.md")
        assert done.id is None
        refused = (
            f"not committed: {folder} leads to /nonexistent" if harm == "gitfile" else "not committed: `git "
        )
        assert done.notes[0].startswith(refused)
        assert not (folder / "index.lock").exists()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_repository_that_may_not_be_written(self, repo):
        """No permission is a note."""
        (repo.top / ".git").chmod(0o555)
        repo.write("report.md")
        done = repo.commit("report.md")
        (repo.top / ".git").chmod(0o755)
        assert "ermission denied" in done.notes[0]


class TestForesee:
    def test_a_commit_would_be_made(self, repo):
        """It says where, also for a folder that is not there yet."""
        for folder in (repo.base, repo.top / "later/kb"):
            said = f"what changes in {folder} is committed in {repo.top}"
            assert foresee(folder, repo.environ) == (True, said)

    def test_no_commit_would_be_made(self, repo, tmp_path):
        """It says why not."""
        (tmp_path / "kb").mkdir()
        reasons = [foresee(tmp_path / "kb", repo.environ)]
        nobody = {name: value for name, value in repo.environ.items() if name not in IDENTITY}
        repo.git("config", "user.useConfigOnly", "true")
        reasons.append(foresee(repo.base, nobody))
        (repo.top / ".git/MERGE_HEAD").touch()
        reasons.append(foresee(repo.base, repo.environ))
        (repo.top / ".gitignore").write_text("kb2/\n")
        reasons.append(foresee(repo.top / "kb2", repo.environ))
        (repo.top / ".git/HEAD").write_text("")
        reasons.append(foresee(repo.base, repo.environ))
        expected = [
            "no git work tree",
            "who you are",
            "a merge is under way",
            "is ignored",
            "failed: fatal: ",
        ]
        assert [would for would, _said in reasons] == [False] * 5
        assert all(part in said for part, (_would, said) in zip(expected, reasons, strict=True))


class TestAtOnce:
    def test_many_processes(self, repo):
        """Of commits that are made at once none is lost, and the work tree is clean afterwards."""
        program = (
            "import sys; from pathlib import Path; from kr_core.git.commit import commit\n"
            "for n in range(5):\n"
            "    file = Path('kb', f'{sys.argv[1]}-{n}.md'); file.write_text('text')\n"
            "    done = commit([file], f'KR {file}', folder=Path('kb'))\n"
            "    assert done.id and not done.notes, done\n"
        )
        environ = {**repo.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        running = [
            subprocess.Popen([sys.executable, "-c", program, str(n)], cwd=repo.top, env=environ)
            for n in range(6)
        ]
        assert [process.wait() for process in running] == [0] * 6
        assert repo.git("rev-list", "--count", "HEAD").strip() == "31"
        assert repo.status == []

    def test_beside_the_users_own_commits(self, repo):
        """The user commits meanwhile: nobody's commit is lost."""
        stop = threading.Event()
        mine = []

        def work():
            while not stop.is_set():
                (repo.top / "app.py").write_text(f"{len(mine)}\n")
                done = repo.git("commit", "-q", "-a", "-m", f"mine {len(mine)}", ok=False)
                assert done == ""
                mine.append(1)
                stop.wait(0.2)  # git holds the index while it commits, and a person pauses

        repo.write("0.md")
        worker = threading.Thread(target=work)
        worker.start()
        done = []
        for n in range(15):
            repo.write(f"{n}.md")
            done.append(repo.commit(f"{n}.md"))
        stop.set()
        worker.join()
        assert [one.notes for one in done] == [()] * 15
        log = repo.git("log", "--format=%H").split()
        assert {one.id for one in done} <= set(log)
        assert repo.git("ls-files", "kb").count(".md") == 15

    def test_interrupted_once_head_has_moved(self, repo, monkeypatch):
        """Ctrl-C right after HEAD moved leaves no file that looks undone."""
        run = subprocess.run

        def interrupted(command, **options):
            done = run(command, **options)
            if "update-ref" in command:
                raise KeyboardInterrupt
            return done

        monkeypatch.setattr("kr_core.git.repository.subprocess.run", interrupted)
        repo.write("report.md")
        with pytest.raises(KeyboardInterrupt):
            repo.commit("report.md")
        monkeypatch.undo()
        assert repo.last == ["kb/report.md"]
        assert repo.status == []
