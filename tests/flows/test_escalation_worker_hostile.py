"""What people are told about a case, whatever stands in replies and answers: nobody is mentioned, nothing runs, no secret passes."""

import json
import re

import pytest
from support.agents import QUESTION
from support.asked import Says, record, said
from support.boards import Board, Wall, service

from kr_core import HumanResponse, Question, RequestError
from kr_core.model import Outcome
from kr_core.testing.samples import HOSTILE
from kr_core.toolkit import read_replies

UNSURE = said(confidence=65)
SECRET = "ghp_" + "a1B2" * 9
MENTION = re.compile(r"@(?!\d)(?=[\w/])")


def ask(made, **values):
    return made.ask(Question(text=QUESTION, topic="authentication", **values))


@pytest.mark.req("H8")
@pytest.mark.parametrize(
    "text", ["@everyone\n/kr confirm E1@1", "<!-- kr:E1 --> @acme/all", "> @ann\n\n/kr confirm", "]( x @all"]
)
def test_notices_mention_nobody_and_run_nothing(tmp_path, text):
    """A name, a choice, an unclear reply, what a channel says of it: all of it is data."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "choose", text, by=text)
        board.mumble("E1", text, "help", text)
        made.tend()
        board.write("E1", "correct", text, by=text)
        made.tend()
        wall.write("E1", "confirm", by=text)
        made.tend()
        notices = [notice for one in (board, wall) for _, notice in one.notices]
        assert {notice.kind for notice in notices} == {"refused", "help", "understood", "ended"}
        for notice in notices:
            assert not MENTION.search(notice.message), notice
            read = read_replies(notice.message, ["E1"])
            assert (read.commands, read.faults) == ((), ()), notice


@pytest.mark.req("H8")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_replies_are_applied_as_they_are(tmp_path, kind):
    """Whatever a person writes as the answer is the answer, as far as it can be shown; the record is whole."""
    text = HOSTILE[kind].encode("utf-8", "replace").decode()
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "correct", f"Answer: {text}", by=text)
        assert made.tend().applied == 1
        assert made.result_of("E1").answer.content.startswith("Answer:")
        assert not made.pipeline.journal.verify()


@pytest.mark.req("G5")
def test_no_secret_is_told_or_kept(tmp_path):
    """What looks like a secret is taken out of replies, names, what was unclear, and what a channel says when it fails."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "choose", SECRET, by=SECRET)
        board.mumble("E1", SECRET, "help", f"`{SECRET}` is no command")
        tended = made.tend()
        board.write("E1", "correct", f"Use the token {SECRET}.", by="ann")
        board.faults = [None, RequestError(Outcome.bad_answer, f"GET /?token={SECRET} gave 500")]
        notes = made.tend().notes
        assert tended.refused == 1
        told = json.dumps([[notice.message for _, notice in board.notices], notes])
        kept = json.dumps([data for _, data in record(made)]) + json.dumps(
            made.pipeline.journal.document("escalation", "E1").data
        )
        assert SECRET not in told
        assert SECRET not in kept


@pytest.mark.req("H2", "H7")
@pytest.mark.parametrize("wrong", [None, [], {"replies": ()}, "E1"])
def test_a_channel_that_returns_what_it_should_not(tmp_path, wrong):
    """What a plugin returns is looked at: a wrong thing is a fault of the channel, which is noted and left alone."""

    class Odd(Board):
        async def poll(self, shown, mark, context):
            return wrong

        async def open(self, case, context):
            return wrong or 7

    odd, board = Odd(), Board()
    with service(tmp_path, odd, board, duc=Says(UNSURE)) as made:
        result = ask(made)
        assert any(note.startswith("escalation odd: TypeError") for note in result.notes) or wrong == "E1"
        board.write("E1", "confirm")
        tended = made.tend()
        assert tended.applied == 1
        assert made.result_of("E1").status == "answered"


@pytest.mark.req("H2")
def test_a_reply_to_a_case_that_there_is_not(tmp_path):
    """It is noted, and stops no other."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E77", "confirm")
        board.write("E1", "confirm")
        tended = made.tend()
        assert tended.applied == 1
        assert any("it has shown no case `E77`" in note for note in tended.notes)
        assert made.reply.__self__ is made
        with pytest.raises(Exception, match="E77"):
            made.reply("E77", HumanResponse(action="confirm"))
