"""What is due for questions that wait is done by any process, once: shown, heard, told, reminded, ended in time."""

import asyncio
import datetime as dt
from typing import get_type_hints

import pytest
from agents import QUESTION
from asked import Says, kinds, record, said
from boards import Board, Wall, age, service
from loopback import Answer, serving

from kr_core import (
    EVENTS,
    AsyncKnowledgeRouterService,
    ConfigError,
    Heard,
    HumanReply,
    HumanResponse,
    Pipeline,
    Question,
    RequestError,
)
from kr_core.config import given
from kr_core.files import claimed
from kr_core.model import Outcome
from kr_core.server.project import Project
from kr_core.team.resident import Resident

UNSURE = said(confidence=65)


def ask(made, **values):
    return made.ask(Question(text=QUESTION, topic="authentication", **values))


def of_kind(made, kind):
    found = [data for one, data in record(made) if one == kind]
    assert all(set(data) == set(get_type_hints(EVENTS[kind])) for data in found), found
    return found


@pytest.mark.req("H2", "H7")
def test_a_case_is_shown_once_and_its_place_is_kept(tmp_path):
    """`ask` shows it by every way; whoever looks later finds nothing to do, also another process."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        assert board.shown == wall.shown == {"E1": [1]}
        case = made.cases.get("E1")
        assert (case.status, case.sinks["board"].place) == ("notified", "board/E1")
        assert made.tend()[:-1] == (0,) * 8 + ((),)
        assert sorted(data["sink"] for data in of_kind(made, "escalation.shown")) == ["board", "wall"]
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        made.tend()
    assert board.shown == wall.shown == {"E1": [1]}


@pytest.mark.req("H2", "H5", "H7")
def test_a_reply_is_applied_once_whoever_tells_it_again(tmp_path):
    """A sink may tell all it has ever told: each reply is known by its external id, also to another process."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "confirm", revision=1)
        assert made.tend().applied == 1
        assert made.result_of("E1").answer.validated_by == "human"
        assert made.cases.get("E1").resolution.by == "ann"
        assert board.said() == ["E1 is answered, by ann (confirm)"]
        assert [notice.kind for _, notice in board.notices] == ["understood"]
        assert board.notices[0][1].reply_to == "c1"
        assert [notice.kind for _, notice in wall.notices] == ["ended"]
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        assert made.tend().applied == 0
        assert [data["sink"] for data in of_kind(made, "human.replied")] == ["board"]
        assert len(board.notices) == len(wall.notices) == 1
        assert not made.pipeline.journal.verify()


@pytest.mark.req("H2")
def test_the_first_reply_wins_and_the_others_are_told(tmp_path):
    """Of two who answer by different ways one decides; the other is told whose answer stands, once."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "correct", "Use Postgres.", by="ann")
        made.tend()
        wall.write("E1", "confirm", by="bob")
        assert made.tend().refused == 1
        made.tend()
        assert made.result_of("E1").answer.content == "Use Postgres."
        assert wall.said("refused") == [
            "E1: bob, `confirm` was not done: it is resolved already, by ann (correct)"
        ]
        assert wall.said("ended") == ["E1 is answered, by ann (correct)"]
        assert [data["applied"] for data in of_kind(made, "human.replied")] == [True, False]


@pytest.mark.req("H2", "H3")
def test_a_reply_at_the_terminal_is_told_by_the_other_ways(tmp_path):
    """Whoever answers by KR itself, those who were shown the case are told at once."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        assert board.said("ended") == ["E1 is answered, by ada (confirm)"]
        made.tend()
        assert len(board.notices) == 1


@pytest.mark.req("H4")
def test_an_older_revision_is_refused_with_the_reason(tmp_path):
    """A reply to an answer that is not the latest does nothing; who gave it is told which one waits."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        made.reply("E1", HumanResponse(action="add_context", content="More.", by="ada"))
        assert board.shown == {"E1": [1, 2]}
        board.write("E1", "confirm", revision=1)
        made.tend()
        assert "E1@1 is an older answer; the one that waits now is E1@2" in board.said("refused")[0]
        assert made.cases.get("E1").waits


@pytest.mark.req("H3", "H7")
def test_context_from_a_sink_asks_the_agent_again(tmp_path):
    """What somebody adds by a sink goes to the agent, whose new answer is shown as the next revision, or is accepted."""
    board, duc = Board(), Says(UNSURE, said("Use Redis.", 70), said("Use Redis Cluster.", 95))
    with service(tmp_path, board, duc=duc) as made:
        ask(made)
        board.write("E1", "add_context", "We have 40 servers.")
        tended = made.tend()
        assert (tended.applied, tended.asked_again) == (1, 1)
        assert "We have 40 servers." in duc.jobs[1].prompt
        assert board.shown == {"E1": [1, 2]}
        assert board.said("understood") == ["ann has added context to E1; duc is asked again"]
        assert made.cases.get("E1").asking is False
        board.write("E1", "add_context", "In two places.", revision=2)
        made.tend()
        case = made.cases.get("E1")
        assert (case.status, case.resolution.action, case.resolution.by) == ("resolved", "add_context", "ann")
        assert made.result_of("E1").status == "accepted"
        assert board.said("ended") == ["E1 is answered, by ann (context)"]


@pytest.mark.req("H7")
def test_context_is_not_lost_where_the_agent_was_not_asked(tmp_path):
    """A process that ends before the agent was asked again leaves that to the next one."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "add_context", "We have 40 servers.")
        made._run(made._service._tending.look())  # as far as a process comes that is killed then
        assert made.cases.get("E1").asking
    duc = Says(said(confidence=99))
    with service(tmp_path, board, duc=duc) as made:
        assert made.tend().asked_again == 1
        assert "We have 40 servers." in duc.jobs[0].prompt
        assert made.result_of("E1").status == "accepted"


@pytest.mark.req("H3")
def test_chat_from_a_sink_says_where_to_talk(tmp_path):
    """A talk is held at the terminal or on the page; the case waits on."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "chat", revision=1)
        made.tend()
        assert "kr inbox chat E1" in board.said("understood")[0]
        assert made.cases.get("E1").waits
        made.chat("E1", HumanResponse(action="chat", content="Why?", by="ann"))
        asked, replied = made.cases.get("E1").turns
        assert (asked.by, asked.text, replied.by) == ("ann", "Why?", "duc")
        history = made.history("E1")
        assert {asked.exchange_id, replied.exchange_id} <= {entry.exchange_id for entry in history}
        assert [entry.number for entry in history] == sorted(entry.number for entry in history)


@pytest.mark.req("H4")
def test_who_is_not_understood_is_helped_once(tmp_path):
    """A person who writes what is no reply is told so once for each case and kind, and another person too; strangers not for ever."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        for by in ("eve", "eve", "mallory"):
            board.mumble("E1", by)
        board.mumble("E1", "eve", "refused", "only maintainers may answer")
        board.mumble("E1", "eve", "edited", "edited comments are not read")
        made.tend()
        made.tend()
        assert [notice.kind for _, notice in board.notices] == ["help", "help", "refused", "help"]
        for number in range(100):
            board.mumble("E1", f"bot{number}")
        made.tend()
        assert len(board.said("help")) == 51
        assert len(of_kind(made, "human.unclear")) == 52


@pytest.mark.req("H4")
def test_each_mistake_of_a_person_gets_an_answer_of_its_own(tmp_path):
    """The same words not again, and after a few different ones no more: two programs may answer each other."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        for said in ("there is no E99", "`correct` needs a text", "there is no E99"):
            board.mumble("E1", "eve", said=said)
        made.tend()
        assert board.said("help") == ["there is no E99", "`correct` needs a text"]
        for number in range(100):
            board.mumble("E1", "eve", said=f"there is no E{number}")
        made.tend()
        assert len(board.said("help")) == 5
        board.mumble("E1", "mallory", said="there is no E99")
        made.tend()
        assert len(board.said("help")) == 6


@pytest.mark.req("H4")
def test_somebody_who_never_stops_is_not_answered_for_ever(tmp_path):
    """Two programs that answer each other come to an end."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        for number in range(250):
            board.write("E1", "choose", f"option {number}")
        made.tend()
        assert len(board.said("refused")) == 20
        assert len(of_kind(made, "human.replied")) == 250


@pytest.mark.req("H7")
def test_a_sink_that_fails_is_left_alone_and_tried_again(tmp_path):
    """The case waits, the fault is noted, the sink is not asked again at once, and has it later; it is on record once."""
    board = Board()
    down = RequestError(Outcome.unavailable, "it is down", where="board")
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [down]
        result = ask(made)
        assert any("it is down" in note for note in result.notes)
        assert made.cases.get("E1").status == "open"
        before = len(board.calls)
        tended = made.tend()
        assert len(board.calls) == before, "it is left alone"
        (note,) = (note for note in tended.notes if "left alone until" in note)
        assert "it is down" in note, "who looks later is told why"
        later(made, "board")
        age(made, "E1", minutes=10)
        assert made.tend().shown == 1
        assert made.cases.get("E1").status == "notified"
        errors = [data["error"] for data in of_kind(made, "escalation.shown")]
        assert len(errors) == 2
        assert errors[-1] is None


def later(made, sink):
    """Let a sink's pause be over."""
    journal = made.pipeline.journal
    kept = journal.document("sink", sink)
    data = {**kept.data, "again": None, "show_again": None}
    assert journal.change(kept._replace(version=kept.version + 1, data=data))


@pytest.mark.req("H7")
def test_a_limit_is_honoured(tmp_path):
    """A sink that asks to be left alone for so long is, up to an hour."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1200.0)]
        made.tend()
        again = dt.datetime.fromisoformat(made.pipeline.journal.document("sink", "board").data["again"])
        left = (again - dt.datetime.now(dt.UTC)).total_seconds()
        assert 1100 < left <= 1200
        later(made, "board")
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1e9)]
        made.tend()
        again = dt.datetime.fromisoformat(made.pipeline.journal.document("sink", "board").data["again"])
        assert (again - dt.datetime.now(dt.UTC)).total_seconds() <= 3600


@pytest.mark.req("H7")
def test_one_case_that_cannot_be_shown_stops_no_other(tmp_path):
    """What fails for one case alone is tried again later; the others are shown."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [RequestError(Outcome.bad_answer, "no such issue"), None]
        ask(made)
        ask(made)
        assert board.shown == {"E2": [1]}
        made.tend()
        assert board.shown == {"E2": [1]}
        age(made, "E1", minutes=10)
        made.tend()
        assert board.shown == {"E2": [1], "E1": [1]}


@pytest.mark.req("H5")
def test_the_mark_is_kept_once_the_replies_are(tmp_path):
    """A sink is asked for what came since the last mark, also by another process; a sink that failed keeps its mark."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "chat")
        made.tend()
        board.faults = [RuntimeError("no")]
        made.tend()
        later(made, "board")
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        made.tend()
    assert [mark for _, mark in board.polled_with] == ["", "1"]


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
        assert board.said() == ["E1@1 waits for a reply, for 8h now"]
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


USE = {"escalation": {"timeout": "1h", "on_timeout": "use_answer"}}


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
        assert "unconfirmed" in board.said("ended")[0]
        assert [data["agent"] for data in of_kind(made, "escalation.expired")] == ["duc"]
        assert [data["kind"] for data in of_kind(made, "escalation.told")] == ["ended"]
        board.write("E1", "confirm")
        made.tend()
        assert "it is expired" in board.said("refused")[0]
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


@pytest.mark.req("H7")
def test_where_nobody_is_there_it_is_shown_later(tmp_path):
    """A way without anybody before it is asked again the next time, for one case only, and shows all when somebody is there."""
    board = Board()
    board.nobody = True
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        for _ in range(3):
            ask(made)
        board.calls.clear()
        made.tend()
        assert board.calls == ["open"]
        assert made.cases.get("E1").status == "open"
        board.nobody = False
        assert made.tend().shown == 3


@pytest.mark.req("H5", "H7")
def test_what_may_have_been_shown_is_told_of_the_end(tmp_path):
    """A sink that failed after it had shown a case is asked again, so that whoever sees the case there sees its end."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [RequestError(Outcome.timeout, "no answer")]
        ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        later(made, "board")
        made.tend()
        assert board.shown == {"E1": [1]}
        assert board.said("ended") == ["E1 is answered, by ada (confirm)"]


@pytest.mark.req("H2")
def test_a_question_that_is_asked_anew_ends_the_old_case_everywhere(tmp_path):
    """Those who were shown the case are told that it needs no reply any more."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        assert made.cases.supersede(made.cases.get("E1"), "x-2")
        made.tend()
        assert board.said("ended") == ["E1 needs no reply any more: its question was asked anew"]
        board.write("E1", "confirm")
        made.tend()
        assert "it is superseded already" in board.said("refused")[0]


@pytest.mark.req("H7")
def test_a_case_that_was_decided_long_ago_is_looked_at_no_more(tmp_path):
    """After a week its sinks are not asked for late replies, and nobody reads it."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        made.tend()
        assert [one.waits for one in board.polled_with[-1][0]] == [False]
        age(made, "E1", days=8)
        made.tend()
        count = len(board.calls)
        made.tend()
        assert len(board.calls) == count
        assert (made.cases.get("E1").status, made.cases.standing()) == ("resolved", [])


@pytest.mark.req("H7")
def test_cases_of_an_older_kr_are_read(tmp_path):
    """A case without a word of what was done for it waits, is found by its question, shown and answered."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made, id="store")
        journal = made.pipeline.journal
        old = journal.document("escalation", "E1")
        data = {key: value for key, value in old.data.items() if key != "care"}
        del data["request"]["answer"]["warning"]
        assert journal.change(
            old._replace(key="E5", version=1, data={**data, "request": {**data["request"], "id": "E5"}})
        )
        (found,) = [case for case in made.cases.waiting() if case.request.id == "E5"]
        assert found.care.sinks == {}
        made.tend()
        assert board.shown["E5"] == [1]
        board.write("E5", "confirm")
        made.tend()
        assert made.result_of("E5").status == "answered"


@pytest.mark.req("H7")
def test_questions_of_an_older_kr_lead_to_their_cases(tmp_path):
    """A case that is not listed by its question is found all the same, so that the question is not put twice."""
    with service(tmp_path / "new", Board(), duc=Says(UNSURE)) as made:
        ask(made, id="store")
        old = made.pipeline.journal.document("escalation", "E1")
    duc = Says(UNSURE)
    with service(tmp_path / "old", Board(), duc=duc) as made:
        data = {key: value for key, value in old.data.items() if key != "care"}
        assert made.pipeline.journal.change(old._replace(version=1, data=data))
        assert made.pipeline.journal.number("escalation") == 1
        (case,) = made.cases.waiting_of([("general", "store"), ("general", "another")])
        assert case.request.id == "E1"
        with pytest.raises(ConfigError, match="waits for a human as E1, and is another question"):
            made.ask(Question(text="Another?", id="store"))


@pytest.mark.req("H7")
def test_ask_says_what_a_later_process_shows(tmp_path):
    """Where nobody can show it, a case waits in the inbox, and is listed page by page."""
    with service(tmp_path, Board(), duc=Says(UNSURE)) as made:
        for _ in range(5):
            ask(made)
        made.reply("E2", HumanResponse(action="confirm", by="ada"))
        assert [case.request.id for case in made.cases.page(limit=2)] == ["E1", "E3"]
        assert [case.request.id for case in made.cases.page(limit=2, after="E3")] == ["E4", "E5"]
        assert [case.request.id for case in made.cases.page(waiting=False, limit=2, after="E1")] == [
            "E2",
            "E3",
        ]
        assert [one.waits for one in made.cases.index()] == [True, False, True, True, True]


@pytest.mark.req("H2", "H6", "H7")
@pytest.mark.parametrize("door", ["team", "mcp", "service"])
def test_what_lives_long_looks_by_itself(tmp_path, door):
    """`kr team`, `kr mcp` and whoever embeds KR show, hear and tell without being asked to."""
    board = Board()
    with service(tmp_path, duc=Says(UNSURE), config={"escalations": ["stdout"]}) as made:
        ask(made)

    async def until(condition):
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110  what is waited for happens in other processes, too
                await asyncio.sleep(0.01)

    async def live():
        loaded = given(
            {"logs": [], "escalations": ["board"]},
            tmp_path,
            environ={"KR_CACHE_DIR": str(tmp_path / "cache")},
        )
        pipeline = Pipeline(loaded, agents={"duc": Says(UNSURE)}, escalations=[board])
        if door == "team":
            resident = Resident(pipeline, tell=lambda _line: None)
            await resident.start()
            end = [resident.shut_down]
        elif door == "mcp":
            project = Project(folder=tmp_path)
            project._opened = lambda: AsyncKnowledgeRouterService(pipeline)
            await project.service()
            end = [project.close]
        else:
            embedded = AsyncKnowledgeRouterService(pipeline)
            task = asyncio.create_task(embedded.keep_tending(every_seconds=0.05))
            end = [lambda: asyncio.wait([task]), embedded.close]
        await until(lambda: board.shown == {"E1": [1]})
        if door == "service":
            board.write("E1", "add_context", "More.")
            await until(lambda: board.shown == {"E1": [1, 2]})
            board.write("E1", "confirm", revision=2)
            await until(lambda: board.said("understood")[1:] == ["E1 is answered, by ann (confirm)"])
            task.cancel()
        for one in end:
            await one()
        pipeline.close()

    asyncio.run(live())


class Slow(Board):
    """One that tells one thing with each call, and says so; without a way on, where it is stuck."""

    stuck = False

    async def poll(self, shown, mark, context):
        self._call("poll")
        read = int(mark or 0)
        after = read if self.stuck else min(read + 1, len(self.written))
        return Heard(tuple(self.written[read:after]), str(after or ""), complete=after == len(self.written))


@pytest.mark.req("H5", "H6")
def test_what_is_not_read_yet_may_be_a_reply(tmp_path):
    """While a sink has not told all, silence is not taken for consent; it is asked for the rest at once."""
    slow = Slow()
    with service(tmp_path, slow, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=2)
        for number in range(3):
            slow.mumble("E1", f"bot{number}")
        slow.write("E1", "correct", "Use Postgres.")
        slow.stuck = True
        tended = made.tend()
        assert tended.expired == 0
        assert any("wait until slow can be asked" in note for note in tended.notes)
        assert slow.calls.count("poll") == 1, "it has told nothing new"
        slow.stuck = False
        assert made.tend().expired == 0
        assert made.result_of("E1").answer.content == "Use Postgres."


@pytest.mark.req("H6", "H7")
def test_a_sink_that_never_tells_all_does_not_keep_a_process_for_ever(tmp_path):
    """So much is read at a time; the rest is due at once."""
    slow = Slow()
    with service(tmp_path, slow, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        for number in range(12):
            slow.write("E1", "choose", f"option {number}")
        tended = made.tend()
        assert (tended.refused, slow.calls.count("poll")) == (10, 10)
        assert tended.next <= dt.datetime.now(dt.UTC)
        tended = made.tend()
        assert tended.refused == 2
        assert tended.next > dt.datetime.now(dt.UTC)


@pytest.mark.req("H2", "H4")
def test_a_reply_to_a_case_that_is_long_over_is_refused_with_the_reason(tmp_path):
    """After a week nobody looks for replies, but one that comes all the same is answered; once, and then it is over again."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        for _ in range(2):
            ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        age(made, "E1", days=8)
        made.tend()
        assert made.cases.get("E1").care.settled
        board.write("E1", "correct", "Use Postgres.")
        made.tend()
        assert board.said("refused") == [
            "E1: ann, `correct` was not done: it is resolved already, by ada (confirm)"
        ]
        age(made, "E1", days=8)
        made.tend()
        assert made.cases.get("E1").care.settled
        made.tend()
        assert len(board.said("refused")) == 1


@pytest.mark.req("H2", "Z6")
def test_a_case_is_not_answered_where_it_was_never_shown(tmp_path):
    """Who writes the id of a case that waits elsewhere is told that there is none, by the case beside it."""
    board, wall = Board(), Wall()
    config = {"escalation": {"tiers": [{"after": "4h", "escalations": ["wall"]}]}}
    with service(tmp_path, board, wall, config=config, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=5)
        made.tend()
        ask(made)
        for number, name in enumerate(("E2", "E99")):
            reply = HumanResponse(action="confirm", by=f"ann{number}")
            wall.written.append(HumanReply(name, reply, f"w{number}", "E1"))
        made.tend()
        assert wall.said("help") == ["there is no E2 here", "there is no E99 here"]
        assert all(made.cases.get(name).waits for name in ("E1", "E2"))


@pytest.mark.req("H7")
def test_a_case_that_waits_is_found_by_its_question_however_many_came_after(tmp_path):
    """Only cases that are decided are forgotten."""
    with service(tmp_path, Board(), duc=Says(UNSURE)) as made:
        ask(made, id="store")
        first = made.cases.get("E1")
        for number in range(2, 60):
            request = first.request.model_copy(update={"id": f"E{number}"})
            assert made.cases.open(first._replace(request=request, version=1))
            assert made.cases.keep(first._replace(request=request, version=2, status="resolved"))
        found = made.cases.waiting_of([("general", "store")])
        assert [case.request.id for case in found] == ["E1"]
        listed = made.pipeline.journal.documents("escalation.question", "", 10, "")
        assert max(len(one.data["cases"]) for one in listed) <= 20


class Stuck(Board):
    """One that does not come back when it is to say something."""

    stuck = True

    async def acknowledge(self, case, notice, context):
        if self.stuck:
            self.calls.append("stuck")
            await asyncio.Event().wait()
        await super().acknowledge(case, notice, context)


@pytest.mark.req("H2")
def test_who_replies_does_not_wait_for_others_to_be_told(tmp_path, monkeypatch):
    """What cannot be said within some seconds is said later, and is no fault of the sink."""
    monkeypatch.setattr("kr_core.asking.tending._TELL_SECONDS", 0.5)
    stuck = Stuck()
    with service(tmp_path, stuck, duc=Says(UNSURE)) as made:
        ask(made)
        assert made.reply("E1", HumanResponse(action="confirm", by="ada")).status == "answered"
        assert made.pipeline.journal.document("sink", "stuck") is None
        stuck.stuck = False
        made.tend()
        assert stuck.said("ended") == ["E1 is answered, by ada (confirm)"]


class Caller(Board):
    """One whose address is a secret."""

    url = ""

    async def open(self, case, context):
        answer = await context.http.post(self.url, json={"id": case.request.id})
        answer.raise_for_status()
        return await super().open(case, context)


@pytest.mark.req("Z6")
def test_the_address_of_a_webhook_stays_a_secret(tmp_path):
    """A request of a sink is on the record with its host alone, whether it was answered or not."""
    caller = Caller()
    with serving(lambda _asked: Answer(404)) as there, service(tmp_path, caller, duc=Says(UNSURE)) as made:
        caller.url = f"{there.url}/services/T0/xyzzy"
        ask(made)
        caller.url = "http://127.0.0.1:1/services/T0/xyzzy"
        ask(made)
        requests = of_kind(made, "sink.request")
        assert {one["url"] for one in requests} == {there.url, "http://127.0.0.1:1"}
        assert "xyzzy" not in str(record(made))


class Door(Board):
    """One that a service calls."""

    async def receive(self, shown, headers, body, context):
        self._call("receive")
        return Heard(tuple(self.written))

    def verify(self, headers, body):
        if headers.get("signed") != "yes":
            raise RequestError(Outcome.blocked, "the call is not signed")


@pytest.mark.req("H2", "Z6")
def test_a_call_that_is_not_the_services_waits_for_nothing(tmp_path):
    """Whoever calls without a signature is refused though somebody works with the sink, and no case is read for them."""
    door = Door()
    with service(tmp_path, door, duc=Says(UNSURE)) as made:
        ask(made)
        door.write("E1", "confirm")
        with claimed(tmp_path / ".kr/sinks/door.lock") as mine:
            assert mine
            with pytest.raises(RequestError, match="is not signed"):
                made.receive("door", {}, b"{}")
        assert "receive" not in door.calls
        assert made.receive("door", {"signed": "yes"}, b"{}") == 1
        assert made.result_of("E1").status == "answered"


class Hall(Board):
    """One with places that cannot be used, such as an issue that is locked."""

    def __init__(self, outcome):
        super().__init__()
        self.outcome = outcome
        self.locked = set()

    async def open(self, case, context):
        if case.request.id in self.locked:
            self.calls.append(f"locked {case.request.id}")
            raise RequestError(self.outcome, "it is locked")
        return await super().open(case, context)


@pytest.mark.req("H2", "H7")
@pytest.mark.parametrize("outcome", [Outcome.bad_answer, Outcome.timeout, Outcome.blocked])
def test_a_case_that_cannot_be_shown_keeps_no_other_one_waiting(tmp_path, outcome):
    """Beside it other cases are shown, replies are heard and answered, and it is tried again less and less often."""
    hall = Hall(outcome)
    with service(tmp_path, hall, duc=Says(UNSURE)) as made:
        hall.locked = {"E2"}
        for _ in range(3):
            ask(made)
        ends_pause(made, "hall")
        made.tend()
        assert hall.shown == {"E1": [1], "E3": [1]}, "the one that fails comes last"
        age(made, "E2", minutes=10)
        ends_pause(made, "hall")
        made.tend()
        assert hall.calls.count("locked E2") == 2
        hall.write("E1", "confirm")
        assert made.tend().applied == 1, "replies are heard, though nothing is shown just then"
        ends_pause(made, "hall")
        made.tend()
        assert hall.said("understood") == ["E1 is answered, by ann (confirm)"]
        hall.locked = set()
        age(made, "E2", minutes=10)
        ends_pause(made, "hall")
        made.tend()
        assert hall.shown == {"E1": [1], "E3": [1], "E2": [1]}


@pytest.mark.req("H7")
def test_a_sink_that_asks_for_rest_is_not_even_heard(tmp_path):
    """A limit holds for all calls, whichever of them has run into it."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1200.0)]
        ask(made)
        before = len(board.calls)
        assert any("left alone until" in note for note in made.tend().notes)
        assert len(board.calls) == before


def ends_pause(made, sink):
    """Let a sink's pause be over, if it has one."""
    if made.pipeline.journal.document("sink", sink) is not None:
        later(made, sink)
