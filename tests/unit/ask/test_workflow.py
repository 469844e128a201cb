"""A question that several callers ask at once is asked by one of them."""

import asyncio

import pytest
from support.asked import Says, said, service

from kr_core import Question
from kr_core.research.single_flight import turn
from kr_core.turns import Turns

pytestmark = pytest.mark.req("SC-008")


def turns_of(folder):
    return Turns(lambda: None, folder)


def test_the_second_caller_waits_for_the_first(tmp_path):
    """It is told that it had to wait; a caller of another question waits for nobody."""
    order, entered = [], asyncio.Event()

    async def call(question, hold):
        async with turn(("shop", question), turns_of(tmp_path)) as waited:
            order.append((question, waited))
            entered.set()
            await hold.wait()

    async def both():
        hold, free = asyncio.Event(), asyncio.Event()
        free.set()
        first = asyncio.ensure_future(call("Q1", hold))
        await entered.wait()
        second = asyncio.ensure_future(call("Q1", free))
        await call("Q2", free)
        assert not second.done()
        hold.set()
        await asyncio.gather(first, second)

    asyncio.run(both())
    assert order == [("Q1", False), ("Q2", False), ("Q1", True)]


def test_a_turn_ends_with_its_caller(tmp_path):
    """Who fails or is cancelled while asking leaves the turn to the next one."""

    async def fails():
        with pytest.raises(ValueError, match="no agent"):
            async with turn(("shop", "Q1"), turns_of(tmp_path)):
                raise ValueError("no agent")
        async with turn(("shop", "Q1"), turns_of(tmp_path)) as waited:
            return waited

    assert asyncio.run(fails()) is False


@pytest.mark.req("Q8")
def test_a_question_behind_one_that_failed_is_not_asked(tmp_path):
    """It fails with it, says which one it waited for, and no agent has seen it."""
    duc = Says(said(confidence=10))
    config = {"agents": {"duc": {"role": "architect"}}, "escalations": []}
    with service(tmp_path, config, duc=duc) as made:
        first, second = made.ask_all(
            [
                Question(id="Q1", text="Which store?", suggested_target="duc"),
                Question(id="Q2", text="Which port?", suggested_target="duc", depends_on=("Q1",)),
            ]
        )
    assert (first.status, second.status) == ("failed", "failed")
    assert second.notes == ("not asked: it depends on `Q1`, which failed",)
    assert len(duc.jobs) == 1
