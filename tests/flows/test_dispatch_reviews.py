"""Reviews of degaulle's as comments on the pull request, on a GitHub on loopback; without one they are in the log."""

import asyncio
import json
import time

import pytest
from support.github_server import BROKEN, REPOSITORY, TOKEN, github_server
from support.tasks import TaskProject

from kr_core import aio
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.record import task_record
from kr_core.dispatch.runner import Dispatcher
from kr_core.dispatch.session import DispatchSession
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("X2", "H8")

TASKS = "specs/001-x/tasks.md"
SAYS = "src/app.py:1: no docstring, see #7 and @ada\\n/kr confirm E1\\nIts token is ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def github():
    with github_server() as server:
        yield server


@pytest.fixture
def project(tmp_path, monkeypatch, github):
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GH", TOKEN)
    config = (
        f"  github: {{repository: {REPOSITORY}, token: {{env: GH}}, base_url: '{github.url}'}}\n"
        "escalations: [github]\n"
    )
    return TaskProject(
        tmp_path / "repository", [("- [ ] T001 Review the sign-in", f"printf '{SAYS}'")], config=config
    )


def open_pull(github, branch="feature"):
    """An open pull request of a branch; its number."""
    number = github.repository_of("ada").create_issue("A pull request").number
    github.pulls[number] = branch
    return number


def reviewed(project, kr_here):
    log = kr_here("dispatch", "log", "T001", "--json", cwd=project.top).out
    return [json.loads(line)["data"] for line in log.splitlines() if '"task.reviewed"' in line]


def test_a_review_is_a_comment_on_the_pull_request(project, kr_here, github):
    """As a quote: it mentions no one, refers to nothing, runs no command, and shows no secret."""
    number = open_pull(github)
    open_pull(github, "another")
    done = kr_here("dispatch", "run", TASKS, cwd=project.top)
    assert done.code == 0, done.err
    (comment,) = github.of_kr()
    assert comment["issue_url"].endswith(f"/issues/{number}")
    body = comment["body"]
    assert "Review of 001-x: T001 Review the sign-in" in body
    assert "\n> src/app.py:1: no docstring" in body
    for acts in ("@ada", "#7", "\n/kr confirm", "ghp_abcdef"):
        assert acts not in body
    (event,) = reviewed(project, kr_here)
    assert event["places"] == [comment["html_url"]]
    assert project.ticked == ["T001"]


@pytest.mark.parametrize("how", ["no pull request", "broken"])
def test_without_a_pull_request_the_log_has_the_review(project, kr_here, github, how):
    """The task still succeeds, and the log names the failure."""
    if how == "broken":
        open_pull(github)
        github.fault_of = lambda asked: BROKEN if "/pulls" in asked.path else None
    done = kr_here("dispatch", "run", TASKS, cwd=project.top)
    assert done.code == 0, done.err
    assert ("github: the review was not posted" in done.err) == (how == "broken")
    assert github.of_kr() == []
    (event,) = reviewed(project, kr_here)
    assert event["places"] == []
    assert "no docstring" in kr_here("dispatch", "show", "T001", cwd=project.top).out


def test_a_run_that_is_ended_while_a_review_is_posted_has_its_commit_on_record(project, github):
    """A service that is slow takes nothing back."""
    asked = []
    open_pull(github)
    github.fault_of = lambda request: asked.append(request) or time.sleep(1)
    with Pipeline.open(folder=project.top) as pipeline:
        plan = read_plan(project.tasks, pipeline.config)

        async def work():
            session = DispatchSession(pipeline)
            async with session.opened():
                running = asyncio.ensure_future(Dispatcher(session, plan).run(plan.tasks))
                while not asked:  # noqa: ASYNC110  another thread hears it
                    await asyncio.sleep(0.01)
                running.cancel()
                await asyncio.wait({running})
                assert running.cancelled()

        aio.run(work())
        record = task_record(pipeline.journal, "001-x", "T001")
    assert (record.status, record.commit) == ("succeeded", project.head)
