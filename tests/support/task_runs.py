"""Runs of tasks in the process of a test, and what is on record of them."""

from kr_core import aio
from kr_core.dispatch import sandbox
from kr_core.dispatch.plan import read_plan
from kr_core.dispatch.runner import Dispatcher, choose_tasks
from kr_core.dispatch.session import DispatchSession
from kr_core.research import Pipeline

TASKS = "specs/001-x/tasks.md"
AVAILABLE = [name for name in sandbox.NAMES if name == "none" or sandbox.choose([name]) == name]
CONFINED = [name for name in AVAILABLE if name != "none"]


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
