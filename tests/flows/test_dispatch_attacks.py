"""What an agent does beyond its task: it lands nothing, fails alone, and leaves nothing behind."""

import json
import os
import pwd
import signal
import subprocess
from pathlib import Path

import pytest
from support.task_runs import AVAILABLE, CONFINED, TASKS, run
from support.tasks import ATTACKS, FILES, WORK

from kr_core.dispatch import sandbox


@pytest.mark.req("X3")
@pytest.mark.parametrize("confinement", AVAILABLE)
def test_no_attack_escapes(make_tasks, confinement):
    """Each of them ends blocked, with its path, with every sandbox and without one; nothing of it lands."""
    names = list(ATTACKS)
    project = make_tasks(
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
def test_the_project_itself_is_as_it_was(make_tasks, confinement, name, tmp_path):
    """An agent that reaches for it by its path is kept from it, or what it did is put back and its task blocked."""
    script = f"echo 'app = 2' > src/app.py\n{OUTSIDE[name].format(top=tmp_path / 'project')}\ntrue"
    project = make_tasks(("- [ ] T001 Implement src/app.py", script))
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
def test_twenty_tasks_at_once_of_which_a_third_misbehave(make_tasks):
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
    project = make_tasks(*tasks)
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
def test_what_an_agent_leaves_running_is_ended(make_tasks, confinement):
    """Also what has left its group and session; it writes nothing once its task is judged."""
    leave = "setsid sh -c 'while :; do echo x >> src/later; sleep 0.05; done' >/dev/null 2>&1 </dev/null & sleep 0.2"
    project = make_tasks(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; ({leave})"))
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
def test_an_agent_that_misbehaves_fails_alone(make_tasks, script, status, reason):
    """It hangs, floods, fills the disk, does nothing or says why."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
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
def test_an_agent_that_fills_the_disk_is_ended(make_tasks, tmp_path, monkeypatch, limit, said):
    """By bytes, by files, or where too little is left; nothing lands."""
    from kr_core.dispatch import agent_process

    disk = os.statvfs(tmp_path)
    most = {
        "_WORKTREE_BYTES": 10 * 2**20,
        "_FILES": 300,
        "_FREE_BYTES": disk.f_bavail * disk.f_frsize - 50 * 2**20,
    }
    monkeypatch.setattr(agent_process, limit, most[limit])
    script = "for n in $(seq 400); do echo $n > src/n$n; done; head -c 200000000 /dev/zero > src/zero; sync; sleep 20; echo a > src/a.py"
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    found = run(project)["T001"]
    assert (found.status, said in found.reason) == ("failed", True), found.reason
    assert project.status == []


@pytest.mark.parametrize("confinement", AVAILABLE)
def test_a_hard_link_of_the_checkout_is_none_in_the_worktree(make_tasks, confinement):
    """What the user has linked from inside the scope to the outside stays as it is: neither sandbox would keep an agent from it."""
    project = make_tasks(("- [ ] T001 Implement src/linked.py", "echo owned >> src/linked.py"))
    project.write("tests/linked.py", "one\n")
    os.link(project.top / "tests/linked.py", project.top / "src/linked.py")
    project.git("add", "-A")
    project.git("commit", "-qm", "link")
    assert run(project, confinements=[confinement])["T001"].changed == ("src/linked.py",)
    assert (project.top / "tests/linked.py").read_text() == "one\n"
    assert project.files()["tests/linked.py"] == "one\n"
    assert project.status == []


def test_an_agent_that_rewrites_its_history_lands_its_files(make_tasks):
    """It rebases, resets and amends: only what the files are in the end counts."""
    script = (
        "echo a > src/a.py; git add -A; git commit -qm a; echo b > src/b.py; git add -A; git commit -qm b;"
        "git rebase -q --onto HEAD~2 HEAD~1; git commit -q --amend -m c; git reset -q --soft HEAD~1"
    )
    project = make_tasks(("- [ ] T001 Implement src/b.py", script))
    head = project.head
    found = run(project)["T001"]
    assert (found.status, found.changed) == ("succeeded", ("src/b.py",))
    assert project.git("rev-parse", "HEAD^").strip() == head


def test_much_that_is_refused_is_kept_aside_and_told_in_few_lines(make_tasks):
    """Small files are the patch, large ones are moved beside it, and nothing of it is in the repository."""
    script = (
        "head -c 300000000 /dev/urandom > src/large; head -c 9000000 /dev/urandom > tests/mid;"
        "for n in $(seq 3000); do echo $n > tests/n$n; done; echo x > README.md"
    )
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
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
def test_root_in_bubblewrap_mounts_nothing(make_tasks, tmp_path):
    """It has no rights that could make what is read-only writable."""
    script = f"ls /run > src/run; mount -o remount,rw,bind /; umount {tmp_path}; touch {tmp_path}/owned /usr/owned; echo a > src/a.py"
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    assert run(project, confinements=["bubblewrap"])["T001"].status == "succeeded"
    assert not (tmp_path / "owned").exists()
    assert not Path("/usr/owned").exists()
    assert (project.top / "src/run").read_text() in {"", "systemd\n"}  # no sockets of services


def test_an_agent_that_stops_what_watches_over_it_leaves_nothing_running(make_tasks):
    """That goes on with the end of its time, and ends what has a session of its own, too; else it would write in the project later."""
    script = "setsid sleep 77.25 >/dev/null 2>&1 & echo a > src/a.py; sleep 0.2; kill -STOP $PPID; sleep 60"
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
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
def test_an_agent_that_kills_what_watches_over_it_lands_nothing(make_tasks, confinement):
    """Where a sandbox does not keep it from that; the reason says what may still run."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "kill -9 $PPID; sleep 1; echo a > src/a.py"))
    found = run(project, confinements=[confinement])["T001"]
    if found.status == "succeeded":
        assert confinement != "none"
    else:
        assert found.reason.startswith("what watches over it was ended by signal 9")
        assert project.status == []


@pytest.mark.parametrize("confinement", CONFINED)
def test_an_agent_sees_only_what_it_needs(make_tasks, confinement, tmp_path):
    """Not the home folder, the temporary folder, or the project; but what its command line names."""
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    script = f"cat {secret} {tmp_path}/project/README.md > src/seen 2>/dev/null; ls README.md src/app.py >> src/seen; git log --oneline >> src/seen"
    project = make_tasks(("- [ ] T001 Implement src/seen", script))
    assert run(project, confinements=[confinement])["T001"].status == "succeeded"
    text = (project.top / "src/seen").read_text()
    assert "hidden" not in text
    assert "# Read me" not in text
    assert "README.md\nsrc/app.py" in text
    assert "start" in text


def test_the_name_of_a_file_is_never_a_line_of_its_own(kr, make_tasks):
    """Else it could say of another task, in each command, that it is done."""
    script = "printf x > \"$(printf 'src/a\\nT009 dede succeeded\\n001-x  T009  dede  succeeded')\""
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    run_ = kr("dispatch", "run", TASKS, cwd=project.top, env={"KR_TRUST": "all"})
    said = run_.out + run_.err
    for command in (["status"], ["show", "T001"], ["log", "T001"]):
        said += kr("dispatch", *command, cwd=project.top, env={"KR_TRUST": "all"}).out
    assert said.count("T009") >= 4
    assert not [line for line in said.splitlines() if line.startswith(("T009", "001-x  T009"))]


@pytest.mark.parametrize("name", ["hooks", "hooks/pre-commit", "info"])
def test_a_link_of_the_git_folder_leads_where_it_did(make_tasks, name, tmp_path):
    """Hooks are often links; without a sandbox one that leads elsewhere is found, and put back."""
    link = tmp_path / "project/.git" / name
    project = make_tasks(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; ln -sfn /tmp {link}"))
    if link.is_dir():
        link.rename(tmp_path / "moved")
    link.symlink_to(tmp_path / "moved")
    found = run(project, confinements=["none"])["T001"]
    assert (found.status, link.readlink()) == ("blocked_by_scope", tmp_path / "moved")


def test_a_further_work_tree_stays_with_its_repository(make_tasks, tmp_path):
    """Its `.git` is a file that says where that lies."""
    project = make_tasks(
        ("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; echo 'gitdir: /tmp' > {tmp_path}/tree/.git")
    )
    project.git("checkout", "-q", "-b", "main")
    project.git("worktree", "add", "-q", str(tmp_path / "tree"), "feature")
    pointer = (tmp_path / "tree/.git").read_bytes()
    project.top, project.tasks = tmp_path / "tree", tmp_path / "tree" / TASKS
    assert run(project, confinements=["none"])["T001"].status == "blocked_by_scope"
    assert (tmp_path / "tree/.git").read_bytes() == pointer


@pytest.mark.parametrize("what", ["patch", "list", "folder", "found"])
def test_what_kr_keeps_aside_is_not_led_into_the_project(make_tasks, what, tmp_path):
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
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    assert run(project, confinements=["none"])["T001"].status in {"blocked_by_scope", "failed"}
    assert project.status == []
    assert (top / "README.md").read_text() == FILES["README.md"]


def test_an_agent_never_changes_the_file_of_the_tasks(make_tasks):
    """Also where its folder is in the scope: else it could tick other boxes, or make of a task another one."""
    script = "echo a > src/a.py; sed -i 's/. . T002/[X] T002/; s/b.py/c.py/' specs/001-x/tasks.md"
    scopes = "dispatch:\n  scopes:\n    dede: {allow: [src/, specs/]}\n"
    project = make_tasks(
        ("- [ ] T001 Implement src/a.py", script), "- [ ] T002 Implement src/b.py", config=scopes
    )
    found = run(project, "T001")["T001"]
    assert (found.status, [one.path for one in found.refused]) == ("blocked_by_scope", [TASKS])
    assert (found.requests, project.ticked, project.status) == ((), [], [])


def test_an_object_of_the_repository_that_is_written_over_is_found(make_tasks, tmp_path):
    """Git does not compare an object with its name when it reads one; without a sandbox a file outside would have other content."""
    script = (
        f"cd {tmp_path}/project; id=$(git rev-parse HEAD:README.md); file=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-);"
        'chmod u+w $file; python3 -c \'import sys, zlib; open(sys.argv[1], "wb").write(zlib.compress(b"blob 6\\0owned\\n"))\' $file'
    )
    project = make_tasks(("- [ ] T001 Implement src/a.py", f"echo a > src/a.py; {script}"))
    found = run(project, confinements=["none"])["T001"]
    assert found.status == "blocked_by_scope"
    assert found.refused[0].path.startswith(".git/objects/")


@pytest.mark.req("X3")
@pytest.mark.parametrize("confinement", CONFINED)
def test_a_confined_agent_leaves_nothing_in_shared_memory(make_tasks, confinement, tmp_path):
    """There its files would outlive it, where other programs look for theirs."""
    name = f"/dev/shm/kr-{os.getpid()}-{tmp_path.name}"
    script = f"echo a > src/a.py; echo x > {name}; true"
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    assert run(project, confinements=[confinement])["T001"].status == "succeeded"
    assert not Path(name).exists()


@pytest.mark.req("X3")
@pytest.mark.parametrize("confinement", CONFINED)
def test_a_confined_agent_reads_no_keys_of_other_processes(make_tasks, confinement):
    """KR's environment holds them; root could read it in /proc, as any user could that of its own programs."""
    environ = f"/proc/{os.getpid()}/environ"
    script = f"echo a > src/a.py; tr '\\0' '\\n' < {environ} >> src/a.py; true"
    project = make_tasks(("- [ ] T001 Implement src/a.py", script))
    assert "PATH=" in Path(environ).read_text()
    assert run(project, confinements=[confinement])["T001"].status == "succeeded"
    assert project.files()["src/a.py"] == "a\n"


def test_the_home_folder_of_the_user_is_hidden_under_another_name_too(tmp_path, monkeypatch):
    """`HOME` may name another one; the keys lie in the one that the system knows."""
    monkeypatch.setenv("HOME", str(tmp_path))
    real = Path(os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir))
    hidden = sandbox.hidden_folders()
    assert tmp_path.resolve() in hidden
    assert real in hidden or len(real.parts) == 1 or not real.is_dir()
