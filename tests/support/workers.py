"""Projects whose questions go to workers over a real database, and the workers."""

import asyncio
import os
import subprocess
import time
from contextlib import suppress

from kr_core import AsyncKnowledgeRouterService, Question
from kr_core.research import Pipeline
from support.agents import SURE, UNSURE, project
from support.fork_server import kr_argv

SHARED = "store: postgres\njournal: postgres\nruntime: procrastinate\n"
SECONDS = 60
"""The longest that a test waits for something."""


def shared_project(folder, server, monkeypatch):
    """Make a project whose agent is sure of what is about servers; return the file of the agent's prompts."""
    monkeypatch.setenv("KR_DSN", server.new_database())
    monkeypatch.setenv("KR_TRUST", "all")
    prompts = project(folder, (("40 servers", SURE), ("", UNSURE)), SHARED)
    file = folder / "kr.yaml"
    file.write_text(file.read_text().replace("plugins: {", "plugins: {postgres: {dsn: {env: KR_DSN}}, "))
    return prompts


def slow_down(folder, seconds):
    """Let the agent of a project think this long before it answers."""
    program = folder / "agent.py"
    program.write_text(f"import time\ntime.sleep({seconds})\n{program.read_text()}")


def opened(folder):
    return AsyncKnowledgeRouterService(Pipeline.open(folder=folder))


def asked(number=1, text="Which store for 40 servers?"):
    return Question(text=text, id=f"Q{number}", feature_id="shop", topic="authentication")


async def answered(folder, questions, queues=("ask",)):
    """What comes of questions while one worker of this process takes them."""
    stop = asyncio.Event()
    async with opened(folder) as worker, opened(folder) as asking:
        work = asyncio.create_task(worker.work(queues, 4, stop))
        try:
            async with asyncio.timeout(SECONDS):
                return await asyncio.gather(*map(asking.ask, questions))
        finally:
            stop.set()
            await work


def queue(folder, questions):
    """Queue questions, and leave without their answers."""

    async def ask():
        async with opened(folder) as service:
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await asyncio.gather(*map(service.ask, questions))

    asyncio.run(ask())


def worker(folder, *options):
    """A worker in a process of its own, with its messages in a pipe."""
    command = kr_argv(dict(os.environ), "worker", *options)
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_until(met):
    """Wait until something is so."""
    end = time.monotonic() + SECONDS
    while not met():
        assert time.monotonic() < end
        time.sleep(0.05)


def database():
    """The name of the project's database."""
    return os.environ["KR_DSN"].rpartition("/")[2]


def runs(server, status):
    """How many questions have this status."""
    ((count,),) = server.sql(
        f"SELECT count(*) FROM kr.documents WHERE kind = 'run' AND status = '{status}'", database()
    )
    return count
