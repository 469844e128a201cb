"""The gate: whatever an agent does in its worktree, only what is inside its scope may land."""

import os
import signal
import subprocess
import threading
from contextlib import suppress

import pytest
from support.tasks import ATTACKS, FILES, IDENTITY, WORK, Repository

from kr_core.dispatch import gate
from kr_core.dispatch.gate import judge, objects_of, patch_of, without_ignored
from kr_core.dispatch.scopes import Scope
from kr_core.dispatch.workspace import open_workspace, remove_folder
from kr_core.git import landing
from kr_core.git.commit import IndexLock
from kr_core.git.landing import Rewrite, land, resume
from kr_core.git.repository import Git
from kr_core.git.worktree import GitRefusedError

pytestmark = pytest.mark.req("X3")

DEDE = Scope("dede", ("src/",))


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "project")


class Task:
    """A task's worktree, and what an agent does there."""

    def __init__(self, repository, folder):
        self.repository = repository
        self.git = Git.open(repository.top, {**os.environ, **IDENTITY})
        self.base = repository.head
        self.pending = folder / "landing.json"
        self.space = open_workspace(self.git, folder / "tree", self.base, "refs/heads/feature")

    def do(self, script):
        subprocess.run(["sh", "-c", script], check=False, cwd=self.space.tree, env={**os.environ, **IDENTITY})

    def judge(self, scope=DEDE, granted=()):
        return judge(self.space, scope, granted)

    def land(self, verdict, **options):
        entries = objects_of(self.git, self.space, verdict.allowed)
        return land(
            self.git, "refs/heads/feature", self.base, entries, "T001: work\n", self.pending, **options
        )


@pytest.fixture
def task(repository, tmp_path):
    made = Task(repository, tmp_path / "state")
    yield made
    remove_folder(tmp_path / "state")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(task, name):
    """Its path is named, whatever the trick."""
    script, path = ATTACKS[name]
    task.do(WORK + script)
    assert path in {one.path for one in task.judge().refused}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_device_is_refused(task):
    """Also where the user may make one."""
    task.do("mknod src/d c 1 3")
    assert [(one.path, one.reason) for one in task.judge().refused] == [("src/d", "it is a device")]


def test_an_entry_of_the_agent_s_own_index_lands_nowhere(task):
    """A submodule, or a file, that it has entered there alone."""
    task.do(
        f"git update-index --add --cacheinfo 160000,{task.base},src/sub; git update-index --force-remove README.md"
    )
    assert (task.judge().refused, task.judge().changed) == ((), ())


def test_work_inside_the_scope_is_all_that_is_seen(task):
    """Also where tools have left their caches, and where the agent has committed."""
    task.do(
        "echo 'app = 2' > src/app.py; rm -r src/deep; mkdir -p src/new; echo 'x' > src/new/x.py; chmod +x src/new/x.py;"
        "mkdir -p tests/__pycache__ .pytest_cache src/__pycache__; touch tests/__pycache__/a.pyc .pytest_cache/x;"
        "git add -A; git commit -qm mine; git status; ln -s new/x.py src/link"
    )
    verdict = task.judge()
    assert verdict.refused == ()
    assert verdict.changed == ("src/app.py", "src/deep/part.py", "src/link", "src/new/x.py")
    assert task.repository.head == task.base


def test_an_agent_can_commit_without_an_identity_of_its_own(task):
    """Its commits do not count; the files do."""
    alone = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    script = "echo 'app = 2' > src/app.py && git add -A && git commit -m mine && git log -1 --format=%an"
    done = subprocess.run(
        ["sh", "-c", script], check=True, cwd=task.space.tree, env=alone, capture_output=True
    )
    assert done.stdout.endswith(b"KR task\n")
    assert (task.judge().refused, task.judge().changed) == ((), ("src/app.py",))


def test_an_agent_sees_what_the_user_ignores(repository, tmp_path):
    """By the rules of the repository and of the user, which are in no commit: its own `git add` leaves it out."""
    (repository.top / ".git/info/exclude").write_text("*.mine\n")
    (tmp_path / "rules").write_text("*.yours\n")
    repository.git("config", "core.excludesFile", str(tmp_path / "rules"))
    task = Task(repository, tmp_path / "state")
    task.do(
        "touch src/a.mine src/b.yours src/c.secret src/d; git add -A; git diff --cached --name-only > src/seen"
    )
    assert (task.space.tree / "src/seen").read_text() == "src/d\n"
    verdict = task.judge()
    assert set(verdict.changed) == {"src/a.mine", "src/b.yours", "src/c.secret", "src/d", "src/seen"}
    assert without_ignored(task.git, verdict).changed == ("src/d", "src/seen")


def test_nothing_done_is_nothing_seen(task):
    """Reading changes nothing."""
    task.do("cat README.md; git log; git diff")
    assert (task.judge().refused, task.judge().changed) == ((), ())


def test_the_work_lands_on_the_branch_and_in_the_work_tree(task):
    """As one commit of exactly these files; index and files follow."""
    task.do(
        "echo 'app = 2' > src/app.py; rm src/deep/part.py; echo '#!' > src/run.sh; chmod +x src/run.sh; ln -s app.py src/l"
    )
    landing = task.land(task.judge())
    repository = task.repository
    assert repository.head == landing.commit != task.base
    assert repository.git("rev-parse", "HEAD^").strip() == task.base
    expected = {**FILES, "src/app.py": "app = 2\n", "src/run.sh": "#!\n", "src/l": "app.py"}
    del expected["src/deep/part.py"]
    assert repository.files() == expected
    assert repository.status == []
    assert os.access(repository.top / "src/run.sh", os.X_OK)
    assert not (repository.top / "src/deep").exists()


@pytest.mark.req("Z8")
def test_no_filter_hook_or_attribute_of_the_tree_runs(tmp_path):
    """Neither where a worktree is made, nor where its work lands."""
    repository = Repository(
        tmp_path / "project", {**FILES, ".gitattributes": "*.py filter=evil text eol=crlf ident\n"}
    )
    owned = tmp_path / "owned"
    for name in ("clean", "smudge", "process"):
        repository.git("config", f"filter.evil.{name}", f"touch {owned}")
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-commit", "post-index-change"):
        file = repository.top / ".git/hooks" / hook
        file.write_text(f"#!/bin/sh\ntouch {owned}\n")
        file.chmod(0o755)
    owned.unlink(missing_ok=True)
    task = Task(repository, tmp_path / "state")
    assert (task.space.tree / "src/app.py").read_bytes() == b"app = 1\n"
    task.do("printf 'app = 2\\n$Id$\\n' > src/app.py")
    task.land(task.judge())
    patch_of(task.git, task.space, task.judge().all)
    assert not owned.exists()
    assert repository.git("cat-file", "-p", "HEAD:src/app.py") == "app = 2\n$Id$\n"


def test_a_branch_that_has_moved_takes_the_work_where_it_is_untouched(task):
    """The other commit stays."""
    task.do("echo 'app = 2' > src/app.py")
    task.repository.write("tests/test_more.py", "more\n")
    task.repository.git("add", "-A")
    task.repository.git("commit", "-qm", "meanwhile")
    task.land(task.judge())
    files = task.repository.files()
    assert (files["src/app.py"], files["tests/test_more.py"]) == ("app = 2\n", "more\n")
    assert task.repository.status == []


@pytest.mark.parametrize("how", ["committed", "dirty", "staged", "in the way", "switched", "a link"])
def test_other_work_in_the_same_place_is_never_lost(task, how):
    """What the user has done there stays as it is, and nothing lands."""
    task.do("echo 'app = 2' > src/app.py; echo 'new' > src/new.py")
    repository = task.repository
    if how == "in the way":
        repository.write("src/new.py", "mine\n")
    elif how == "switched":
        repository.git("checkout", "-qb", "other")
    elif how == "a link":
        (repository.top / "src").rename(repository.top / "elsewhere")
        (repository.top / "src").symlink_to("elsewhere")
    else:
        repository.write("src/app.py", "mine\n")
    if how in {"committed", "staged"}:
        repository.git("add", "-A")
    if how == "committed":
        repository.git("commit", "-qm", "mine")
    before = (repository.head, repository.status, (repository.top / "src/app.py").read_text())
    with pytest.raises(GitRefusedError):
        task.land(task.judge())
    assert (repository.head, repository.status, (repository.top / "src/app.py").read_text()) == before
    assert not (repository.top / "elsewhere/new.py").exists()


def test_unrelated_changes_of_the_user_stay(task):
    """Changed, staged and new files elsewhere."""
    repository = task.repository
    repository.write("README.md", "mine\n")
    repository.write("k8s/app.yaml", "staged\n")
    repository.git("add", "k8s/app.yaml")
    repository.write("notes.txt", "mine\n")
    task.do("echo 'app = 2' > src/app.py")
    task.land(task.judge())
    assert repository.status == [" M README.md", "M  k8s/app.yaml", "?? notes.txt"]
    assert repository.files()["src/app.py"] == "app = 2\n"


@pytest.mark.parametrize("state", ["tracked", "dirty", "untracked", "staged"])
def test_a_rewritten_line_is_changed_wherever_the_file_is(tmp_path, state):
    """On the branch where it is tracked, and in the work tree's own file with its other changes."""
    repository = Repository(
        tmp_path / "project", FILES if state == "untracked" else {**FILES, "tasks.md": "- [ ] T001\n"}
    )
    if state != "tracked":
        repository.write("tasks.md", "- [ ] T001\n- [ ] T002\n")
    if state == "staged":
        repository.git("add", "tasks.md")
    task = Task(repository, tmp_path / "state")
    task.do("echo 'app = 2' > src/app.py")
    rewrite = Rewrite(
        b"tasks.md", lambda text: text.replace(b"[ ] T001", b"[X] T001") if b"[ ] T001" in text else None
    )
    assert task.land(task.judge(), rewrite=rewrite).rewritten
    there = (repository.top / "tasks.md").read_text()
    assert there == ("- [X] T001\n" if state == "tracked" else "- [X] T001\n- [ ] T002\n")
    committed = repository.files().get("tasks.md")
    assert committed == {"untracked": None, "staged": "- [ ] T001\n"}.get(state, "- [X] T001\n")
    if state == "tracked":
        assert repository.status == []


@pytest.mark.parametrize("moment", ["before the index", "before the branch", "before the files"])
def test_a_landing_that_was_killed_is_gone_on_with(task, moment):
    """Its lock on the index is left behind: the next landing removes it, and nothing is half there."""
    task.do("echo 'app = 2' > src/app.py; echo new > src/new.py; rm src/deep/part.py")
    verdict = task.judge()
    if not (child := os.fork()):
        replace = IndexLock.replace
        if moment == "before the index":
            IndexLock.replace = lambda *_given: os.kill(os.getpid(), signal.SIGKILL)
        elif moment == "before the branch":
            IndexLock.replace = lambda *given: (replace(*given), os.kill(os.getpid(), signal.SIGKILL))
        else:
            landing._write_files = lambda *_given: os.kill(os.getpid(), signal.SIGKILL)
        with suppress(BaseException):
            task.land(verdict)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    lock = task.repository.top / ".git/index.lock"
    assert lock.exists()
    assert resume(task.git, task.pending)
    assert not lock.exists()
    assert task.repository.status == []
    landed = moment == "before the files"
    assert (task.repository.head != task.base) == landed
    if not landed:
        task.land(verdict)
    assert task.repository.files()["src/new.py"] == "new\n"
    assert task.repository.status == []
    assert not resume(task.git, task.pending)


def test_a_landing_that_was_killed_leaves_alone_what_came_after_it(task):
    """The user has removed the lock and has committed: that stays, and the files of the landing follow."""
    task.do("echo 'app = 2' > src/app.py; echo new > src/new.py")
    verdict = task.judge()
    if not (child := os.fork()):
        landing._write_files = lambda *_given: os._exit(9)
        with suppress(BaseException):
            task.land(verdict)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    repository = task.repository
    (repository.top / ".git/index.lock").unlink()
    repository.write("README.md", "mine\n")
    repository.git("commit", "-qm", "mine", "README.md")
    (repository.top / ".git/index.lock").touch()  # of another git command
    landing_lock = (repository.top / ".git/index.lock").stat()
    with pytest.raises(GitRefusedError, match="end the other git command"):
        with_little_patience(resume, task.git, task.pending)
    assert (repository.top / ".git/index.lock").stat() == landing_lock
    (repository.top / ".git/index.lock").unlink()
    assert resume(task.git, task.pending)
    assert repository.status == []
    assert (repository.files()["README.md"], repository.files()["src/app.py"]) == ("mine\n", "app = 2\n")


def with_little_patience(work, *arguments):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(landing, "_INDEX_SECONDS", 0.1)
        return work(*arguments)


def test_a_lock_that_another_git_command_left_is_named_with_what_to_do(task):
    """Nothing lands, and the lock stays."""
    task.do("echo 'app = 2' > src/app.py")
    lock = task.repository.top / ".git/index.lock"
    lock.touch()
    with pytest.raises(GitRefusedError) as refused:
        with_little_patience(task.land, task.judge())
    assert str(refused.value).startswith(f"{lock} is there; end the other git command")
    assert lock.exists()
    assert task.repository.head == task.base
    lock.unlink()
    assert task.land(task.judge()).commit == task.repository.head


COMMITS = {
    "git commit": ["add {0}", "commit -qm mine"],
    "git commit FILE": ["add {0}", "commit -qm mine -- {0}"],
    "git commit -a": ["add -N {0}", "commit -qam mine"],
}


class User(threading.Thread):
    """Somebody who goes on committing files, and tries again what git refuses."""

    def __init__(self, repository, commands):
        super().__init__()
        self._repository, self._commands = repository, commands
        self.committed = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            name = f"mine/{len(self.committed)}"
            self._repository.write(name, name)
            for command in self._commands:
                while not self._done(command.format(name)):
                    if self.ended.is_set():
                        return  # without this command the next one has nothing to do
            self.committed.append(name)

    def _done(self, command):
        done = subprocess.run(
            ["git", *command.split()], check=False, capture_output=True, cwd=self._repository.top, env=self._repository.environ
        )  # fmt: skip
        said = done.stderr.decode()
        assert done.returncode == 0 or "File exists" in said or "cannot lock ref" in said, said
        return done.returncode == 0


@pytest.mark.parametrize(
    ("how", "landings"), [("git commit", 20), ("git commit FILE", 8), ("git commit -a", 8)]
)
def test_it_lands_beside_the_users_own_commits(repository, tmp_path, how, landings):
    """Landings beside a loop of commits: nothing of either side is lost, or in the other's commit."""
    user = User(repository, COMMITS[how])
    user.start()
    try:
        for number in range(landings):
            task = Task(repository, tmp_path / f"state{number}")
            task.do(f"echo {number} > src/app.py; echo {number} > src/{number}; rm -f src/{number - 2}")
            assert task.land(task.judge()).commit
            remove_folder(tmp_path / f"state{number}")
    finally:
        user.ended.set()
        user.join()
    repository.git("reset", "-q", "mine")
    assert [line for line in repository.status if "mine/" not in line] == []
    files = repository.files()
    assert {files.get(name) for name in user.committed[:-1]} <= {*user.committed}
    assert files["src/app.py"] == f"{landings - 1}\n"
    numbers = {name for name in files if name.removeprefix("src/").isdigit()}
    assert numbers == {f"src/{landings - 2}", f"src/{landings - 1}"}
    log = repository.git("log", "--format=%x00%s", "--name-only", "HEAD").split("\0")[1:]
    commits = [(one.split("\n")[0], one.split("\n")[2:-1]) for one in log[:-1]]
    for subject, names in commits:
        assert {name.startswith("mine/") for name in names} == {subject == "mine"}, (subject, names)
    assert sum(subject.startswith("T001") for subject, _names in commits) == landings


def test_what_is_kept_aside_can_be_applied(task):
    """The whole difference, binary files too."""
    task.do(
        "printf 'a\\0b' > src/bin; echo x >> README.md; rm src/deep/part.py; mkfifo src/p; ln -s app.py src/l; rm -r k8s; echo x > k8s"
    )
    patch = task.repository.top.parent / "aside.patch"
    patch.write_bytes(patch_of(task.git, task.space, task.judge().all))
    task.repository.git("apply", str(patch))
    assert (task.repository.top / "src/bin").read_bytes() == b"a\0b"
    assert (task.repository.top / "README.md").read_text() == "# Read me\nx\n"
    assert not (task.repository.top / "src/deep/part.py").exists()
    assert (task.repository.top / "k8s").read_text() == "x\n"


def test_a_granted_path_lands(task):
    """That path, and no other beside it."""
    task.do("echo x > pyproject.toml; echo x > setup.cfg")
    verdict = task.judge(granted=("pyproject.toml",))
    assert verdict.changed == ("pyproject.toml",)
    assert [one.path for one in verdict.refused] == ["setup.cfg"]


def test_a_file_that_changes_after_the_verdict_does_not_land(task):
    """A process that was left behind may go on writing."""
    task.do("echo 'app = 2' > src/app.py")
    verdict = task.judge()
    task.do("echo 'app = 3' > src/app.py")
    with pytest.raises(GitRefusedError, match="while KR looked"):
        task.land(verdict)
    task.do("rm -r src; ln -s /etc src; ")
    with pytest.raises(GitRefusedError, match="while KR looked"):
        task.land(verdict)


@pytest.mark.parametrize("name", [b".git/hooks/x", b"../x", b"src/.GIT/x"])
def test_a_tree_with_names_that_git_would_not_write_is_refused(repository, name, tmp_path):
    """Any program can make such a tree."""
    blob = repository.git("hash-object", "-w", "README.md").strip()

    def tree(entries):
        text = "".join(f"{mode} {kind} {id_}\t{name}\0" for mode, kind, id_, name in entries)
        done = subprocess.run(
            ["git", "mktree", "-z"], input=text.encode(), capture_output=True, check=True, cwd=repository.top
        )
        return done.stdout.decode().strip()

    made = ("100644", "blob", blob)
    *folders, last = name.decode().split("/")
    entry = (*made, last)
    for folder in reversed(folders):
        entry = ("040000", "tree", tree([entry]), folder)
    commit = repository.git("commit-tree", tree([entry]), "-m", "x").strip()
    git = Git.open(repository.top, {**os.environ, **IDENTITY})
    with pytest.raises(GitRefusedError, match="would not write"):
        open_workspace(git, tmp_path / "tree", commit, "refs/heads/feature")


def test_a_submodule_of_the_branch_is_nobodys(tmp_path):
    """Its folder is empty in the worktree, and stays so."""
    repository = Repository(tmp_path / "project")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.head},src/sub")
    repository.git("commit", "-qm", "sub")
    task = Task(repository, tmp_path / "state")
    task.do("echo x > src/sub/x; echo 'app = 2' > src/app.py")
    assert [one.path for one in task.judge().refused] == ["src/sub/x"]
    task.do("rm -r src/sub")
    assert [one.path for one in task.judge().refused] == ["src/sub"]


@pytest.mark.parametrize("folder", ["src", ".git/hooks"])
def test_files_with_holes_are_not_read_for_ever(task, folder, monkeypatch):
    """They take no room, so no limit of the disk ends the agent that makes a thousand of them."""
    assert gate._GROWTH == 2 * 2**30
    monkeypatch.setattr(gate, "_GROWTH", 2**28)
    task.do(f"for n in $(seq 1000); do truncate -s 30M {folder}/z$n; done")
    with pytest.raises(OSError, match="its files have grown by more than"):
        task.judge()
