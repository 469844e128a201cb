"""Tasks that a program dispatches through the service, and what the commands say of them."""

import json
import threading

import pytest
from support.tasks import TaskProject

from kr_core import ConfigError, ExecutionTask, KnowledgeRouterService

pytestmark = pytest.mark.req("Q13", "X6")

TASKS = "specs/001-x/tasks.md"
LINES = (
    ("- [ ] T001 Implement src/a.py", "echo said; echo a > src/a.py"),
    ("- [ ] T002 Implement src/b.py", "echo b > src/b.py; echo x > README.md"),
    ("- [ ] T003 Implement src/c.py", "sleep 600"),
    *((f"- [ ] T01{n} Implement src/f{n}.py", f"echo {n} > src/f{n}.py") for n in range(6)),
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    return TaskProject(tmp_path / "repository", LINES)


@pytest.fixture
def service(project):
    with KnowledgeRouterService.open(folder=project.top) as made:
        yield made


def task(id_, **more):
    return ExecutionTask(id=id_, title=f"Implement src/{id_}.py", feature_id="001-x", **more)


def finished(service, handle):
    while (status := service.get_agent_status(handle)).state in {"queued", "running"}:
        threading.Event().wait(0.02)
    return status


def test_a_task_is_dispatched_and_its_status_tells_all(project, service):
    """Its agent, times, log and paths; its box is ticked where its file is named."""
    handle = service.dispatch_task(task("T001", file=TASKS), "developer")
    assert (handle.agent, handle.question_id, handle.route.target) == ("dede", "T001", "dede")
    status = finished(service, handle)
    assert (status.state, status.agent, status.error) == ("succeeded", "dede", "")
    assert (status.log, status.changed, status.refused) == ("said\n", ("src/a.py",), ())
    assert status.started <= status.finished
    assert project.ticked == ["T001"]


def test_a_task_without_a_file_lands_as_well(project, service):
    """No box is ticked."""
    assert finished(service, service.dispatch_task(task("T001"), "@dede")).state == "succeeded"
    assert (project.files()["src/a.py"], project.ticked) == ("a\n", [])


def test_a_task_that_reaches_outside_is_blocked(project, service):
    """With each path and the reason; the role decides the scope."""
    status = finished(service, service.dispatch_task(task("T002"), "dede"))
    assert status.state == "blocked_by_scope"
    assert status.refused == ("README.md: outside of what dede may write (src/)",)
    status = finished(service, service.dispatch_task(task("T001"), "qa"))
    assert status.refused == ("src/a.py: outside of what marie may write (tests/)",)


@pytest.mark.req("X3")
def test_a_yes_to_one_role_opens_nothing_for_another(service, project, kr_here):
    """The same task asks again, in a case of its own, where another specialist does it."""
    (project.scripts / "T004").write_text("echo x > tests/t.py; echo x > README.md\n")
    first = finished(service, service.dispatch_task(task("T004"), "marie"))
    assert first.refused == ("README.md: outside of what marie may write (tests/)",)
    (project.scripts / "T004").write_text("echo x > src/t.py; echo x > README.md\n")
    second = finished(service, service.dispatch_task(task("T004"), "dede"))
    assert second.refused == ("README.md: outside of what dede may write (src/)",)
    assert kr_here("inbox", "choose", "E1", "yes", cwd=project.top).code == 0
    assert finished(service, service.dispatch_task(task("T004"), "dede")).state == "blocked_by_scope"
    assert kr_here("inbox", "choose", "E2", "yes", cwd=project.top).code == 0
    assert finished(service, service.dispatch_task(task("T004"), "dede")).state == "succeeded"


@pytest.mark.parametrize("role", ["architect", "nobody", "human", ""])
def test_an_unknown_role_writes_nothing(project, service, role):
    """Nothing runs."""
    with pytest.raises(ConfigError, match="does no tasks"):
        service.dispatch_task(task("T001"), role)
    assert project.status == []


def test_several_tasks_are_under_way_at_once(project, service):
    """Each lands by itself."""
    handles = [service.dispatch_task(task(f"T01{n}"), "dede") for n in range(6)]
    assert {finished(service, one).state for one in handles} == {"succeeded"}
    assert {f"src/f{n}.py" for n in range(6)} <= {*project.files()}


def test_a_task_that_waits_for_its_turn_is_queued(project):
    """It has not started; its status says so."""
    with (project.top / "kr.yaml").open("a") as file:
        file.write("defaults: {max_concurrent: 1}\n")
    project.git("commit", "-qam", "one at a time")
    with KnowledgeRouterService.open(folder=project.top) as made:
        first = made.dispatch_task(task("T003"), "dede")
        while made.get_agent_status(first).state == "queued":
            threading.Event().wait(0.02)
        second = made.dispatch_task(task("T001"), "dede")
        states = [made.get_agent_status(one) for one in (first, second)]
    assert [one.state for one in states] == ["running", "queued"]
    assert states[1].started is None


def test_the_end_of_the_service_ends_its_tasks(project, kr_here):
    """They are failed on record, and can be run again."""
    with KnowledgeRouterService.open(folder=project.top) as made:
        handle = made.dispatch_task(task("T003"), "dede")
        while not list((project.top / ".kr/dispatch/work").glob("*/scratch")):
            threading.Event().wait(0.02)
        assert made.get_agent_status(handle).state == "running"
    assert project.status == []
    found = json.loads(kr_here("dispatch", "status", "--json", cwd=project.top).out)["tasks"]
    assert [(one["id"], one["status"], one["reason"]) for one in found] == [
        ("T003", "failed", "KR was ended while it ran")
    ]


def test_the_commands_tell_of_a_task(project, kr_here):
    """Where it is, what happened, and what it would have changed."""
    assert kr_here("dispatch", "status", cwd=project.top).code == 4
    kr_here("dispatch", "run", TASKS, "--task", "T002", cwd=project.top)
    assert "T002  dede  blocked_by_scope" in kr_here("dispatch", "status", cwd=project.top).out
    log = kr_here("dispatch", "log", "T002", cwd=project.top).out
    assert [line.split()[2] for line in log.splitlines()] == [
        "task.dispatched", "task.started", "task.ended", "task.judged", "task.kept_aside", "task.grant_requested",
        "task.finished",
    ]  # fmt: skip
    shown = kr_here("dispatch", "show", "t002", cwd=project.top).out
    assert "refused: README.md: outside of what dede may write (src/)" in shown
    assert "+++ b/src/b.py" in shown
    assert json.loads(kr_here("dispatch", "show", "T002", "--json", cwd=project.top).out)["role"] == "dede"
    done = kr_here("dispatch", "show", "T404", cwd=project.top)
    assert (done.code, "was never dispatched; " in done.err) == (2, True)


def test_a_feature_and_a_task_with_odd_names_stay_in_their_folder(project, service):
    """What is kept aside lies below `.kr/`, whatever they are called."""
    odd = ExecutionTask(id="T002", title="x", feature_id="../../../../odd")
    (project.scripts / "T002").write_text("echo x > README.md\n")
    assert finished(service, service.dispatch_task(odd, "dede")).state == "blocked_by_scope"
    assert len(project.patches()) == 1


def test_the_id_of_a_task_has_no_slash():
    """Task `b/c` of feature `a` would be task `c` of feature `a/b`."""
    with pytest.raises(ValueError, match="pattern"):
        task("b/c")


@pytest.mark.req("G2")
def test_logs_hear_what_happens_to_a_task(project, service):
    """As soon as it has ended, each event once; a log that cannot be written ends no task."""
    assert finished(service, service.dispatch_task(task("T001"), "dede")).state == "succeeded"
    lines = [json.loads(line) for line in (project.top / ".kr/log.jsonl").read_text().splitlines()]
    assert [one["kind"] for one in lines] == [
        "task.dispatched", "task.started", "task.ended", "task.judged", "task.landed", "task.finished",
    ]  # fmt: skip
    (project.top / ".kr/log.jsonl").unlink()
    (project.top / ".kr/log.jsonl").mkdir()
    assert finished(service, service.dispatch_task(task("T010"), "dede")).state == "succeeded"
