"""Tasks dispatched over MCP, with the official client."""

import asyncio

import pytest
from support.mcp_door import client, text
from support.tasks import TaskProject

from kr_core.server.mcp.mcp_server import server_of
from kr_core.server.served_project import ServedProject

pytestmark = pytest.mark.req("X6", "I2")

TASKS = "specs/001-x/tasks.md"
LINES = (
    ("- [ ] T001 Implement src/a.py", "echo said; echo a > src/a.py"),
    ("- [ ] T002 Implement src/b.py", "echo b > src/b.py; echo x > README.md"),
    ("- [ ] T003 Implement src/c.py", "sleep 600"),
    "- [ ] T004 Decide",
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    return TaskProject(tmp_path / "repository", LINES, config="escalations: [web]\n")


@pytest.fixture
def call(project):
    """Call tools one after the other; the last result, and each that ends a task is waited for."""

    def run(*calls):
        async def work():
            served = ServedProject(folder=project.top)
            try:
                async with client(server_of(served), "auto") as connected:
                    for name, arguments in calls:
                        came = await connected.call_tool(name, arguments)
                        while not came.is_error and came.structured_content["state"] in {"queued", "running"}:
                            await asyncio.sleep(0.05)
                            handle = came.structured_content["handle"]
                            came = await connected.call_tool("get_agent_status", {"handle": handle})
                    return came
            finally:
                await served.close()

        return asyncio.run(run_(work))

    async def run_(work):
        return await work()

    return run


def test_a_task_of_a_file_goes_to_whom_the_plan_says(project, call):
    """It lands, its box is ticked, and its status tells all."""
    came = call(("dispatch_task", {"task": "T001", "file": TASKS}))
    told = came.structured_content
    assert (told["handle"], told["role"], told["state"]) == ("001-x/T001", "dede", "succeeded")
    assert (told["changed"], told["log"], told["commit"]) == (["src/a.py"], "said\n", project.head)
    assert "001-x/T001 dede succeeded" in text(came)
    assert project.ticked == ["T001"]
    assert call(("get_agent_status", {"handle": "001-x/T001"})).structured_content == told


def test_a_task_of_the_client_s_own_needs_a_role(project, call):
    """And lands for the feature that it names."""
    (project.scripts / "own").write_text("cp $TMPDIR/order src/own\n")
    arguments = {"task": "own", "title": "Write src/own", "paths": ["src/own"], "criteria": ["it is there"]}
    refused = call(("dispatch_task", arguments))
    assert refused.is_error
    assert "role: is missing; name one: marie, dede" in text(refused)
    told = call(("dispatch_task", {**arguments, "role": "dede"})).structured_content
    assert (told["handle"], told["state"]) == ("general/own", "succeeded")
    assert '"criteria": ["it is there"]' in project.files()["src/own"]


def test_what_reaches_outside_is_refused_and_a_person_is_asked(project, call):
    """The client learns which case waits."""
    came = call(("dispatch_task", {"task": "T002", "file": TASKS}))
    told = came.structured_content
    assert (told["state"], told["waits_for"]) == ("blocked_by_scope", ["E1"])
    assert told["refused"] == ["README.md: outside of what dede may write (src/)"]
    assert "A person is asked to grant paths: E1" in text(came)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"task": "T404", "file": TASKS}, "has no task `T404`"),
        ({"task": "T004", "file": TASKS}, "`T004` is for a human"),
        ({"task": "T001", "file": "../elsewhere/tasks.md"}, "is not in the project"),
        ({"task": "T001", "file": "/etc/passwd"}, "is not in the project"),
        ({"task": "T001", "file": TASKS, "role": "architect"}, "does no tasks"),
        ({"task": "T001"}, "give spec-kit's tasks.md"),
        ({"task": ""}, "`task`"),
        ({"task": "a/T001", "title": "x"}, "`task`"),
        ({"task": "own", "title": "x", "feature_id": "f" * 256}, "`feature_id`"),
        ({"task": "own", "title": "x", "paths": ["x"] * 101}, "`paths`"),
        ({"task": "own", "title": "x", "paths": ["x" * 4097]}, "`paths.0`"),
        ({"task": "own", "title": "x", "criteria": ["x"] * 101}, "`criteria`"),
        ({"task": "own", "title": "x", "criteria": ["x" * 2001]}, "`criteria.0`"),
    ],
)
def test_a_wrong_call_says_what_to_do(call, arguments, said):
    """Nothing runs."""
    came = call(("dispatch_task", arguments))
    assert came.is_error
    assert said in text(came)


def test_an_unknown_handle_is_refused(call):
    """With the form of a right one."""
    came = call(("get_agent_status", {"handle": "x/T9"}))
    assert came.is_error
    assert "FEATURE/TASK" in text(came)
    assert "`handle`" in text(call(("get_agent_status", {"handle": "x" * 401})))


def test_a_task_that_is_under_way_is_not_sent_twice(project):
    """Its status is that of the first."""

    async def work():
        served = ServedProject(folder=project.top)
        try:
            async with client(server_of(served), "auto") as connected:
                first = await connected.call_tool("dispatch_task", {"task": "T003", "file": TASKS})
                second = await connected.call_tool("dispatch_task", {"task": "T003", "file": TASKS})
                return first.structured_content["state"], text(second)
        finally:
            await served.close()

    state, said = asyncio.run(work())
    assert state in {"queued", "running"}
    assert "`T003` is under way already" in said
