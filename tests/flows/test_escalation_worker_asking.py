"""The agent of a case is asked once with what was added, whoever else is about to ask it."""

import asyncio

import pytest
from support.agents import QUESTION
from support.asked import Says, said
from support.boards import Board, service

from kr_core import HumanResponse, Question
from kr_core.files import try_lock

UNSURE = said(confidence=65)
MORE = HumanResponse(action="add_context", content="We have 40 servers.", by="ann")


def ask(made):
    return made.ask(Question(text=QUESTION, topic="authentication"))


@pytest.mark.req("H3", "H7")
def test_context_that_is_added_while_the_agent_is_asked_is_told_next(tmp_path):
    """It is on the record at once; the agent, whom somebody else asks just then, is asked with it afterwards, once."""
    board, duc = Board(), Says(UNSURE)
    with service(tmp_path, board, duc=duc) as made:
        ask(made)
        with try_lock(tmp_path / ".kr/asking/E1.lock") as mine:
            assert mine
            result = made.reply("e1", MORE)
            assert (result.status, len(duc.jobs)) == ("escalated", 1)
            assert "duc is being asked about E1 just now" in result.notes[-1]
            assert made.cases.get("E1").asking
            assert made.tend().asked_again == 0
        assert made.tend().asked_again == 1
        assert made.tend().asked_again == 0
        assert "We have 40 servers." in duc.jobs[1].prompt
        assert len(duc.jobs) == 2
        assert board.shown == {"E1": [1, 2]}


@pytest.mark.req("H3")
def test_one_case_keeps_no_other_one_from_its_agent(tmp_path):
    """Each case is asked about by itself."""
    duc = Says(UNSURE)
    with service(tmp_path, Board(), duc=duc) as made:
        for _ in range(65):
            made.cases.new_id()
        ask(made)
        with try_lock(tmp_path / ".kr/asking/E2.lock"):
            assert made.reply("E66", MORE).escalation.revision == 2


@pytest.mark.req("H3", "H7")
@pytest.mark.parametrize("confidence", [65, 95])
def test_two_who_ask_with_the_same_put_one_revision(tmp_path, confidence):
    """Where two processes have asked all the same, the case is put again once, by the first of them."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE, UNSURE, said("Use Valkey.", confidence))) as made:
        ask(made)
        inner = made._service

        async def both():
            case = await inner._parts.manager.accepted_reply("E1", MORE)
            await inner._parts.chat.ask_again(case, MORE)
            return await inner._parts.chat.ask_again(case, MORE)

        assert asyncio.run_coroutine_threadsafe(both(), made._loop).result().status == "escalated"
        case = made.cases.get("E1")
        assert (case.request.revision, case.request.answer.content) == (2, "Use Redis.")
        assert board.shown == {"E1": [1, 2]}
