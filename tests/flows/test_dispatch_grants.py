"""Grants: a person lets one task change one path outside of its scope."""

import json

import pytest
from support.tasks import TaskProject

from kr_core.dispatch.record import records
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("X2", "X3")

TASKS = "specs/001-x/tasks.md"


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    config = "escalations: [web]\ndispatch: {scopes: {dede: {allow: [src/], deny: [docs/]}}}\n"
    return lambda *tasks: TaskProject(tmp_path / "repository", tasks, config=config)


@pytest.fixture
def project(make):
    return make(
        (
            "- [ ] T001 Implement src/a.py",
            "echo a > src/a.py; echo x >> pyproject.toml; cp $TMPDIR/order src/order",
        )
    )


@pytest.fixture
def call(kr_here, project):
    def run(*arguments):
        return kr_here(*arguments, cwd=project.top)

    return run


def test_a_path_outside_is_put_to_a_person_and_a_yes_lets_the_next_run_land(project, call):
    """The case shows the path and what would change; the grant is on record."""
    done = call("dispatch", "run", TASKS)
    assert done.code == 1
    assert "asked: pyproject.toml: `kr inbox choose E1 yes`, or no" in done.out
    assert "E1" in call("inbox", "list").out
    shown = call("inbox", "show", "E1").out
    assert "May task T001 change `pyproject.toml`? It is outside of what dede may write." in shown
    assert "+x" in shown
    waiting = call("dispatch", "run", TASKS)
    assert "T001 dede queued: it waits for a person: E1 (pyproject.toml)" in waiting.out
    assert call("inbox", "choose", "E1", "yes").code == 0
    assert "no question of this feature" in call("retro", "001-x").err
    done = call("dispatch", "run", TASKS, "--json")
    (task,) = json.loads(done.out)["tasks"]
    assert (task["status"], task["changed"]) == ("succeeded", ["pyproject.toml", "src/a.py", "src/order"])
    assert project.files()["pyproject.toml"] == "x\n"
    assert json.loads(project.files()["src/order"])["granted"] == ["pyproject.toml"]
    assert project.ticked == ["T001"]
    log = [json.loads(line) for line in call("dispatch", "log", "T001", "--json").out.splitlines()]
    assert [one["data"]["granted"] for one in log if one["kind"] == "task.dispatched"] == [
        [],
        ["pyproject.toml"],
    ]
    (asked,) = [one["data"] for one in log if one["kind"] == "task.grant_requested"]
    assert (asked["path"], asked["escalation_id"]) == ("pyproject.toml", "E1")


def test_a_path_is_asked_for_once_however_often_its_task_runs(project, call):
    """Its record names the case once."""
    for _ in range(3):
        call("dispatch", "run", TASKS, "--task", "T001")
    with Pipeline.open(folder=project.top) as pipeline:
        (record,) = records(pipeline.journal)
    assert [(one.path, one.escalation) for one in record.requests] == [("pyproject.toml", "E1")]


def test_a_no_opens_nothing_and_is_not_asked_again(project, call):
    """The task is blocked again, and its case stays decided."""
    call("dispatch", "run", TASKS)
    assert call("inbox", "choose", "E1", "no").code == 0
    assert "blocked_by_scope" in call("dispatch", "run", TASKS).out
    assert "blocked_by_scope" in call("dispatch", "run", TASKS).out
    assert "nothing waits" in call("inbox", "list").out
    assert "pyproject.toml" not in project.files()


def test_each_case_shows_what_would_change_in_its_own_path(project, call):
    """However much changes in another one."""
    (project.scripts / "T001").write_text(
        "echo a > src/a.py; yes filler | head -c 9000 > large.txt; echo 'scripts = evil' > setup.cfg\n"
    )
    call("dispatch", "run", TASKS)
    shown = [call("inbox", "show", case).out for case in ("E1", "E2")]
    assert [("+filler" in one, "+scripts = evil" in one) for one in shown] == [(True, False), (False, True)]
    assert "`setup.cfg`" in shown[1]


@pytest.mark.parametrize("answer", ["yes, if you must", "sure", "yes\n\nand everything else"])
def test_only_a_plain_yes_grants(project, call, answer):
    """Anything else that a person writes opens nothing."""
    call("dispatch", "run", TASKS)
    call("inbox", "correct", "E1", answer)
    assert "blocked_by_scope" in call("dispatch", "run", TASKS).out


def test_a_grant_is_for_one_task_and_one_path(project, call):
    """Not for what another task changes there, nor for a task of the same id with another title."""
    call("dispatch", "run", TASKS)
    call("inbox", "choose", "E1", "yes")
    (project.scripts / "T001").write_text("echo x > pyproject.toml; echo x > setup.cfg; echo a > src/a.py\n")
    done = call("dispatch", "run", TASKS)
    assert "refused: setup.cfg" in done.out
    assert "asked: setup.cfg: `kr inbox choose E2 yes`" in done.out
    assert "refused: pyproject.toml" not in done.out
    project.tasks.write_text(
        "# Tasks: X\n\n- [ ] T001 [P] Implement src/b.py\n- [ ] T002 [P] Implement src/a.py\n"
    )
    project.git("commit", "-qam", "other tasks")
    (project.scripts / "T002").write_text("echo x > pyproject.toml\n")
    (project.scripts / "T001").write_text("echo x > pyproject.toml; echo a > src/a.py\n")
    done = call("dispatch", "run", TASKS, "--task", "T001", "--task", "T002")
    assert done.out.count("refused: pyproject.toml") == 2


@pytest.mark.parametrize(
    "script",
    [
        "echo '* filter=x' > src/.gitattributes",
        "echo '*.log' > .gitignore",
        "git config x.y z",
        "echo x > kr.yaml",
        "mkdir docs; echo x > docs/x",
        "ln -s /etc src/l; echo x > pyproject.toml",
        "echo x > README.md; mkfifo src/p",
        "truncate -s 300M src/big.bin",
        "echo x > README.md; truncate -s 300M src/big.bin",
        "truncate -s 300M big.bin",
        "for n in 1 2 3 4 5 6; do echo x > $n; done",
        "printf x > \"$(printf 'caf\\351.py')\"",
    ],
)
def test_nobody_is_asked_for_what_cannot_be_granted(project, call, script):
    """Nor where a grant would not let the work land, or an agent changes many files."""
    (project.scripts / "T001").write_text(f"echo a > src/a.py; {script}\n")
    done = call("dispatch", "run", TASKS)
    assert "blocked_by_scope" in done.out
    assert "asked:" not in done.out
    assert "no question was ever put to a human" in call("inbox", "list", "--all").out


def test_a_reviewer_gets_no_grants(make, kr_here):
    """She writes nothing."""
    project = make(("- [ ] T001 Review src/app.py", "echo x > src/app.py"))
    done = kr_here("dispatch", "run", TASKS, cwd=project.top)
    assert "blocked_by_scope" in done.out
    assert "asked:" not in done.out
