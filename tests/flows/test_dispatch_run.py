"""`kr dispatch run`: tasks done by three roles at once, and the one that reaches outside refused."""

import json
import os
import signal
import subprocess
import time

import pytest
from support.fork_server import kr_argv
from support.task_runs import TASKS, events, run

from kr_core import aio
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import records
from kr_core.dispatch.runner import Dispatcher
from kr_core.dispatch.session import DispatchSession
from kr_core.errors import StorageError
from kr_core.research import Pipeline

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
def story(make_tasks):
    project = make_tasks(*STORY)
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
def test_user_story_5_scenario_4_a_change_outside_of_the_scope_is_blocked_and_logged(make_tasks):
    """Nothing of the task lands, its box stays open, and its whole difference is kept aside."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "echo 'a' > src/a.py; echo owned > README.md"))
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
def test_three_roles_work_at_once_and_the_one_that_reaches_outside_is_refused(kr, make_tasks):
    """Tests, code and manifests land, their boxes are ticked, and the log tells the whole."""
    project = make_tasks(
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


def test_without_a_sandbox_one_agent_runs_at_a_time(make_tasks):
    """Otherwise one could write into the worktree of another, whose scope is another."""
    script = 'for n in ../../*/tree; do [ "$n" -ef . ] || echo owned > $n/tests/owned; done; sleep 0.3; echo x > src/{0}'
    project = make_tasks(
        *((f"- [ ] T00{n} [P] Implement src/f{n}.py", script.format(f"f{n}.py")) for n in range(3)),
        ("- [ ] T004 [P] Test it in tests/test_b.py", "sleep 0.3; echo x > tests/test_b.py"),
    )
    found = run(project, confinements=["none"])
    assert {one.status for one in found.values()} == {"succeeded"}
    assert "tests/owned" not in project.files()


@pytest.mark.req("X4")
def test_phases_and_what_a_task_depends_on_are_kept(make_tasks):
    """One after the other, and nothing after one that failed."""
    see = "ls src > src/{0}"
    project = make_tasks(
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


def test_a_journal_that_fails_ends_the_run_with_its_own_error(make_tasks):
    """Whatever else runs in the same wave."""
    project = make_tasks(
        *((f"- [ ] T00{n} [P] Implement src/f{n}.py", f"echo > src/f{n}.py") for n in range(3))
    )
    with Pipeline.open(folder=project.top) as pipeline:
        plan = read_plan(project.tasks, pipeline.config)

        async def work():
            session = DispatchSession(pipeline, lambda _line: pipeline.journal.close())
            async with session.opened():
                await Dispatcher(session, plan).run(plan.tasks)

        with pytest.raises(StorageError, match="the journal is closed"):
            aio.run(work())


def test_one_task_is_run_and_an_unknown_one_is_refused(kr_here, make_tasks):
    """A second time it is done already."""
    project = make_tasks(*STORY)
    done = kr_here("dispatch", "run", TASKS, "--task", "T011", "--json", cwd=project.top)
    assert (done.code, [one["id"] for one in json.loads(done.out)["tasks"]]) == (0, ["T011"])
    head = project.head
    assert kr_here("dispatch", "run", TASKS, "--task", "T011", cwd=project.top).code == 0
    assert project.head == head
    done = kr_here("dispatch", "run", TASKS, "--task", "T999", cwd=project.top)
    assert done.code == 2
    assert "no task has the id `T999`" in done.err


@pytest.mark.req("Z8")
def test_an_untrusted_configuration_runs_nothing(kr, make_tasks):
    """Its file and line are named."""
    project = make_tasks(*STORY)
    head = project.head
    done = kr("dispatch", "run", TASKS, cwd=project.top)
    assert (done.code, project.head, project.ticked) == (2, head, [])
    assert "not trusted" in done.err
    assert "kr.yaml:" in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_agents_with_kr(make_tasks, environ, number, tmp_path):
    """With all that they have started; the task is on record as failed, and can be run again."""
    mark = f"3{number.value}61.5"
    project = make_tasks(
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


def test_a_kill_of_kr_ends_the_agents_and_a_later_run_goes_on(make_tasks, environ):
    """What was under way is failed on record, and its worktree is gone."""
    mark = "2961.25"
    project = make_tasks(
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


def test_two_runs_of_one_project_do_not_mix(make_tasks, environ, kr):
    """The second is refused."""
    project = make_tasks(("- [ ] T001 Implement src/a.py", "sleep 600"))
    process = start(project, environ)
    wait_for((project.top / ".kr/dispatch/work").exists)
    done = kr("dispatch", "run", TASKS, cwd=project.top, env={"KR_TRUST": "all"})
    process.terminate()
    process.wait(20)
    assert (done.code, "another `kr dispatch run`" in done.err) == (2, True)


def start(project, environ):
    known = {**environ, "KR_TRUST": "all", "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    return subprocess.Popen(
        kr_argv(known, "dispatch", "run", TASKS),
        cwd=project.top, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def running():
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.decode()


def wait_for(happened):
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)
