"""Tasks that a program dispatches: who shares a session, and that it is closed whatever happens."""

import asyncio

import pytest
from support.tasks import TaskProject

from kr_core import ConfigError, ExecutionTask, aio
from kr_core.dispatch.jobs import TaskJobs
from kr_core.files import is_locked
from kr_core.protocols import Document
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("Q13")

TASK = ExecutionTask(id="T001", title="Implement src/a.py", feature_id="001-x")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    return TaskProject(tmp_path / "repository", [("- [ ] T001 Implement src/a.py", "echo a > src/a.py")])


@pytest.fixture
def in_jobs(project):
    """Do something with the jobs of the project."""

    def run(work):
        with Pipeline.open(folder=project.top) as pipeline:
            return aio.run(work(TaskJobs(pipeline)))

    return run


@pytest.fixture
def is_held(project):
    """Whether a run is under way in the project, for all that another process sees."""
    return lambda: is_locked(project.top / ".kr/dispatch/run.lock")


async def state_of(jobs, handle):
    while (status := await jobs.status(handle)).state in {"queued", "running"}:  # noqa: ASYNC110  nothing says when
        await asyncio.sleep(0.02)
    return status.state


def test_a_task_that_cannot_be_put_on_record_keeps_no_other_away(in_jobs, is_held):
    """Its caller gets the error, and the lock of the run is free."""

    async def work(jobs):
        journal = jobs._pipeline.journal
        journal.change(Document("task", "001-x/T001", "failed", 1, {"of": "another version"}), ())
        with pytest.raises(ValueError, match="TaskRecord"):
            await jobs.send(TASK, "dede")
        assert not is_held()
        return await state_of(jobs, await jobs.send(TASK.model_copy(update={"id": "T002"}), "dede"))

    assert in_jobs(work) == "failed"  # it has no script, and began all the same
    assert not is_held()


@pytest.mark.parametrize("turns", [0, 1, 3, 30, 300, 3000])
def test_a_task_whose_caller_is_cancelled_keeps_no_other_away(in_jobs, project, turns):
    """At any moment: it is cancelled with it, and the next one runs."""

    async def work(jobs):
        sent = asyncio.ensure_future(jobs.send(TASK, "dede"))
        for _ in range(turns):
            await asyncio.sleep(0)
        if sent.cancel():
            with pytest.raises(asyncio.CancelledError):
                await sent
        else:
            await state_of(jobs, sent.result())
        return await state_of(jobs, await jobs.send(TASK.model_copy(update={"id": "T002"}), "dede"))

    (project.scripts / "T002").write_text("echo b > src/b.py\n")
    assert in_jobs(work) == "succeeded"


def test_the_end_of_jobs_ends_those_that_have_not_begun(in_jobs, is_held):
    """Right after they were sent, the lock of the run is free again."""

    async def work(jobs):
        handle = await jobs.send(TASK, "dede")
        await jobs.end()
        return await jobs.status(handle)

    assert in_jobs(work).state == "failed"
    assert not is_held()


def test_a_task_runs_once_however_often_and_by_whatever_name_it_is_sent(in_jobs):
    """Also where the calls come at once; once it has ended it may be sent again."""
    own = TASK.model_copy(update={"title": "sent without a file"})
    names = ("specs/001-x/tasks.md", "./specs/001-x/tasks.md", "specs/../specs/001-x/tasks.md")
    same = [TASK.model_copy(update={"file": name, "feature_id": f"f{n}"}) for n, name in enumerate(names)]

    async def work(jobs):
        came = await asyncio.gather(*(jobs.send(one, "dede") for one in (*same, own)), return_exceptions=True)
        said = [str(one) for one in came if isinstance(one, ConfigError)]
        (handle,) = [one for one in came if not isinstance(one, ConfigError)]
        assert [one for one in said if "`T001` is under way already" in one] == said
        assert len(said) == 3
        first = await state_of(jobs, handle)
        return first, await state_of(jobs, await jobs.send(own, "dede"))

    assert in_jobs(work) == ("succeeded", "failed")  # then it changes nothing
