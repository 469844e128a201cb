"""Workers are killed, and questions are not lost, nor decided twice."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from support.postgres_server import postgres_server
from support.workers import (
    SECONDS,
    answered,
    asked,
    database,
    opened,
    queue,
    runs,
    shared_project,
    slow_down,
    wait_until,
    worker,
)

from kr_plugins.postgres import lease_table
from kr_plugins.runtimes import job_queue

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def server():
    return postgres_server()


@pytest.fixture
def shop(tmp_path, server, monkeypatch):
    """A project whose agent is sure of what is about servers; the file of its prompts."""
    return shared_project(tmp_path, server, monkeypatch)


@pytest.mark.req("S2", "S3")
def test_a_worker_that_is_killed_loses_no_question(tmp_path, shop, server, monkeypatch):
    """Another one takes its run over, and the question is decided once."""
    monkeypatch.setattr(job_queue, "STALLED_SECONDS", 2.0)
    monkeypatch.setattr(job_queue, "_LOOK_SECONDS", 0.2)
    slow_down(tmp_path, 2)
    questions = [asked(number) for number in range(3)]
    queue(tmp_path, questions)
    killed = worker(tmp_path, "--queues", "ask")
    try:
        wait_until(lambda: runs(server, "running") == 3)
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    results = asyncio.run(answered(tmp_path, questions))
    assert [one.status for one in results] == ["accepted"] * 3
    rows = server.sql("SELECT data FROM kr.events WHERE kind = 'exchange.finished'", database())
    finished = [json.loads(row[0]) for row in rows]
    assert sorted(one["question_id"] for one in finished if one["status"] == "accepted") == ["Q0", "Q1", "Q2"]


STOPS = """
import os, signal, sys
from kr_core.agents.question_dispatch import AgentDispatcher
from kr_core.cli import main
from kr_core.escalation.case_repository import CaseRepository
from kr_plugins.postgres import lease_table

lease_table.LEASE_SECONDS = 2.0
owner, name = {"judge": (AgentDispatcher, "judge"), "open": (CaseRepository, "open")}[sys.argv[1]]
go_on = getattr(owner, name)

def stop(*arguments):
    os.kill(os.getpid(), signal.SIGSTOP)
    return go_on(*arguments)

setattr(owner, name, stop)
sys.exit(main(["worker", "--queues", "ask"]))
"""
"""A worker that stops before the gate looks at the agent's answer, or before its case is opened."""


@pytest.mark.req("S2", "S3")
@pytest.mark.parametrize(
    ("where", "text"), [("judge", "For 40 servers?"), ("judge", "For?"), ("open", "For?")]
)
def test_a_worker_that_was_stopped_decides_nothing_that_another_has_decided(
    tmp_path, shop, server, monkeypatch, where, text
):
    """It goes on right before its decision when another one has decided: there is one decision, and one case at most."""
    monkeypatch.setattr(job_queue, "STALLED_SECONDS", 2.0)
    monkeypatch.setattr(job_queue, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(lease_table, "LEASE_SECONDS", 2.0)
    stopped = subprocess.Popen(
        [sys.executable, "-c", STOPS, where], cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL
    )

    async def asks():
        async with opened(tmp_path) as service:
            asking = asyncio.create_task(service.ask(asked(text=text)))
            _, status = await asyncio.to_thread(os.waitpid, stopped.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            await answered(tmp_path, [asked(text=text)])
            return await asking

    try:
        result = asyncio.run(asks())
        os.kill(stopped.pid, signal.SIGCONT)
        os.kill(stopped.pid, signal.SIGTERM)  # it ends what it has begun
        stopped.wait(SECONDS)
    finally:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(stopped.pid, signal.SIGKILL)
        stopped.wait()
    events = server.sql("SELECT kind, data FROM kr.events", database())
    ends = [json.loads(data)["status"] for kind, data in events if kind == "exchange.finished"]
    assert [one for one in ends if one != "cancelled"] == [result.status]
    opened_cases = [kind for kind, _ in events if kind == "escalation.opened"]
    assert len(opened_cases) == (result.status == "escalated")
    assert result.status == ("accepted" if "40" in text else "escalated")
