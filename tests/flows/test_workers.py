"""With the runtime `procrastinate` workers answer: each question once, also where a worker is killed, and where a human must answer."""

import asyncio

import pytest
from support.agents import SURE, UNSURE, project
from support.postgres_server import postgres_server

from kr_core import AsyncKnowledgeRouterService, ConfigError, HumanResponse, Question
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("S2", "H7")
SHARED = "store: postgres\njournal: postgres\nruntime: procrastinate\n"
SECONDS = 60


@pytest.fixture(scope="module")
def server():
    return postgres_server()


@pytest.fixture
def shop(tmp_path, server, monkeypatch):
    """A project whose agent is sure of what is about servers; the file of its prompts."""
    monkeypatch.setenv("KR_DSN", server.new_database())
    monkeypatch.setenv("KR_TRUST", "all")
    log = project(tmp_path, (("40 servers", SURE), ("", UNSURE)), SHARED)
    file = tmp_path / "kr.yaml"
    file.write_text(file.read_text().replace("plugins: {", "plugins: {postgres: {dsn: {env: KR_DSN}}, "))
    return log


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
