"""What is due by the time alone: reminders, tiers and time limits, whatever the clock does."""

import datetime as dt

import pytest
from support.agents import QUESTION
from support.asked import Says, kinds, of_kind, said
from support.boards import Board, Wall, age, ask, later, service

from kr_core import (
    ConfigError,
    HumanResponse,
    Question,
    RequestError,
)
from kr_core.model import Outcome

UNSURE = said(confidence=65)
USE = {"escalation": {"timeout": "1h", "on_timeout": "use_answer"}}


@pytest.mark.req("H6")
def test_people_are_reminded_and_not_again_after_a_restart(tmp_path):
    """Once for each span of time, however late it is looked, and whatever process looks."""
    board = Board()
    config = {"escalation": {"remind_every": "2h"}}
    with service(tmp_path, board, config=config, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=1, minutes=59)
        assert made.tend().reminded == 0
        age(made, "E1", hours=7)
        assert made.tend().reminded == 1
        assert board.message() == ["E1@1 waits for a reply, for 8h now"]
    with service(tmp_path, board, config=config, duc=Says(UNSURE)) as made:
        assert made.tend().reminded == 0
        age(made, "E1", hours=2)
        assert made.tend().reminded == 1
        ids = [notice.id for _, notice in board.notices]
        assert len(set(ids)) == 2
        assert len(of_kind(made, "escalation.reminded")) == 2


@pytest.mark.req("H6")
def test_tiers(tmp_path):
    """A way of a later tier is shown the case when its time has come, and whom the tier names is asked at once."""
    board, wall = Board(), Wall()
    config = {
        "escalation": {
            "remind_every": "24h",
            "tiers": [
                {"after": "4h", "escalations": ["wall"], "ask": ["ann"]},
                {"after": "8h", "ask": ["bob", "cyd"]},
            ],
        }
    }
    with service(tmp_path, board, wall, config=config, duc=Says(UNSURE)) as made:
        ask(made)
        made.tend()
        assert (board.shown, wall.shown) == ({"E1": [1]}, {})
        age(made, "E1", hours=4)
        made.tend()
        assert wall.shown == {"E1": [1]}
        assert [notice.ask for _, notice in board.notices] == [("ann",)]
        assert [notice.ask for _, notice in wall.notices] == [("ann",)]
        made.tend()
        age(made, "E1", hours=4)
        made.tend()
        assert [notice.ask for _, notice in board.notices] == [("ann",), ("bob", "cyd")]
        made.reply("E1", HumanResponse(action="add_context", content="More.", by="ada"))
        made.tend()
        assert wall.shown == {"E1": [1, 2]}, "who has seen it sees its next revision"


@pytest.mark.req("H6")
def test_block_waits_on(tmp_path):
    """By default nothing is answered by silence: the record says once that the time has passed."""
    board = Board()
    config = {"escalation": {"timeout": "1h", "remind_every": "10h"}}
    with service(tmp_path, board, config=config, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=2)
        assert made.tend().timed_out == 1
        assert made.tend().timed_out == 0
        assert [data["policy"] for data in of_kind(made, "escalation.timed_out")] == ["block"]
        assert made.result_of("E1").status == "escalated"
        age(made, "E1", hours=9)
        assert made.tend().reminded == 1
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        assert made.result_of("E1").status == "answered"


@pytest.mark.req("H6")
def test_use_answer_is_never_a_confirmation(tmp_path):
    """The agent's answer is used with a warning; nobody has validated it, and a late reply is refused with the reason."""
    board = Board()
    with service(tmp_path, board, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=1)
        assert made.tend().expired == 1
        case, result = made.cases.get("E1"), made.result_of("E1")
        assert (case.status, case.resolution.action, result.status) == ("expired", "timeout", "expired")
        assert (result.answer.content, result.answer.validated_by) == ("Use Redis.", None)
        assert "nobody has decided within 1h" in result.answer.warning
        assert result.to_dict()["answer"]["warning"]
        assert "unconfirmed" in board.message("ended")[0]
        assert [data["agent"] for data in of_kind(made, "escalation.expired")] == ["duc"]
        assert [data["kind"] for data in of_kind(made, "escalation.told")] == ["ended"]
        board.write("E1", "confirm")
        made.tend()
        assert "it is expired" in board.message("refused")[0]
        with pytest.raises(ConfigError, match="it is expired"):
            made.reply("E1", HumanResponse(action="correct", content="No.", by="ada"))
        assert [kind for kind in kinds(made) if kind.startswith("escalation.")][-3:] == [
            "escalation.expired", "escalation.told", "escalation.told",
        ]  # fmt: skip
        assert made.cases.get("E1").to_dict()["resolution"] == {
            "action": "timeout",
            "by": "nobody",
            "content": None,
        }


@pytest.mark.req("H6")
def test_use_answer_without_an_answer_waits_on(tmp_path):
    """Where there is no answer to be used, the question goes on waiting."""
    board = Board()
    with service(
        tmp_path, board, config={**USE, "routing": {"rules": [{"topic": "*", "agent": "human"}]}}
    ) as made:
        ask(made)
        age(made, "E1", hours=2)
        tended = made.tend()
        assert (tended.timed_out, tended.expired) == (1, 0)
        assert made.result_of("E1").status == "escalated"


@pytest.mark.req("H6")
def test_a_reply_that_was_given_in_time_wins_over_the_time_limit(tmp_path):
    """Replies are read before time limits are looked at; while they cannot be read, silence is not taken for consent."""
    board = Board()
    with service(tmp_path, board, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "correct", "Use Postgres.")
        age(made, "E1", hours=2)
        board.faults = [RequestError(Outcome.unavailable, "it is down")]
        tended = made.tend()
        assert tended.expired == 0
        assert any("wait until board can be asked" in note for note in tended.notes)
        later(made, "board")
        made.tend()
        assert made.result_of("E1").answer.content == "Use Postgres."


@pytest.mark.req("H6")
def test_a_rule_has_its_own_time_limit(tmp_path):
    """What a routing rule says of a topic holds there, and nowhere else."""
    rules = [
        {
            "topic": "authentication",
            "agent": "duc",
            "escalation": {"timeout": "1h", "on_timeout": "use_answer"},
        }
    ]
    rules.append({"topic": "*", "agent": "duc"})
    board = Board()
    with service(tmp_path, board, config={"routing": {"rules": rules}}, duc=Says(UNSURE)) as made:
        ask(made)
        made.ask(Question(text=QUESTION, topic="billing"))
        for name in ("E1", "E2"):
            age(made, name, hours=2)
        made.tend()
        assert [made.cases.get(name).status for name in ("E1", "E2")] == ["expired", "notified"]


@pytest.mark.req("H6")
def test_a_clock_that_was_set_back_does_no_harm(tmp_path):
    """Times that lie in the future are counted from now: what was to be due is due no later than that."""
    board = Board()
    with service(tmp_path, board, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", days=-400)
        assert made.tend().expired == 0
        assert made.cases.get("E1").since <= dt.datetime.now(dt.UTC)
        age(made, "E1", hours=1)
        assert made.tend().expired == 1
