"""Channels are called one at a time, left alone when they fail, and their errors are fit to be shown."""

import asyncio
import datetime as dt

import pytest

from kr_core import RequestError
from kr_core.escalation.channels import MAX_SAID_LENGTH, ChannelState, is_whole, left_alone, said_of
from kr_core.escalation.worker import AgentQueue
from kr_core.model import Outcome
from kr_core.turns import Turns

NOW = dt.datetime(2026, 2, 5, 12, tzinfo=dt.UTC)
LATER = NOW + dt.timedelta(minutes=5)


@pytest.mark.req("H5")
def test_one_at_a_time_holds_a_turn(tmp_path):
    """Who comes second is told so at once where no time is given, and gets the turn when it is free."""
    turns = Turns(lambda: None, tmp_path)

    async def both():
        async with turns.wait("board", 0.0) as first, turns.wait("board", 0.0) as second:
            pass
        async with turns.wait("board", 0.0) as third:
            pass
        return first, second, third

    assert asyncio.run(both()) == (True, False, True)


@pytest.mark.req("H2")
@pytest.mark.parametrize(
    ("error", "whole"),
    [
        (RequestError(Outcome.unavailable, "down"), True),
        (RequestError(Outcome.limited, "slow down"), True),
        (RequestError(Outcome.bad_answer, "not JSON"), False),
        (TimeoutError("took longer than 30 s"), True),
        (ValueError("this case is locked"), False),
    ],
)
def test_some_errors_are_the_channels_and_some_those_of_one_case(error, whole):
    """A channel that is down is left alone; where one case fails, it goes on with others."""
    assert is_whole(error) is whole


@pytest.mark.req("H8")
def test_what_is_said_of_an_error_has_no_secret_and_fits_a_line():
    """The path of a webhook is its secret, and long or many lines are one short one."""
    found = said_of(ValueError("no answer of https://hooks.example.org/services/T0/B0/secret\n" + "x" * 500))
    assert "secret" not in found
    assert found.startswith("ValueError: no answer of https://hooks.example.org/...")
    assert len(found) <= MAX_SAID_LENGTH
    assert "\n" not in found


@pytest.mark.req("H2")
def test_a_channel_that_failed_is_left_alone_for_a_while():
    """The note says until when and why; a time that has passed holds nothing back."""
    state = ChannelState(show_again=LATER, why="it is down")
    assert state.held_back(NOW)
    assert not state.held_back(LATER)
    assert left_alone(state) == "it failed, and is left alone until 12:05:00 UTC: it is down"


@pytest.mark.req("H3")
def test_the_queue_of_agents_has_a_case_once_and_in_order():
    """Taking empties it, and who waits for it is woken by the next case."""

    async def used():
        queue = AgentQueue()
        for name in ("E2", "E1", "E2"):
            queue.put(name)
        await queue.filled()
        taken = queue.take(), queue.take()
        waiting = asyncio.ensure_future(queue.filled())
        await asyncio.wait({waiting}, timeout=0.01)
        empty = not waiting.done()
        queue.put("E3")
        await waiting
        return taken, empty, queue.take()

    assert asyncio.run(used()) == ((["E2", "E1"], []), True, ["E3"])
