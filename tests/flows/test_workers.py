"""With the runtime `procrastinate` workers answer: each question once, also where a worker is killed, and where a human must answer."""

import asyncio
import os
import signal
import socket
import time
from contextlib import suppress

import httpx
import pytest
from support.agents import SURE, project
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

from kr_core import ConfigError, HumanResponse
from kr_core.ask import question_runs
from kr_core.ask.worker_loop import WorkerLoop
from kr_core.cli.worker import QUEUES

pytestmark = pytest.mark.req("S2", "H7")


@pytest.fixture(scope="module")
def server():
    return postgres_server()


@pytest.fixture
def shop(tmp_path, server, monkeypatch):
    """A project whose agent is sure of what is about servers; the file of its prompts."""
    return shared_project(tmp_path, server, monkeypatch)


def test_a_question_is_answered_by_a_worker(tmp_path, shop):
    """The same question under the same id, from two callers at once and later, is one run: the agent is asked once."""
    first, second = asyncio.run(answered(tmp_path, [asked(), asked()]))
    (third,) = asyncio.run(answered(tmp_path, [asked()]))
    assert first.status == "accepted"
    assert first.answer.content == SURE["answer"]
    assert first.exchange_id == second.exchange_id == third.exchange_id
    assert len(shop.read_text().splitlines()) == 1


def test_another_question_under_the_same_id_is_refused(tmp_path, shop):
    """Its answer would be that of the first."""
    asyncio.run(answered(tmp_path, [asked()]))
    with pytest.raises(ConfigError, match="another question has this id"):
        asyncio.run(answered(tmp_path, [asked(text="Which queue for 40 servers?")]))


def test_a_run_that_waits_for_a_human_has_ended_and_the_reply_is_its_result(tmp_path, shop):
    """No worker waits meanwhile, and none needs to live when the reply comes."""
    question = asked(text="Which store?")
    (waits,) = asyncio.run(answered(tmp_path, [question]))
    assert waits.status == "escalated"

    async def replied():
        async with opened(tmp_path) as service:
            await service.reply(
                waits.escalation.id, HumanResponse(action="correct", content="Postgres.", by="ada")
            )
            return await service.ask(question)

    result = asyncio.run(replied())
    assert result.answer.content == "Postgres."
    assert len(shop.read_text().splitlines()) == 1


def test_without_a_worker_the_asker_says_so_and_the_question_waits(tmp_path, shop, monkeypatch, caplog):
    """A warning comes soon, the result is `failed` when the agent's time is over, and a worker that comes later answers."""
    monkeypatch.setattr(question_runs, "_WARN_SECONDS", 0.1)
    file = tmp_path / "kr.yaml"
    file.write_text(file.read_text().replace("{plugin: command}", "{plugin: command, timeout_seconds: 1}"))

    async def ask():
        async with opened(tmp_path) as service:
            return await service.ask(asked())

    result = asyncio.run(ask())
    assert result.status == "failed"
    assert result.notes == ("no worker has taken it for 1 s; start `kr worker`",)
    (said,) = [one for one in caplog.messages if "no worker" in one]
    assert said.startswith("question Q1: no worker has taken it for 0 s")
    (later,) = asyncio.run(answered(tmp_path, [asked()]))
    assert later.status == "accepted"


def test_a_worker_that_is_to_end_ends_what_it_has_begun(tmp_path, shop, server):
    """SIGTERM while its agent is at work: the question is answered, and the worker ends without an error."""
    slow_down(tmp_path, 1)
    queue(tmp_path, [asked()])
    process = worker(tmp_path, "--queues", "ask")
    try:
        wait_until(lambda: shop.exists() or runs(server, "running"))
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert "ends when what has begun is done" in said
    assert runs(server, "ended") == 1
    assert len(shop.read_text().splitlines()) == 1


def test_a_worker_to_which_nobody_listens_ends_too(tmp_path, shop, server):
    """Its standard error is a pipe whose reader has gone."""
    slow_down(tmp_path, 1)
    queue(tmp_path, [asked()])
    process = worker(tmp_path, "--queues", "ask")
    try:
        wait_until(lambda: runs(server, "running"))
        process.stderr.close()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=SECONDS)
    finally:
        process.kill()
    assert runs(server, "ended") == 1


def test_a_worker_says_whether_it_is_well(tmp_path, shop, server):
    """Over HTTP, as long as it works: 200 with what it does, the same for Prometheus, and 503 without its database."""
    name = database()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = worker(tmp_path, "--queues", "ask", "--health", str(port))

    def said(path="/"):
        with suppress(httpx.TransportError):
            return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=20)

    try:
        wait_until(said)
        asyncio.run(answered(tmp_path, [asked()], queues=()))
        wait_until(lambda: said().json() == {"status": "ok", "performing": 0, "performed": 1, "failed": 0})
        assert "kr_worker_runs_performed 1\n" in said("/metrics").text
        server.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false", "postgres")
        server.sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'", "postgres"
        )
        answer = said()
        assert answer.status_code == 503, answer.text
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_worker_drains_the_queue_and_ends(tmp_path, shop, server):
    """With `--drain` it answers what waits, and ends by itself."""
    queue(tmp_path, [asked()])
    process = worker(tmp_path, "--drain", "--queues", "ask")
    try:
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert runs(server, "ended") == 1


def test_the_upkeep_of_cases_is_a_workers(tmp_path, shop):
    """A case whose time is over goes on with the agent's answer, once a worker does the upkeep."""
    file = tmp_path / "kr.yaml"
    file.write_text(f"{file.read_text()}escalation: {{timeout: 1s, on_timeout: use_answer}}\n")
    question = asked(text="Which store?")
    (waits,) = asyncio.run(answered(tmp_path, [question]))
    assert waits.status == "escalated"
    time.sleep(1)  # its limit: a worker looks at cases when it begins, and then once a minute
    process = worker(tmp_path, "--queues", "upkeep")

    async def status():
        async with opened(tmp_path) as service:
            return (await service.ask(question)).status

    try:
        wait_until(lambda: asyncio.run(status()) == "expired")
    finally:
        process.terminate()
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said


def test_a_worker_whose_upkeep_fails_ends(tmp_path, shop, monkeypatch):
    """One that lived on would answer questions and tell nobody: who watches it starts another."""

    async def fails(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(WorkerLoop, "run_forever", fails)

    async def work():
        async with opened(tmp_path) as service, asyncio.timeout(SECONDS):
            await service.work(QUEUES, 1, asyncio.Event())

    with pytest.raises(ZeroDivisionError):
        asyncio.run(work())


def test_workers_need_a_runtime(tmp_path):
    """With `local` there is nothing to take."""
    project(tmp_path)

    async def work():
        async with opened(tmp_path) as service:
            await service.work(("ask",), 1, asyncio.Event())

    with pytest.raises(ConfigError, match="runtime: local: has no workers"):
        asyncio.run(work())


def test_the_runtime_needs_the_journal_in_the_database(tmp_path):
    """Its queue lies beside it."""
    project(tmp_path, more="runtime: procrastinate\n")

    async def ask():
        async with opened(tmp_path) as service:
            await service.ask(asked())

    with pytest.raises(ConfigError, match="journal: postgres"):
        asyncio.run(ask())
