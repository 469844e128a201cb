"""With the runtime `procrastinate` workers research a batch, and who asks prints what they found."""

import asyncio
import json

import pytest
from support.postgres_server import postgres_server
from support.projects import Given, found
from support.workers import SECONDS, SHARED, worker

from kr_core.cli.worker import QUEUES

QUESTION = "How do I set the timeout of parcel.send?"
LINES = [{"question": QUESTION, "framework": "parcel"}, {"question": ""}]


@pytest.fixture
def shared(project_folder, monkeypatch):
    """A project whose batches go to workers; what its commands need in their environment."""
    needed = {"KR_DSN": postgres_server().new_database(), "KR_TRUST": "all"}
    for name, value in needed.items():
        monkeypatch.setenv(name, value)
    (project_folder / "kr.yaml").write_text(f"{SHARED}plugins: {{postgres: {{dsn: {{env: KR_DSN}}}}}}\n")
    return needed


@pytest.mark.req("S2", "S4")
def test_a_worker_researches_a_batch(kr, shared, project_folder):
    """One result a line, in the order asked, by a worker; asked again, the shared knowledge base has them."""
    process = worker(project_folder, "--queues", "research")
    try:
        given = "\n".join(map(json.dumps, LINES)).encode()
        done, again = (kr("research", "--batch", "-", input=given, env=shared) for _ in range(2))
        listed = kr("batch", "list", env=shared)
    finally:
        process.terminate()
        _, said = process.communicate(timeout=SECONDS)
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["success", "failure"], done
    assert [json.loads(line)["status"] for line in again.out.splitlines()] == ["cache-hit", "failure"]
    assert (done.code, process.returncode) == (2, 0), said
    assert "2 requests are queued" in done.err
    assert listed.out.split()[1:] == "ended 2 requests 1 of 1 parts $0.00".split()


@pytest.mark.req("S2", "R7")
def test_a_call_of_a_request_that_is_researched_again_is_charged_once(bench):
    """The worker that did it first has died, and another one does it under the same name."""
    source = Given(found(), external=True)
    pipeline = bench.pipeline({"given": source})
    request = pipeline.read_request(bench.request())

    async def run():
        for _ in range(2):
            await pipeline.aresearch_as(request.model_copy(update={"refresh": True}), "batch-1-0:0")

    asyncio.run(run())
    assert source.asked == 2
    assert pipeline.journal.spent("s1", "3-1") == 1


def test_without_workers_there_are_no_batches_to_manage(kr_here):
    """`kr batch` and a limit of cost are for workers; the message says what to do."""
    for arguments in (("batch", "list"), ("research", "--batch", "-", "--max-cost", "1")):
        done = kr_here(*arguments, input=b'"a"')
        assert (done.code, "runtime" in done.err) == (2, True), done


def test_a_worker_takes_all_queues_by_default():
    """Questions, batches, and what is due for those that wait."""
    assert QUEUES == ("ask", "research", "upkeep")
