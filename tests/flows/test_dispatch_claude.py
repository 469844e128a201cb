"""Tasks done by the real Claude command line, with the loopback model server in place of the service."""

import json
import re

import pytest
from support.claude_program import claude, environment
from support.model_server import Fails, Says, Uses, model_server
from support.tasks import FILES, Repository

from kr_core import aio
from kr_core.dispatch import sandbox
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import records
from kr_core.dispatch.runner import Dispatcher, choose_tasks
from kr_core.dispatch.session import DispatchSession
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("X3")

AVAILABLE = [name for name in sandbox.NAMES if name == "none" or sandbox.choose([name]) == name]


@pytest.fixture
def dispatch(tmp_path, monkeypatch):
    """`dispatch(task, *script)`: the record of a task, and the calls of the model."""
    program = claude()
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("A_SECRET", "hunter2")
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude/CLAUDE.md").write_text("Always answer in French.")

    def run(task, *script, confinement="none"):
        roles = "".join(
            f"  {role}: {{plugin: claude_cli, timeout_seconds: 120}}\n" for role in ("dede", "degaulle")
        )
        config = f"agents:\n{roles}plugins:\n  claude_cli: {{command: [{program}]}}\n"
        tasks = f"# Tasks: X\n\n- [ ] T001 {task}\n"
        files = {**FILES, "kr.yaml": config, "specs/001-x/tasks.md": tasks, "CLAUDE.md": "Answer in German."}
        project = Repository(tmp_path / "project", files)
        project.git("config", "user.name", "Ada")
        project.git("config", "user.email", "ada@example.org")
        with model_server(*script) as server:
            for name, value in environment(server, home).items():
                monkeypatch.setenv(name, value)
            with Pipeline.open(folder=project.top) as pipeline:
                plan = read_plan(project.top / "specs/001-x/tasks.md", pipeline.config)

                async def work():
                    session = DispatchSession(pipeline, confinements=[confinement])
                    async with session.opened():
                        await Dispatcher(session, plan).run(choose_tasks(plan, ()))

                aio.run(work())
                (record,) = records(pipeline.journal)
        return project, record, server.calls

    return run


def write(path, text="new\n"):
    """The model writes a file below its current folder, which the program names."""

    def line(call):
        folder = re.search(r"/[^\s\"\\\\]+/dispatch/work/\w+/tree", call.texts)[0]
        return Uses("Write", {"file_path": f"{folder}/{path}", "content": text})

    return line


def tools_of(call):
    """The tools that the model is offered; a placeholder is none."""
    return {one["name"] for one in call.body["tools"]} - {"DeferredToolPlaceholder"}


@pytest.mark.parametrize("confinement", AVAILABLE)
def test_it_works_with_its_tools_in_the_worktree(dispatch, confinement):
    """By its own shell and file tools; what it says at the end is the log, and its login reaches the service."""
    project, record, calls = dispatch(
        "Implement src/a.py",
        Uses("Bash", {"command": "pwd > src/here; env > src/env; echo a > src/a.py"}),
        Uses("Read", {"file_path": "src/app.py"}),
        write("src/b.py"),
        Says("I wrote src/a.py."),
        confinement=confinement,
    )
    assert (record.status, record.output.strip()) == ("succeeded", "I wrote src/a.py."), record
    assert record.changed == ("src/a.py", "src/b.py", "src/env", "src/here")
    files = project.files()
    assert files["src/here"].startswith(str(project.top / ".kr/dispatch/work"))
    assert "hunter2" not in files["src/env"]
    tools = tools_of(calls[0])
    assert tools == {"Read", "Glob", "Grep", "Edit", "Write", "Bash"}
    said = json.dumps(calls[0].body["messages"])
    assert "Do task T001 of the feature 001-x" in said
    assert "You may change only what lies here:\\n- src/" in said
    for memory in ("Always answer in French", "Answer in German"):
        assert memory not in calls[0].texts


def test_what_it_writes_outside_of_the_scope_is_refused(dispatch):
    """Its own rules let it: the gate does not."""
    project, record, _calls = dispatch(
        "Implement src/a.py",
        Uses("Bash", {"command": "echo x > README.md"}),
        Says("Done."),
        confinement=AVAILABLE[0],
    )
    assert (record.status, record.refused[0].path) == ("blocked_by_scope", "README.md")
    assert project.status == []


def test_a_reviewer_can_only_read(dispatch):
    """She has no tool to write with; her words are her review."""
    _project, record, calls = dispatch(
        "Review src/app.py", Uses("Bash", {"command": "touch src/x"}), Says("src/app.py:1: no docstring")
    )
    assert tools_of(calls[0]) == {"Read", "Glob", "Grep"}
    assert (record.status, record.output.strip()) == ("succeeded", "src/app.py:1: no docstring")


def test_a_failure_of_the_service_is_the_reason(dispatch):
    """And nothing lands."""
    project, record, _calls = dispatch("Implement src/a.py", Fails(401, "", "invalid x-api-key"))
    assert record.status == "failed"
    assert "exit code 1" in record.reason
    assert project.status == []
