"""What is due for questions that wait is done by any process, once: shown, heard, told, reminded, ended in time."""

import asyncio

import pytest
from support.asked import Says, of_kind, said
from support.boards import Board, Wall, age, ask, later, service

from kr_core import AsyncKnowledgeRouterService, HumanResponse, Pipeline, RequestError
from kr_core.config import given
from kr_core.escalation.upkeep_summary import RunProgress
from kr_core.model import Outcome
from kr_core.plugin import HumanReply
from kr_core.server.served_project import ServedProject
from kr_core.team.resident import Resident

UNSURE = said(confidence=65)


@pytest.mark.req("H2", "H7")
def test_a_case_is_shown_once_and_its_place_is_kept(tmp_path):
    """`ask` shows it by every way; whoever looks later finds nothing to do, also another process."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        assert board.shown == wall.shown == {"E1": [1]}
        case = made.cases.get("E1")
        assert (case.status, case.channels["board"].location) == ("notified", "board/E1")
        assert made.tend()[:-1] == (0,) * 8 + ((),)
        assert sorted(data["channel"] for data in of_kind(made, "escalation.shown")) == ["board", "wall"]
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        made.tend()
    assert board.shown == wall.shown == {"E1": [1]}


@pytest.mark.req("H2", "H5", "H7")
def test_a_reply_is_applied_once_whoever_tells_it_again(tmp_path):
    """A channel may tell all it has ever told: each reply is known by its external id, also to another process."""
    board, wall = Board(), Wall()
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "confirm", revision=1)
        assert made.tend().applied == 1
        assert made.result_of("E1").answer.validated_by == "human"
        assert made.cases.get("E1").resolution.by == "ann"
        assert board.message() == ["E1 is answered, by ann (confirm)"]
        assert [notice.kind for _, notice in board.notices] == ["understood"]
        assert board.notices[0][1].reply_to == "c1"
        assert [notice.kind for _, notice in wall.notices] == ["ended"]
    with service(tmp_path, board, wall, duc=Says(UNSURE)) as made:
        assert made.tend().applied == 0
        assert [data["channel"] for data in of_kind(made, "human.replied")] == ["board"]
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
        assert wall.message("refused") == [
            "E1: bob, `confirm` was not done: it is resolved already, by ann (correct)"
        ]
        assert wall.message("ended") == ["E1 is answered, by ann (correct)"]
        assert [data["applied"] for data in of_kind(made, "human.replied")] == [True, False]


@pytest.mark.req("H2", "H3")
def test_a_reply_at_the_terminal_is_told_by_the_other_ways(tmp_path):
    """Whoever answers by KR itself, those who were shown the case are told at once."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        assert board.message("ended") == ["E1 is answered, by ada (confirm)"]
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
        assert "E1@1 is an older answer; the one that waits now is E1@2" in board.message("refused")[0]
        assert made.cases.get("E1").waits


@pytest.mark.req("H3", "H7")
def test_context_from_a_channel_asks_the_agent_again(tmp_path):
    """What somebody adds by a channel goes to the agent, whose new answer is shown as the next revision, or is accepted."""
    board, duc = Board(), Says(UNSURE, said("Use Redis.", 70), said("Use Redis Cluster.", 95))
    with service(tmp_path, board, duc=duc) as made:
        ask(made)
        board.write("E1", "add_context", "We have 40 servers.")
        tended = made.tend()
        assert (tended.applied, tended.asked_again) == (1, 1)
        assert "We have 40 servers." in duc.jobs[1].prompt
        assert board.shown == {"E1": [1, 2]}
        assert board.message("understood") == ["ann has added context to E1; duc is asked again"]
        assert made.cases.get("E1").asking is False
        board.write("E1", "add_context", "In two places.", revision=2)
        made.tend()
        case = made.cases.get("E1")
        assert (case.status, case.resolution.action, case.resolution.by) == ("resolved", "add_context", "ann")
        assert made.result_of("E1").status == "accepted"
        assert board.message("ended") == ["E1 is answered by duc, with what ann has added"]


@pytest.mark.req("H7")
def test_context_is_not_lost_where_the_agent_was_not_asked(tmp_path):
    """A process that ends before the agent was asked again leaves that to the next one."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "add_context", "We have 40 servers.")
        made._run(made._parts.worker.run_once(RunProgress()))  # as far as a process comes that is killed then
        assert made.cases.get("E1").asking
    duc = Says(said(confidence=99))
    with service(tmp_path, board, duc=duc) as made:
        assert made.tend().asked_again == 1
        assert "We have 40 servers." in duc.jobs[0].prompt
        assert made.result_of("E1").status == "accepted"


@pytest.mark.req("H3")
def test_chat_from_a_channel_says_where_to_talk(tmp_path):
    """A talk is held at the terminal or on the page; the case waits on."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "chat", revision=1)
        made.tend()
        assert "kr inbox chat E1" in board.message("understood")[0]
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
        assert len(board.message("help")) == 51
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
        assert board.message("help") == ["there is no E99", "`correct` needs a text"]
        for number in range(100):
            board.mumble("E1", "eve", said=f"there is no E{number}")
        made.tend()
        assert len(board.message("help")) == 5
        board.mumble("E1", "mallory", said="there is no E99")
        made.tend()
        assert len(board.message("help")) == 6


@pytest.mark.req("H4")
def test_somebody_who_never_stops_is_not_answered_for_ever(tmp_path):
    """Two programs that answer each other come to an end."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        for number in range(250):
            board.write("E1", "choose", f"option {number}")
        made.tend()
        assert len(board.message("refused")) == 20
        assert len(of_kind(made, "human.replied")) == 250


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
    """A channel that failed after it had shown a case is asked again, so that whoever sees the case there sees its end."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [RequestError(Outcome.timeout, "no answer")]
        ask(made)
        made.reply("E1", HumanResponse(action="confirm", by="ada"))
        later(made, "board")
        made.tend()
        assert board.shown == {"E1": [1]}
        assert board.message("ended") == ["E1 is answered, by ada (confirm)"]


@pytest.mark.req("H2")
def test_a_question_that_is_asked_anew_ends_the_old_case_everywhere(tmp_path):
    """Those who were shown the case are told that it needs no reply any more."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        assert made.cases.supersede(made.cases.get("E1"), "x-2")
        made.tend()
        assert board.message("ended") == ["E1 needs no reply any more: its question was asked anew"]
        board.write("E1", "confirm")
        made.tend()
        assert "it is superseded already" in board.message("refused")[0]


@pytest.mark.req("H7")
def test_a_case_that_was_decided_long_ago_is_looked_at_no_more(tmp_path):
    """After a week its channels are not asked for late replies, and nobody reads it."""
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
            project = ServedProject(folder=tmp_path)
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
            await until(lambda: board.message("understood")[1:] == ["E1 is answered, by ann (confirm)"])
            task.cancel()
        for one in end:
            await one()
        pipeline.close()

    asyncio.run(live())


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
        assert board.message("refused") == [
            "E1: ann, `correct` was not done: it is resolved already, by ada (confirm)"
        ]
        age(made, "E1", days=8)
        made.tend()
        assert made.cases.get("E1").care.settled
        made.tend()
        assert len(board.message("refused")) == 1


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
        assert wall.message("help") == ["there is no E2 here", "there is no E99 here"]
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
