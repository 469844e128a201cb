"""Workers are killed, and questions are not lost, nor decided twice."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

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
DRIVER = Path(__file__).parent / "drivers/workers.py"
LONG = "KR_LONG_FAULTS"
"""Set, it lets the driver do five times 300 questions with 20 kills, which takes most of an hour."""


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


@pytest.mark.req("S2", "S3", "H7")
@pytest.mark.parametrize("round_", range(5 if LONG in os.environ else 1))
def test_three_machines_lose_nothing_and_post_nothing_twice(tmp_path, server, round_):
    """Killed, stopped and cut off, they take each question through four steps: all are answered once, and budgets are exact."""
    kills, questions = (20, 300) if LONG in os.environ else (3, 9)
    seed = int(os.environ.get("KR_SEED") or secrets.randbelow(10**6)) + round_
    name = server.new_database().rpartition("/")[2]
    command = [
        sys.executable, DRIVER, tmp_path / "project", f"--server={server.port}", f"--database={name}", f"--seed={seed}",
        f"--kills={kills}", f"--questions={questions}",
    ]  # fmt: skip
    environ = {**os.environ, "KR_CACHE_DIR": str(tmp_path / "cache"), "KR_TRUST": "all"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False, env=environ)
    assert done.returncode == 0, f"KR_SEED={seed}\n{done.stderr}"
    print(f"KR_SEED={seed} {done.stdout}")
    told = json.loads(done.stdout)
    assert told["faults"] == [], f"KR_SEED={seed}\n{done.stdout}{done.stderr}"
    assert told["killed"] >= kills
    assert told["steps_again"] > 0, f"KR_SEED={seed}: the kills missed all steps\n{done.stdout}"
