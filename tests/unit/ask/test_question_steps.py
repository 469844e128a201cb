"""Questions that a program sends step by step are known by their ids and handles."""

import asyncio

import pytest
from support.asked import service

from kr_core import AgentHandle, ConfigError, Question
from kr_core.agents.consensus import Consensus
from kr_core.agents.exchange import Exchange
from kr_core.ask import question_steps
from kr_core.ask.question_steps import JobTracker, QuestionJob
from kr_core.model.questions import Answer
from kr_core.model.routing import Route

pytestmark = pytest.mark.req("Q13")
ROUTE = Route(target="duc", agent="duc", reason="asked for", threshold=80)
ANSWER = Answer(question_id="Q1", content="Use Redis.", confidence=90, agent="duc")


@pytest.fixture
def journal(tmp_path):
    with service(tmp_path) as made:
        yield made.pipeline.journal


def send(journal, result, feature="shop", name="Q1"):
    """A job whose agents give this result: an answer, an error, or none so far."""

    async def work():
        if result is None:
            await asyncio.Event().wait()
        if isinstance(result, Exception):
            raise result
        return Consensus(result)

    exchange = Exchange(Question(id=name, feature_id=feature, text="Which store?"), journal, ())
    exchange.route = ROUTE
    return QuestionJob(exchange, asyncio.ensure_future(work()))


def handle(job, agent="duc"):
    return AgentHandle(exchange_id=job.exchange.id, question_id="Q1", agent=agent, route=ROUTE)


def test_the_state_of_a_job_follows_its_agents(journal):
    """Running, succeeded, failed; a question for a human alone waits for one."""

    async def states():
        running, done, failed = (send(journal, one) for one in (None, ANSWER, ConfigError("no such plugin")))
        await asyncio.wait({done.task, failed.task})
        found = [job.status(handle(job)) for job in (running, done, failed)]
        found.append(done.status(handle(done, agent=None)))
        await running.stop()
        found.append(running.status(handle(running)))
        return found

    running, done, failed, human, stopped = asyncio.run(states())
    assert [one.state for one in (running, done, failed, human)] == [
        "running",
        "succeeded",
        "failed",
        "waiting_for_human",
    ]
    assert done.answer == ANSWER
    assert "no such plugin" in failed.error
    assert (stopped.state, stopped.error) == ("failed", "cancelled")


def test_an_answer_given_meanwhile_settles_a_job(journal):
    """It has succeeded with that; put to a human without one, it waits."""

    async def settled():
        given, put = send(journal, None), send(journal, None)
        for job, answer in ((given, ANSWER), (put, None)):
            await job.stop()
            job.settle(answer, put=True)
        return given.status(handle(given)), put.status(handle(put))

    given, put = asyncio.run(settled())
    assert (given.state, given.answer) == ("succeeded", ANSWER)
    assert (put.state, put.answer) == ("waiting_for_human", None)


def test_a_job_is_found_by_what_names_it(journal):
    """By question, handle or id; an id of several features is ambiguous, and an ended one has its answer."""

    async def found():
        tracker = JobTracker()
        first, second = send(journal, ANSWER), send(journal, ANSWER, "blog")
        tracker.add(first)
        assert tracker.to_answer("Q1") is first
        tracker.add(second)
        with pytest.raises(ConfigError, match="under way for several features: blog, shop"):
            tracker.to_answer("Q1")
        second.ended = True
        assert tracker.to_answer("Q1") is first
        first.ended = True
        with pytest.raises(ConfigError, match="has been answered, or put to a human, already"):
            tracker.to_answer("Q1")
        assert tracker.of(second.exchange.question) is second
        assert tracker.by_handle(handle(first)) is first
        with pytest.raises(ConfigError, match="no question `Q9` is under way"):
            tracker.to_answer("Q9")
        await asyncio.wait({first.task, second.task})
        assert tracker.running() == []

    asyncio.run(found())


def test_old_jobs_are_forgotten_and_running_ones_kept(journal, monkeypatch):
    """Of more than fit, those that ended first go."""
    monkeypatch.setattr(question_steps, "_MAX_KEPT", 2)

    async def left():
        tracker = JobTracker()
        running = send(journal, None, name="Q0")
        tracker.add(running)
        for number in range(1, 4):
            job = send(journal, ANSWER, name=f"Q{number}")
            tracker.add(job)
            await asyncio.wait({job.task})
        names = [
            name
            for name in ("Q0", "Q1", "Q2", "Q3")
            if tracker.of(Question(id=name, feature_id="shop", text="Which store?"))
        ]
        await running.stop()
        return names

    assert asyncio.run(left()) == ["Q0", "Q3"]
