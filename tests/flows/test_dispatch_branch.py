"""How the work of a task meets the user's branch and repository, whatever they are and whatever happens to them meanwhile."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from support.task_runs import TASKS, events, run

from kr_core import aio
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import records
from kr_core.dispatch.runner import Dispatcher
from kr_core.dispatch.session import DispatchSession
from kr_core.research import Pipeline


def test_files_of_the_branch_in_another_encoding_stay(make_tasks):
    """They are written, compared and committed as the bytes that they are."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "ls src > src/a.py"))
    name = os.fsencode(project.top) + b"/src/caf\xe9.py"
    Path(os.fsdecode(name)).write_bytes(b"old\r\n\xff")
    project.git("add", "-A")
    project.git("commit", "-qm", "latin")
    assert run(project)["T001"].status == "succeeded"
    assert "caf" in (project.top / "src/a.py").read_text(errors="replace")
    assert Path(os.fsdecode(name)).read_bytes() == b"old\r\n\xff"
    assert project.status == []


def test_what_meanwhile_happens_to_the_branch_and_the_file_stays(make_tasks):
    """Another commit, a task more in the file, and one that was reworded."""
    project = make_tasks(
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


def test_a_conflict_with_the_branch_is_worked_on_once_more(make_tasks):
    """From the new state."""
    project = make_tasks(("- [ ] T001 Implement src/app.py", "sed -i 's/app/APP/' src/app.py"))
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
def test_a_repository_that_cannot_take_work_is_refused(kr, make_tasks, how, said):
    """Before anything runs, with exit code 2."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "echo a > src/a.py"))
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
    assert not (project.top / "src/a.py").exists()


def test_changes_that_are_not_committed_are_never_overwritten(make_tasks):
    """The task fails, and its work is kept aside."""
    project = make_tasks(
        ("- [ ] T001 Implement src/app.py", "echo 2 > src/app.py"),
        ("- [ ] T002 [P] Implement src/b.py", "echo b > src/b.py"),
    )
    project.write("src/app.py", "mine\n")
    found = run(project)
    assert found["T001"].status == "failed"
    assert "not committed" in found["T001"].reason
    assert (project.top / "src/app.py").read_text() == "mine\n"
    assert len(project.patches()) == 1


def test_many_files_are_told_in_few_lines_and_too_many_do_not_land(make_tasks):
    """The record and the log stay small; KR keeps aside what does not land."""
    files = "mkdir src/many; cd src/many; seq {} | split -l 1 -a 3 -"
    project = make_tasks(
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


def test_work_that_git_cannot_judge_is_kept_aside(make_tasks):
    """A person may have made its ignore rules unreadable meanwhile."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "echo a > src/a.py"))
    os.mkfifo(project.top / "src/.gitignore")
    record = run(project)["T001"]
    assert record.status == "failed"
    assert "git cannot say what it ignores: " in record.reason
    assert ".gitignore" in record.reason
    (patch,) = project.patches()
    assert (project.top / record.patch).samefile(patch)
    assert "+++ b/src/a.py" in patch.read_text()


def test_a_sparse_checkout_and_a_submodule_take_work(make_tasks):
    """What is not checked out stays so."""
    project = make_tasks(("- [ ] T001 Implement src/app.py", "echo 2 > src/app.py; echo n > src/new.py"))
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.head},vendor/sub")
    project.git("commit", "-qm", "sub")
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/specs/", "/kr.yaml")
    assert not (project.top / "k8s").exists()
    assert run(project)["T001"].status == "succeeded"
    assert "k8s/app.yaml" in project.git("ls-tree", "-r", "--name-only", "HEAD")
    assert not (project.top / "k8s").exists()
    assert [line for line in project.status if "vendor" not in line] == []


def test_a_run_that_is_cancelled_while_work_lands_has_its_commit_on_record(make_tasks):
    """What is on the branch has not failed."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "echo a > src/a.py"))
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


def test_two_tasks_at_once_make_no_two_names_that_are_one_elsewhere(make_tasks):
    """What differs in case alone is one file on some systems; the second one is refused with the first on the branch."""
    project = make_tasks(
        ("- [ ] T001 [P] Implement src/new.py", "echo a > src/new.py"),
        ("- [ ] T002 [P] Implement src/New.py", "sleep 1.5; echo b > src/New.py"),
    )
    found = run(project)
    assert (found["T001"].status, found["T002"].status) == ("succeeded", "blocked_by_scope")
    assert found["T002"].refused[0].reason == "on some systems its name is that of `src/new.py`"
    assert "src/New.py" not in project.files()
