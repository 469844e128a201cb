"""`kr dispatch run`: tasks done by three roles at once, and the one that reaches outside refused."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.tasks import ATTACKS, FILES, WORK, TaskProject

from kr_core import aio
from kr_core.dispatch import sandbox
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import records
from kr_core.dispatch.runner import Dispatcher, choose_tasks
from kr_core.dispatch.session import DispatchSession
from kr_core.errors import StorageError
from kr_core.research import Pipeline

TASKS = "specs/001-x/tasks.md"
AVAILABLE = [name for name in sandbox.NAMES if name == "none" or sandbox.choose([name]) == name]
CONFINED = [name for name in AVAILABLE if name != "none"]


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Make a project with these tasks."""
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    return lambda *tasks, **options: TaskProject(tmp_path / "project", tasks, **options)


def run(project, *wanted, confinements=sandbox.NAMES, tell=lambda _line: None):
    """Run tasks in this process; the records by id."""
    with Pipeline.open(folder=project.top) as pipeline:
        plan = read_plan(project.tasks, pipeline.config)

        async def work():
            session = DispatchSession(pipeline, tell, confinements)
            async with session.opened():
                return await Dispatcher(session, plan).run(choose_tasks(plan, wanted))

        return {one.id: one for one in aio.run(work())}


def events(project, kind):
    with Pipeline.open(folder=project.top) as pipeline:
        return [event.data for _, event in pipeline.journal.entries(feature="001-x") if event.kind == kind]


SPEC = """\
### User Story 1 - Sign in (Priority: P1)

**Acceptance Scenarios**:

1. **Given** a user, **Then** they see the page.
"""
STORY = (
    "## Phase 3: User Story 1 - Sign in",
    (
        "- [ ] T010 [P] [US1] Contract test in tests/test_login.py",
        'cat "$TMPDIR/order" > tests/test_login.py',
    ),
    ("- [ ] T011 [P] [US1] Implement login in src/login.py", 'cat "$TMPDIR/order" > src/login.py'),
    ("- [ ] T012 [P] Deploy Grafana Alloy with k8s/alloy.yaml", 'cat "$TMPDIR/order" > k8s/alloy.yaml'),
    ("- [ ] T013 [US1] Review the sign-in", "echo 'src/login.py:1: no docstring'"),
)


@pytest.fixture
def story(make):
    project = make(*STORY)
    (project.tasks.parent / "spec.md").write_text(SPEC)
    return project


@pytest.mark.req("X1")
def test_user_story_5_scenario_1_a_test_task_goes_to_marie_who_writes_tests_only(story):
    """She receives the task, its acceptance criteria, and where the code is."""
    assert run(story, "T010")["T010"].changed == ("tests/test_login.py",)
    assert json.loads((story.top / "tests/test_login.py").read_text()) == {
        "id": "T010",
        "title": "Contract test in tests/test_login.py",
        "role": "marie",
        "phase": "Phase 3: User Story 1 - Sign in",
        "story": "US1",
        "paths": ["tests/test_login.py"],
        "criteria": ["Given a user, Then they see the page."],
        "related": ["src/login.py", "specs/001-x/spec.md"],
        "feature": "001-x",
    }
    assert events(story, "task.dispatched")[0]["allow"] == ["tests/"]


@pytest.mark.req("X1")
def test_user_story_5_scenario_2_an_implementation_task_goes_to_dede_with_the_paths_of_its_tests(story):
    """He writes `src/` only."""
    assert run(story, "T011")["T011"].status == "succeeded"
    assert "tests/test_login.py" in json.loads((story.top / "src/login.py").read_text())["related"]
    assert events(story, "task.dispatched")[0]["allow"] == ["src/"]


@pytest.mark.req("X1")
def test_user_story_5_scenario_3_an_infrastructure_task_goes_to_gustave(story):
    """He writes manifests only."""
    assert run(story, "T012")["T012"].changed == ("k8s/alloy.yaml",)
    assert events(story, "task.dispatched")[0]["allow"] == [
        "k8s/",
        "argocd/",
        "kustomize/",
        "helm/",
        ".github/workflows/",
    ]


@pytest.mark.req("X3")
def test_user_story_5_scenario_4_a_change_outside_of_the_scope_is_blocked_and_logged(make):
    """Nothing of the task lands, its box stays open, and its whole difference is kept aside."""
    project = make(("- [ ] T001 Implement src/a.py", "echo 'a' > src/a.py; echo owned > README.md"))
    before = project.head
    record = run(project)["T001"]
    assert (record.status, record.changed) == ("blocked_by_scope", ())
    assert record.to_dict()["refused"] == [
        {"path": "README.md", "reason": "outside of what dede may write (src/)"}
    ]
    assert (project.head, project.status, project.ticked) == (before, [], [])
    assert events(project, "task.judged")[0]["refused"] == record.to_dict()["refused"]
    (patch,) = project.patches()
    assert (project.top / events(project, "task.kept_aside")[0]["patch"]).samefile(patch)
    project.git("apply", str(patch))
    assert project.status == [" M README.md", "?? src/a.py"]


@pytest.mark.req("X1")
def test_user_story_5_scenario_5_a_review_task_goes_to_degaulle_who_writes_nothing(story):
    """What he says is on record, and his box is ticked."""
    run(story, "T011")
    assert run(story, "T013")["T013"].status == "succeeded"
    assert events(story, "task.ended")[-1]["output"] == "src/login.py:1: no docstring\n"
    assert story.ticked == ["T011", "T013"]
    story.scripts.joinpath("T013").write_text("echo x > src/login.py")
    story.tasks.write_text(story.tasks.read_text().replace("[X] T013", "[ ] T013"))
    assert run(story, "T013")["T013"].status == "blocked_by_scope"


@pytest.mark.req("X4")
def test_three_roles_work_at_once_and_the_one_that_reaches_outside_is_refused(kr, make):
    """Tests, code and manifests land, their boxes are ticked, and the log tells the whole."""
    project = make(
        *STORY[:4],
        ("- [ ] T014 [P] Implement src/evil.py", "echo x > src/evil.py; echo x > tests/evil.py"),
    )
    done = kr("dispatch", "run", TASKS, "--json", cwd=project.top, env={"KR_TRUST": "all"})
    assert done.code == 1, done.err
    assert {
        one["id"]: (one["role"], one["status"], one["changed"]) for one in json.loads(done.out)["tasks"]
    } == {
        "T010": ("marie", "succeeded", ["tests/test_login.py"]),
        "T011": ("dede", "succeeded", ["src/login.py"]),
        "T012": ("gustave", "succeeded", ["k8s/alloy.yaml"]),
        "T014": ("dede", "blocked_by_scope", []),
    }
    assert project.ticked == ["T010", "T011", "T012"]
    assert project.status == []
    assert "evil" not in "".join(project.files())
    said = kr("log", "001-x", cwd=project.top).out
    assert said.count("succeeded") == 3
    assert said.count("blocked_by_scope") == 1
    kinds = [
        json.loads(line)["kind"] for line in kr("log", "001-x", "--json", cwd=project.top).out.splitlines()
    ]
    assert {kind for kind in kinds if kind.startswith("task.")} == {
        "task.dispatched", "task.started", "task.ended", "task.judged", "task.landed", "task.kept_aside", "task.finished",
        "task.grant_requested",
    }  # fmt: skip
    assert kr("log", "--verify", cwd=project.top).code == 0


@pytest.mark.req("X3")
@pytest.mark.parametrize("confinement", AVAILABLE)
def test_no_attack_escapes(make, confinement):
    """Each of them ends blocked, with its path, with every sandbox and without one; nothing of it lands."""
    names = list(ATTACKS)
    project = make(
        *(
            (f"- [ ] T{n:03} [P] Implement src/f{n}.py", WORK + ATTACKS[name][0])
            for n, name in enumerate(names, 1)
        ),
        ("- [ ] T900 [P] Implement src/good.py", "echo good > src/good.py"),
    )
    hooks = sorted(os.listdir(project.top / ".git/hooks"))
    config = (project.top / ".git/config").read_bytes()
    found = run(project, confinements=[confinement])
    expected = {**FILES, "src/good.py": "good\n"}
    files = project.files()
    assert {
        name: files[name] for name in files if name in expected or ("specs" not in name and name != "kr.yaml")
    } == expected
    for number, name in enumerate(names, 1):
        record = found[f"T{number:03}"]
        assert record.status == "blocked_by_scope", (name, record)
        assert ATTACKS[name][1] in {one.path for one in record.refused}, (name, record.refused)
    assert project.ticked == ["T900"]
    assert (sorted(os.listdir(project.top / ".git/hooks")), (project.top / ".git/config").read_bytes()) == (
        hooks,
        config,
    )
    assert project.git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/feature"]


OUTSIDE = {
    "a file": "echo owned > {top}/README.md",
    "a new file": "echo owned > {top}/owned.txt",
    "a removed file": "rm -f {top}/README.md",
    "permissions": "chmod 777 {top}/README.md",
    "a hard link": "ln {top}/README.md src/h 2>/dev/null && echo owned >> src/h; rm -f src/h",
    "a hook": "printf '#!/bin/sh\\n' > {top}/.git/hooks/post-commit; chmod +x {top}/.git/hooks/post-commit",
    "settings": "git -C {top} config core.fsmonitor evil",
    "rules": "echo '*' >> {top}/.git/info/exclude",
    "attributes": "echo '* filter=x' > {top}/.git/info/attributes",
    "a branch moved": "git -C {top} update-ref refs/heads/feature HEAD~1",
    "a new branch": "git -C {top} branch owned",
    "packed branches": "git -C {top} pack-refs --all; git -C {top} update-ref -d refs/heads/other",
    "an empty commit": "git -C {top} -c user.name=x -c user.email=x commit -q --allow-empty -m owned",
    "its index": "git -C {top} update-index --add --cacheinfo 100644,$(git -C {top} rev-parse HEAD:README.md),owned",
    "its index, hidden": "git -C {top} update-index --skip-worktree README.md; echo owned > {top}/README.md",
    "a lock on its index": "touch {top}/.git/index.lock",
    "replaced objects": "git -C {top} replace -f HEAD HEAD~1",
    "a shallow history": "git -C {top} rev-parse HEAD > {top}/.git/shallow",
    "other objects": "echo /tmp > {top}/.git/objects/info/alternates",
    "included settings": "git -C {top} config include.path /tmp/evil",
    "another work tree": "git -C {top} config core.worktree /tmp",
    "the history of its branch": "echo owned >> {top}/.git/logs/HEAD",
    "a merge": "git -C {top} rev-parse HEAD > {top}/.git/MERGE_HEAD",
    "a link to the outside": "rm -f {top}/README.md; ln -s /etc/passwd {top}/README.md",
    "a hard link of its work": "ln src/app.py {top}/owned.py",
    "another worktree": "git -C {top} worktree add -q {top}/owned 2>/dev/null",
    "a lock on its branches": "touch {top}/.git/packed-refs.lock {top}/.git/HEAD.lock {top}/.git/config.lock",
    "a message for the next commit": "echo owned > {top}/.git/MERGE_MSG; echo owned > {top}/.git/SQUASH_MSG",
    "a known resolution": "mkdir -p {top}/.git/rr-cache/x; echo owned > {top}/.git/rr-cache/x/postimage",
    "a bundle of hooks": "rm -rf {top}/.git/hooks; ln -s /tmp {top}/.git/hooks",
    "another branch": "git -C {top} symbolic-ref HEAD refs/heads/other",
}


@pytest.mark.req("X3")
@pytest.mark.parametrize("confinement", AVAILABLE)
@pytest.mark.parametrize("name", OUTSIDE)
def test_the_project_itself_is_as_it_was(make, confinement, name, tmp_path):
    """An agent that reaches for it by its path is kept from it, or what it did is put back and its task blocked."""
    script = f"echo 'app = 2' > src/app.py\n{OUTSIDE[name].format(top=tmp_path / 'project')}\ntrue"
    project = make(("- [ ] T001 Implement src/app.py", script))
    project.git("branch", "other")
    project.write("README.md", "# Read me\n")
    project.git("commit", "-q", "--allow-empty", "-m", "second")

    def state():
        refs = project.git("for-each-ref", "--format=%(refname) %(objectname)").split("\n")
        own = {
            path: path.read_bytes()
            for path in (project.top / ".git").rglob("*")
            if path.is_file() and "hooks" in path.parts
        }
        mode = (project.top / "README.md").stat().st_mode
        names = sorted(
            str(path.relative_to(project.top / ".git"))
            for path in (project.top / ".git").rglob("*")
            if path.is_file() and not {"objects", "hooks"} & {*path.parts}
        )
        alternates = (project.top / ".git/objects/info/alternates").exists()
        return (
            refs,
            own,
            (project.top / ".git/config").read_bytes(),
            (project.top / ".git/info/exclude").read_bytes(),
            mode,
            [name for name in names if name not in {"ORIG_HEAD", "COMMIT_EDITMSG"}],
            alternates,
        )

    before, head = state(), project.head
    record = run(project, confinements=[confinement])["T001"]
    if record.status == "succeeded":
        assert confinement != "none" or name == "a hard link"
        assert project.git("rev-parse", "HEAD^").strip() == head
        project.git("update-ref", "refs/heads/feature", head)
        project.git("read-tree", "HEAD")
        project.git("checkout", "--", ".")
    else:
        assert record.status == "blocked_by_scope"
    if not (confinement == "landlock" and name == "permissions"):  # which Landlock does not keep from it
        assert state() == before
    assert project.git("symbolic-ref", "HEAD").strip() == "refs/heads/feature"
    assert (project.top / "README.md").read_text() == "# Read me\n"
    assert project.status == []


@pytest.mark.req("X4")
def test_twenty_tasks_at_once_of_which_a_third_misbehave(make):
    """The branch holds exactly the work of those that succeeded."""
    bad = ["kill -9 $$", "exit 3", "echo x > README.md", "sleep 600", "rm -rf ./* .git", "true"]
    tasks = [
        (
            f"- [ ] T{n:03} [P] Implement src/f{n}.py",
            f"echo {n} > src/f{n}.py; {bad[n] if n < len(bad) else ''}",
        )
        for n in range(20)
    ]
    tasks[5] = (tasks[5][0], "true")
    project = make(*tasks)
    config = project.top / "kr.yaml"
    config.write_text(config.read_text().replace("timeout_seconds: 60", "timeout_seconds: 8"))
    project.git("commit", "-qam", "short")
    found = run(project)
    assert [found[f"T{n:03}"].status for n in range(6)] == [
        "failed", "failed", "blocked_by_scope", "timed_out", "blocked_by_scope", "failed",
    ]  # fmt: skip
    good = [f"T{n:03}" for n in range(6, 20)]
    assert [id_ for id_, one in found.items() if one.status == "succeeded"] == good
    assert project.ticked == good
    files = project.files()
    assert {name for name in files if name.startswith("src/f")} == {f"src/f{n}.py" for n in range(6, 20)}
    assert project.status == []


@pytest.mark.parametrize("confinement", AVAILABLE)
def test_what_an_agent_leaves_running_is_ended(make, confinement):
    """Also what has left its group and session; it writes nothing once its task is judged."""
    leave = "setsid sh -c 'while :; do echo x >> src/later; sleep 0.05; done' >/dev/null 2>&1 </dev/null & sleep 0.2"
    project = make(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; ({leave})"))
    found = run(project, confinements=[confinement])["T001"]
    assert found.status == "succeeded"
    assert found.changed == ("src/a.py", "src/later")
    said = subprocess.run(["ps", "-ef"], capture_output=True, check=True).stdout.decode()
    assert "src/later" not in said


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ("exit 0", "failed", "it changed nothing"),
        ("echo x > src/a.secret", "failed", "it changed nothing except files that git ignores: src/a.secret"),
        ("echo x > src/a.secret; echo a > src/a.py; git add -A; git commit -qm a", "succeeded", ""),
        ("echo why >&2; exit 7", "failed", "exit code 7: why"),
        ("echo a > src/a.py; sleep 600", "timed_out", "timeout after 3 s"),
        ("head -c 2000000000 /dev/zero > src/large", "blocked_by_scope", "src/large: it is larger"),
        ("yes | head -c 100000000; echo a > src/a.py", "succeeded", ""),
        ("exec 0<&- 1>&- 2>&-; echo a > src/a.py", "succeeded", ""),
        ("chmod 000 src; echo a", "failed", ""),
        ('rm -rf "$PWD"', "blocked_by_scope", ""),
        (
            "cd src; for n in $(seq 1500); do mkdir d; cd d; done; echo x > x",
            "failed",
            "its worktree cannot be read",
        ),
        ("for n in $(seq 100); do setsid sleep 611 & done; echo a > src/a.py", "succeeded", ""),
        ("trap '' TERM HUP INT; echo a > src/a.py; sleep 600", "timed_out", "timeout after 3 s"),
        ("kill -STOP $$", "timed_out", "timeout after 3 s"),
        ("touch .git/index.lock; echo a > src/a.py", "succeeded", ""),
    ],
)
def test_an_agent_that_misbehaves_fails_alone(make, script, status, reason):
    """It hangs, floods, fills the disk, does nothing or says why."""
    project = make(("- [ ] T001 Implement src/a.py", script))
    config = project.top / "kr.yaml"
    config.write_text(
        config.read_text().replace(
            "timeout_seconds: 60", "timeout_seconds: 3" if status == "timed_out" else "timeout_seconds: 50"
        )
    )
    project.git("commit", "-qam", "time")
    found = run(project)["T001"]
    assert (found.status, found.reason.startswith(reason)) == (status, True), found
    assert project.status == []
    assert list((project.top / ".kr/dispatch").glob("work/*")) == []


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("_WORKTREE_BYTES", "it wrote more than 0 GB"),
        ("_FILES", "it made more than 300 files"),
        ("_FREE_BYTES", "of the disk free"),
    ],
)
def test_an_agent_that_fills_the_disk_is_ended(make, monkeypatch, limit, said):
    """By bytes, by files, or where too little is left; nothing lands."""
    from kr_core.dispatch import agent_process

    disk = os.statvfs("/tmp")
    most = {
        "_WORKTREE_BYTES": 10 * 2**20,
        "_FILES": 300,
        "_FREE_BYTES": disk.f_bavail * disk.f_frsize - 50 * 2**20,
    }
    monkeypatch.setattr(agent_process, limit, most[limit])
    script = "for n in $(seq 400); do echo $n > src/n$n; done; head -c 200000000 /dev/zero > src/zero; sync; sleep 20; echo a > src/a.py"
    project = make(("- [ ] T001 Implement src/a.py", script))
    found = run(project)["T001"]
    assert (found.status, said in found.reason) == ("failed", True), found.reason
    assert project.status == []


def test_files_of_the_branch_in_another_encoding_stay(make):
    """They are written, compared and committed as the bytes that they are."""
    project = make(("- [ ] T001 Implement src/a.py", "ls src > src/a.py"))
    name = os.fsencode(project.top) + b"/src/caf\xe9.py"
    Path(os.fsdecode(name)).write_bytes(b"old\r\n\xff")
    project.git("add", "-A")
    project.git("commit", "-qm", "latin")
    assert run(project)["T001"].status == "succeeded"
    assert "caf" in (project.top / "src/a.py").read_text(errors="replace")
    assert Path(os.fsdecode(name)).read_bytes() == b"old\r\n\xff"
    assert project.status == []


@pytest.mark.parametrize("confinement", AVAILABLE)
def test_a_hard_link_of_the_checkout_is_none_in_the_worktree(make, confinement):
    """What the user has linked from inside the scope to the outside stays as it is: neither sandbox would keep an agent from it."""
    project = make(("- [ ] T001 Implement src/linked.py", "echo owned >> src/linked.py"))
    project.write("tests/linked.py", "one\n")
    os.link(project.top / "tests/linked.py", project.top / "src/linked.py")
    project.git("add", "-A")
    project.git("commit", "-qm", "link")
    assert run(project, confinements=[confinement])["T001"].changed == ("src/linked.py",)
    assert (project.top / "tests/linked.py").read_text() == "one\n"
    assert project.files()["tests/linked.py"] == "one\n"
    assert project.status == []


def test_an_agent_that_rewrites_its_history_lands_its_files(make):
    """It rebases, resets and amends: only what the files are in the end counts."""
    script = (
        "echo a > src/a.py; git add -A; git commit -qm a; echo b > src/b.py; git add -A; git commit -qm b;"
        "git rebase -q --onto HEAD~2 HEAD~1; git commit -q --amend -m c; git reset -q --soft HEAD~1"
    )
    project = make(("- [ ] T001 Implement src/b.py", script))
    head = project.head
    found = run(project)["T001"]
    assert (found.status, found.changed) == ("succeeded", ("src/b.py",))
    assert project.git("rev-parse", "HEAD^").strip() == head


def test_much_that_is_refused_is_kept_aside_and_told_in_few_lines(make):
    """Small files are the patch, large ones are moved beside it, and nothing of it is in the repository."""
    script = (
        "head -c 300000000 /dev/urandom > src/large; head -c 9000000 /dev/urandom > tests/mid;"
        "for n in $(seq 3000); do echo $n > tests/n$n; done; echo x > README.md"
    )
    project = make(("- [ ] T001 Implement src/a.py", script))
    before = size_of(project.top / ".git")
    record = run(project)["T001"]
    assert record.status == "blocked_by_scope"
    assert len(record.refused) == 501
    assert record.refused[-1].reason == "and 2,503 more"
    (patch,) = project.patches()
    text = patch.read_text()
    assert "+++ b/tests/n2999" in text
    assert "tests/mid" not in text
    told = json.loads(patch.with_suffix(".json").read_text())
    moved = {name: (patch.parent / place).stat().st_size for name, place in told["moved"].items()}
    assert moved == {"src/large": 300_000_000, "tests/mid": 9_000_000}
    assert size_of(project.top / ".git") - before < 20 * 2**20
    assert project.status == []


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.skipif("bubblewrap" not in AVAILABLE or os.geteuid() != 0, reason="needs bubblewrap, and root")
def test_root_in_bubblewrap_mounts_nothing(make, tmp_path):
    """It has no rights that could make what is read-only writable."""
    script = f"ls /run > src/run; mount -o remount,rw,bind /; umount {tmp_path}; touch {tmp_path}/owned /usr/owned; echo a > src/a.py"
    project = make(("- [ ] T001 Implement src/a.py", script))
    assert run(project, confinements=["bubblewrap"])["T001"].status == "succeeded"
    assert not (tmp_path / "owned").exists()
    assert not Path("/usr/owned").exists()
    assert (project.top / "src/run").read_text() in {"", "systemd\n"}  # no sockets of services


def test_an_agent_that_stops_what_watches_over_it_leaves_nothing_running(make):
    """That goes on with the end of its time, and ends what has a session of its own, too; else it would write in the project later."""
    script = "setsid sleep 77.25 >/dev/null 2>&1 & echo a > src/a.py; sleep 0.2; kill -STOP $PPID; sleep 60"
    project = make(("- [ ] T001 Implement src/a.py", script))
    config = project.top / "kr.yaml"
    config.write_text(config.read_text().replace("timeout_seconds: 60", "timeout_seconds: 1"))
    project.git("commit", "-qam", "short")
    assert run(project, confinements=["none"])["T001"].status == "timed_out"
    said = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, check=True).stdout.decode()
    left = [int(line.split()[0]) for line in said.splitlines() if line.endswith("sleep 77.25")]
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


@pytest.mark.parametrize("confinement", AVAILABLE)
def test_an_agent_that_kills_what_watches_over_it_lands_nothing(make, confinement):
    """Where a sandbox does not keep it from that; the reason says what may still run."""
    project = make(("- [ ] T001 Implement src/a.py", "kill -9 $PPID; sleep 1; echo a > src/a.py"))
    found = run(project, confinements=[confinement])["T001"]
    if found.status == "succeeded":
        assert confinement != "none"
    else:
        assert found.reason.startswith("what watches over it was ended by signal 9")
        assert project.status == []


def test_without_a_sandbox_one_agent_runs_at_a_time(make):
    """Otherwise one could write into the worktree of another, whose scope is another."""
    script = 'for n in ../../*/tree; do [ "$n" -ef . ] || echo owned > $n/tests/owned; done; sleep 0.3; echo x > src/{0}'
    project = make(
        *((f"- [ ] T00{n} [P] Implement src/f{n}.py", script.format(f"f{n}.py")) for n in range(3)),
        ("- [ ] T004 [P] Test it in tests/test_b.py", "sleep 0.3; echo x > tests/test_b.py"),
    )
    found = run(project, confinements=["none"])
    assert {one.status for one in found.values()} == {"succeeded"}
    assert "tests/owned" not in project.files()


@pytest.mark.parametrize("confinement", CONFINED)
def test_an_agent_sees_only_what_it_needs(make, confinement, tmp_path):
    """Not the home folder, the temporary folder, or the project; but what its command line names."""
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    script = f"cat {secret} {tmp_path}/project/README.md > src/seen 2>/dev/null; ls README.md src/app.py >> src/seen; git log --oneline >> src/seen"
    project = make(("- [ ] T001 Implement src/seen", script))
    assert run(project, confinements=[confinement])["T001"].status == "succeeded"
    text = (project.top / "src/seen").read_text()
    assert "hidden" not in text
    assert "# Read me" not in text
    assert "README.md\nsrc/app.py" in text
    assert "start" in text


@pytest.mark.req("X4")
def test_phases_and_what_a_task_depends_on_are_kept(make):
    """One after the other, and nothing after one that failed."""
    see = "ls src > src/{0}"
    project = make(
        "## Phase 1: Setup",
        ("- [ ] T001 Implement src/one", see.format("one")),
        ("- [ ] T002 [P] Implement src/two (depends on T003)", see.format("two")),
        ("- [ ] T003 [P] Implement src/three", see.format("three")),
        "- [ ] T004 Decide",
        "## Phase 2: More",
        ("- [ ] T005 [P] Implement src/five", "exit 1"),
        ("- [ ] T006 [P] Implement src/six", see.format("six")),
        "## Phase 3: Last",
        ("- [ ] T007 Implement src/seven", see.format("seven")),
    )
    told = []
    found = run(project, tell=told.append)
    assert {id_: one.status for id_, one in found.items()} == {
        "T001": "succeeded", "T002": "succeeded", "T003": "succeeded", "T004": "queued", "T005": "failed", "T006": "succeeded",
        "T007": "queued",
    }  # fmt: skip
    assert "three" in (project.top / "src/two").read_text()
    assert "one" in (project.top / "src/three").read_text()
    assert any(line.startswith("T004 is for a human") for line in told)
    (project.scripts / "T005").write_text("echo x > src/five")
    assert {id_: one.status for id_, one in run(project).items()} == {
        "T004": "queued",
        "T005": "succeeded",
        "T007": "succeeded",
    }


def test_a_journal_that_fails_ends_the_run_with_its_own_error(make):
    """Whatever else runs in the same wave."""
    project = make(*((f"- [ ] T00{n} [P] Implement src/f{n}.py", f"echo > src/f{n}.py") for n in range(3)))
    with Pipeline.open(folder=project.top) as pipeline:
        plan = read_plan(project.tasks, pipeline.config)

        async def work():
            session = DispatchSession(pipeline, lambda _line: pipeline.journal.close())
            async with session.opened():
                await Dispatcher(session, plan).run(plan.tasks)

        with pytest.raises(StorageError, match="the journal is closed"):
            aio.run(work())


def test_one_task_is_run_and_an_unknown_one_is_refused(kr_here, make):
    """A second time it is done already."""
    project = make(*STORY)
    done = kr_here("dispatch", "run", TASKS, "--task", "T011", "--json", cwd=project.top)
    assert (done.code, [one["id"] for one in json.loads(done.out)["tasks"]]) == (0, ["T011"])
    head = project.head
    assert kr_here("dispatch", "run", TASKS, "--task", "T011", cwd=project.top).code == 0
    assert project.head == head
    done = kr_here("dispatch", "run", TASKS, "--task", "T999", cwd=project.top)
    assert done.code == 2
    assert "no task has the id `T999`" in done.err


@pytest.mark.req("Z8")
def test_an_untrusted_configuration_runs_nothing(kr, make):
    """Its file and line are named."""
    project = make(*STORY)
    head = project.head
    done = kr("dispatch", "run", TASKS, cwd=project.top)
    assert (done.code, project.head, project.ticked) == (2, head, [])
    assert "not trusted" in done.err
    assert "kr.yaml:" in done.err


def test_what_meanwhile_happens_to_the_branch_and_the_file_stays(make):
    """Another commit, a task more in the file, and one that was reworded."""
    project = make(
        ("- [ ] T001 Implement src/a.py", "echo a > src/a.py"),
        ("- [ ] T002 Implement src/b.py", "echo b > src/b.py"),
    )

    told = []

    def meanwhile(line):
        told.append(line)
        if line.startswith("T001 dede"):
            project.write("README.md", "more\n")
            project.git("commit", "-qam", "meanwhile")
        if line.startswith("T002 dede"):
            text = project.tasks.read_text()
            project.tasks.write_text(
                text.replace("# Tasks: X", "# Tasks: X\n\n- [ ] T009 new").replace("src/b.py", "src/c.py")
            )

    found = run(project, tell=meanwhile)
    assert [one.status for one in found.values()] == ["succeeded", "succeeded"]
    assert project.ticked == ["T001"]
    assert any("its box cannot be found" in line for line in told)
    files = project.files()
    assert (files["README.md"], files["src/a.py"], files["src/b.py"]) == ("more\n", "a\n", "b\n")
    assert project.status == [f" M {TASKS}"]


def test_a_conflict_with_the_branch_is_worked_on_once_more(make):
    """From the new state."""
    project = make(("- [ ] T001 Implement src/app.py", "sed -i 's/app/APP/' src/app.py"))
    done = []

    def meanwhile(line):
        if line.startswith("T001 dede") and not done:
            done.append(line)
            project.write("src/app.py", "app = 7\n")
            project.git("commit", "-qam", "meanwhile")

    found = run(project, tell=meanwhile)["T001"]
    assert found.status == "succeeded"
    assert project.files()["src/app.py"] == "APP = 7\n"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no repository", "not in a git work tree"),
        ("no commit", "no commit yet"),
        ("detached", "no branch is checked out"),
        ("a merge", "a merge is under way"),
        ("a hook of its own", "makes git run a program"),
        ("no identity", "git does not know who you are"),
    ],
)
def test_a_repository_that_cannot_take_work_is_refused(kr, make, how, said):
    """Before anything runs, with exit code 2."""
    project = make(*STORY)
    if how == "no repository":
        subprocess.run(["rm", "-rf", project.top / ".git"], check=True)
    elif how == "no commit":
        project.git("update-ref", "-d", "refs/heads/feature")
    elif how == "detached":
        project.git("checkout", "-q", "--detach")
    elif how == "a merge":
        (project.top / ".git/MERGE_HEAD").write_text(f"{project.head}\n")
    elif how == "a hook of its own":
        project.git("config", "hook.x.command", "touch owned")
    else:
        project.git("config", "--unset", "user.email")
        project.git("config", "user.useConfigOnly", "true")
    environ = {"KR_TRUST": "all", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = kr("dispatch", "run", TASKS, cwd=project.top, env=environ)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (project.top / "tests/test_login.py").exists()


def test_changes_that_are_not_committed_are_never_overwritten(make):
    """The task fails, and its work is kept aside."""
    project = make(
        ("- [ ] T001 Implement src/app.py", "echo 2 > src/app.py"),
        ("- [ ] T002 [P] Implement src/b.py", "echo b > src/b.py"),
    )
    project.write("src/app.py", "mine\n")
    found = run(project)
    assert found["T001"].status == "failed"
    assert "not committed" in found["T001"].reason
    assert (project.top / "src/app.py").read_text() == "mine\n"
    assert len(project.patches()) == 1


def test_many_files_are_told_in_few_lines_and_too_many_do_not_land(make):
    """The record and the log stay small; KR keeps aside what does not land."""
    files = "mkdir src/many; cd src/many; seq {} | split -l 1 -a 3 -"
    project = make(
        ("- [ ] T001 [P] Implement src/a.py", files.format(600)),
        ("- [ ] T002 [P] Implement src/b.py", files.replace("many", "more").format(5001)),
    )
    found = run(project)
    assert (found["T001"].status, len(found["T001"].changed)) == ("succeeded", 501)
    assert found["T001"].changed[-1] == "... and 100 more"
    assert found["T002"].status == "failed"
    assert found["T002"].reason == "it changed 5,001 files; one task lands 5,000 at most"
    assert sorted(len(one["changed"]) for one in events(project, "task.judged")) == [501, 501]
    assert sum(name.startswith("src/many/") for name in project.files()) == 600
    assert project.patches()[0].read_text().count("+++ b/src/more/") == 5001


def test_work_that_git_cannot_judge_is_kept_aside(make):
    """A person may have made its ignore rules unreadable meanwhile."""
    project = make(("- [ ] T001 Implement src/a.py", "echo a > src/a.py"))
    os.mkfifo(project.top / "src/.gitignore")
    record = run(project)["T001"]
    assert record.status == "failed"
    assert "git cannot say what it ignores: " in record.reason
    assert ".gitignore" in record.reason
    (patch,) = project.patches()
    assert (project.top / record.patch).samefile(patch)
    assert "+++ b/src/a.py" in patch.read_text()


def test_a_sparse_checkout_and_a_submodule_take_work(make):
    """What is not checked out stays so."""
    project = make(("- [ ] T001 Implement src/app.py", "echo 2 > src/app.py; echo n > src/new.py"))
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.head},vendor/sub")
    project.git("commit", "-qm", "sub")
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/specs/", "/kr.yaml")
    assert not (project.top / "k8s").exists()
    assert run(project)["T001"].status == "succeeded"
    assert "k8s/app.yaml" in project.git("ls-tree", "-r", "--name-only", "HEAD")
    assert not (project.top / "k8s").exists()
    assert [line for line in project.status if "vendor" not in line] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_agents_with_kr(make, environ, number, tmp_path):
    """With all that they have started; the task is on record as failed, and can be run again."""
    mark = f"3{number.value}61.5"
    project = make(
        ("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; setsid sleep {mark} & sleep {mark}")
    )
    process = start(project, environ)
    wait_for(lambda: mark in running())
    process.send_signal(number)
    assert process.wait(20) == 128 + number
    wait_for(lambda: mark not in running())
    with Pipeline.open(folder=project.top) as pipeline:
        assert [one.status for one in records(pipeline.journal)] == ["failed"]
    assert project.status == []
    (project.scripts / "T001").write_text("echo a > src/a.py")
    assert run(project)["T001"].status == "succeeded"


def test_a_run_that_is_cancelled_while_work_lands_has_its_commit_on_record(make):
    """What is on the branch has not failed."""
    project = make(("- [ ] T001 Implement src/a.py", "echo a > src/a.py"))
    begun = project.top / ".kr/dispatch/landing.json"
    with Pipeline.open(folder=project.top) as pipeline:
        plan = read_plan(project.tasks, pipeline.config)

        async def work():
            session = DispatchSession(pipeline)
            async with session.opened():
                running = asyncio.ensure_future(Dispatcher(session, plan).run(plan.tasks))
                while not begun.exists() and not running.done():  # noqa: ASYNC110  a thread makes it
                    await asyncio.sleep(0)
                running.cancel()
                await asyncio.wait({running})

        aio.run(work())
        (record,) = records(pipeline.journal)
    assert (record.status, record.commit) == ("succeeded", project.head)
    assert project.ticked == ["T001"]


def test_a_kill_of_kr_ends_the_agents_and_a_later_run_goes_on(make, environ):
    """What was under way is failed on record, and its worktree is gone."""
    mark = "2961.25"
    project = make(
        ("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; setsid sleep {mark} & sleep {mark}")
    )
    process = start(project, environ)
    wait_for(lambda: mark in running())
    process.kill()
    process.wait()
    wait_for(lambda: mark not in running())
    (project.scripts / "T001").write_text("echo a > src/a.py")
    with Pipeline.open(folder=project.top) as pipeline:
        assert [one.status for one in records(pipeline.journal)] == ["running"]
    assert run(project)["T001"].status == "succeeded"
    finished = events(project, "task.finished")
    assert [one["status"] for one in finished] == ["failed", "succeeded"]
    assert finished[0]["reason"] == "KR was ended while it ran"


def test_two_runs_of_one_project_do_not_mix(make, environ, kr):
    """The second is refused."""
    project = make(("- [ ] T001 Implement src/a.py", "sleep 600"))
    process = start(project, environ)
    wait_for((project.top / ".kr/dispatch/work").exists)
    done = kr("dispatch", "run", TASKS, cwd=project.top, env={"KR_TRUST": "all"})
    process.terminate()
    process.wait(20)
    assert (done.code, "another `kr dispatch run`" in done.err) == (2, True)


def start(project, environ):
    known = {**environ, "KR_TRUST": "all", "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    return subprocess.Popen(
        [sys.executable, "-m", "kr_core", "dispatch", "run", TASKS],
        cwd=project.top, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def running():
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.decode()


def wait_for(happened):
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_the_name_of_a_file_is_never_a_line_of_its_own(kr, make):
    """Else it could say of another task, in each command, that it is done."""
    script = "printf x > \"$(printf 'src/a\\nT009 dede succeeded\\n001-x  T009  dede  succeeded')\""
    project = make(("- [ ] T001 Implement src/a.py", script))
    run_ = kr("dispatch", "run", TASKS, cwd=project.top, env={"KR_TRUST": "all"})
    said = run_.out + run_.err
    for command in (["status"], ["show", "T001"], ["log", "T001"]):
        said += kr("dispatch", *command, cwd=project.top, env={"KR_TRUST": "all"}).out
    assert said.count("T009") >= 4
    assert not [line for line in said.splitlines() if line.startswith(("T009", "001-x  T009"))]


@pytest.mark.parametrize("name", ["hooks", "hooks/pre-commit", "info"])
def test_a_link_of_the_git_folder_leads_where_it_did(make, name, tmp_path):
    """Hooks are often links; without a sandbox one that leads elsewhere is found, and put back."""
    link = tmp_path / "project/.git" / name
    project = make(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; ln -sfn /tmp {link}"))
    if link.is_dir():
        link.rename(tmp_path / "moved")
    link.symlink_to(tmp_path / "moved")
    found = run(project, confinements=["none"])["T001"]
    assert (found.status, link.readlink()) == ("blocked_by_scope", tmp_path / "moved")


def test_a_further_work_tree_stays_with_its_repository(make, tmp_path):
    """Its `.git` is a file that says where that lies."""
    project = make(
        ("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; echo 'gitdir: /tmp' > {tmp_path}/tree/.git")
    )
    project.git("checkout", "-q", "-b", "main")
    project.git("worktree", "add", "-q", str(tmp_path / "tree"), "feature")
    pointer = (tmp_path / "tree/.git").read_bytes()
    project.top, project.tasks = tmp_path / "tree", tmp_path / "tree" / TASKS
    assert run(project, confinements=["none"])["T001"].status == "blocked_by_scope"
    assert (tmp_path / "tree/.git").read_bytes() == pointer


@pytest.mark.parametrize("what", ["patch", "list", "folder", "found"])
def test_what_kr_keeps_aside_is_not_led_into_the_project(make, what, tmp_path):
    """Without a sandbox an agent may put links where KR writes after it has looked at the project."""
    top = tmp_path / "project"
    aside = top / ".kr/dispatch/aside"
    links = {
        "patch": f"ln -s {top}/README.md {aside}/001-x/T001-$attempt.patch",
        "list": f"ln -s {top}/README.md {aside}/001-x/T001-$attempt.json",
        "folder": f"rmdir {aside}/001-x; ln -s {top}/src {aside}/001-x",
        "found": f"mkdir {aside}/found; ln -s {top}/README.md {aside}/found/owned; echo owned > {top}/owned",
    }
    script = (
        f"attempt=$(basename $(dirname $PWD)); mkdir -p {aside}/001-x; {links[what]}; echo owned > tests/x"
    )
    project = make(("- [ ] T001 Implement src/a.py", script))
    assert run(project, confinements=["none"])["T001"].status in {"blocked_by_scope", "failed"}
    assert project.status == []
    assert (top / "README.md").read_text() == FILES["README.md"]


def test_an_agent_never_changes_the_file_of_the_tasks(make):
    """Also where its folder is in the scope: else it could tick other boxes, or make of a task another one."""
    script = "echo a > src/a.py; sed -i 's/. . T002/[X] T002/; s/b.py/c.py/' specs/001-x/tasks.md"
    scopes = "dispatch:\n  scopes:\n    dede: {allow: [src/, specs/]}\n"
    project = make(("- [ ] T001 Implement src/a.py", script), "- [ ] T002 Implement src/b.py", config=scopes)
    found = run(project, "T001")["T001"]
    assert (found.status, [one.path for one in found.refused]) == ("blocked_by_scope", [TASKS])
    assert (found.requests, project.ticked, project.status) == ((), [], [])


def test_two_tasks_at_once_make_no_two_names_that_are_one_elsewhere(make):
    """What differs in case alone is one file on some systems; the second one is refused with the first on the branch."""
    project = make(
        ("- [ ] T001 [P] Implement src/new.py", "echo a > src/new.py"),
        ("- [ ] T002 [P] Implement src/New.py", "sleep 1.5; echo b > src/New.py"),
    )
    found = run(project)
    assert (found["T001"].status, found["T002"].status) == ("succeeded", "blocked_by_scope")
    assert found["T002"].refused[0].reason == "on some systems its name is that of `src/new.py`"
    assert "src/New.py" not in project.files()


def test_an_object_of_the_repository_that_is_written_over_is_found(make, tmp_path):
    """Git does not compare an object with its name when it reads one; without a sandbox a file outside would have other content."""
    script = (
        f"cd {tmp_path}/project; id=$(git rev-parse HEAD:README.md); file=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-);"
        'chmod u+w $file; python3 -c \'import sys, zlib; open(sys.argv[1], "wb").write(zlib.compress(b"blob 6\\0owned\\n"))\' $file'
    )
    project = make(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; {script}"))
    found = run(project, confinements=["none"])["T001"]
    assert found.status == "blocked_by_scope"
    assert found.refused[0].path.startswith(".git/objects/")
